"""One field of the configuration: from what TOML gave to what the program means, or what was wanted instead. Pure.

Each parser takes the raw value and returns the meaning; it raises `Unwanted` with a phrase that completes
"<value seen> is not …".
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from onbox.contract.manifest import Amount, Artifact, GpuGate, Retry, WaitFor
from onbox.contract.units import parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Parser = "Callable[[Any], Any]"


class Unwanted(Exception):
    """A value that does not mean anything here. `key`: the key below the field that is at fault, "" for itself.
    `secret`: the value must not be shown.
    """

    def __init__(self, wanted: str, key: str = "", *, secret: bool = False) -> None:
        self.wanted, self.key, self.secret = wanted, key, secret
        super().__init__(wanted)


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SECRET_NAME = re.compile(r"(?i)(?:^|_)(?:API_?KEY|[A-Z]*_KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$|PASSWORD$|APIKEY$")
REFERENCE = re.compile(r"(?:env|file):\S.*")


def is_name(text: str) -> bool:
    """Whether `text` may be the name of a stage or a run."""
    return NAME.fullmatch(text) is not None


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise Unwanted("a text that is not empty")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unwanted("true or false")
    return value


def one_of(*choices: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in choices:
            raise Unwanted("one of " + ", ".join(choices))
        return str(value)

    return parse


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise Unwanted('a list of texts, such as ["a", "b"]')
    return tuple(value)


def run_name(value: Any) -> str:
    if not isinstance(value, str) or not is_name(value):
        raise Unwanted("a name of letters, digits, '.', '_' and '-' (at most 80)")
    return value


def whole_number(least: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise Unwanted(f"a whole number of at least {least}")
        return value

    return parse


def duration(value: Any) -> float:
    """Seconds, more than 0."""
    seconds = duration_or_zero(value)
    if seconds <= 0:
        raise Unwanted("a duration longer than 0")
    return seconds


def duration_or_zero(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unwanted('a duration such as "90s", "30m" or "12h"')
    try:
        return parse_duration(value)
    except ValueError as error:
        raise Unwanted(str(error)) from error


def size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Unwanted('a size such as "5GB", "512MiB" or a number of bytes')
    try:
        return parse_size(value)
    except ValueError as error:
        raise Unwanted(str(error)) from error


def regex(value: Any) -> str:
    try:
        re.compile(text(value))
    except re.error as error:
        raise Unwanted(f"a regular expression ({error})") from error
    return str(value)


def optional_regex(value: Any) -> str | None:
    """Empty means none."""
    return None if value == "" else regex(value)


def command(value: Any) -> str | tuple[str, ...]:
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) and "\0" not in word for word in value):
        if value[0]:
            return tuple(value)
    raise Unwanted('a command: a shell line, or a list of words such as ["python", "train.py"]')


def environment(value: Any) -> tuple[tuple[str, str], ...]:
    """Pairs sorted by name. A literal secret is refused, since the file travels and is kept."""
    if not isinstance(value, dict):
        raise Unwanted('a table such as { WANDB_MODE = "online" }')
    pairs = []
    for name, raw in value.items():
        if not VARIABLE.fullmatch(name):
            raise Unwanted("a variable's name: letters, digits and '_'", name)
        if not isinstance(raw, str | int | float | bool):
            raise Unwanted("a text, a number or true/false", name)
        plain = isinstance(raw, bool | int | float)
        shown = str(raw).lower() if isinstance(raw, bool) else str(raw)
        if not plain and shown and SECRET_NAME.search(name) and not REFERENCE.fullmatch(shown) and not _is_number(shown):
            raise Unwanted(f"free of secrets ({name}): they must not lie in a file; write env:NAME or file:PATH", secret=True)
        if "\0" in shown:
            raise Unwanted("a text without NUL", name)
        pairs.append((name, shown))
    return tuple(sorted(pairs))


def _is_number(value: str) -> bool:
    return value.lower() in ("true", "false") or re.fullmatch(r"[0-9.]+", value) is not None


def references(value: Any) -> tuple[str, ...]:
    """Where webhooks are named: each `env:NAME` or `file:PATH`."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise Unwanted('a list such as ["env:ONBOX_WEBHOOK"]')
    for item in value:
        if not isinstance(item, str) or not REFERENCE.fullmatch(item):
            raise Unwanted("free of secrets: a webhook's address is one; write env:NAME or file:PATH", secret=True)
    return tuple(value)


