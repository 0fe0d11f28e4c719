"""One line: whether it is worth a closer look, which rule it matches, and how sure it is that it mattered. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from onbox.regex import lazy
from onbox.triage import meaning
from onbox.triage.epilogue import MAKE_GAVE_UP
from onbox.triage.reading import going_on, languages, signs
from onbox.triage.reading.record import LOGGED, PROVEN, WEAK
from onbox.triage.reading.tracebacks import Trace, exception_of
from onbox.triage.rules.demands import MEANT, MEANT_IN_LINE, shows_code, speaks_of_code
from onbox.triage.rules.names import class_of_name
from onbox.triage.rules.rows import ASKED, BUG, DEATH, REASON, SUMMARY, RuleRow, compiled
from onbox.triage.rules.table import ROWS
from onbox.triage.rules.vocabularies.exceptions import class_of_certain, class_of_module

if TYPE_CHECKING:
    from onbox.logs.model.lines import LogMessage

BY_ID = {row.id: row for row in ROWS}
BAD_LEVELS = ("ERROR", "CRITICAL", "FATAL", "SEVERE")
QUIET_LEVELS = ("INFO", "DEBUG", "NOTICE")
REMARK_LEVELS = (*QUIET_LEVELS, "WARNING")
WORK_LEVELS = ("INFO", "NOTICE", "WARNING")  # of lines that tell what a program does; it may debug its own end
PROGRESS_MAY_SAY = (
    "exception",
    "said-error",
    "fatal-level",
    "error-line",
    "launcher",
    "crash-signal",
    "aborted",
)  # words of progress lines too
# Rows that say only that something failed: what the sentence names says more.
VAGUE_ROWS = ("exception", "said-error", "error-line", MEANT_IN_LINE.id, "fatal-level", "solver-failed")
_NAMED_BY = {"ray_node_died": "ray-worker", "cuda_assert": "cuda-vague"}  # classes of which no sentence speaks
_OF_RUNTIMES = ("other-languages", "exception", "launcher")
_HEADED = lazy(  # the JVM and .NET name the exception behind words of their own
    r"^(?:Exception in thread \"[^\"]{1,80}\" |Unhandled [Ee]xception[.:] |Caused by: )"
    r"((?:[A-Za-z_]\w{0,60}\.){1,10}[A-Z]\w{1,80})(?:: (.*))?$"
)
_ASKS_THE_NAME = (*VAGUE_ROWS, "defect", "bad-setting", "no-such-file")
OWN_WORDS = ("exception", "defect", "bad-setting", "error-line", "said-error", "fatal-level")  # a program's own
_OF_THE_BOX = ("cuda_env", "checkpoint_corrupt")  # what a setting that is refused may be no fault of
_DEMANDING = ("exception", "said-error", "defect")  # what may tell its reader to choose otherwise
_BELOW_PEERS = ("cuda_oom", "host_oom", "shm_too_small", "gpu_hardware")  # what a library of ranks tells of its own box
_OF_PROGRAMS = ("ValueError", "TypeError", "KeyError", "AssertionError", "NotImplementedError")  # never a scheduler's
_SPEAKING = ("AssertionError", "NotImplementedError")  # defects that may hold a sentence of the program's own
_CALLED_FATAL = lazy(r"\W{0,4}(?:fatal|error):? \[", re.IGNORECASE)  # `fatal: [host]: UNREACHABLE! => {"msg": "..."}`
_FRAME = lazy(r"\s{2,}at \S")  # of Java, Node or .NET
_OF_ARGPARSE = lazy(r"\S{1,120}\.py: error: \S")
_CRIES_OUT = lazy(r"(?i)\W{0,4}(?:error|panic|fatal)\b(?: at |\s?: ?[a-z]{2})")  # `error at epoch 3`: it is no step
TRACKER = lazy(
    r"^\W{0,4}(?:wandb|comet(?:_ml)?|COMET|neptune|clearml|mlflow|swanlab)\b(?!(?:\.\w{1,40}){1,4}: )\W"
    r"|\bgit root error\b",
    re.IGNORECASE,
)  # but not an exception of it, which ends the program
_OF_A_TRIAL = lazy(r"\bTrial \d{1,9} failed with parameters: ")  # Optuna
# A tracker's own log of what it does: its troubles end no run.
TRACKERS_LOG = lazy(r"\s[\w-]{1,40}\s{0,8}:\d{1,9} \[\w{1,60}\.py:\w{1,60}\(\):\d{1,6}\]")
PYTHON_WARNING = lazy(r"(?:^|\s|:)(?:[A-Z]\w*)?[Ww]arning: |^Namespace\(")
# Of R: a warning with the call that it comes from, and such a call with the warning below it.
WARNING_IN_R = lazy(r"(?:\d{1,3}: )?In \w[\w.:]{0,60}\(.{0,200}\) ?: \S")
WARNED_IN_R = lazy(r"(?:\d{1,3}: )?In \w[\w.:]{0,60}\(.{0,400}:\s{0,4}$")
# Of the list that R tells its warnings in: its head, and one of them.
HEADS_WARNINGS = lazy(r"(?:^|: )Warning messages?:\s{0,4}$", re.IGNORECASE)
LISTED_WARNING = lazy(r"\d{1,3}: \S")
_TRIED_IN_R = lazy(r"Error in try\(")  # R shows what `try` has caught
_ASIDE = lazy(r"^\s{0,40}\(.{1,400}\)\s{0,8}$")  # a whole line in brackets is a note


def _rows_by_word() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, row in enumerate(ROWS):
        for word in row.need.split("|"):
            found.setdefault(word, []).append(at)
    return found


def _shortest(words: set[str]) -> tuple[str, ...]:
    """Those that hold no other: a line without them holds none of the others."""
    return tuple(sorted(word for word in words if words.isdisjoint(_parts(word))))


def _parts(word: str) -> set[str]:
    return {word[at:end] for at in range(len(word)) for end in range(at + 1, len(word) + 1)} - {word}


_NEEDED_BY = _rows_by_word()
_SIGN_WORDS = (
    'traceback|recent call|call stack:|file "|(code 0'
    "|run #|try #|launch |run |.py:|resum|restart|restor|attempt|relaunch|log of|continu|handling of"
    "|above exception|ifree|iuse|%  /|% /|done|complet|finish|succe|reached|train_runtime|kept|best|export ok|overflow"
    "|again|does not fit|batch size|early stop|objective"
    "|solution|as it should|as expected|inodes|df -|0  100%|0 100%|tpu|hbm|/dev/accel|loss scale|loaded |worker group"
    "|passed|built target|executing on host|output (if any)|trying|retry|skip|fall|recover"
    "|instead|default|tolerat|took over|took the|took its|aside|left out|anew|one more|next t|another|second t|tries"
    "|stays|keep|go on|goes on|moving on|carrying on|no harm|matter|optional|going on"
    "|max_failures|not needed|enough|normal|fell|using the"
    "|created it|built it|ignor|replaced|reconnect|proceed|from scratch|afresh|will be|warnings.warn("
    "|saved|wrote|written|writing |uploaded|stored|tests passed"
)
_WORDS = _shortest({*_NEEDED_BY, *_SIGN_WORDS.split("|"), *languages.PLAIN_WORDS.split("|")})


@cache
def _longer(short: str) -> list[str]:
    """The words of rows that hold it: a line asks for few of them."""
    return [word for word in _NEEDED_BY if short in word]


NEARLY_ASKED = 5
_SAVED_FILE = lazy(r"\brestart file|\.(?:ckpt|pth?|safetensors|distcp|gguf)\b|checkpoint|\bmodel state", re.IGNORECASE)
DAMAGED = ("archive-damaged", "record-damaged", "checkpoint-damaged")


def holds_a_word(lower: str) -> bool:
    """Whether a line, in small letters, holds any word that a rule or a sign needs."""
    for word in _WORDS:
        if word in lower:
            return True
    return not lower.isascii() and any(word in lower for word in languages.OTHER_WORDS)


def progress_of(text: str, said: LogMessage) -> bool:
    """Whether a line reports that a loop went on."""
    return (
        any(map(str.isdigit, text))
        and said.level not in BAD_LEVELS
        and not TRACKER.match(text)
        and not _FRAME.match(said.text)
        and not _CRIES_OUT.match(said.text)
        and signs.is_progress(said.text)
        and not exception_of(said.text, in_trace=False)
    )


def match_row(said: str, text: str) -> RuleRow | None:
    """The first row that matches a line. said, text: the line without and with its prefixes."""
    if signs.names_columns(text) or signs.is_of_another_time(text):
        return None
    if "=" in text or ": " in text:
        said, text = signs.COUNTS.sub("", said), signs.COUNTS.sub("", text)
    lower = text.lower()
    words = {word for short in _WORDS if short in lower for word in _longer(short) if word in lower}
    places = {at for word in words for at in _NEEDED_BY[word]}
    for row in (ROWS[at] for at in sorted(places)):
        pattern = compiled(row.pattern)
        if pattern.search(said) or (row.fatal and said != text and pattern.search(text)):
            return row
    return None


def severity(row: RuleRow, said: LogMessage, text: str, named: tuple[str, str] | None, trace: Trace | None) -> int:
    """How sure it is that a line tells of a fault that mattered. named: the exception that the line names. trace: the
    traceback it stands in or ends.
    """
    if _is_none_of_its(row, text, named, trace):
        return WEAK
    if abs(row.explains - ASKED) <= NEARLY_ASKED and not named:
        of_helper = said.level in QUIET_LEVELS and signs.OF_A_HELPER.search(said.text)
        return WEAK if of_helper or going_on.is_handled(text) or _is_quoted(row, text) else LOGGED
    if named and trace is not None:
        return LOGGED if trace.caught else PROVEN
    if said.level in QUIET_LEVELS and not row.fatal:
        return LOGGED if _OF_ARGPARSE.match(said.text) else WEAK  # its words, whoever has passed them on
    if named:
        return _severity_of_named(said, text)
    if (
        _ASIDE.match(said.text)
        or _TRIED_IN_R.match(said.text)
        or going_on.is_set_aside(text)
        or (said.level is None and trace is None and _is_hedged(row, text))
    ):
        return WEAK
    written_down = row.id == "fatal-level" and said.level == "ERROR"
    of_make = row.id == "launcher" and MAKE_GAVE_UP.match(said.text)
    of_a_runtime = signs.UNCAUGHT.match(text)
    if of_make or of_a_runtime or (row.fatal and not written_down and not _is_quoted(row, text)):
        return PROVEN
    if said.level in BAD_LEVELS:
        return LOGGED
    if trace is not None and trace.frames and row.explains >= BUG:
        return PROVEN
    if said.level == "WARNING":
        return LOGGED if going_on.EXHAUSTED.search(text) else WEAK
    if PYTHON_WARNING.search(text) or _is_quoted(row, text):
        return WEAK
    ends = row.explains >= DEATH or row.explains <= SUMMARY or _HEADED.match(text)
    return LOGGED if ends else WEAK


def _is_none_of_its(row: RuleRow, text: str, named: tuple[str, str] | None, trace: Trace | None) -> bool:
    """Whether a line tells of nothing that the run itself met: a tracker's own trouble, a check that is meant to fail,
    a request of somebody else.
    """
    if trace is not None and trace.follows(_OF_A_TRIAL) and not trace.ends_program:
        return True  # the study counts it as failed, and goes on
    if trace is not None and (trace.ignored or trace.is_of_tracker or trace.follows(TRACKERS_LOG)):
        return True
    if trace is not None and trace.follows(going_on.MEANT):
        return True  # `self-check: it was raised as expected`
    if any(sign.search(text) for sign in (signs.ARGUMENT_TAKEN, signs.CONFIGURE_CHECK, signs.HOUSEKEEPING)):
        return True
    if named is None and signs.is_of_another(text):
        return True
    asks = abs(row.explains - ASKED) <= NEARLY_ASKED  # what ends the run ends its tracker, too
    return not (row.fatal or asks) and bool(TRACKERS_LOG.search(text))


_REPORTED = lazy(r"Exception: [\"']\w{1,60}\(")  # of a task, by Dask, which may run it once more


def _severity_of_named(said: LogMessage, text: str) -> int:
    """Of an exception in one line, without a traceback."""
    if going_on.SET_ASIDE.search(text):
        return WEAK
    return LOGGED if said.level or _REPORTED.match(said.text) else PROVEN


def _is_hedged(row: RuleRow, text: str) -> bool:
    """Whether the words come after a "might", a "most likely", or in a shell's echo of a command."""
    hedge, found = signs.HEDGED.search(text), compiled(row.pattern).search(text)
    return bool(hedge and (not found or hedge.start() <= found.start()))


