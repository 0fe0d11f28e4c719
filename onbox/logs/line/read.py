"""One line of a log, read: the counters on it, the loss, the remaining time, maxima, and signs of start and end.
Pure."""

from __future__ import annotations

from onbox.logs.line.displays import METRICS, read_bars
from onbox.logs.line.labelled import read_labelled
from onbox.logs.line.numbers import COUNT, is_exact, parse_count
from onbox.logs.line.remarks import read_eta, read_loss
from onbox.logs.line.rows import read_row
from onbox.logs.line.sights import CounterSight, SeenOnLine
from onbox.logs.line.states import read_states
from onbox.logs.line.words import (
    A_PIECE,
    ANY_WORD,
    AUXILIARY,
    EVALUATION,
    LOOK_BACK,
    NO_SHARE,
    NO_SHARE_AFTER,
    NOT_PROGRESS,
    OF_EARLIER,
    SHARE_IN_PERCENT,
    UNIT_WORD,
    UNITS,
    WEAK_WORDS,
)
from onbox.logs.loops import TRIED_AGAIN, repeated_indices
from onbox.logs.model.lines import message
from onbox.regex import lazy

LISTED = 3  # values of one counter on a line
_PER_ITEM = lazy(
    r"(?i)(?<![a-z_])(?:time|iter_time|batch_cost|step_time|batch_time)[\"']?\s{0,20}(?:[:=]\s{0,20})?(\d{1,18}\.\d{1,18})"
)
_FOR_MAX = lazy(
    rf"(?i)(?:(?<![a-z])(?:(?:pre)?train\w{{0,8}}|run\w{{0,8}}|fit\w{{0,8}}|start\w{{0,8}}|optimi\w{{0,8}}|for|sampling"
    rf"|max(?:imum)?|total(?: of)?)(?!\.py\b)\W{{1,4}}"
    rf"(?:[a-z]{{1,20}}\W{{1,4}})?){{1,3}}({COUNT})\s{{1,8}}(?:[a-z]{{1,20}}\s)?"
    r"(epochs?|steps?|iterations?|iters?|updates?|rounds?|trials?|timesteps?|episodes?|generations?)(?![a-z])"
)
_EVERY = lazy(
    r"(?i)(?<![a-z])(?:time|taken|took|every|each|per|improve\w*|patience|without|last|least|past|keep|interval)(?![a-z])"
)  # `an evaluation is run every 500 iterations`
_SO_MANY = lazy(
    rf"^\s*({COUNT})\s{{1,8}}(epochs|steps|iterations|iters|updates|rounds|trials|timesteps|episodes|generations),"
)
_RUN = lazy(r"^run\s{1,20}(\d{1,15})$")  # LAMMPS
_NUMBERED_FIGURE = lazy(r"\[(\d{1,9})\]-?\d{1,12}\.\d{1,12}(?=,|\s*$)")  # `[1]5.95,[2]5.71,[3]6.42`: llama.cpp
_ANNOUNCED = lazy(  # `Indexing 12,500 documents`
    rf"(?i)(?:^|[-:|\]]\s{{1,4}})\s{{0,4}}[a-z]{{3,18}}ing (?:all |the )?({COUNT})"
    rf" ({UNIT_WORD})(?![a-z/])"
)
# `integrating to t=50.0 (5000 steps)`, `10 epochs -> 2500 optimizer updates`, `population 80, 900 ticks`
_IN_A_LIST = lazy(
    rf"(?i)(?:^|[,;:(>=|])\s{{0,2}}({COUNT}) (?:[a-z]{{3,14}} )?"
    r"(epochs|steps|timesteps|ticks|iterations|iters|updates|rounds|trials|generations|episodes|sweeps)"
    r"(?=\s?[,;).|]|\s*$)"
)
_LISTED_SETTING = lazy(
    rf"(?i)[a-z\d], (epochs|iterations|steps|episodes|generations) ({COUNT})(?=,|\s*$)"
)  # `backend gloo, epochs 8`
_ALL_TOLD = lazy(
    rf"(?i)(?<![a-z])(?:total(?:l?ing|s)?|budget)(?: of)? ({COUNT}) (?:[a-z]{{1,12}} )?({UNIT_WORD})(?![a-z])"
)
_LAST_ONE = lazy(rf"(?i)(?<![a-z])end_({UNIT_WORD})[\"']?\s?[:=]\s?({COUNT})(?![\w.]*\d)")  # of a configuration
_NAMED_SETTING = lazy(rf"(?i)[\"'](?:n|num|max)_({UNIT_WORD})[\"'],\s?({COUNT})(?=[)\],])")  # `('n_gen', 40)`
# Of a test, whose name may hold any number.
_TEST_CASE = lazy(
    r"\s{0,12}[\u2713\u2714\u2716\u2717\u00d7] .{1,200} \([\d.]{1,12} ?m?s\)$|\s{4,12}[\u2713\u2714\u2716\u2717] \S"
)
_PLAN = lazy(r"^1\.\.(\d{1,9})(?: #.*)?$")  # of the Test Anything Protocol
_PASSES = lazy(r"(?<![\w.,])(\d{1,18}) passes over\b")
_MANY = r"[a-z]{2,14}s"
_DONE_COUNT = lazy(
    r"(?i)(?<![a-z])(?:done|read|processed|completed|finished|solved|handled|generated|fit|fitted|trained|built|simulated"
    r"|indexed|parsed|scanned|crawled|fetched|ingested|imported|exported|inserted|translated|embedded|rendered|aligned"
    r"|annotated|extracted|visited|analy[sz]ed|labelled|labeled|classified"
    rf"|evaluated|scored|converted|written|wrote|seen|consumed)[:=]?\s{{1,8}}({COUNT})\s{{1,8}}({UNIT_WORD}|{_MANY})(?![a-z])(?!\s{{0,8}}(?:/|of\s))"
)
_TO_GO = lazy(  # `60 frames finished, 36 to go`
    rf"(?i)(?<![\w.,/-])({COUNT}) (?:[a-z]{{2,14}} )?(?:done|processed|completed?|finished|handled|written)"
    rf"[,;|]? (?:and )?({COUNT}) (?:[a-z]{{2,14}} )?(?:to go|left|remaining|pending|to do)(?![a-z])"
)
_FIELDS_LEFT = lazy(  # `done=97 failed=3 queued=4100`
    r"(?i)(?<![\w.])(?:done|ok|finished|completed|processed)=(\d{1,12})[,;|]?\s{1,4}(?:fail(?:ed|ures?)|errors?|skipped)=(\d{1,12})"
    r"[,;|]?\s{1,4}(?:queued?|left|remaining|pending|todo|waiting)=(\d{1,12})(?![\w.])"
)
_THING_BESIDE = lazy(rf"(?i)\W{{0,8}}({'|'.join(WEAK_WORDS)}) #?(\d{{1,9}}) [a-z]{{3,12}} \d")
_CANDIDATE = lazy(r"\[CV \d{1,4}/\d{1,4}; (\d{1,9})/(\d{1,9})\] (?:START|END)\b")
_TIMESTEP = lazy(r"\s{0,8}t=\s{0,12}(\d{1,12})(?=[\s,;|].*=)")
_THINGS_DONE = (
    rf"(?i)(?<![\w.,/-])({COUNT})\s{{1,8}}({UNIT_WORD}|{_MANY})\s{{1,8}}(?:done|processed|completed|finished|handled"
    r"|generated|simulated|written|converted|seen|consumed|read|parsed|scanned|indexed|inserted|copied|exported)(?![a-z])"
)
_COUNT_DONE = lazy(_THINGS_DONE)
_SO_FAR = lazy(_THINGS_DONE + r"\W{1,3}(?:so far|in total|total|altogether)(?![a-z])")
_NO_WORK = frozenset("s secs seconds mins minutes hours days times bytes ms errors warnings failures".split())
_WHOLE = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?!\d)"
_ANY_FRACTION = lazy(
    rf"(?<![\w.,/:-])[A-Z]?(?P<current>{_WHOLE})\]?\s{{0,3}}(?:/|of|out of)\s{{0,12}}\[?(?P<max>{_WHOLE})"
    r"(?![\w/%-]|\.(?!\.)|:\S|,\d|\s?[kKMGT]i?B)"  # but `Quantizing layer 3/32...`
)
_INDEX_FIRST = lazy(r"(?i)\W{0,8}([a-z]{3,20}) #?(\d{1,6})/(\d{1,6}): ")
_FIELDS_OF = lazy(r"(?<![\w.])[a-z_]{1,12}=(?P<current>\d{1,12}),?\s{1,4}(?:of|total|max)=(?P<max>\d{1,12})(?![\w.])")
# `20/1319  accuracy: 55%`, `29/50 acc 0.29`
_MEASURED = lazy(r"(?i)\s{1,8}(?:[a-z]{1,20} ){0,2}[a-z]{1,20}(?:\s?[:=]\s?\d|\s\d{1,9}\.\d)")
# of a difference that a test shows; of a table with a frame
_NOT_OF_THE_WORK = lazy(r"[-+] ?$|\s*(?:[│┃║]|\| [a-z]{3,12} $)")
_LEADS_WITH_LOSS = lazy(r"(?i)([a-z]{3,20})[ #]{1,6}(\d{1,12})(?![\w./%-])(?=.{0,80}loss\W{1,4}\d{1,12}\.\d)")
_NTH = lazy(r"^\W{0,8}(\d{1,9})(?:st|nd|rd|th) ([A-Za-z]{3,20})\W{0,8}$")
_RUN_NUMBERED = lazy(r"(?i)\W{0,4}(run) ?\[(\d{1,9})\]:?$")  # of PyTorch's tutorial on style transfer
_LEADING_THING = lazy(rf"(?i)\W{{0,8}}({'|'.join(WEAK_WORDS)}) #?(\d{{1,9}})(?=$|[,:|]| -| [a-z]{{2,12}}ed\b)")
_SOLVER_TIME = lazy(r"^(?:[Tt]ime =|(?i:increment)[ =:]{1,3}) ?((?!0s?$)\d{1,9}(?:\.\d{1,18})?)s?$")
_PART_OF_DATA = lazy(r"(?i)(?<![a-z])(?:shard|part|partition|split|page|volume|file)s?\W{0,4}$")
_WORKS_ON = lazy(r"(?i)(?:^|[-:|\]]\s{1,4})\s{0,4}[a-z]{3,14}ing [a-z]{3,12} ?#?$")  # `Processing volume 12 of 233`
_IS_DONE = lazy(
    r"(?i)[\s:,)\]-]{1,4}(?:is |was )?(?:done|ok|ready|complete[d]?|finished|processed|written|converted"
    r"|tokeni[sz]ed|uploaded"
    r"|downloaded|indexed|merged|saved)\b"
)
_SET_TO = lazy(
    rf"(?i)(?:max(?:imum)?|total|num(?:ber of)?)[_ ](?:train(?:ing)?[_ ])?({UNIT_WORD})\W{{0,3}}\s"
    rf"(?:(?:was|is|has been|will be) )?(?:set|limited|equal) to ({COUNT})(?![\w.]*\d)"
    rf"|(?<![a-z])param(?:eter)?\s{{1,4}}((?:epoch|step|iter|iteration|update)s): ({COUNT})$"
    rf"|(?<![\w.,/-])({COUNT}) ({UNIT_WORD}) (?:requested|scheduled|planned|in total|to (?:do|go|run|process))(?![a-z])"
    rf"|(?<![\w.,/-])({COUNT}) (?:max(?:imum)?|total) ({UNIT_WORD})(?![a-z])(?!\s?[:=/])"
)  # `max_steps was set to 5000`, `Config param steps: 5000`, `1000000 generations requested`
_SAVED = lazy(r" saved \[(\d{1,18})/(\d{1,18})\]$")  # wget
_COPIED = lazy(r"^(\d{1,18}) bytes .{0,60}copied, ")  # dd
_LENGTH = lazy(r"^Length: (\d{1,18})(?= \(| \[|$)")  # wget
_DECLARED = lazy(r"^\s*nsteps\s{20,40}= (\d{1,18})$")  # GROMACS
_AND_WORD = lazy(r"\d (?:max|total)| (?:requested|scheduled|planned|in total)(?![a-z])")
_OPTION = lazy(  # of a command that is shown: `+ python train.py --epochs 80 --bs 16`
    r"(?i)\s--(?:(?:num|n|max|total)[-_])?(?:train(?:ing)?[-_])?(epochs|iterations|iters|episodes)"
    rf" ({COUNT})(?![\w.:/-])"
)
_NUMBERED = lazy(r"\s*[\[(]\s*\d{1,9}\s?/\s?\d{1,9}\s*[\])]")  # `[ 10/164] task 9: PASS, 2/10 = 0.200 so far`
_ARITHMETIC = lazy(r"[+*]\s?\(?\d{1,9}/\d|\d/\d{1,9}\)?\s?[+*]\s?\(?\d|\d/\d{1,9}\)?\s=\s\d{1,9}(?![\d.]*\s?%)")
_SET_GROUPS = ((2, 1), (4, 3), (5, 6), (7, 8))  # of the number, of its word
_UNTIL = lazy(
    rf"(?i)(?<![a-z])(?:up to|until|till|through|stops? at|ends? at|target(?: is|:)?)\s{{1,4}}"
    rf"(epoch|step|iteration|iter|update|round|trial|episode|generation|timestep)\s{{1,4}}({COUNT})(?![\w.]*\d)"
)


