"""The exact maxima that a line tells in words: of a sentence, a configuration, a command that is shown. Pure."""

from __future__ import annotations

from onbox.logs.line.maxima_east import read_maxima_of_east
from onbox.logs.line.maxima_west import read_maxima_of_west
from onbox.logs.line.numbers import COUNT, is_exact, parse_count
from onbox.logs.line.words import EVALUATION, LOOK_BACK, OF_EARLIER, UNIT_WORD, UNITS
from onbox.regex import lazy

_FOR_MAX = lazy(
    rf"(?i)(?:(?<![a-z])(?:(?:pre)?train\w{{0,8}}|run\w{{0,8}}|fit\w{{0,8}}|start\w{{0,8}}|begin\w{{0,4}}"
    rf"|optimi\w{{0,8}}|will take|for|sampling|up to|at most|max(?:imum)?|total(?: of)?)(?!\.py\b)\W{{1,4}}"
    rf"(?:[a-z]{{1,20}}\W{{1,4}})?(?:(?:on|over|with)\W{{1,4}})?){{1,3}}({COUNT})"
    r"\s{1,8}(?:[a-z]{1,20}\s)?"
    r"(epochs?|steps?|iterations?|iters?|updates?|rounds?|trials?|timesteps?|episodes?|generations?)(?![a-z])"
    r"(?! took| ?[=:] ?\d)"
)
_EVERY = lazy(
    r"(?i)(?<![a-z])(?:mean|averag\w*|avg|smooth\w*|window|time|taken|took|every|each|per|improve\w*|patience|without|last|least|past|keep|interval)(?![a-z])"
)  # `an evaluation is run every 500 iterations`
_OF_A_PART = lazy(
    r"(?i)(?<![a-z])(?:accum\w*|(?<!simulation )horizon|rollouts?|unroll\w*|diffusion|denois\w*"
    r"|warm[- ]?up|burn[- ]?in|val|valid\w*"
    r"|freez\w*|frozen|cool[- ]?down|was (?:pre-?)?trained|previous run|last run|had|ema"
    r"|eval\w*|inner|micro|resum\w*|restor\w*|load\w*)(?![a-z])"
)
_SO_MANY = lazy(
    rf"^\s*({COUNT})\s{{1,8}}(epochs|steps|iterations|iters|updates|rounds|trials|timesteps|episodes|generations),"
)
_RUN = lazy(r"^run\s{1,20}(\d{1,15})$")  # LAMMPS
_ANNOUNCED = lazy(  # `Indexing 12,500 documents`
    rf"(?i)(?:^|[-:|\]]\s{{1,4}})\s{{0,4}}[a-z]{{3,18}}ing (?:[a-z]{{3,12}} )?(?:all |the |over )?({COUNT})"
    rf" ({UNIT_WORD})(?![a-z/])"
)
# `integrating to t=50.0 (5000 steps)`, `10 epochs -> 2500 optimizer updates`, `population 80, 900 ticks`
# `sparsity 0 -> 0.9 over 10 rounds`, `unet on camvid / 25 epochs`, `(6 Epochen)`
_IN_A_LIST = lazy(
    r"(?i)(?:^|[,;:(>=|\u00b7\u2022]|\]\s|(?<=\swith)\s|(?<=\sover)\s|(?<=\s)[-x\u00d7\u2013\u2014]\s"
    r"|[a-z][\w.-]{0,24} / )"
    rf"\s{{0,2}}({COUNT}) (?:[a-z]{{3,14}}[ -])?"
    r"(epochs|steps|timesteps|ticks|iterations|iters|updates|rounds|trials|generations|episodes|sweeps|cycles"
    r"|epochen|schritte|[eé]pocas|époques|эпохи?|pasos|iteraciones|iterações|itérations)"
    r"(?=\s?[,;).|/\u00b7]|\s*$|\s{2}| ={2,}| (?:from|at|with|on|over) "
    r"| x \d| \((?!\d)| in \d{1,6} (?!sec|min|hour|day|ms)[a-z]{3})"
    r"(?!\)?,? (?:in )?\d[\d.]{0,9} ?(?:m?s|secs?|seconds|min|minutes|h|hours)(?![a-z]))"  # which they have taken
)
_OF_A_SETTING = lazy(  # `beta rises from 0 to 1 over 20 epochs`
    r"(?i)(?<![a-z])(?:ramp|anneal|beta|kl|ema|decay|dropout|noise|temperature|mask(?!ed)|momentum|mixup)"
)
_LISTED_SETTING = lazy(
    rf"(?i)[a-z\d], (?:time )?(epochs|iterations|steps|episodes|generations) ({COUNT})(?=,|\s*$)"
)  # `backend gloo, epochs 8`
_ALL_TOLD = lazy(
    rf"(?i)(?<![a-z])(?:total(?:l?ing|s)?|budget|target|limit)(?: of| was| is)? ({COUNT})"
    rf" (?:[a-z]{{1,12}} )?({UNIT_WORD})(?![a-z])"
)
_AT_MOST = lazy(  # `Lloyd iterations (max 300, tol 1e-4)`
    rf"(?i)(?<![a-z])({UNIT_WORD}) \((?:max(?:imum)?|at most|up to|limit) ({COUNT})(?=[,;)])"
)
_LIMIT = lazy(  # `step limit: 5000`, `Epochs to run: 20`
    r"(?i)(?<![a-z])((?:epoch|step|iteration|iter|update|round|trial|episode|generation|timestep|test)s?)[ _-]"
    rf"(?:limit|budget|to (?:run|train|do|go))\s?[:=]?\s?({COUNT})(?![\w.]*\d)"
)
_SCHEDULE = lazy(  # `20-epoch schedule`
    rf"(?i)(?<![\w.,/-])({COUNT})[ -](epoch|step|iteration|round|trial) (?:schedule|budget|plan|run|training)(?![a-z])"
)
_DECAYS = lazy(  # of the learning rate: `cosine over 2000 iterations`, `linear decay over 90 epochs`
    r"(?i)(?<![a-z])(?:cosine|linear|poly(?:nomial)?|schedule|decay|anneal\w{0,3})(?: [a-z]{4,10}){0,2}"
    rf" over ({COUNT}) (epochs|steps|iterations|iters|updates)(?![a-z])"
)
_FROM_ONE = lazy(
    r"(?i)(?<![a-z])(epoch|step|iteration|round|trial|episode|generation)s? 1 ?(?:\.{2,3}|\u2026) ?(\d{1,9})"
    r"(?![\w.]*\d)"
)
_EPOCHS_AND_STEPS = lazy(  # `1 epoch 3750 steps`
    rf"(?i)(?<![\w.,/-])\d{{1,6}} epochs?,? ({COUNT}) (?:[a-z]{{3,12}} )?(steps|iterations|updates|iters)"
    r"(?=\s*$|\s?[,;).])"
)
_IN_TOTAL = lazy(  # `optimizer steps: 450 total`, `steps 400/400/200, total 1000`
    rf"(?i)(?<![a-z])(steps|updates|iterations|iters|epochs)(?:\s?[:=]\s?|\s)"
    rf"(?:({COUNT}) (?:in )?total(?![a-z])(?!\s?[:=])|\d[\d/+]{{2,40}},? total\s?[:=]?\s?({COUNT})(?![\w.]*\d))"
)
_PRODUCT = lazy(  # `6 epochs x 900 updates = 5400 updates`
    rf"(?i)\d [a-z]{{4,12}}s [x*\u00d7] \d[\d,]{{0,12}} [a-z][a-z/ ]{{3,30}} = ({COUNT}) (?:[a-z]{{3,12}} )?"
    r"(steps|updates|iterations|iters|batches)(?![a-z])"
)
_LAST_ONE = lazy(rf"(?i)(?<![a-z])end_({UNIT_WORD})[\"']?\s?[:=]\s?({COUNT})(?![\w.]*\d)")  # of a configuration
_NAMED_SETTING = lazy(rf"(?i)[\"'](?:n|num|max)_({UNIT_WORD})[\"'],\s?({COUNT})(?=[)\],])")  # `('n_gen', 40)`
_ALL_STEPS = lazy(  # `  optimizer steps : 1,380`, a line of its own
    rf"(?i)^\W{{0,8}}(?:optimi[sz](?:er|ation)|training|train)[ _](steps|updates|iterations)\s{{0,20}}"
    rf"[:=]\s{{0,8}}({COUNT})\W{{0,3}}$"
)
_MAX_BEHIND = lazy(
    rf"(?i)(?<![a-z])({UNIT_WORD})[ _]max(?:imum)?[\"']?\s?[:=]\s?({COUNT})(?![\w.]*\d)"
)  # `iter max: 8000`
_TOTAL_BEHIND = lazy(  # `epochs_total=200`, in a line that measures nothing
    r"(?i)(?<![a-z_])(epochs|steps|iterations|iters|rounds|trials|updates|generations|episodes)_total[\"']?"
    rf"\s?[:=]\s?({COUNT})(?![\w.]*\d)"
    r"(?!.{0,200}(?:loss|reward|return|acc|score|fps|time))"
)
_PLAN = lazy(r"^1\.\.(\d{1,9})(?: #.*)?$")  # of the Test Anything Protocol
_COLLECTED = lazy(  # of pytest
    r"(?:collecting \.{3} )?collected (?=\d{1,9} items?(?:$| /))"
    r"(?:\d{1,9} items(?: / \d{1,9} (?:deselected|errors?|skipped)){0,3} / )?(\d{1,9})(?: items?| selected)$"
)
_PASSES = lazy(r"(?<![\w.,])(\d{1,18}) passes over\b")
_SET_TO = lazy(
    rf"(?i)(?:max(?:imum)?|total|num(?:ber of)?)[_ ](?:train(?:ing)?[_ ])?({UNIT_WORD})\W{{0,3}}\s"
    rf"(?:(?:was|is|has been|will be) )?(?:set|limited|equal) to ({COUNT})(?![\w.]*\d)"
    rf"|(?<![a-z])param(?:eter)?\s{{1,4}}((?:epoch|step|iter|iteration|update)s): ({COUNT})$"
    rf"|(?<![\w.,/-])({COUNT}) ({UNIT_WORD}) (?:requested|scheduled|planned|in total|max(?:imum)?|at most"
    r"|to (?:do|go|run|process))(?![a-z])"
    rf"|(?<![\w.,/-])({COUNT}) (?:max(?:imum)?|total) ({UNIT_WORD})(?![a-z])(?!\s?[:=/])"
)  # `max_steps was set to 5000`, `Config param steps: 5000`, `1000000 generations requested`
_CALL = lazy(  # `learn.fit_one_cycle(12, 1e-3)`, `model.fit(x, y, epochs=12)` has a word
    r"\.(?:fit_one_cycle|fit_flat_cos|fine_tune|fit)\((?:n_epoch(?:s|=)?=?\s?)?(\d{1,6})(?=[,)])"
)
_SO_MANY_ELSEWHERE = lazy(  # `Anzahl Epochen: 40`, `Nombre de pas de temps : 800`
    rf"(?i)(?<![a-zà-ÿ])(?:(?:gesamt)?(?:an)?zahl|nombre|n[uú]mero)\s(?:(?:de|di|der|do|total de)\s|d['\u2019])?"
    rf"({UNIT_WORD})(?![a-zà-ÿ])[^\d\n:=]{{0,24}}[:=]\s?({COUNT})(?![\w.]*\d)"
)
_HYDRA_JOBS = lazy(r"\[HYDRA\] Launching (\d{1,6}) jobs")
_LENGTH = lazy(r"^Length: (\d{1,18})(?= \(| \[|$)")  # wget
_DECLARED = lazy(r"^\s*nsteps\s{20,40}= (\d{1,18})$")  # GROMACS
_AND_WORD = lazy(r"\d (?:max|total)| (?:requested|scheduled|planned|in total|max(?:imum)?|at most)(?![a-z])")
_OPTION = lazy(  # of a command that is shown: `+ python train.py --epochs 80 --bs 16`
    r"(?i)\s--(?:(?:num|n|max|total)[-_])?(?:train(?:ing)?[-_])?(epochs|steps|iterations|iters|episodes|updates|rounds)"
    rf" ({COUNT})(?![\w.:/-])"
)
_SET_GROUPS = ((2, 1), (4, 3), (5, 6), (7, 8))  # of the number, of its word
_WHOLE_LINES = (("byte", _LENGTH), ("step", _DECLARED), ("step", _RUN), ("test", _PLAN), ("test", _COLLECTED))
_UNTIL = lazy(
    r"(?i)(?<![a-z])(?:up to|until|till|through|continu\w{1,3} to"
    r"|(?<!early[ -])(?<!epochs, )(?<!steps, )(?<!rounds, )stops? at"  # no gain for 10 epochs, stop at epoch 17
    r"|ends? at|target(?: is|:)?)\s{1,4}"
    rf"(epoch|step|iteration|iter|update|round|trial|episode|generation|timestep)\s{{1,4}}({COUNT})(?![\w.]*\d)"
)


