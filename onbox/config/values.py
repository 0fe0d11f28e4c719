"""Parsers of single values: each returns what the value means or raises `Unwanted`. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from onbox.config.fields import HIDDEN, INTEGER_BITS, Unwanted
from onbox.contract.names import name_problem, run_name_from
from onbox.did_you_mean import did_you_mean
from onbox.model.manifest import OFF, REFUSE, WARN, Amount
from onbox.model.units import parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

TEXT_WANTED = "a text with something in it"
COMMAND_WANTED = "a command: a shell line, or a list of words"
DURATION_WANTED = 'a duration such as "90s", "30m", "12h" or "1h30m"'
SIZE_WANTED = 'a size such as "5GB", "512MiB" or a number of bytes'
COUNT_WANTED = 'a count such as 200000 or "200k", or a share such as "5%"'
REFERENCE_WANTED = "allowed here: never put a secret into this file: write env:NAME or file:PATH"

# A longer text is not a duration; the bound keeps the parser's work small whatever is in it.
_DURATION_LIMIT = 24
NEVER_SECONDS = 1e9
_PERCENT = r"(?a)\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*"
_COUNT = r"(?ai)\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kmg]?)\s*"
_COUNT_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_CLASS = r"[a-z][a-z0-9_]{0,63}"
_CRON = r"\s*(?:[0-9A-Za-z*,/-]+\s+){4}[0-9A-Za-z*,/-]+\s*"
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_SENSITIVE = r"(?i)(?:_KEY|_PASSWD|APIKEY|PASSWORD|TOKEN|SECRET)\Z"
_NUMBER_OR_BOOL = r"(?ai)[+-]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false"


def text(value: object) -> str:
    """A text that is not blank and can be handed to the system (no NUL)."""
    if not isinstance(value, str) or not value.strip():
        raise Unwanted(TEXT_WANTED)
    if "\0" in value:
        raise Unwanted("a text without NUL characters")
    return value


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unwanted("true or false")
    return value


def weight(value: object) -> str:
    """What a sign against a success leads to: true warns, false is silent, "refuse" refuses."""
    if value == REFUSE:
        return REFUSE
    if not isinstance(value, bool):
        raise Unwanted('true, false or "refuse"')
    return WARN if value else OFF


def command(value: object) -> str | tuple[str, ...]:
    """A shell line, or an argv as a tuple. Words of an argv may be empty, but not the program's."""
    if isinstance(value, str) and value.strip():
        return text(value)
    if not isinstance(value, list | tuple) or not value:
        raise Unwanted(COMMAND_WANTED)
    for position, word in enumerate(value):
        if not isinstance(word, str) or "\0" in word:
            raise Unwanted(f"a list of texts without NUL characters (see item {position + 1})")
    if not value[0].strip():
        raise Unwanted("a list that begins with a program", seen="a list with a blank first word")
    return tuple(value)


def duration(value: object) -> float:
    """Seconds, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unwanted(DURATION_WANTED)
    if isinstance(value, str) and len(value) > _DURATION_LIMIT:
        raise Unwanted(DURATION_WANTED)
    try:
        return parse_duration(value)
    except OverflowError as error:
        raise Unwanted("a duration between 0 and 300 years") from error
    except ValueError as error:
        raise Unwanted(str(error)) from error


def positive_duration(value: object) -> float:
    """Seconds, more than 0."""
    seconds = duration(value)
    if not seconds:
        raise Unwanted("a duration above zero")
    return seconds


def duration_or_never(value: object) -> float:
    """Seconds, more than 0; "never": more than anybody waits."""
    return NEVER_SECONDS if value == "never" else positive_duration(value)


def number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e300 < value < 1e300:
        raise Unwanted("a number")
    return float(value)


def local_time(value: object) -> float:
    """Seconds since the epoch: a date and time of this machine's zone, or with an offset of its own."""
    wanted = 'a time such as "2026-11-22 08:00"'
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(text(value).replace("Z", "+00:00"))
        return found.timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise Unwanted(wanted) from error