def read_line(text: str) -> SeenOnLine:
    """Everything a line shows. `text` is printable: no escape sequences, no carriage returns."""
    whole = _whole_line(text)
    if whole is not None:
        return whole
    if "/" in text and _ARITHMETIC.search(text) and not _NUMBERED.match(text):
        return SeenOnLine(loss=read_loss(text))  # `3/5 + 1/4 = 17/20`
    if "%" in text and ")" in text:
        text = SHARE_IN_PERCENT.sub("", text)
    bars, rest = read_bars(text)
    labelled, maxima = read_labelled(rest)
    labelled = _without_lists(labelled)
    maxima += _maxima(rest)
    sights = _together(bars, labelled)
    if not sights:
        sights = _done_count(rest)
    if sights and all(sight.rule == "done-of" for sight in sights):
        sights = sights + _moving(rest)
    if not sights and not maxima:
        sights = _moving(rest) or _with_loss(rest) or _nth(rest) or _thing(rest)
    if not sights and not maxima:
        sights = _solver_time(text)
    sights = [*sights, *_timestep(text), *_candidate(text)]
    if sights and not maxima and not any(sight.made or sight.maximum for sight in sights):
        sights += _thing_beside(rest)
    sights = _leading_index(text, sights) + sights
    sights = _repeated(text, in_a_bar=any(bar.made for bar in bars)) + sights
    loss = read_loss(text)
    eta = None if any(bar.eta is not None for bar in bars) else read_eta(text)
    if eta is not None and sights and (all(s.kind == "val" for s in sights) or _is_inner_eta(eta, sights, text)):
        eta = None
    return SeenOnLine(tuple(sights), tuple(maxima), loss, eta, announced=tuple(_announced(text)))