def read_maxima(text: str) -> list[tuple[str, int]]:
    """The exact maxima that a line tells in words, by unit."""
    maxima = _set_to(text)
    for found in _FOR_MAX.finditer(text):
        count = parse_count(found[1])
        near = text[max(0, found.start() - LOOK_BACK) : found.end()].replace("time steps", "steps")
        if _EVERY.search(near) or _is_of_a_part(text, *found.span()):
            continue
        if not count.rounded and count.value > 0 and is_exact(text, *found.span(1)):
            maxima.append((UNITS[found[2].lower()], int(count.value)))
    maxima += _of_pairs(text)
    maxima += [told for one in _LISTED_SETTING.finditer(text) for told in _exact_of(one[1], one[2])]
    so_many = _SO_MANY.match(text)  # GROMACS: `20000 steps,     40.0 ps.`
    if so_many and not parse_count(so_many[1]).rounded:
        maxima.append((UNITS[so_many[2]], int(parse_count(so_many[1]).value)))
    jobs = _HYDRA_JOBS.search(text) if "[HYDRA]" in text else None
    if jobs:
        maxima.append(("task", int(jobs[1])))
    return maxima + _elsewhere(text) + _of_tools(text)


def _is_of_a_part(text: str, start: int, end: int) -> bool:
    """Whether its clause says that the number is that of a part: `gradient accumulation: 8 steps`."""
    clause = max(text.rfind(sign, 0, start + 1) for sign in ",;|(")
    return _OF_A_PART.search(text, max(0, clause + 1, start - LOOK_BACK), end) is not None


