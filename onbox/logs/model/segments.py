"""The runs that share one file: where a new one begins. Pure.

Three things tell it: words (a banner, a launcher, "resuming from step 400"); the file's own first lines, which come
once more; a counter that begins again. The last two count after a death, or a pause in which cron may have started the
job once more: ranks that start together and loops within loops show the same in a healthy run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.counts import counts_of
from onbox.logs.model.lines import message
from onbox.regex import lazy

if TYPE_CHECKING:
    from onbox.logs.model.counts import Count

HEAD_LINES = 6
HEAD_LETTERS = 8  # a shorter line is no head that one could know again
SHORT_LETTERS = 4  # but a headline of a few letters may be known beside another line
A_DATE = b"date"  # the form of every line that is a date and nothing else
RULES = frozenset("=*#-")
_DATED = lazy(r"\d{4}-\d\d-\d\d|\d\d:\d\d")
PAUSE_SECONDS = 600  # between two lines, by their time stamps: the program was not running, or all but stood still
FIRST_COUNTS = 8  # lines of progress from which it is learned where the counters begin
_BANNER = lazy(
    r"^\W{0,3}[=*#-]{3,80}\s{0,4}(?:\w{1,30} ){0,2}"
    r"(?:start\w{0,4}|begin\w{0,5}|launch\w{0,4}|run|job|attempt|try|trial)\b"
    r"(?!.{0,60}\b(?:summary|finish|complete|done|end|fail|result|exit|stat|report|config|param|info|detail|died"
    r"|crash|std(?:err|out)))",
    re.IGNORECASE,
)
# What a script shows of the program that it runs once more: `python3 train.py`.
A_COMMAND = r"(?:\S{0,80}/)?(?:python[\d.]{0,4}|bash|sh|torchrun|accelerate|deepspeed|srun|mpirun|mpiexec|uv)\s"
_RESTART = lazy(
    r"^\W*(?:\d{4}-\d\d-\d\d\S{0,80}\s{1,8})?(?:attempt|try|run|restart|launch)\s{0,8}(?:no\.?|number"
    r"|#)?\s{0,8}\d{1,20}\b(?!.{0,40}(?:fail|error|exit|died|crash))|\brestart(?:ing|ed)\b(?! (?:limit|failed"
    r"|policy|count|workers?\b(?! group)))|\bresum(?:ed|ing)\b(?!.{0,10}(?:is|later|failed))"
    r"|\bresume (?:from|at|training)\b.{0,20}\b(?:step|epoch|iter\w{0,24}|checkpoint|\d)|restor(?:ed"
    r"|ing) (?:from|checkpoint|parameters|weights|state|model|run)|\blog of (?:job|attempt|run)\b"
    r"|relaunch(?:ing|ed)|(?:starting|new) (?:attempt|run|try|training session)\b|\bstarting (?:afresh|fresh|anew|over"
    r"|from scratch)\b|\bcontinu(?:e|ing) (?:from|at) (?:step"
    r"|epoch|iter\w{0,24}|checkpoint)"
    r"|loaded (?:checkpoint|snapshot).{0,60}(?:step|epoch|iter)|requeued and (?:re)?started"
    r"|^\W*re-?(?:try|run)\W{0,3}\d{1,4}\W{1,3}"
    rf"{A_COMMAND}"
    r"|attempts? left; will restart|\bjob executing on host\b|\bstarting worker group\b",
    re.IGNORECASE,
)
_NOT_RESTART = lazy(
    r"\b(?:can|could|to|may|must|please|cannot|should|will|not|if|or|no|failed|back-off|unable"
    r"|error)\b.{0,24}(?:resum|restart|relaunch|restor)|please|how to",
    re.IGNORECASE,
)
_NUMBERED = lazy(
    r"^\W{0,3}[=*#-]{3,80}.{0,40}\b(?:attempt|run|try|restart|launch)\s{0,3}#?\d+\b(?!\W{0,3}(?:has |was |is )?"
    r"(?:fail|died|crash|exit|end|finish|complete|done|kill))",
    re.IGNORECASE,
)
_PROMPT = lazy(r"^(?:\([\w.-]{1,40}\)\s?)?(?:[\w.-]{1,40}@[\w.-]{1,60}[:\s][^$#]{0,80})?\$ [a-zA-Z./]")
# What somebody types to have work done, and not to look at what is there or to leave.
_RUNS = lazy(
    r"[^$]{0,160}\$ (?:[A-Z_]{2,40}=\S{0,200} |(?:sudo|nohup|time|env|nice|exec|stdbuf|timeout)(?: -\S{1,12}"
    r"| \d\S{0,8})* ){0,4}(?:\.{0,2}/\S"
    r"|(?:python|pypy|pip|uv|poetry|conda|mamba|torchrun|accelerate|deepspeed|composer|ray|bash|sh|zsh|source|Rscript"
    r"|julia|matlab|octave|perl|ruby|node|npm|npx|yarn|pnpm|cargo|go|java|scala|mvn|gradle|make|cmake|ninja|snakemake|nextflow"
    r"|dvc|sbatch|srun|salloc|qsub|bsub|mpirun|mpiexec|horovodrun|docker (?:run|compose|start|build)|podman|singularity"
    r"|apptainer|kubectl (?:apply|create|run|exec)|spark-submit|dbt|airflow|pytest|tox|curl|wget|rsync|onbox)\b"
    r"|\S{1,80}\.(?:sh|py|R|jl|pl)\b)"
)
THING_NUMBERED = lazy(r"\W{0,3}[A-Za-z]{2,20}[ #]{0,2}\[?(\d{1,6})[\]):.]{1,2}\s")  # `guard 7: no fault`
_A_WORD = lazy(r"[A-Za-z]{2,}")
_EXPLICIT = lazy(r"=== |\battempt\b|restarting|resum(?:ed|ing) (?:from|after|at|training)|log of", re.IGNORECASE)


def begins_run(text: str) -> bool:
    """Whether a line says that a new attempt begins, or that an old one is taken up."""
    if is_banner(text):
        return True
    return bool(_RESTART.search(text)) and (not _NOT_RESTART.search(text) or "; will restart" in text)


def is_banner(text: str) -> bool:
    """Whether a line is a headline over a new run: `=== attempt 3 (attempt 2 died) ===`."""
    return bool(_BANNER.match(text) or _NUMBERED.match(text))


def is_explicit(text: str) -> bool:
    """Whether such a line announces the attempt as a whole, and not only that a state was loaded."""
    return bool(_EXPLICIT.search(text)) or is_banner(text)


def is_pause(ended: float | None, began: float | None) -> bool:
    """Whether a line was written long after one before it; False where one of them has no time stamp (None)."""
    return ended is not None and began is not None and began - ended >= PAUSE_SECONDS


class Beginning:
    """What the newest run of a file began with: its first lines without their digits, and where its counters began."""

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self.counted: dict[bytes, float] = {}  # what the first lines counted: a loop's line is no head
        self.newest = b""
        self.loops: set[bytes] = set()  # those that came one right after the other: a loop's
        self.again: dict[bytes, bool] = {}  # those that came once more: whether they count on
        self.first: dict[str, float] = {}
        self.words: set[str] = set()  # that the first lines of a loop begin with
        self.learned = 0

    def take_head(self, form: bytes, text: str) -> None:
        if form == self.newest:
            self.loops.add(form)
        self.newest = form
        letters = SHORT_LETTERS if text[:1] in RULES or form == A_DATE else HEAD_LETTERS
        if len(self.head) < HEAD_LINES and form not in self.head and sum(map(_is_letter, form)) >= letters:
            self.head.append(form)
            number = _counted(text)
            if number is not None:
                self.counted[form] = number

    def comes_again(self, form: bytes, text: str) -> bool:
        """Whether a shell is asked for something new, systemd has started a service, the file's first line stands here
        once more, or a second one of its first lines does. A date, a few letters, or what counts, tells nothing alone.
        """
        if form[:2] == b"$ " or (b"$ " in form and _PROMPT.match(form.decode("latin-1"))):
            return _RUNS.match(text) is not None
        if b"systemd[]: Started " in form and b".service" in form:
            return True
        letters = sum(map(_is_letter, form))
        if form not in self.head or form in self.loops:
            return False
        counts_on = self.again[form] = self._counts_on(form, text)
        if len(self.again) > 1:
            return not all(self.again.values())
        known = letters >= HEAD_LETTERS or (text[:1] in RULES and _DATED.search(text) is not None)
        return form == self.head[0] and known and not counts_on

    def _counts_on(self, form: bytes, text: str) -> bool:
        number = _counted(text)
        return number is not None and number > self.counted.get(form, number)

    def take_counts(self, text: str) -> None:
        if self.learned < FIRST_COUNTS:
            self.learned += 1
            self.words.add(_first_word(text))
            for count in counts_of(text):
                self.first.setdefault(count.unit, count.value)

    def begins_again(self, text: str, before: str) -> bool:
        """Whether the outermost counter is back where it began. before: the last line of progress before."""
        stood = {count.unit: count.value for count in counts_of(before)}
        outer: Count | None = next(iter(counts_of(text)), None)
        if outer is None or outer.unit not in stood or outer.unit not in self.first:
            return False
        if _first_word(text) not in (*self.words, _first_word(before)):
            return False  # who tells of a checkpoint counts nothing
        return outer.value < stood[outer.unit] and outer.value <= self.first[outer.unit]


def _first_word(text: str) -> str:
    found = _A_WORD.search(message(text).text)
    return found[0] if found else ""


def _counted(text: str) -> float | None:
    """The number that a line counts with: of a counter, or of the thing that it begins with."""
    said = message(text).text
    counts = counts_of(said)
    thing = None if counts else THING_NUMBERED.match(said)
    return counts[0].value if counts else None if thing is None else float(thing[1])


def _is_letter(byte: int) -> bool:
    return 65 <= byte <= 90 or 97 <= byte <= 122
