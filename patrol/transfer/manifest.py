"""What was brought home: one JSON object a line, the first for the whole. Written last, read by `patrol
verify`. Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_whole, parse_object
from onbox.contract.names import name_problem
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCHEMA = 1
KIND = "onbox-manifest"
_to_json = json.JSONEncoder(separators=(",", ":")).encode
NAMED_LIMIT = 1000  # of each kind of trouble


class ManifestEntry(NamedTuple):
    """A file as it came. growing: it grew meanwhile; what came is its beginning."""

    path: str
    size: int
    sha256: str
    growing: bool = False


class Head(NamedTuple):
    """Of the whole. at: when it was written, as text. done: whether the run's own CHAIN_DONE lay there. missing: files
    that a DONE marker vouches for and that are not there. changed: those that changed while they were read, and were
    not taken. unread: those that could not be read. links: symbolic links by path.
    """

    box: str
    run: str
    run_id: str
    commit: str
    source: str
    at: str
    done: bool
    files: int
    bytes_total: int
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    @property
    def is_complete(self) -> bool:
        return not (self.missing or self.changed or self.unread)


class HomeManifest(NamedTuple):
    head: Head
    entries: tuple[ManifestEntry, ...]


def render(head: Head, entries: Iterable[ManifestEntry]) -> Iterator[bytes]:
    """The file's lines, as they are needed."""
    bounded = {name: getattr(head, name)[:NAMED_LIMIT] for name in ("missing", "changed", "unread", "links")}
    yield _line({"schema": SCHEMA, "kind": KIND, **head._asdict(), **bounded})
    for entry in entries:
        plain = {"path": entry.path, "bytes": entry.size, "sha256": entry.sha256}
        yield _line({**plain, "growing": True} if entry.growing else plain)


def _line(data: dict[str, Any]) -> bytes:
    return _to_json(data).encode("ascii") + b"\n"


class NotOne(ValueError):
    """It is not a manifest, or one that was cut off."""


def parse(lines: Iterable[bytes]) -> HomeManifest:
    """Raises NotOne with what is wrong."""
    remaining = iter(lines)
    data = parse_object(next(remaining, b"")) or {}
    if data.get("kind") != KIND:
        raise NotOne("its first line is not that of a manifest")
    head = _head(data)
    entries = []
    for number, line in enumerate(remaining, start=2):
        one = parse_object(line) or {}
        path, size, sha256 = one.get("path"), as_whole(one.get("bytes")), one.get("sha256")
        if not isinstance(path, str) or size is None or not isinstance(sha256, str):
            raise NotOne(f"its line {number} cannot be understood")
        entries.append(ManifestEntry(path, size, sha256, one.get("growing") is True))
    if len(entries) != head.files:
        raise NotOne(f"it tells of {head.files} files, and {len(entries)} stand in it")
    return HomeManifest(head, tuple(entries))


def _head(data: dict[str, Any]) -> Head:
    texts = ("box", "run", "run_id", "commit", "source", "at")
    if not all(isinstance(data.get(name), str) for name in texts):
        raise NotOne("its first line lacks " + ", ".join(name for name in texts if not isinstance(data.get(name), str)))
    for name in ("box", "run"):
        if data[name] and name_problem(data[name]) is not None:
            raise NotOne(f"its {name} has an impossible name")
    links = data.get("links")
    pairs = links if isinstance(links, list) else []
    return Head(
        box=data["box"],
        run=data["run"],
        run_id=data["run_id"],
        commit=data["commit"],
        source=data["source"],
        at=data["at"],
        done=data.get("done") is True,
        files=as_whole(data.get("files")) or 0,
        bytes_total=as_whole(data.get("bytes_total")) or 0,
        missing=_texts(data, "missing"),
        changed=_texts(data, "changed"),
        unread=_texts(data, "unread"),
        links=tuple((str(one[0]), str(one[1])) for one in pairs if isinstance(one, list) and len(one) == 2),
    )


def _texts(data: dict[str, Any], name: str) -> tuple[str, ...]:
    found = data.get(name)
    return tuple(map(str, found)) if isinstance(found, list) else ()