def _whole_line(text: str) -> SeenOnLine | None:
    """What a line shows that has one form as a whole: a row, a scheduler's states, what was downloaded."""
    if not text.isascii() and _TEST_CASE.match(text):
        return SeenOnLine()
    row = read_row(text)
    if row is not None:
        kind = "bare" if row.bare else "train"
        sight = CounterSight(row.key, row.unit, kind, row.current, None, False, row.rule, eta=row.eta)
        return SeenOnLine((sight,), loss=row.loss)
    figures = _NUMBERED_FIGURE.findall(text) if text.startswith("[1]") else []
    if len(figures) >= LISTED:
        return SeenOnLine((CounterSight("figure", "sample", "train", int(figures[-1]), None, False, "figures"),))
    saved = _SAVED.search(text) if " saved [" in text else None
    if saved:
        return SeenOnLine((CounterSight("saved", "byte", "train", int(saved[1]), int(saved[2]), False, "saved"),))
    copied = _COPIED.match(text) if " copied, " in text else None
    if copied:
        return SeenOnLine((CounterSight("copied", "byte", "train", int(copied[1]), None, False, "saved"),))
    states = read_states(text)
    if states is None:
        return None
    return SeenOnLine((CounterSight(states.unit, states.unit, "train", states.done, states.total, False, "states"),))