def _is_quoted(row: RuleRow, text: str) -> bool:
    """Whether the words stand in a text that is shown rather than told: inside quotation marks, or far into prose."""
    if _CALLED_FATAL.match(text):
        return False
    found = compiled(row.pattern).search(text)
    if not found:
        return False
    before = text[: found.start()]
    if text.lstrip().startswith("{"):
        return signs.is_record(text)
    if _is_row_of_a_table(text):
        return True
    return before.count('"') % 2 == 1 or _IN_A_VALUE.search(before) is not None


def _is_row_of_a_table(text: str) -> bool:
    """Whether it is framed, and each cell holds a word or two: `| aborted | 0 |`."""
    cells = _CELLS.split(text.strip())
    return len(cells) >= LEAST_CELLS and not cells[0] and not cells[-1] and all(one.count(" ") <= 1 for one in cells)


LEAST_CELLS = 4  # two between three bars, and what lies outside
_CELLS = lazy(r"\s{0,60}[|\u2502\u2503]\s{0,60}")
# `prompt='Permission denied (publickey)'`: of a field that tells of no error
_IN_A_VALUE = lazy(
    r"\b(?!\w*(?:err|exc|msg|mess|reason|std|detail|cause|fail|stat|info|out|log))\w{1,30}='[^']{0,200}$", re.IGNORECASE
)
_SHAPES = lazy(r"\bexpected\b.{0,80}\bshape\b.{0,120}\b(?:received|got|has|have)\b.{0,20}\bshape\b", re.IGNORECASE)
_OF_SAVED = lazy(r"checkpoint|ckpt|load|restor|saved|state.?dict|weights|file", re.IGNORECASE)


