"""What in onbox.toml runs a program, hands out a key or leaves the project: used only where somebody accepted it. Pure.

A table of keys. Everything that is not in it may be read from a file that a stranger wrote: it names stages (run only
where somebody types `onbox chain`), boxes, times and patterns.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onbox.config.tables.engines import PARTS
from onbox.digest import sha256_hex
from onbox.model.engines import ENGINES
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from onbox.config.tables.engine_part import GuardedKey

Path = tuple[str | int, ...]
_HASH_CHARACTERS = 32
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Variables by which a program runs code that its command does not name.
_LOADERS = (
    "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT",
    "PERL5LIB", "NODE_OPTIONS",
)  # fmt: skip

SSH, LOOK, ACT, TELL, ENGINE, CHAIN = "ssh", "look", "act", "tell", "engine", "chain"
FOR_PATROL = frozenset({SSH, LOOK, ACT, TELL, ENGINE})


def _never(_value: Any, _outside: Callable[[str], bool]) -> bool:
    """Somebody is asked about every value."""
    return False


class TrustedKey(NamedTuple):
    """One kind of key.

    pattern: its place; `*` stands for a name, `[]` for every item of a list. use: what needs it: SSH, a LOOK at a box,
    what a tick does beyond looking (ACT), to TELL people, an ENGINE that is handed jobs, the start of a CHAIN. does:
    completes "it …". harmless: of which values nobody is asked about; it gets the value, and what tells whether a path
    leads out of the project. beside: other places that say where it goes: who accepts the one accepts the other.
    without: what goes with it where it is not accepted. kept: it is not taken out then; who uses it asks. files: a file
    of the project that it names is part of it.
    """

    pattern: str
    use: str
    does: str
    harmless: Callable[[Any, Callable[[str], bool]], bool] = _never
    beside: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    kept: bool = False
    files: bool = False


class Delicate(NamedTuple):
    """One such key in one file. key: as errors write it. value: as JSON. digest: of the key, its value and what stands
    beside it. drop: the paths that are taken out where it is not accepted.
    """

    key: str
    value: str
    use: str
    does: str
    digest: str
    drop: tuple[Path, ...] = ()


def _is(*known: object) -> Callable[[Any, Callable[[str], bool]], bool]:
    return lambda value, outside: value in known


def _stays(value: Any, outside: Callable[[str], bool]) -> bool:
    return not isinstance(value, str) or not outside(value)


def _here(value: Any, _outside: Callable[[str], bool]) -> bool:
    """An address of this machine."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - as in tables/tracker.py

    try:
        return isinstance(value, str) and urlsplit(value).hostname in _LOOPBACK
    except ValueError:
        return False


def _of_environment(value: Any, _outside: Callable[[str], bool]) -> bool:
    """Not a file: what a variable holds is the user's own word."""
    return not isinstance(value, str) or not value.startswith("file:")


def _target_of_environment(value: Any, outside: Callable[[str], bool]) -> bool:
    found = value if isinstance(value, Mapping) else {}
    return all(_of_environment(found.get(key), outside) for key in ("url", "secret"))


def _of_engine(name: str, one: GuardedKey) -> TrustedKey:
    """A key of the engine's table."""
    harmless = _here if one.address else _is(one.usual) if one.usual else _never
    beside = (f"{name}.{one.beside}",) if one.beside else ()
    return TrustedKey(f"{name}.{one.key}", ENGINE, one.does, harmless, beside=beside, files=one.files)


_ADDRESSES = tuple(f"{row.name}.{row.address_key}" for row in ENGINES if row.address_key)
ROWS: tuple[TrustedKey, ...] = (
    TrustedKey("ssh.command", SSH, "runs at every look at a box behind ssh", _is("ssh"), files=True),
    TrustedKey("tracker.key", LOOK, "is sent to the tracker's server", beside=("tracker.api",)),
    *(_of_engine(name, one) for name, part in PARTS.items() for one in part.guarded),
    TrustedKey("boxes.*.address", LOOK, "is asked about jobs, and shown your token for the cluster", _here),
    TrustedKey("boxes.*.token", LOOK, "is sent to the cluster's address", beside=("boxes.*.address", *_ADDRESSES)),
    TrustedKey("boxes.*.recover", ACT, "starts dead runs again by itself", _is("never")),
    TrustedKey("boxes.*.watch.resubmit", ACT, "runs here when the job is dead", without=("boxes.*.recover",)),
    TrustedKey("boxes.*.watch[].resubmit", ACT, "runs here when the job is dead", without=("boxes.*.recover",)),
    TrustedKey("boxes.*.watch.resume", ACT, "is shown as the command that starts it again"),
    TrustedKey("boxes.*.watch[].resume", ACT, "is shown as the command that starts it again"),
    TrustedKey("patrol.ping", ACT, "names an address that every tick tells what it saw", files=True),
    TrustedKey("patrol.textfile", ACT, "is written outside the project at every tick", _stays),
    TrustedKey("patrol.report", ACT, "is written outside the project at every tick", _stays),
    TrustedKey("notify.urls[]", TELL, "is a file that names an address to tell", _of_environment, files=True),
    TrustedKey("notify.targets.*", TELL, "reads a file that names an address to tell, or a key for it", _target_of_environment, files=True),
    TrustedKey("verify[].command", ACT, "runs here at `patrol verify`", files=True),
    TrustedKey("logbook.git", ACT, "commits by itself, with the hooks of this repository, or pushes", _is("never")),
    TrustedKey("run.state_dir", CHAIN, "puts the run's state outside the project", _stays, kept=True),
    *(TrustedKey(f"{table}.env.{name}", CHAIN, "changes what a command runs", kept=True) for table in ("run", "stages.*") for name in _LOADERS),
)  # fmt: skip