def _maxima(text: str) -> list[tuple[str, int]]:
    """The exact maxima that a line tells in words, by unit."""
    maxima = _set_to(text)
    for found in _FOR_MAX.finditer(text):
        count = parse_count(found[1])
        every = _EVERY.search(text, max(0, found.start() - LOOK_BACK), found.end())
        if not every and not count.rounded and count.value > 0 and is_exact(text, *found.span(1)):
            maxima.append((UNITS[found[2].lower()], int(count.value)))
    maxima += _of_pairs(text)
    maxima += [told for one in _LISTED_SETTING.finditer(text) for told in _exact_of(one[1], one[2])]
    so_many = _SO_MANY.match(text)  # GROMACS: `20000 steps,     40.0 ps.`
    if so_many and not parse_count(so_many[1]).rounded:
        maxima.append((UNITS[so_many[2]], int(parse_count(so_many[1]).value)))
    length = _LENGTH.match(text)
    if length:
        maxima.append(("byte", int(length[1])))
    declared = _DECLARED.match(text)
    if declared:
        maxima.append(("step", int(declared[1])))
    command = _RUN.match(text)
    if command:
        maxima.append(("step", int(command[1])))
    plan = _PLAN.match(text)
    if plan:
        maxima.append(("test", int(plan[1])))
    passes = _PASSES.search(text) if " passes over" in text else None
    if passes:
        maxima.append(("epoch", int(passes[1])))
    return maxima


