"""One long conversation with a box: a script, names that follow it, and an answer of any length, read as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.system.clock import monotonic
from patrol.ssh.client import Connection, NoAnswer, script_with_values
from patrol.ssh.unreachable_reasons import BY_KEY
from patrol.transfer.stream.scripts import END, READY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from patrol.ssh.client import SshTarget

STALL_SECONDS = 60.0  # no byte for so long, and the link is taken for dead
NOISE_LIMIT_BYTES = 1 << 20  # before the ready mark: what start-up files print


class LinkLost(Exception):
    """The conversation did not come to its end. reason: a key of `reach.REASONS`."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        super().__init__(f"{BY_KEY[reason].says} ({detail})" if detail else BY_KEY[reason].says)

    @property
    def lasting(self) -> bool:
        """Whether trying again without a change by a person cannot help."""
        return BY_KEY[self.reason].lasting


def uncompressed(target: SshTarget) -> SshTarget:
    """For files: what they hold rarely shrinks, and ssh's compression is slower than most links. Without a master of
    the patrol's, which compresses.
    """
    words = target.ssh_command if target.host is None else (*target.ssh_command, "-o", "Compression=no")
    return target._replace(ssh_command=words, control_path=None)


class Talk:
    """A script that runs on the box now. `close` it. follows: what follows the script, over its
    descriptor 3."""

    def __init__(
        self,
        target: SshTarget,
        script: str,
        values: Sequence[str],
        follows: bytes | Iterator[bytes] = b"",
        *,
        stall_seconds: float = STALL_SECONDS,
    ) -> None:
        self._stall_seconds = stall_seconds
        self._buffer = b""
        self._at = 0
        try:
            self._connection = Connection(
                uncompressed(target), script_with_values(script, values, line=True), line=True
            )
        except OSError as error:
            raise LinkLost("client", f"cannot start it: {error.strerror}") from error
        try:
            self._skip_to_ready()
            self._connection.say_last(follows)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    # -- reading

    def some(self) -> bytes:
        """What has come, at least one byte. Raises LinkLost."""
        if self._at < len(self._buffer):
            rest = self._buffer[self._at :]
            self._buffer, self._at = b"", 0
            return rest
        silent_until, sent_bytes = monotonic() + self._stall_seconds, self._connection.sent_bytes
        while True:
            part = self._connection.read()
            if part:
                return part
            if part is None:
                raise self._lost()
            if self._connection.sent_bytes != sent_bytes:
                silent_until, sent_bytes = monotonic() + self._stall_seconds, self._connection.sent_bytes
            left = silent_until - monotonic()
            if left <= 0:
                raise LinkLost("cut", f"no byte came for {self._stall_seconds:g} s")
            self._connection.wait(left)

    def give_back(self, data: bytes) -> None:
        """To be read again, before what comes."""
        self._buffer = data + self._buffer[self._at :]
        self._at = 0

    def exactly(self, count: int) -> bytes:
        """So many bytes. Raises LinkLost."""
        self._fill(count)
        found = self._buffer[self._at : self._at + count]
        self._at += count
        return found

    def is_next(self, mark: bytes) -> bool:
        """Whether what comes now begins with `mark`; it stays to be read."""
        self._fill(len(mark))
        return self._buffer.startswith(mark, self._at)

    def _fill(self, count: int) -> None:
        while len(self._buffer) - self._at < count:
            rest = self._buffer[self._at :]
            self._buffer, self._at = b"", 0
            self._buffer = rest + self.some()

    def pieces(self, count: int) -> Iterator[bytes]:
        """So many bytes, as they come."""
        while count > 0:
            part = self.some()
            if len(part) > count:
                self.give_back(part[count:])
                part = part[:count]
            count -= len(part)
            yield part

    def line(self, limit: int = 256) -> bytes:
        """Up to the next line break, without it."""
        found = b""
        while b"\n" not in found:
            if len(found) > limit:
                raise LinkLost("flood", "a line that is too long")
            found += self.some()
        line, _, rest = found.partition(b"\n")
        self.give_back(rest)
        return line

    def until_end(self, limit_bytes: int) -> tuple[bytes, int]:
        """Everything up to the end mark, and the code in it. Raises LinkLost."""
        found = bytearray()
        while True:
            seen = max(0, len(found) - len(END))
            found += self.some()
            at = found.find(END, seen)
            if at >= 0 and (line_end := found.find(b">>>\n", at)) >= 0:
                word = bytes(found[at + len(END) : line_end])
                return bytes(found[:at]), int(word) if word.isdigit() and len(word) < 5 else 255
            if len(found) > limit_bytes:
                raise LinkLost("flood", f"more than {limit_bytes} bytes came")

    def remarks(self, prefix: str) -> list[str]:
        """Lines of the remote side's stderr that begin so, without it."""
        lines = self._connection.stderr().splitlines()
        return [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]

    # -- the pieces

    def _skip_to_ready(self) -> None:
        found = b""
        while READY not in found:
            if len(found) > NOISE_LIMIT_BYTES:
                raise LinkLost("flood", "something there prints without an end")
            found += self.some()
            if (at := found.find(END)) >= 0 and READY not in found[:at] and b">>>" in found[at:]:
                self.give_back(found[at:])
                return
        self.give_back(found.partition(READY)[2])

    def _lost(self) -> LinkLost:
        end = self._connection.end()
        if isinstance(end, NoAnswer):
            return LinkLost(end.reason, end.detail)
        return LinkLost("cut", f"the remote shell ended with code {end} in the middle")


def nul_ended(names: Iterable[str]) -> bytes:
    """Names as `xargs -0` and GNU tar take them."""
    return b"".join(b"./" + name.encode("utf-8", "surrogateescape") + b"\0" for name in names)