def count_from(minimum: int) -> Callable[[object], int]:
    """A parser of whole numbers of at least `minimum`."""

    def parse(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value < 2**63:
            raise Unwanted(f"a whole number of {minimum} or more")
        return value

    return parse


def size(value: object) -> int:
    """Bytes."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Unwanted(SIZE_WANTED)
    try:
        count = parse_size(value)
    except (ValueError, OverflowError) as error:
        raise Unwanted(SIZE_WANTED) from error
    if count >= 2**63:
        raise Unwanted("a size below 8 EiB")
    return count


def byte_amount(value: object) -> Amount:
    """A size, or a share of the whole."""
    share = _percent(value)
    if share is not None:
        return Amount(percent=share)
    try:
        return Amount(number=size(value))
    except Unwanted as problem:
        raise Unwanted('a size such as "5GB", or a share such as "5%"') from problem


def inode_amount(value: object) -> Amount:
    """A count of inodes, or a share of all."""
    share = _percent(value)
    if share is not None:
        return Amount(percent=share)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
        return Amount(number=value)
    match = re.fullmatch(_COUNT, value) if isinstance(value, str) else None
    if match is None:
        raise Unwanted(COUNT_WANTED)
    return Amount(number=round(float(match[1]) * _COUNT_UNITS[match[2].lower()]))


def _percent(value: object) -> float | None:
    """The number before a percent sign; None if there is no such sign."""
    match = re.fullmatch(_PERCENT, value) if isinstance(value, str) else None
    if match is None:
        return None
    if float(match[1]) > 100:
        raise Unwanted('a share between "0%" and "100%"')
    return float(match[1])


def regex(value: object) -> str:
    """A regular expression that compiles for texts and for bytes: logs are searched as bytes."""
    pattern = text(value)
    try:
        re.compile(pattern)
        re.compile(pattern.encode("utf-8", "surrogateescape"))
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise Unwanted(f"a regular expression: {error}") from error
    return pattern


def progress_regex(value: object) -> str:
    """A regular expression whose group `current` is a number of the log; a group `max` may be its end."""
    pattern = regex(value)
    groups = re.compile(pattern).groupindex
    if "current" not in groups or not groups.keys() <= {"current", "max"}:
        raise Unwanted("a regular expression with a group named current, such as (?P<current>[0-9]+), and maybe max")
    return pattern


def optional_regex(value: object) -> str | None:
    """A regular expression; None for the empty text."""
    return None if value == "" else regex(value)


def one_of(known: Collection[str], what: str) -> Callable[[object], str]:
    """A parser of the given words."""

    def parse(value: object) -> str:
        if not isinstance(value, str):
            raise Unwanted(f"{what}: one of {', '.join(sorted(known))}")
        if value not in known:
            raise Unwanted(what + did_you_mean(value, known))
        return value

    return parse


def failure_class(value: object) -> str:
    """The name of a failure class, known or the user's own."""
    if not isinstance(value, str) or not re.fullmatch(_CLASS, value):
        raise Unwanted("a failure class: small letters, digits and _, such as data_error")
    return value


def run_name(value: object) -> str:
    """The name of a run."""
    if not isinstance(value, str):
        raise Unwanted("a name such as digits-v2")
    problem = name_problem(value)
    if problem is not None:
        raise Unwanted(f"{problem}, such as {run_name_from(value)}")
    return value


def host(value: object) -> str:
    """A host as ssh takes it. One that begins with "-" would be read by ssh as an option."""
    name = text(value)
    if name.startswith("-") or "@-" in name or "//-" in name or any(c.isspace() or not c.isprintable() for c in name):
        raise Unwanted('a host: an alias of ~/.ssh/config, or "user@name"')
    return name


def cron_schedule(value: object) -> str:
    """Five fields as in crontab(5)."""
    if not isinstance(value, str) or not re.fullmatch(_CRON, value):
        raise Unwanted('a schedule of five fields as in a crontab, such as "3,33 * * * *"')
    return value


def secret_reference(value: object) -> str:
    """`env:NAME` or `file:PATH`. The value is never shown: a literal one is the secret itself."""
    if not isinstance(value, str) or not value.startswith(("env:", "file:")):
        raise Unwanted(REFERENCE_WANTED, seen=HIDDEN)
    return _checked_reference(value)


def _checked_reference(value: str) -> str:
    kind, _, rest = value.partition(":")
    if kind == "env" and not re.fullmatch(_VARIABLE, rest):
        raise Unwanted("env:NAME with the name of a variable", seen=HIDDEN)
    if kind == "file" and (not rest.strip() or "\0" in rest):
        raise Unwanted("file:PATH with a path", seen=HIDDEN)
    return value


def is_variable_name(name: str) -> bool:
    """Whether a shell could name a variable so."""
    return re.fullmatch(_VARIABLE, name) is not None


def env_value(name: str, value: object) -> str:
    """The value of the variable `name` as text; numbers and booleans as TOML spells them. Never shown in errors.

    A text under a name that says "secret" must be a reference; a number, a boolean and the empty text are none
    (MAX_TOKEN = 4096).
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
            raise Unwanted(f"a number within {INTEGER_BITS} bits", seen=HIDDEN)
        return str(value)
    if not isinstance(value, str) or "\0" in value:
        raise Unwanted("a text without NUL characters", seen=HIDDEN)
    if value.startswith(("env:", "file:")):
        return _checked_reference(value)
    if value and re.search(_SENSITIVE, name) and not re.fullmatch(_NUMBER_OR_BOOL, value):
        raise Unwanted(REFERENCE_WANTED, seen=HIDDEN)
    return value


def http_url(value: object) -> str:
    """An http(s) URL without user name, password and trailing slash: a secret must not lie in a file."""
    url = text(value).strip()
    if not re.fullmatch(r"https?://[^\s/@?#]+(?:/[^\s@?#]*)?", url):
        raise Unwanted('a URL such as "http://127.0.0.1:8265", without a user, a password or a query')
    return url.rstrip("/")