def _of_pairs(text: str) -> list[tuple[str, int]]:
    """The maxima that stand beside their words in some settled phrase."""
    found = [
        (one[1], one[2]) for pattern in (_UNTIL, _LAST_ONE, _NAMED_SETTING, _OPTION) for one in pattern.finditer(text)
    ]
    found += [(one[2], one[1]) for one in _ALL_TOLD.finditer(text)]
    return [told for word, number in found for told in _exact_of(word, number)]


def _announced(text: str) -> list[tuple[str, int]]:
    """How many things a line says that the work begun here is about."""
    if EVALUATION.search(text):
        return []
    found = _ANNOUNCED.search(text) if "ing " in text else None
    if found is None:
        found = _IN_A_LIST.search(text)
        near = text[max(0, found.start() - LOOK_BACK) : found.end()] if found else ""
        found = None if _EVERY.search(near) or OF_EARLIER.search(near) else found
    return [] if found is None else _exact_of(found[2], found[1])


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


def _is_inner_eta(eta: float, sights: list[CounterSight], text: str) -> bool:
    """Whether a line's remaining time is that of the epoch: what is left of it, times the time that one takes."""
    inner = next((sight for sight in sights if sight.inner and sight.maximum), None)
    if inner is None:
        return False
    each = _PER_ITEM.search(text)
    if each is None or inner.maximum is None:
        return True
    left = (inner.maximum - inner.current) * float(each[1])
    return eta <= max(2.0 * left, 2.0)