_KEY_OF_A_SENTENCE = lazy(r"KeyError: ['\"](?:\S{1,60} ){5}")


def by_meaning(row: RuleRow, said: str, named: tuple[str, str] | None) -> RuleRow:
    """The class of which a sentence speaks, where the row itself says only that something failed."""
    headed = _HEADED.match(said) if named is None and row.id in _OF_RUNTIMES else None
    if headed is not None:
        row, named = BY_ID["exception"], (headed[1], headed[2] or "")
    if row.id == "defect" and named is not None and _KEY_OF_A_SENTENCE.match(": ".join(named)):
        row = BY_ID["exception"]  # a registry's or a store's, which tells in it what was asked for
    if row.id == "connection-lost" and named is not None:
        return _row_of_peers(named[1]) or row
    certain = class_of_certain(named[0]) if named and row.id in _ASKS_THE_NAME else None
    return _row_of_name(certain, row) if certain else _by_sentence(row, said, named)


def _is_of_shapes(sentence: str) -> bool:
    """Whether two shapes do not fit, and nothing was read from a file."""
    return bool(_SHAPES.search(sentence)) and _OF_SAVED.search(sentence) is None


def _by_sentence(row: RuleRow, said: str, named: tuple[str, str] | None) -> RuleRow:
    name = named[0].rsplit(".", 1)[-1] if named else ""
    sentence = named[1] if named else said
    if row.id in DAMAGED and row.failure_class == "data_error" and _SAVED_FILE.search(sentence):
        return BY_ID["checkpoint-damaged"]
    if row.explains == REASON and name in _OF_PROGRAMS:  # which speaks of a setting for such an end
        row = BY_ID["exception"]
    is_vague = row.id in VAGUE_ROWS or (row.id == "defect" and name in _SPEAKING)
    is_setting = row.id in ("bad-setting", "solver-failed")
    is_count = row.id == "launcher"
    is_peer = row.id == "collective"
    if not (is_vague or is_setting or is_count or is_peer) or _is_of_shapes(sentence):
        return row
    enough = meaning.SURE if is_vague else meaning.CLEAR
    if row.id == "bad-setting" and speaks_of_code(sentence) and shows_code(sentence):
        return BY_ID["exception"]
    found = meaning.meaning_of(sentence, name, enough=enough)
    if found is not None and found.failure_class == "config_error" and speaks_of_code(sentence):
        return meaning.ROWS["config_error"] if class_of_name(name) == "config_error" else row
    if found is None and row.id in _DEMANDING and meaning.speaks_of_setting(sentence):
        return MEANT
    if found is None and row.id == "error-line" and meaning.speaks_of_setting(sentence):
        return MEANT_IN_LINE
    if found is None and row.id == "exception":
        told = None if name in meaning.ANY_NAME else class_of_name(name)
        told = told or (class_of_module(named[0]) if named else None)
        return meaning.ROWS[told] if told else row
    if found is None or (row.id == "bad-setting" and found.failure_class not in _OF_THE_BOX):
        return row
    if is_count and found.failure_class == "nccl_or_distributed":
        return row  # which rank ended is all that it says
    if is_peer and (found.rivals or found.failure_class not in _BELOW_PEERS):
        return row
    return meaning.row_of(found)


def _row_of_peers(sentence: str) -> RuleRow | None:
    """The row of ranks that miss each other, if a sentence speaks of them."""
    found = meaning.meaning_of(sentence)
    return meaning.row_of(found) if found and found.failure_class == "nccl_or_distributed" else None


def _row_of_name(failure_class: str, row: RuleRow) -> RuleRow:
    """The row of what a name says."""
    if row.failure_class == failure_class:
        return row
    return meaning.ROWS.get(failure_class) or BY_ID[_NAMED_BY.get(failure_class, "defect")]


def by_words(said: str) -> RuleRow | None:
    """The class that an error of the log speaks of, where no rule knows it."""
    found = meaning.meaning_of(said, enough=meaning.CLEAR)
    return None if found is None or found.rivals else meaning.ROWS[found.failure_class]