def _elsewhere(text: str) -> list[tuple[str, int]]:
    """Those that are told in another language."""
    maxima = []
    if "zahl" in text or "ombre" in text or "mero" in text:
        maxima = [told for one in _SO_MANY_ELSEWHERE.finditer(text) for told in _exact_of(one[1], one[2])]
    return maxima + read_maxima_of_east(text) + read_maxima_of_west(text)


def _of_tools(text: str) -> list[tuple[str, int]]:
    """Those of lines that one program or one protocol writes so, and of calls that a session shows."""
    found = [(unit, pattern.match(text)) for unit, pattern in _WHOLE_LINES]
    found.append(("epoch", _PASSES.search(text) if " passes over" in text else None))
    found.append(("epoch", _CALL.search(text) if ".fi" in text else None))
    return [(unit, int(one[1])) for unit, one in found if one]


def _of_pairs(text: str) -> list[tuple[str, int]]:
    """The maxima that stand beside their words in some settled phrase."""
    found = [
        (one[1], one[2]) for pattern in (_UNTIL, _LAST_ONE, _NAMED_SETTING, _OPTION) for one in pattern.finditer(text)
    ]
    found += [(one[1], one[2]) for one in _AT_MOST.finditer(text)] if " (" in text else []
    found += [(one[2], one[1]) for one in _ALL_TOLD.finditer(text)]
    found += [(one[1], one[2]) for one in _ALL_STEPS.finditer(text)] if text[-1:].isdigit() else []
    if "imit" in text or "udget" in text or " to " in text:
        found += [(one[1], one[2]) for one in _LIMIT.finditer(text)]
    if " max" in text or "_max" in text:
        found += [(one[1], one[2]) for one in _MAX_BEHIND.finditer(text)]
    if "s_total" in text:
        found += [(one[1], one[2]) for one in _TOTAL_BEHIND.finditer(text)]
    if "-epoch " in text or "-step " in text or "schedule" in text:
        found += [(one[2], one[1]) for one in _SCHEDULE.finditer(text)]
    if ".." in text or "\u2026" in text:
        found += [(one[1], one[2]) for one in _FROM_ONE.finditer(text)]
    if " epoch" in text:
        found += [(one[2], one[1]) for one in _EPOCHS_AND_STEPS.finditer(text)]
    if "total" in text:
        found += [(one[1], one[2] or one[3]) for one in _IN_TOTAL.finditer(text)]
    if " = " in text:
        found += [(one[2], one[1]) for one in _PRODUCT.finditer(text)]
    if " over " in text:
        found += [(one[2], one[1]) for one in _DECAYS.finditer(text) if not _is_of_a_part(text, *one.span())]
    return [told for word, number in found for told in _exact_of(word, number)]