def find_delicate(
    data: Mapping[str, Any], outside: Callable[[str], bool], content: Callable[[str], str] = lambda _: ""
) -> tuple[Delicate, ...]:
    """What in a parsed onbox.toml somebody has to accept, in the table's order. outside: whether a path, as it stands
    in the file, leads out of the project. content: a digest of the project's file of that path; "" where there is none.
    """
    found = []
    for row in ROWS:
        for path, value in _places(data, row.pattern):
            if not row.harmless(value, outside):
                beside = [text for pattern in row.beside for text in _beside(data, pattern, path)]
                if row.files:
                    beside += filter(None, map(content, _paths_in(value)))
                drop = (path, *(other for pattern in row.without for other in _same_names(pattern, path)))
                key, text = written(path), _canonical(value)
                digest = sha256_hex("\0".join((key, text, *beside)).encode("utf-8", "backslashreplace"))
                found.append(Delicate(key, text, row.use, row.does, digest, () if row.kept else drop))
    return tuple(found)


def hash_of(found: Sequence[Delicate]) -> str:
    """One short hash of all of it: the same for the same keys with the same values, whatever else the file says."""
    return sha256_hex("\n".join(sorted(one.digest for one in found)).encode("ascii"))[:_HASH_CHARACTERS]


def without(data: Mapping[str, Any], found: Sequence[Delicate]) -> dict[str, Any]:
    """The file as if these keys did not stand in it."""
    paths = {path for one in found for path in one.drop}
    return {key: _less(value, (key,), paths) for key, value in data.items()} if paths else dict(data)


def written(path: Path) -> str:
    """The path as errors write it: `boxes.gpu1.watch[0].resubmit`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _less(value: Any, path: Path, drop: Collection[Path]) -> Any:
    if isinstance(value, Mapping):
        return {key: _less(inner, (*path, key), drop) for key, inner in value.items() if (*path, key) not in drop}
    if isinstance(value, list):
        return [_less(inner, (*path, at), drop) for at, inner in enumerate(value) if (*path, at) not in drop]
    return value


def _places(value: Any, pattern: str) -> Iterator[tuple[Path, Any]]:
    """Every place of a pattern, with what stands there."""
    return _walk(value, tuple(pattern.replace("[]", ".[]").split(".")), ())


def _walk(value: Any, parts: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Any]]:
    if not parts:
        yield path, value
        return
    first, rest = parts[0], parts[1:]
    if first == "[]":
        for at, inner in enumerate(value) if isinstance(value, list) else ():
            yield from _walk(inner, rest, (*path, at))
    elif isinstance(value, Mapping):
        for key in value if first == "*" else (first,) if first in value else ():
            yield from _walk(value[key], rest, (*path, key))


def _same_names(pattern: str, path: Path) -> Iterator[Path]:
    """The place of another pattern under the same name: `boxes.*.recover` of the box that `path` is in."""
    yield tuple(path[at] if part == "*" else part for at, part in enumerate(pattern.split(".")))


def _paths_in(value: Any) -> Iterator[str]:
    """What may be a path in a command, a reference, or a table of them: `-F ./ssh_config`, `-F./x`, `--config=x`."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _paths_in(inner)
    elif isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError:
            words = value.split()
        for word in words:
            yield word.removeprefix("file:")
            yield word[2:]
            yield word.partition("=")[2]


def _beside(data: Mapping[str, Any], pattern: str, path: Path) -> Iterator[str]:
    for place in _same_names(pattern, path):
        yield from (f"{pattern} {_canonical(value)}" for _, value in _walk(data, tuple(map(str, place)), ()))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
