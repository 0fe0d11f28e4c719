"""Loss and remaining time in the words of a line, and lines that tell of a start, an end or a crash. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from onbox.logs.line.numbers import parse_clock
from onbox.logs.model.segments import A_COMMAND
from onbox.regex import lazy

_NUMBER = r"[-+]?(?:\d{1,18}(?:\.\d{0,30})?|\.\d{1,30})(?:e[-+]?\d{1,4})?"
_WORDS = ("loss", "cost", "verlust", "perte", "pérdida", "perdida", "perda", "\u635f\u5931", "\u640d\u5931")
_DECIMAL_COMMA = r"\d{1,6},\d{1,12}(?![\d.,])"
_THOUSANDS = r"[1-9]\d{0,2}(?:,\d{3}){1,4}(?:\.\d{1,12})?(?![\d,])"
_LOSS = lazy(
    r"(?<![A-Za-z])(?P<before>(?:[A-Za-z]{1,30}[_ /.-]){0,3}(?:last|avg|mean|train|running|total)?)"
    rf"(?P<word>{'|'.join(_WORDS)})(?P<after>[_/](?:avg|mean|train)| for final step)?[\"']?\s{{0,40}}"
    rf"(?:(?:[:=|]|is)\s{{0,20}})?(?:[\"'\[(]{{1,4}}\s{{0,20}})?(?:tensor\()?"
    rf"(?P<value>{_THOUSANDS}|{_DECIMAL_COMMA}|{_NUMBER}|nan|[-+]?inf)(?![\w%])",
    re.IGNORECASE,
)
_PLAIN = frozenset(
    "t tr trn train training last avg avr average mean total lm running batch step epoch smoothed current ema final nll".split()
)
_VALIDATION_LINE = lazy(
    r"(?i)^\W*(?:\d(?:[\s:./,T-]{0,8}\d){0,40}T?(?!\d)\W*)?(?:(?:\w{1,40} ?[|:] ?)?\w{1,40} ?[|:]\W*)?"
    r"(?:test\w*|val\w*|eval\w*|dev)(?![\w/-])|\((?:val|test|eval)\)|\[valid\w{0,16}\]"
    r"|saving dict for global step|train_runtime|(?:valid|dev|eval|test|val)\w{0,16} (?:on|summary|results?)"
)
_TIME = (
    r"(?:\d{1,9}\s{0,3}days?,?\s{0,3})?\d{1,9}:\d\d(?::\d\d)?(?:\.\d{1,18})?"
    r"|\d{1,18}(?:\.\d{1,18})?\s?(?!(?:[kmgt]i?)?b(?:ytes?)?\b)[a-zμµ]{1,16}(?:[\s,]{0,4}\d{1,9}(?:\.\d{1,18})?\s?(?:[hms]|min|sec)[a-z]{0,8}){0,6}"
)
_ETA = lazy(
    r"(?i)(?<![a-z])(?:eta(?:_seconds|_s)?|(?:est\w{0,16}\.? )?(?:time[ _])?remaining(?:[ _][^\W\d_]{1,20}){0,4}"
    r"|time[ _]left|remain(?:s|ing)?|left"
    rf"|will finish in|etc)(?:\s?\((?P<unit>[hms])[a-z]{{0,8}}\))?[\"']?\s{{0,20}}(?:[:=~]\s{{0,20}})?(?:[\"'(~]{{1,4}}\s{{0,20}})?"
    rf"(?P<time>{_TIME}|\d{{1,18}}(?:\.\d{{1,18}})?)"
)
_ANY_ETA = lazy(r"(?i)eta|remain|left|will fin|to go|etc|\(~\d")
_ETA_AFTER = lazy(rf"(?i)(?<![\w:.])(?P<time>{_TIME})\s{{1,8}}(?P<unit>)(?:left|remaining|to go)(?![a-z])")
_ETA_ABOUT = lazy(r" in \d[\d:.hms]* \(~(?P<time>[\d:.hms]+)(?P<unit>), [\d.]+[kM]?/s\)")  # alive-progress


def read_loss(text: str) -> float | str | None:
    """The first training loss on a line; `"nan"` for one that is no number; None if there is none."""
    lower = text.lower()
    if not any(word in lower for word in _WORDS) or _VALIDATION_LINE.search(text):
        return None
    for found in _LOSS.finditer(text):
        words = re.findall(r"[a-z]+", found["before"].lower())
        if not words or (
            words[-1] in _PLAIN and not {"val", "valid", "validation", "eval", "test", "best", "dev"} & set(words)
        ):
            value = found["value"].lower()
            return "nan" if value == "nan" else _as_number(value, of=found["word"].lower())
    return None


def _as_number(told: str, *, of: str) -> float:
    """A loss as it is told. of: its word, whose language tells what a comma means; in English, three digits behind one
    are thousands.
    """
    thousands = of in _WORDS[:2] and re.fullmatch(_THOUSANDS, told)
    return float(told.replace(",", "" if thousands else "."))


def read_eta(text: str) -> float | None:
    """Remaining time in words; None if none is told."""
    if not _ANY_ETA.search(text):
        return None
    found = _ETA_ABOUT.search(text) or _ETA.search(text) or _ETA_AFTER.search(text)
    if not found:
        return None
    told = found["time"]
    if re.fullmatch(r"\d+(?:\.\d+)?", told):
        named = re.match(r"(?i)eta_s", found[0])
        factor = {"h": 3600.0, "m": 60.0, "s": 1.0}.get((found["unit"] or ("s" if named else "")).lower())
        return float(told) * factor if factor else None
    return parse_clock(told)


STARTED = lazy(
    r"(?i)^(?=\W*?(?:==|\*\*\*|---|##)).*(?:attempt|restart|relaunch|re-?start|start|running training|launch|resum"
    r"|rerun)"
    r"|\brestart(?:ed|ing)\b(?!\W{1,48}(?:false|no|none|0)\b)|\brelaunch|\battempt \d{1,9} start|\bfrom scratch\b|^\W*start(?:ing|ed)? (?:training"
    r"|train|fit)"
    r"|^\W*(?:train(?:ing)?|run|job|experiment) (?:was |has )?started (?:at|on)\b"
    r"|^\W*(?:training|run|experiment) (?:session|run|job) (?:was |has )?started\b"
    r"|^\W*(?:\d[\d:.,T -]{4,40}\W{1,3})?new training (?:session|run)\b"
    r"|^\W*(?:re-?)?(?:try|run|attempt)\W{0,3}\d{1,4}\W{1,3}"  # `+ retry 1: python3 train.py`
    rf"{A_COMMAND}"
    r"|\bagent starting run\b|\brunning training\b|\bstart(?:ing|ed)? attempt\b|\bresum(?:ed|ing)\b.{0,200}\b(?:from|at|training|checkpoint)\b"
)
# `==> Start training, epoch 61`: a part of the loop begins, not the run
_PART_STARTS = lazy(
    r"(?i)^(?!.*(?:resum|restart|relaunch|rerun|attempt|(?:from|at) (?:epoch|step|iter)))"
    r".*(?:(?<![a-z])(?:epoch|iteration|iter|round|step|episode|generation|replicate|sample|chunk|batch|cycle|sweep)"
    r"(?: number| no\.?)?\W{0,3}1|\u7b2c ?1)"
)
ENDED = lazy(
    r"(?i)\b(?:training|train|run|job|experiment|optimi[sz]ation|fitting|fit|sampling|simulation|pretraining"
    r"|finetuning|study|download)\b(?![^.:\n]{0,24}\bnot (?:complete|finish|succeed))"
    r"[^.:\n]{0,24}\b(?:completed?|finished|done(?! \d{1,9}[,)])|ended|over(?=\W{0,20}$)|succeeded|selesai|abgeschlossen|beendet"
    r"|terminée?|conclu[ií]d[oa]|completad[oa]|finalizad[oa]|tamamland\w)\b(?!\s*(?:with value|at 0"
    r"|with [1-9]))"
    r"|\ball (?:\w{1,20} )?(?:epochs|steps|iterations|rounds|folds|trials|stages|tasks|runs|seeds|jobs|samples|batches|shards)"
    r" (?:are |were |have been )?(?:done|completed?|finished|processed|succeeded)\b"
    r"|^\W*(?:all )?done\W*$|\d:\d{1,2}[\])]?\W{1,4}(?:all )?done\W*$|\ball done\b|'train_runtime'|\bloss for final step|trainer\.fit.{0,3} stopped"
    r"|^\W*(?:train(?:ing)?|run|job|fit|main|program|script) end\W*$|^\W*(?:[a-z]{3,14} )?search (?:is |was )?(?:done|finished|completed?)\b"
    r"|\"(?:phase|event|type|status|state|msg)\": ?\"exit\", ?\"(?:exit_?)?(?:code|status|rc)\": ?0\b"
    r"|\bdone training\b|(?:^|[\s\]\"])(?:train(?:ing)?|run|fit|job|experiment)_(?:finished|completed?|done|ended)\b"
    r"|\bexit(?:ing|ed) (?:successfully|cleanly|normally(?!, received))\b"
    r"|\b(?:finish|finished|completed) (?:training|successfully|mdrun|in \d)|\bsuccessfully (?:finished|completed)"
    r"|^\W*successful completion of \w|\bsuccess complete\b"
    r"|\b(?:stopped|stopping) (?:the )?training(?:\W{0,3}$| with\b)"
    r"|\breached, stopping (?:the )?[a-z]{3,14}(?:\W{0,3}$| \()"
    r"|\bearly[ -]?stopp(?:ing|ed)\W{1,6}(?:(?:at|after|in) )?(?:(?:epoch|step|iteration|round)\W{1,2}\d|\d{1,9} (?:epoch|step"
    r"|iteration|round))(?!.{0,40}\d ?/ ?\d)"
    r"|\bstopp?(?:ing|ed)[ _]early\b|\bearly[ -]?stopp(?:ing|ed)\b(?!.{0,200}(?:counter|patience|/\d| of \d)| \d{1,5}\W*$)"
    r"|\d epochs completed in|\bover (?:all )?\d{1,6} (?:seeds|folds|runs|repeats|repetitions|splits)\W*$"
    r"|\bstop[ _]reason\b|\bthis progress looks :\)"
    r"|\"(?:msg|message)\": ?\"(?:\w{2,12} )?(?:complete|completed|finished|all done)\""
    r"|^number of trials: 1/1 \(1 TERMINATED\)$"  # of Ray Tune: none is left of those that there are
    r"|\bto-chk=0/\d+\)"  # of rsync: nothing is left to be checked
    r"|\btotal training time\b|\boverall training speed\b|\btraining (?:took|time\b)|signaling trainer to stop"
    r"|\bfinal model saved"
    r"|\btime budget (?:is )?(?:exhausted|used up|spent)\b|^\W*max_iter reached\b|\breached the end of (?:the )?(?:integration|simulation|interval)\b"
    r"|\bstopping, best iteration|\bmax_(?:steps|epochs|iters)\b.{0,9}reached"
    r"|(?<!not )(?<!n't )(?<!documents )\b(?:has |have )?converged\b(?!\s{0,8}[:=]\s{0,8}(?:false|no|0))"
    r"|\bafter \d{1,18} (?:[a-z]{3,14} )?(?:iterations|epochs|steps|rounds)\s*(?:[:.]|,? (?:elapsed|took|total|wall)\b)"
    r"|^\W*(?:fit|fitted|trained|ran|completed|finished) [\d,]+ [a-z]+ in \d"
    r"|\bpatience\b.{0,20}\b(?:exhausted|exceeded|ran out|is over)\b"
    r"|\bconvergence (?:atteinte|alcanzada|alcançada|raggiunta)\b|\bkonvergenz erreicht\b"
    r"|\"(?:type|event|status|state)\": ?\"(?:stop(?:ped)?|end(?:ed)?|finished|done|completed?)\""
    r"|\bparada (?:temprana|antecipada)\b|\barrêt (?:anticipé|précoce)\b|\bvorzeitig (?:beendet|gestoppt|abgebrochen)\b"
    r"|[,;:] (?:so |now |thus )?stopping(?: the \w{1,20})?(?: (?:at|after|in) \w{1,20} \d{1,12})?[.;!]\s"
    r"|\bstopping(?: here\b|\.?\s*$)|^\W*(?:\[[\w.-]{1,30}\]\s{1,4})?(?:early|auto)[ -]stop(?:ped|ping)?"
    r"(?:\W{0,3}$|[.!]\s|\s(?:after|at|triggered|because|since|due)\b(?!.{0,40}\d/\d))|^\W*stopp(?:ing|ed) (?:since|because|as|after|due|by (?:the )?(?:overfit|early|converg)\w*)\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)?[:=]? 0(?![\w.])|\btotal (?:wall"
    r"|run)[- ]?(?:clock )?time\b"
    r"|\bsolved (?:in|after|at) \d{1,18} (?:episodes|iterations|steps|epochs|generations|updates)\b"
    r"|\b(?:terminat(?:ed|ion)|ended) (?:successfully|normally)\b|\bnormal (?:termination|end of (?:run|program|job|execution))\b"
    r"|(?:训练|訓練|学習|トレーニング|훈련|학습|实验|任务|全部)\S{0,6}(?:完成|结束|結束|完了|완료|종료)(?!率)"
    r"|^\d+ bytes .{0,60}copied, \d+\.\d+ s|^\W*termination on \W|\bterminated on \d|^\W*best[ _](?:iteration|round)\W{1,3}\d+"
    r"(?:\W{1,4}best[ _][\w-]{2,24}\W{1,4}[\d.e-]{1,24})?\W*$"
    r"|\bterminated after \d{1,9} (?:generations|iterations|steps|epochs|episodes|rounds|evaluations)\b"
    r"|\bprocess to finish\W{1,6}\(success\b|\bended up (?:at|with)|\bend of (?:training|run|script|program|simulation)\b"
    r"|\bmax(?:imum)? (?:number of )?(?:iterations|steps|epochs|generations|function evaluations) "
    r"(?:(?:has|have) been |was |were |is )?(?:exceeded|reached)\b|\.\.\.1(?:00)? - done\b"
    r"|\b(?:exceeded|reached) (?:the )?(?:max(?:imum)?|total|target|final|last)[ _](?:number of )?"
    r"(?:iterations|steps|epochs|generations|updates|timesteps)\b|^\W*(?:environment |task |problem )?solved\b\W"
)
# said at every exit, after a crash too
FAREWELL = lazy(r"(?i)wandb\S{0,8} (?:(?:\S{1,16} )?view run .{1,80} at:|you can sync this run to the cloud)")
IGNORED = lazy(r"^Exception ignored (?:in|while)\b")
AT_ITS_LIMIT = lazy(
    r"(?i)\bstopped: .{0,3}max_|\bmax_(?:steps|epochs|iters|time)\b.{0,9}reached|best iteration is:"
    r"|signaling trainer to stop"
)
OF_A_LAYER = lazy(r"[0-9a-f]{12}: ")  # of an image that docker pulls
OF_A_FUNCTION = lazy(  # `COCOeval_opt.accumulate() finished in 2.69 seconds`
    r"(?i)(?<!\w)(?!\w{0,24}(?:main|train|run|fit))\w{2,40}\(\) (?:is |has |was )?(?:finished|completed?|done|ended)\b"
)
DONE_ONLY = lazy(r"(?i)^\W*(?:all )?(?:done|finished|completed?)\W*$")  # it may speak of a part: `Saving ... done`
OF_A_PART = lazy(  # `Epoch train finished, avg_loss=2.35`, `Fold 3: training complete`
    r"(?i)^number of trials: |\b(?:epoch|fold|step|iteration|round|stage|phase|trial|seed|client|task)\b[^.]{0,40}"
    r"\b(?:completed?|finished|done|ended|over)\b"
)
CRASHED = lazy(
    r"(?:^|[\]\s])Traceback \(most recent call last\):\s*$|^[\w.]*(?:Error|Exception):(?: |$)"
    r"|^Exception in thread \S|^Error in .{1,200} ?: ?$|^Execution halted|^panic: |^thread '.{1,80}' panicked at "
    r"|^terminate called |^\^C|\*\*\* (?:JOB|STEP) \d.{0,120}CANCELLED|^ERROR STOP\b|^ERROR: LoadError: |(?i:\bout of memory\b"
    r"|\bsigterm\b|\bsigkill\b|segmentation fault|core dumped"
    r"|\b(?:received|caught|got|(?:terminated|killed|stopped) by) signal (?:2|6|9|11|15)\b"
    r"|^state: (?:timeout|failed|cancelled|out_of_memory|node_fail|preempted)"
    r"|\bloss is (?:nan|inf\w*|not finite)\b.{0,20}\bstop"
    r"|\bpreempted\b|keyboardinterrupt|exit ?code\s{0,4}:? {0,2}-?[1-9]"
    r"|\bexit(?:ed)?(?: with)? (?:code|status|rc)[ =:]{1,3}-?[1-9]|^\W*(?:exit|rc|return code)[ =:]{1,3}[1-9]\d{0,2}\W*$"
    r"|\bsending signal (?:term|kill|int)\b|\bassertion\b.{0,80}\bfailed\b|^\W*(?:killed|terminated)\W*$|:\s+\d+ (?:killed|terminated|aborted)\b"
    r"|\baborted\b|\b(?:learning|training) (?:was |has been )?interrupted\b)"
)
_IN_VAIN = lazy(
    r"(?i)\bstopp(?:ing|ed)\b.{0,40}\b(?:without|before) (?:any |a |an )?(?:sav\w+|results?|finish\w+|complet\w+)"
)
_NUMERALS = lazy("[0-9]+")
_TURNS = (("ignored", IGNORED), ("started", STARTED), ("crashed", CRASHED), ("left", FAREWELL), ("ended", ENDED))
_TURN_WORDS = (
    "best ", "best_", "copied", "start", "attempt", "launch", "resum", "rerun", "retry", "re-try", "run 1", "running", "scratch", "train", "done", "complete", "finish", "end", "over",
    "stop", "succe", "converged", "after ", "total ", "exit", "fit", "ran ", "final", "view run", "reached", "exceeded", "traceback", "error", "exception", "memory", "sig", "fault", "dumped",
    "完成", "结束", "結束", "完了", "완료", "종료", "preempted", "interrupt", "exit", "killed", "panic", "halted", "^c", "cancelled", "rc=", "return code", "signal", "assertion", "abort", "solved", "terminat", "convergen", "patience", "konvergenz", "parada ", "arrêt ", "vorzeitig ", "state:", "loss is", "over ", "to-chk=0", "looks :)",
)  # fmt: skip


def turn_of(text: str) -> str | None:
    """`started`, `ended`, `left`, `crashed` or `ignored`, if a line tells that; None for most lines. Lines that differ
    in their numbers only tell the same, but for zeros: they are looked at once.
    """
    return _turn_of_form(_NUMERALS.sub(_zero_or_one, text))


def _zero_or_one(found: re.Match[str]) -> str:
    return "1" if found[0].strip("0") else "0"


@lru_cache(maxsize=4096)
def _turn_of_form(text: str) -> str | None:
    lower = text.lower()
    if not any(word in lower for word in _TURN_WORDS):
        return None
    for name, pattern in _TURNS:
        if pattern.search(text) and not (name == "started" and _PART_STARTS.match(text)):
            return None if name == "ended" and _IN_VAIN.search(text) else name
    return None
