"""The bytes of listed files, over ssh: many as one tar stream, the rest of one that was cut off piece by piece."""

from __future__ import annotations

import hashlib
import os
from contextlib import closing
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.files import write_all
from patrol.transfer.staging import CHUNK_BYTES
from patrol.transfer.stream.scripts import DIGEST, FETCH, PIECES
from patrol.transfer.stream.talk import Talk, nul_ended
from patrol.transfer.stream.tar_read import Odd, members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from patrol.ssh.client import SshTarget
    from patrol.transfer.listing import File
    from patrol.transfer.meter import Meter
    from patrol.transfer.names import Root
    from patrol.transfer.staging import Staging

PIECES_AT_ONCE = 200  # files in one script: their names stand in it
DIGEST_LINE_LIMIT = 1 << 29
DIGEST_SECONDS = 3600.0  # for the first line: a file of terabytes is read through
GNU_TAR_CHANGED = 1  # its exit code where files changed while it read them: the look afterwards tells which
_READ_WELL = ("0", "141")  # 141: it was told to stop after the bytes that were asked for


class FetchSource(NamedTuple):
    """Where the files come from. tools: of the box."""

    target: SshTarget
    roots: Sequence[Root]
    tools: frozenset[str]


class Doubt(NamedTuple):
    """Files that came with something said against them: they count only when the box's own checksum is the same."""

    files: list[File]
    unread: list[File]


def fetch(source: FetchSource, staging: Staging, files: Sequence[File], meter: Meter) -> Doubt:
    """Bring them. What was cut off before goes on. Raises LinkLost, Odd, OSError; what came until then is kept."""
    doubt = Doubt([], [])
    begun = [file for file in files if staging.partial_bytes(file)]
    one_by_one = {file.local for file in begun}
    fresh = [file for file in files if file.local not in one_by_one]
    doubt.files.extend(begun)
    _fetch_pieces(source, staging, begun, meter, doubt)
    if "gnutar" in source.tools or "tar" in source.tools:
        fresh = _fetch_by_tar(source, staging, fresh, meter, doubt)
    _fetch_pieces(source, staging, fresh, meter, doubt)
    return doubt


def _fetch_by_tar(
    source: FetchSource, staging: Staging, files: Sequence[File], meter: Meter, doubt: Doubt
) -> list[File]:
    """As one stream for each root; gives back those that did not come."""
    left: list[File] = []
    for number, root in enumerate(source.roots):
        here = {file.name: file for file in files if file.root == number}
        if here:
            left += _one_stream(source, root, here, staging, meter, doubt)
    return left


def _one_stream(
    source: FetchSource, root: Root, here: dict[str, File], staging: Staging, meter: Meter, doubt: Doubt
) -> list[File]:
    gnu = "gnutar" in source.tools
    names = nul_ended(here)
    came: list[File] = []
    resized: list[File] = []
    with closing(Talk(source.target, FETCH, (root.place, "gnutar" if gnu else "tar"), names)) as talk:
        for member in members(talk):
            file = here.pop(member.name.removeprefix("./"), None)
            if file is None:
                raise Odd(f"the box sent a file that nobody asked for: {safe_line(member.name, 200)}")
            if member.size == file.size:
                _receive(talk, staging, file, 0, meter)
                came.append(file)
            else:  # it changed since it was listed
                resized.append(file)
                for _ in talk.pieces(member.size):
                    pass
        _, code = talk.until_end(1 << 20)
    if code > (GNU_TAR_CHANGED if gnu else 0):
        doubt.files.extend(came)
    return [*here.values(), *resized]


def _fetch_pieces(source: FetchSource, staging: Staging, files: Sequence[File], meter: Meter, doubt: Doubt) -> None:
    for at in range(0, len(files), PIECES_AT_ONCE):
        part = files[at : at + PIECES_AT_ONCE]
        begun = [staging.partial_bytes(file) for file in part]
        values = [
            word
            for file, offset in zip(part, begun, strict=True)
            for word in (source.roots[file.root].place, f"./{file.name}", str(offset + 1), str(file.size - offset))
        ]
        with closing(Talk(source.target, PIECES, values)) as talk:
            for file, offset in zip(part, begun, strict=True):
                if talk.line() != b"0":
                    doubt.unread.append(file)
                    continue
                _receive(talk, staging, file, offset, meter)
                if talk.line().decode("ascii", "replace") not in _READ_WELL:
                    staging.forget(file)
                    doubt.unread.append(file)


def _receive(talk: Talk, staging: Staging, file: File, offset: int, meter: Meter) -> None:
    """The bytes of one file, behind those that are there."""
    digest = hashlib.sha256()
    fd = staging.open_partial(file, anew=not offset)
    try:
        if offset:
            at = 0
            while at < offset and (part := os.pread(fd, min(CHUNK_BYTES, offset - at), at)):
                digest.update(part)
                at += len(part)
            os.ftruncate(fd, offset)
        meter.add(offset, file.local)
        for part in talk.pieces(file.size - offset):
            write_all(fd, part)
            digest.update(part)
            meter.add(len(part), file.local)
        staging.finish(file, fd, digest.hexdigest())
    finally:
        os.close(fd)


def settle_doubt(
    source: FetchSource, staging: Staging, files: Iterable[File], say: Callable[[str], None]
) -> list[File]:
    """Compare with the box's own checksums; gives back those that differ, which are forgotten here. Where the box
    cannot make any, their size and times have to do. Raises LinkLost.
    """
    asked = [file for file in files if file.local in staging.whole]
    if not asked:
        return []
    if "sha256sum" not in source.tools:
        say(f"{len(asked)} files were put together from several tries, and the box has no sha256sum to compare with")
        return []
    wrong = []
    for number, root in enumerate(source.roots):
        here = [file for file in asked if file.root == number]
        told = _digests(source, root, here) if here else {}
        for file in here:
            if told.get(file.name, staging.whole[file.local].sha256) != staging.whole[file.local].sha256:
                staging.forget(file)
                wrong.append(file)
    return wrong


def _digests(source: FetchSource, root: Root, files: Sequence[File]) -> dict[str, str]:
    names = nul_ended(file.name for file in files)
    with closing(Talk(source.target, DIGEST, (root.place,), names, stall_seconds=DIGEST_SECONDS)) as talk:
        data, _ = talk.until_end(DIGEST_LINE_LIMIT)
    return dict(filter(None, map(parse_digest_line, data.split(b"\n"))))


def parse_digest_line(line: bytes) -> tuple[str, str] | None:
    """Name and digest of a line of sha256sum; a name with a line break or a backslash is written with backslashes, and
    the line begins with one. Pure.
    """
    escaped = line.startswith(b"\\")
    digest, _, name = line[1 if escaped else 0 :].partition(b"  ")
    if len(digest) != 64 or not name:
        return None
    if escaped:
        signs = {b"\\\\": b"\\", b"\\n": b"\n", b"\\r": b"\r"}
        parts = []
        while name:
            taken = 2 if name[:2] in signs else 1
            parts.append(signs.get(name[:taken], name[:taken]))
            name = name[taken:]
        name = b"".join(parts)
    return name.decode("utf-8", "surrogateescape").removeprefix("./"), digest.decode("ascii", "replace")