def _without_lists(sights: list[CounterSight]) -> list[CounterSight]:
    """Without what one line names again and again: `[{'epoch': 0, 'lr': 0.1}, {'epoch': 81, ...}]` is a schedule."""
    listed = {
        key
        for key in {sight.key for sight in sights}
        if len({sight.current for sight in sights if sight.key == key and sight.maximum is None}) >= LISTED
    }
    return [sight for sight in sights if sight.key not in listed]


def _together(bars: list[CounterSight], labelled: list[CounterSight]) -> list[CounterSight]:
    """Counters of one line know whether an epoch stands beside them."""
    epoch = next((sight for sight in labelled if sight.unit == "epoch"), None)
    if epoch is None:
        return bars + labelled
    whole = isinstance(epoch.current, int) and not epoch.inner  # 3.0 is how far, not which
    inside = labelled[labelled.index(epoch) :] if epoch in labelled else labelled  # `step=360/10000, epoch=0` is not
    return [
        s._replace(beside_epoch=whole) if s.unit != "epoch" and not s.made and s in inside else s
        for s in bars + labelled
    ]


def _moving(text: str) -> list[CounterSight]:
    """A count of a count after any words, such as `Simulation rep 37 of 200`: a counter if it goes on as one."""
    found = _ANY_FRACTION.search(text) or _FIELDS_OF.search(text)
    if not found:
        return []
    label = METRICS.sub(" ", text[: found.start()])
    if _NOT_OF_THE_WORK.match(label):
        return []
    current, most = (int(found[name].replace(",", "")) for name in ("current", "max"))
    if current > most or most < 2 or NO_SHARE.search(label[-LOOK_BACK:]):
        return []
    rule = "moving"
    if NOT_PROGRESS.search(label[-LOOK_BACK:]) and not (
        _PART_OF_DATA.search(label) and (_IS_DONE.match(text, found.end()) or _WORKS_ON.search(label))
    ):
        if not A_PIECE.search(label):
            return []
        rule = "piece"
    if TRIED_AGAIN.match(text, found.end()):
        return []
    if NO_SHARE_AFTER.match(text, found.end()) and not (found.start() == 0 and _MEASURED.match(text, found.end())):
        return []
    kind = "aux" if AUXILIARY.search(label) else "moving"
    if EVALUATION.search(label) and not _IS_DONE.match(text, found.end()):
        kind = "val"
    named = ANY_WORD.findall(label)
    closes = label.endswith("(") and text[found.end() :].strip() == ")"  # `Processing category bottle (1/8)`
    words = " ".join(word.lower() for word in (named[:1] if closes else named[-2:]))
    return [CounterSight(f"moving {words}/{most}", "step", kind, current, most, False, rule)]


def _leading_index(text: str, sights: list[CounterSight]) -> list[CounterSight]:
    """`model 4/5: batch 60/96`: which of several things a line tells another counter of."""
    found = _INDEX_FIRST.match(text) if any(sight.maximum is not None for sight in sights) else None
    if found is None:
        return []
    word, most = found[1].lower(), int(found[3])
    if NOT_PROGRESS.search(word) or any(sight.unit == UNITS.get(word) for sight in sights):
        return []
    return [CounterSight(f"moving {word}/{most}", "step", "moving", int(found[2]), most, False, "moving")]


def _with_loss(text: str) -> list[CounterSight]:
    """`Snapshot 4000 saved, average loss: 90.7`: any word and a number that begin a line with a loss: a counter if they
    go on and on.
    """
    found = _LEADS_WITH_LOSS.match(message(text).text) if "loss" in text else None
    if found is None or NOT_PROGRESS.search(found[1]) or EVALUATION.search(text):
        return []
    return [CounterSight(f"moving {found[1].lower()}", "step", "moving", int(found[2]), None, False, "weak")]