def artifacts(value: Any) -> tuple[Artifact, ...]:
    if isinstance(value, str | dict):
        value = [value]
    if not isinstance(value, list):
        raise Unwanted('a list of paths, or of tables such as { glob = "ckpt/*.pt", min_count = 3 }')
    return tuple(_artifact(item, f"[{index}]") for index, item in enumerate(value))


def _artifact(value: Any, key: str) -> Artifact:
    if isinstance(value, str):
        value = {"path": value}
    if not isinstance(value, dict):
        raise Unwanted('a path, or a table such as { glob = "ckpt/*.pt", min_count = 3, min_bytes = 1024 }', key)
    fields = table(value, {"path": text, "glob": text, "min_count": whole_number(1), "min_bytes": size}, key)
    if ("path" in fields) == ("glob" in fields):
        raise Unwanted("an artifact: it needs either `path` or `glob`", key)
    pattern = fields.get("path") or fields["glob"]
    return Artifact(pattern, "glob" in fields, fields.get("min_count", 1), fields.get("min_bytes", 1))


def wait_for(value: Any) -> WaitFor:
    if not isinstance(value, dict):
        raise Unwanted('a table such as { file = "data/READY", timeout = "6h" }')
    fields = table(value, {"file": text, "log": text, "regex": regex, "timeout": duration})
    if ("file" in fields) == ("log" in fields):
        raise Unwanted("something to wait for: it needs either `file`, or `log` and `regex`")
    if ("log" in fields) != ("regex" in fields):
        raise Unwanted("complete: `log` and `regex` go together")
    return WaitFor(fields.get("file"), fields.get("log"), fields.get("regex"), fields.get("timeout", 21600.0))


def retry(known_classes: frozenset[str] | None) -> Callable[[Any], Retry]:
    def classes(value: Any) -> tuple[str, ...]:
        for item in texts(value):
            if known_classes is not None and item not in known_classes:
                wanted = f"all classes that may be retried: {item!r} is none" + nearest(item, known_classes)
                raise Unwanted(wanted)
        return tuple(value)

    def parse(value: Any) -> Retry:
        if not isinstance(value, dict):
            raise Unwanted('a table such as { max = 2, classes = ["preempted"], backoff = "60s" }')
        fields = table(value, {"max": whole_number(0), "classes": classes, "backoff": duration_or_zero})
        return Retry(fields.get("max", 1), fields.get("classes", ()), fields.get("backoff", 60.0))

    return parse


def amount(parse_count: Callable[[Any], int]) -> Callable[[Any], Amount]:
    def parse(value: Any) -> Amount:
        if isinstance(value, str) and value.strip().endswith("%"):
            try:
                percent = float(value.strip()[:-1])
            except ValueError:
                percent = -1.0
            if not 0 <= percent <= 100:
                raise Unwanted('a share between "0%" and "100%"')
            return Amount(percent=percent)
        return Amount(count=parse_count(value))

    return parse


def gpu_gate(value: Any) -> GpuGate:
    if not isinstance(value, dict):
        raise Unwanted("a table such as { count = 1, max_used_mib = 500 }")
    fields = table(value, {"count": whole_number(1), "max_used_mib": whole_number(0)})
    return GpuGate(fields.get("count", 1), fields.get("max_used_mib"))


GATES: dict[str, Callable[[Any], Any]] = {
    "disk_free": amount(size),
    "inodes_free": amount(size),
    "memory_free": amount(size),
    "gpu": gpu_gate,
}


def table(value: Mapping[str, Any], parsers: Mapping[str, Callable[[Any], Any]], prefix: str = "") -> dict[str, Any]:
    """The fields of a small table, each parsed. Raises Unwanted for the first that is wrong or unknown."""
    fields = {}
    for key, raw in value.items():
        path = f"{prefix}.{key}" if prefix else key
        if key not in parsers:
            raise Unwanted(f"a known key{nearest(key, parsers)}", path)
        try:
            fields[key] = parsers[key](raw)
        except Unwanted as unwanted:
            deeper = f"{path}.{unwanted.key}" if unwanted.key else path
            raise Unwanted(unwanted.wanted, deeper, secret=unwanted.secret) from unwanted
    return fields


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean "…"?`, or the known words if none is near."""
    import difflib  # noqa: PLC0415 - only for wrong files

    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return f'; did you mean "{close[0]}"?' if close else "; known are " + ", ".join(names)


def same_file(stage_cwd: str, path: str) -> str:
    """A path in one spelling, to compare where two stages write."""
    return posixpath.normpath(posixpath.join(stage_cwd, path))