def read_announced(text: str) -> list[tuple[str, int]]:
    """How many things a line says that the work begun here is about."""
    text = _before_evaluation(text) if "range test" not in text else text
    found = _ANNOUNCED.search(text) if "ing " in text else None
    if found is None:
        found = _IN_A_LIST.search(text)
        near = text[max(0, found.start() - LOOK_BACK) : found.end()].replace("time steps", "steps") if found else ""
        near = (
            near[near.rfind(",", 0, -len(found[0])) + 1 :] if found and "=" in found[0] else near
        )  # `4 epochs = 1560 steps`
        found = None if _EVERY.search(near) or OF_EARLIER.search(near) else found
    if found is not None and (_is_of_a_part(text, *found.span()) or _is_reached_over(text, found.start())):
        return []
    return [] if found is None else _exact_of(found[2], found[1])


def _before_evaluation(text: str) -> str:
    """The clauses of a line up to one that tells of an evaluation: `ECAPA, 6 epochs; eval after training`."""
    found = EVALUATION.search(text)
    return (
        text
        if found is None
        else text[: max(0, text.rfind(";", 0, found.start()), text.rfind(" | ", 0, found.start()))]
    )


def _is_reached_over(text: str, at: int) -> bool:
    """Whether what stands there tells over how many a setting moves to its end."""
    return text[:at].endswith(" over") and _OF_A_SETTING.search(text, max(0, at - LOOK_BACK), at) is not None


def _exact_of(word: str, number: str) -> list[tuple[str, int]]:
    count = parse_count(number)
    whole = not count.rounded and float(count.value).is_integer() and count.value > 1
    return [(UNITS[word.lower()], int(count.value))] if whole else []


def _set_to(text: str) -> list[tuple[str, int]]:
    """The maximum that a sentence or a line of a configuration sets."""
    found = _SET_TO.search(text) if " to " in text or "param" in text or _AND_WORD.search(text) else None
    if found is None:
        return []
    number, word = next((number, word) for number, word in _SET_GROUPS if found[number])
    count = parse_count(found[number])
    if (
        count.rounded
        or count.value < 1
        or not float(count.value).is_integer()
        or not is_exact(text, *found.span(number))
    ):
        return []
    return [(UNITS[found[word].lower()], int(count.value))]