def _nth(text: str) -> list[CounterSight]:
    """`382th run`, and nothing else: a counter if it goes on and on."""
    found = _NTH.match(message(text).text)
    if found is None or NOT_PROGRESS.search(found[2]):
        return []
    return [CounterSight(f"moving nth {found[2].lower()}", "step", "moving", int(found[1]), None, False, "weak")]


def _thing(text: str) -> list[CounterSight]:
    """`Frame 734`, `Sample 12, accuracy: 0.9`: which of the things that it works through; a counter if it goes on."""
    found = _LEADING_THING.match(message(text).text) or _RUN_NUMBERED.match(text)
    if found is None:
        return []
    word = found[1].lower()
    return [CounterSight(f"moving {word}", UNITS.get(word, "iter"), "moving", int(found[2]), None, False, "weak")]


def _timestep(text: str) -> list[CounterSight]:
    """`t=5000 ep=33 loss=0.86`: a counter if it goes on and on."""
    found = _TIMESTEP.match(text) if text.lstrip()[:2] == "t=" else None
    return [] if found is None else [CounterSight("moving t", "timestep", "moving", int(found[1]), None, False, "weak")]


def _thing_beside(text: str) -> list[CounterSight]:
    """`frame 14685 episode 260`: what leads the line, beside another counter."""
    found = _THING_BESIDE.match(message(text).text)
    if found is None:
        return []
    word = found[1].lower()
    return [CounterSight(f"moving {word}", UNITS[word], "moving", int(found[2]), None, False, "weak")]


def _candidate(text: str) -> list[CounterSight]:
    """`[CV 3/4; 5/8] END ...`: which candidate of scikit-learn's search."""
    found = _CANDIDATE.match(text) if text[:4] == "[CV " else None
    if found is None:
        return []
    return [CounterSight("candidate", "item", "train", int(found[1]), int(found[2]), False, "fraction-unit")]


def _solver_time(text: str) -> list[CounterSight]:
    """`Time = 341`, and nothing else: an iteration of a solver, if it goes on and was never a fraction."""
    found = _SOLVER_TIME.match(text)
    if found is None:
        return []
    value = parse_count(found[1]).value
    return [CounterSight("moving time", "step", "moving", value, None, False, "solver-time")]


def _repeated(text: str, *, in_a_bar: bool) -> list[CounterSight]:
    """Which repetition of the whole work this is."""
    return [
        CounterSight(f"outer {unit}", unit, "outer", current, most, False, "repeated")
        for unit, current, most in repeated_indices(text, in_a_bar=in_a_bar)
    ]


def _done_count(text: str) -> list[CounterSight]:
    """`Done 196 tasks`: how many, without a maximum; unless it is told how many are left."""
    fields = _FIELDS_LEFT.search(text) if "=" in text else None
    if fields:
        all_told = sum(map(int, fields.groups()))
        return [CounterSight("done, left", "item", "train", int(fields[1]), all_told, False, "done-count")]
    left = _TO_GO.search(text)
    if left:
        done, more = (parse_count(left[at]) for at in (1, 2))
        most = None if done.rounded or more.rounded else int(done.value + more.value)
        return [CounterSight("done, left", "item", "train", done.value, most, done.rounded, "done-count")]
    found = _SO_FAR.search(text) or _DONE_COUNT.search(text) or _COUNT_DONE.search(text)
    if not found:
        return []
    count, word = parse_count(found[1]), found[2].lower()
    if NOT_PROGRESS.search(word) or word in _NO_WORK:
        return []
    unit = UNITS.get(word, "item")
    return [CounterSight(f"done {UNITS.get(word, word)}", unit, "done", count.value, None, count.rounded, "done-count")]
