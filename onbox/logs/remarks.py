"""Loss and remaining time in the words of a line, and lines that tell of a start, an end or a crash. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from onbox.logs.numbers import parse_clock
from onbox.regex import lazy

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?"
_LOSS = lazy(
    r"(?<![A-Za-z])(?P<before>(?:[A-Za-z]+[_ /.-]){0,3}(?:last|avg|mean|train|running|total)?)(?:loss|cost)(?P<after>[_/](?:avg|mean|train)| for final step)?[\"']?\s*(?:[:=]|is)?\s*[\"'\[(]*\s*"
    rf"(?:tensor\()?(?P<value>{_NUMBER}|nan|[-+]?inf)(?![\w%])",
    re.IGNORECASE,
)
_PLAIN = frozenset(
    "train training last avg avr average mean total lm running batch step epoch smoothed current ema final nll".split()
)
_VALIDATION_LINE = lazy(
    r"(?i)^\W*(?:\[?\d[\d\s:./,T-]*\]?)?\W*(?:\w+ ?[|:] ?){0,2}\W*(?:test\w*|val\w*|eval\w*|dev)(?![\w/-])|\((?:val|test|eval)\)|\[valid\w*\]"
    r"|saving dict for global step|train_runtime|(?:valid|dev|eval|test|val)\w* (?:on|summary|results?)"
)
_TIME = r"(?:\d+\s*days?,?\s*)?\d+:\d\d(?::\d\d)?(?:\.\d+)?|\d+(?:\.\d+)?\s?[a-zμµ]+(?:[\s,]*\d+(?:\.\d+)?\s?(?:[hms]|min|sec)[a-z]*)*"
_ETA = lazy(
    r"(?i)(?<![a-z])(?:eta(?:_seconds|_s)?|(?:est\w*\.? )?(?:time[ _])?remaining(?:[ _][^\W\d]+){0,3}|time[ _]left|remain(?:s|ing)?|left"
    rf"|will finish in|etc)(?:\s?\((?P<unit>[hms])[a-z]*\))?[\"']?\s*[:=~]?\s*[\"'(~]*\s*(?P<time>{_TIME}|\d+(?:\.\d+)?)"
)
_ETA_AFTER = lazy(rf"(?i)(?<![\w:.])(?P<time>{_TIME})\s+(?P<unit>)(?:left|remaining|to go)(?![a-z])")
_ETA_ABOUT = lazy(r" in \d[\d:.hms]* \(~(?P<time>[\d:.hms]+)(?P<unit>), [\d.]+[kM]?/s\)")  # alive-progress


def read_loss(text: str) -> float | str | None:
    """The first training loss on a line; `"nan"` for one that is no number; None if there is none."""
    lower = text.lower()
    if ("loss" not in lower and "cost" not in lower) or _VALIDATION_LINE.search(text):
        return None
    for found in _LOSS.finditer(text):
        words = re.findall(r"[a-z]+", found["before"].lower())
        if not words or (
            words[-1] in _PLAIN and not {"val", "valid", "validation", "eval", "test", "best", "dev"} & set(words)
        ):
            value = found["value"].lower()
            return "nan" if value == "nan" else float(value)
    return None


def read_eta(text: str) -> float | None:
    """Remaining time in words; None if none is told."""
    if not re.search(r"(?i)eta|remain|left|will fin|to go|etc|\(~\d", text):
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
    r"(?i)^\W*(?:={2,}|\*{3,}|-{3,}|#{2,}).*(?:attempt|restart|relaunch|re-?start|start|running training|launch|resum|rerun)"
    r"|\brestart(?:ed|ing)\b|\brelaunch|\battempt \d+ start|\bfrom scratch\b|^\W*start(?:ing|ed)? (?:training|train|fit)"
    r"|\brunning training\b|\bstart(?:ing|ed)? attempt\b|\bresum(?:ed|ing)\b.*\b(?:from|at|training|checkpoint)\b"
)
ENDED = lazy(
    r"(?i)\b(?:training|train|run|job|experiment|optimi[sz]ation|fitting|fit|sampling|simulation|pretraining|finetuning|study|download)\b"
    r"[^.:\n]{0,24}\b(?:completed?|finished|done|ended|over(?=\W*$)|succeeded)\b(?!\s*(?:with value|at 0))"
    r"|^\W*(?:all )?done\W*$|\ball done\b|'train_runtime'|\bloss for final step|trainer\.fit.{0,3} stopped|\bdone training\b"
    r"|\b(?:finished|completed) (?:training|successfully|mdrun|in \d)|\bsuccessfully (?:finished|completed)"
    r"|\bstopp?(?:ing|ed) early\b|\bearly[ -]?stopp(?:ing|ed)\b(?!.*(?:counter|patience|/\d| of \d))|\d+ epochs completed in"
    r"|\btotal training time\b|\boverall training speed\b|\btraining (?:took|time\b)|signaling trainer to stop|\bfinal model saved"
    r"|\bstopping, best iteration|\bmax_(?:steps|epochs|iters)\b.{0,9}reached"
    r"|(?<!not )(?<!n't )\b(?:has |have )?converged\b(?!\s*[:=]\s*(?:false|no|0))|\bafter \d+ (?:iterations|epochs|steps|rounds)\s*[:.]"
    r"|^\W*(?:fit|fitted|trained|ran|completed|finished) [\d,]+ [a-z]+ in \d"
    r"|\bstopping\.?\s*$|\bexit(?:ed)?(?: with)?(?: code| status)?[:=]? 0(?![\w.])|\btotal (?:wall|run)[- ]?(?:clock )?time\b"
    r"|\bsolved (?:in|after|at) \d+ (?:episodes|iterations|steps|epochs|generations|updates)\b"
    r"|\bended up (?:at|with)|\bend of (?:training|run)\b"
)
FAREWELL = lazy(r"(?i)wandb\S* (?:\S+ )?view run .{1,80} at:")  # said at every exit, after a crash too
IGNORED = lazy(r"^Exception ignored (?:in|while)\b")
AT_ITS_LIMIT = lazy(r"(?i)\bstopped: .{0,3}max_|\bmax_(?:steps|epochs|iters|time)\b.{0,9}reached|best iteration is:")
DONE_ONLY = lazy(r"(?i)^\W*(?:done|finished|completed?)\W*$")  # it may speak of a part: `Saving ... done`
CRASHED = lazy(
    r"(?:^|[\]\s])Traceback \(most recent call last\):\s*$|^[\w.]*(?:Error|Exception): |(?i:\bout of memory\b|\bsigterm\b|\bsigkill\b|segmentation fault|core dumped"
    r"|\bpreempted\b|keyboardinterrupt|exit code:? -?[1-9]|^\W*killed\W*$|\baborted\b)"
)
_NUMERALS = lazy("[0-9]+")
_TURNS = (("ignored", IGNORED), ("started", STARTED), ("crashed", CRASHED), ("left", FAREWELL), ("ended", ENDED))
_TURN_WORDS = (
    "start", "attempt", "launch", "resum", "rerun", "running", "scratch", "train", "done", "complete", "finish", "end", "over",
    "stop", "succe", "converged", "after ", "total ", "exit", "fit", "ran ", "final", "view run", "reached", "traceback", "error", "exception", "memory", "sig", "fault", "dumped",
    "preempted", "interrupt", "exit", "killed", "abort", "solved",
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
        if pattern.search(text):
            return name
    return None
