"""A log's bytes as numbered lines, and one line without what launchers, loggers and terminals put around it. Pure.

A line's number counts `\\n`, from 1; the parts that a progress bar separates by `\\r` share it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.outside import printable
from onbox.regex import lazy
from onbox.system.clock import utc_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINE_LIMIT_BYTES = 8192  # of a longer line, this much of its beginning and of its end is looked at
CARRY_LIMIT_BYTES = 1 << 20
TEXT_LIMIT = 1000


class Block(NamedTuple):
    """Whole lines of a log. first: number of the first one. lines: without their ends."""

    first: int
    lines: list[bytes]


class Gap(NamedTuple):
    """A part of a log that is not read. lines: how many end in it."""

    lines: int


def blocks(chunks: Iterable[bytes | Gap]) -> Iterator[Block]:
    """The lines of a stream, in blocks about as large as its chunks. What stands before a gap is taken as a whole line.

    Memory is bounded whatever the lines are: of a line of over 1 MiB, parts between `\\r` are given as they come, and
    of one without any `\\r` the middle is left out.
    """
    number, carry = 1, b""
    for raw in chunks:
        if isinstance(raw, Gap):
            if carry:
                yield Block(number, [carry])
            number, carry = number + raw.lines, b""
            continue
        chunk = raw.replace(b"\0", b"") if b"\0" in raw else raw  # of UTF-16, or of a disk that lost power
        text = carry + chunk if carry else chunk
        end = text.rfind(b"\n")
        if end >= 0:
            lines = text[:end].split(b"\n")
            yield Block(number, lines)
            number, carry = number + len(lines), text[end + 1 :]
        else:
            carry = text
        if len(carry) > CARRY_LIMIT_BYTES:
            shown, carry = _shorten(carry)
            if shown:
                yield Block(number, [shown])
    if carry:
        yield Block(number, [carry])


def _shorten(carry: bytes) -> tuple[bytes, bytes]:
    end = carry.rfind(b"\r")
    if end > 0:
        return carry[:end], carry[end + 1 :]
    return b"", carry[:LINE_LIMIT_BYTES] + b" ... " + carry[-LINE_LIMIT_BYTES:]


# What a shell says of a process's end. It stands behind a bar where that had not ended its line.
_LAST_WORDS = (
    b"Killed", b"Terminated", b"Aborted", b"Segmentation fault", b"Bus error", b"Illegal instruction",
    b"Floating point exception", b"Hangup",
)  # fmt: skip
_BEHIND = lazy(
    rb"(?:(?<=[])}%|>0-9])|(?<=/s)|(?<=/it))(?:\x08|\x1b\[[\d;]{0,8}[A-Za-z]){0,400}"
    rb"(?P<word>(?:" + b"|".join(_LAST_WORDS) + rb")(?: \(core dumped\))?\s*)$"
)


def pieces(first: int, lines: list[bytes]) -> list[tuple[int, bytes]]:
    """Lines with their numbers; of what was written one over another in a line, each part, without the empty ones."""
    joined = b"\n".join(lines)
    numbered = list(enumerate(lines, start=first))
    if b"\r" in joined:
        numbered = [(number, part) for number, line in numbered for part in line.split(b"\r") if part.strip()]
    if any(words in joined for words in _LAST_WORDS):
        numbered = [(number, piece) for number, line in numbered for piece in _apart(line)]
    return numbered


def _apart(line: bytes) -> list[bytes]:
    found = _BEHIND.search(line)
    return [line] if found is None else [line[: found.start()], found["word"]]


def readable(line: bytes) -> str:
    """A line's text: valid, without control sequences, and of bounded length."""
    if len(line) > LINE_LIMIT_BYTES:
        half = LINE_LIMIT_BYTES // 2
        line = line[:half] + b" ... " + line[-half:]
    text = line.decode("utf-8", "replace")
    if not text.isprintable():
        text = printable(text.replace("\t", "    "))
    if len(text) > TEXT_LIMIT:
        text = text[: TEXT_LIMIT // 2] + " ... " + text[-TEXT_LIMIT // 2 :]
    return text.rstrip()


_STAMP = (
    r"(?:\d{4}[-/]\d\d[-/]\d\d|\d\d[-/]\d\d[-/]\d{2,4}|\d\d[-/]\d\d)[-T_,\s]{1,3}"
    r"\d\d:\d\d:\d\d(?:[.,]\d+)?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?"
)
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
_LETTER = r"(?:\d{1,9}\s{1,4})?[DIWEF]\s{1,4}"  # a level of one letter, behind a pid
_LEVELS = r"DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE|NOTICE"
_PREFIX = lazy(
    rf"""(?:
      \[(?:default|[Rr]ank\s?)?\d+\]\s?:\s?                          # [rank3]: of torch, [0]: of MPI and pdsh
    | \[\d+,\d+\](?:<std(?:out|err)>)?:\s?                           # mpirun --tag-output
    | \d{{1,5}}:\s                                                   # srun --label
    | \((?:[^()]{{0,60}}\bpid=\d+[^()]{{0,60}}|raylet|autoscaler[^()]{{0,40}}|gcs_server)\)\s?   # Ray
    | \d\d-\d\d\s{_CLOCK}\s\[[\w./-]{{1,60}}\.py:\d+\]\s                # vLLM, behind the level
    | \[[\w./-]{{1,60}}\.(?:py|cc|cpp|cu|go|rs|java|jl|js|ts):\d{{1,6}}\]\s   # a logger's place in the code
    | [\w-]{{1,60}}\.py:\s{{1,5}}\d{{1,5}}:\s                         # the same, its number padded: no warning
    # a stamp, of Kubernetes with its stream
    | \[?{_STAMP}\]?(?:,\d{{1,7}}(?=\s))?[\s,:]*(?:(?:stdout|stderr)\s[FP]\s)?(?:[|-]\s+)?(?:{_LETTER}(?=\S))?
    | \[?{_CLOCK}\]?\s+(?:[|-]\s+)?
    | (?:stdout|stderr|out|err)\s?[|:>]\s?
    | [IWEF]\s?(?:\d{{4}}){{1,2}}\s{_CLOCK}\s+(?:\d+\s+)?\S+:\d+\]\s?              # glog
    | [A-Z][a-z]{{2}}\s+\d{{1,2}}\s{_CLOCK}\s\S+\s[\w./()-]+(?:\[\d+\])?:\s   # syslog
    | \[\+?\s*\d+\.\d{{3,}}\](?:\s|$)                              # kernel; `[+  473.320]`: since the start
    # docker compose; behind it, the indentation of a traceback
    | (?![\d.]{{1,20}}\s*\|)[\w.-]{{1,60}}\s*\|\s(?=\S|(?:[ ]{{2}}){{1,20}}[A-Za-z(\["'{{~^])
    | \[?(?:{_LEVELS})\]?(?::[\w.]+:|\s*[-|:]\s*|\s+)                # a level
    | \[[EWMI]::\w{{1,60}}\]\s                                        # of htslib and bwa: a level and a function
    | \[[VDIWEF]\]\s                                                # TensorRT, absl-like: a level
    | \[(?:\w+[-_/\s]?)?(?:worker|node|host|pod|main|trainer|ps|gpu|GPU|cuda)[-_\s]?\w*\]\s
    | [\w./-]{{1,60}}\s-\s(?=(?:{_LEVELS})\b)                        # a logger's name before a level
    | (?:wandb|accelerate|lightning|submitit|transformers)(?::|\s-|\s\|)\s
    )""",
    re.VERBOSE,
)
_LEVEL = lazy(
    rf"(?:^|[\s\[|:<(])({_LEVELS})(?=[\s\]):|>,/-]|$)|(?<=[,;])({_LEVELS})(?=[,;])|^\[?([IWEF])(?:\d{{4}}){{1,2}}\s"
    r"|^([IWEF]) \d{4} (?=\d\d:\d\d:)"
    rf"|\[([IWE])[ :.\d]{{0,40}}[\w/.]{{1,80}}\.(?:cpp|cc|hpp):\d"
    r"|^\[([EWI])::\w|\d: ([IWEF]) \S+:\d+\]|\] \[([IWEF])\] |^\[([IWEC])[\s]+\d{4}-\d\d|^\((DEBUG|INFO|WARNING"
    r"|ERROR|CRITICAL)\)"
    rf"|^\[?{_STAMP}\]?\s{{1,4}}(?:\d{{1,9}}\s{{1,4}})?([DIWEF])\s{{1,4}}\S"
    rf"|^\[?{_STAMP}\]?[\s,:]{{0,4}}-?[\w.]{{1,40}}-({_LEVELS})-"
    r"|\] (?:\S{0,60}@\S{0,60} )?(LOG|DETAIL|HINT|STATEMENT|CONTEXT):  "  # PostgreSQL
)
_LETTER_LEVELS = {
    "D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL", "C": "CRITICAL", "WARN": "WARNING",
    "LOG": "INFO", "DETAIL": "DEBUG", "HINT": "DEBUG", "STATEMENT": "DEBUG", "CONTEXT": "DEBUG",
}  # fmt: skip
# `ERROR | stderr | INFO:     Started`: what another logger has caught has its own level.
_RELAYED = lazy(rf"\b(?:{_LEVELS}) \| (?:stderr|stdout) \| (?=(?:{_LEVELS})\b)")
# In small letters a level is one only in brackets, or as a field (`level=error msg="..."`).
_SMALL_LEVEL = lazy(
    r"(?:^|[\s\])])\[((?i:trace|debug|info|notice|note|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|alert|emerg|panic))\s{0,6}\]"
    r"|(?:^|\s)(?:level|lvl|severity)=\"?((?i:trace|debug|info|notice|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|panic))\b"
)
_OF_NPM = lazy(r"\d{1,6} (silly|verbose|info|http|warn|error) (?=\S)")  # its own log
_SMALL_LEVELS = {
    "trace": "DEBUG", "silly": "DEBUG", "verbose": "DEBUG", "http": "INFO", "note": "NOTICE", "warn": "WARNING",
    "err": "ERROR", "crit": "CRITICAL", "alert": "CRITICAL", "emerg": "FATAL", "panic": "FATAL",
}  # fmt: skip
_TELLING = ("WARNING", "ERROR", "CRITICAL", "FATAL")  # of their fields the message alone is read
# Of Node's loggers, of apt, and of the runners of CI; of "error: " alone, compilers and tools make use as well.
_SPELT_LEVELS = (
    ("info: ", "INFO"), ("warn: ", "WARNING"), ("debug: ", "DEBUG"), ("verbose: ", "DEBUG"), ("W: ", "WARNING"),
    ("N: ", "NOTICE"),
    *((f"{start}{word}", word.upper()) for word in ("error", "warning", "notice", "debug") for start in ("::", "##[")),
)  # fmt: skip
# "Warning" in other languages, where a line begins with it.
_WARNING_WORDS = (
    "警告", "경고", "Предупреждение", "Warnung", "Avertissement", "Attention :", "Advertencia", "Aviso", "Avviso",
    "Attenzione",
)  # fmt: skip
_WARNS = lazy(
    r"/\S{1,300}/(?:site|dist)-packages/\S{1,200}\.py:\d{1,6}: (?!\w*[Ee]rror\b)"
)  # Python's form, or like it
# What is told in the fields of such a line.
_FIELDS = lazy(r"\b(?:msg|message|err|error|reason)=(?:\"((?:[^\"\\]|\\.){0,600})\"?|(\S{1,200}))")
_SOURCE = lazy(
    r"^(?:\[?rank ?\d+\]?|\[\d{1,6}(?:,\d+)?\]|\d{1,5}: |\([^()]{0,60}\bpid=\d{1,9}[^()]{0,60}\)|[\w.-]{1,60}\s*\| )",
    re.IGNORECASE,
)
# The name that a program gives itself, perhaps behind a time or a level.
_TAG = lazy(r"(?:^|[\s\]])\[(?:gpu|cuda|device|worker|process|proc|node)[-_:]? ?\d{1,5}\](?=:?\s)", re.IGNORECASE)
TAGGED_WITHIN = 80  # letters


class LogMessage(NamedTuple):
    """text: the line without its prefixes, its own indentation kept. level: the logger's word, None if there is none.
    source: what names the rank, process or container that wrote it; empty if nothing does.
    """

    text: str
    level: str | None
    source: str


_STAMP_FIELDS = lazy(r"(\d{4})[-/](\d\d)[-/](\d\d)[T_ ]+(\d\d):(\d\d):(\d\d)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# As date(1) and ctime(3) write it: `Sat Nov 28 13:11:47 UTC 2026`, `Sat Nov 28 01:11:47 PM UTC 2026`
_DATE = lazy(
    rf"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ({'|'.join(_MONTHS)})\s{{1,2}}(\d{{1,2}})"
    r" (\d\d):(\d\d):(\d\d)(?: ([AP])M)?(?: [A-Z]{2,5}| [+-]\d{2,4})? (\d{4})\b"
)


def stamp_seconds(text: str) -> float | None:
    """The time stamp of a line in seconds since the epoch, whatever its zone; None if it has none."""
    found = _STAMP_FIELDS.search(text)
    if found:
        year, month, day, hour, minute, second = (int(group) for group in found.groups())
        return float(utc_seconds(year, month, day, hour, minute, second))
    dated = _DATE.search(text)
    if not dated:
        return None
    day, hour, minute, second, year = (int(dated[group]) for group in (2, 3, 4, 5, 7))
    if dated[6]:
        hour = hour % 12 + 12 * (dated[6] == "P")
    return float(utc_seconds(year, 1 + _MONTHS.index(dated[1]), day, hour, minute, second))


# The same in other languages (`Do 26. Nov 02:00:01 UTC 2026`), and as `date -Is` and `date '+%F %T'` write it.
_ANY_DATE = lazy(
    r"[^\W\d]{1,5}\.?,? {1,2}(?:\d{1,2}\.? {1,2}[^\W\d]{3,10}\.?|[^\W\d]{3,10}\.? {1,2}\d{1,2}\.?,?) {1,2}(?:\d{4},? )?"
    r"\d\d:\d\d:\d\d(?: [AP]M)?(?: [A-Z]{2,5}| [+-]\d{2,4})?(?: \d{4})?"
    r"|\d{4}-\d\d-\d\d[T_ ]+\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z| ?UTC| ?[+-]\d\d:?\d\d)?"
)
_RULES = "=*#-[]() "


def is_date(text: str) -> bool:
    """Whether a line is what date(1) prints, perhaps between rules: a script's word on where it stands."""
    bare = text.strip(_RULES)
    return _DATE.fullmatch(bare) is not None or _ANY_DATE.fullmatch(bare) is not None


def message(text: str) -> LogMessage:
    """What a line says, behind up to eight prefixes."""
    rest = text
    for _ in range(8):
        shown = rest.lstrip() if rest[:1] == " " and rest[:3] != "   " else rest
        found = _PREFIX.match(rest) or _PREFIX.match(shown)
        if not found:
            break
        rest = found.string[found.end() :]
    source = _SOURCE.match(text) or (_TAG.search(text[:TAGGED_WITHIN]) if "[" in text else None)
    if rest[:1] == "{":
        return _of_json(rest, source[0] if source else "")
    relayed = _RELAYED.search(text[:160]) if "| std" in text else None
    level = _LEVEL.search(text[relayed.end() - 1 : 160] if relayed else text[:160])
    if "NCCL WARN" in text:  # NCCL's word for what ends a communicator
        return LogMessage(rest, "ERROR", source[0] if source else "")
    word = next(filter(None, level.groups()), None) if level else None
    if word is None and ("[" in text or "l=" in text or "ty=" in text):
        small = _SMALL_LEVEL.search(text[:160])
        if small is not None:
            word = _of_small(small[1] or small[2])
            rest = _of_fields(text, rest) if word in _TELLING else rest
    if word is None and text[:1].isdigit() and (of_npm := _OF_NPM.match(text)):
        word, rest = _of_small(of_npm[1]), text[of_npm.end() :]
    if word is None:
        word = next((level for start, level in _SPELT_LEVELS if text.startswith(start)), None)
    if word is None and (rest.lstrip("[【").startswith(_WARNING_WORDS) or (text[:1] == "/" and _WARNS.match(text))):
        word = "WARNING"
    return LogMessage(rest, _LETTER_LEVELS.get(word, word) if word else None, source[0] if source else "")


def names_level_small(text: str) -> bool:
    """Whether a line names its level as the loggers of compiled programs do, and hardly any of Python's."""
    return _LEVEL.search(text[:160]) is None and _SMALL_LEVEL.search(text[:160]) is not None


def _of_small(word: str) -> str:
    return _SMALL_LEVELS.get(word.lower(), word.upper())


def _of_fields(text: str, rest: str) -> str:
    """What a line of fields says, or what stands behind a level in brackets."""
    told = [quoted or bare for quoted, bare in _FIELDS.findall(text)]
    if told:
        return ": ".join(told).replace('\\"', '"').replace("\\n", " ")
    small = _SMALL_LEVEL.search(rest[:80])
    return rest[small.end() :].lstrip(" :-") if small is not None and small[1] else rest


# A launcher over ssh puts the host before each line. Libraries, programs and files are no hosts, nor what is counted.
_HOST = lazy(
    r"(?!python|(?:step|epoch|iter|it|batch|rank|line|layer|fold|trial|round|episode)[-_]?\d)"
    r"(?=[A-Za-z.-]*\d)[A-Za-z\d][\w.-]{1,40}(?<!\.py)(?<!\.sh): ",
    re.IGNORECASE,
)


def hosted(text: str, before: str) -> LogMessage:
    """What a line says, without the host that both it and the line before it begin with."""
    found = _HOST.match(text)
    if not found or ".so" in found[0] or not before.startswith(found[0]):
        return message(text)
    said = message(text[found.end() :])
    return said._replace(source=found[0] + said.source)


_JSON_LEVEL = lazy(rf"\"(?:level|levelname|severity|lvl)\"\s*:\s*\"({_LEVELS})\"", re.IGNORECASE)


# Servers log what they have caught in the same way.
_TELLS_END = lazy(r"unhandled|uncaught|crash|fatal|abort|shutting down|exiting|gave up|giving up", re.IGNORECASE)
# `"err":{"type":"TypeError","message":"..."`, `"exc_type": "RuntimeError", "exc_value": "..."`
_JSON_EXCEPTION = lazy(
    r"\"(?:exc_|error_|err_)?(?:type|name|class)\"\s?:\s?\"((?:[a-z_]\w{0,30}\.){0,5}[A-Z]\w{1,60}(?:Error|Exception))\",\s?"
    r"\"(?:exc_|error_|err_)?(?:value|message|msg)\"\s?:\s?\"((?:[^\"\\]|\\.){1,800})\"?"
)


def _of_json(text: str, source: str) -> LogMessage:
    """A line that is a JSON object: its level stands in a field, lines are folded into its texts, and an exception has
    its name and its message in fields side by side.
    """
    level = _JSON_LEVEL.search(text)
    word = level[1].upper() if level else None
    names = 'Error"' in text or 'Exception"' in text
    told = _JSON_EXCEPTION.search(text) if names and _TELLS_END.search(text) else None
    said = f"{told[1]}: {told[2]}".replace('\\"', '"') if told else text
    return LogMessage(said.replace("\\n", " "), _LETTER_LEVELS.get(word, word) if word else None, source)
