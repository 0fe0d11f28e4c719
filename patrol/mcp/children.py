"""Our own programs, each in a child with a time limit and a bound on its output.

A child cannot take the server along: it may hang on a half-open link, or die. Whoever cancels a call ends its child.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OUTPUT_LIMIT_BYTES = 8 << 20
AT_ONCE = 4  # children; more calls wait for their turn
GRACE_SECONDS = 5.0


class ChildEnded(NamedTuple):
    """How a child ended. exit_code None: it ran out of its time. document: its JSON; None: it printed none. complaint,
    output: the ends of what it wrote, as one line.
    """

    exit_code: int | None
    document: Any
    complaint: str
    output: str = ""


class Programs:
    """Starts programs of the project in `folder`. options: what the server itself was started with (`-c FILE`)."""

    def __init__(self, folder: str, options: Sequence[str]) -> None:
        self.folder, self.options = folder, tuple(options)
        self._turn = anyio.Semaphore(AT_ONCE)

    async def run(
        self, package: str, words: Sequence[str], *, limit_seconds: float, environment: Mapping[str, str] | None = None
    ) -> ChildEnded:
        """`package`: `patrol`, `sentinels`, `handbook`. words: the command; the project's options are added to it."""
        verb, *rest = words
        argv = [sys.executable, "-m", package, verb, *self.options, *rest]
        async with self._turn:
            return await self._run(argv, limit_seconds, {**os.environ, **(environment or {})})

    async def _run(self, argv: Sequence[str], limit_seconds: float, environment: Mapping[str, str]) -> ChildEnded:
        child = await anyio.open_process(
            argv,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        out, err = bytearray(), bytearray()
        try:
            with anyio.move_on_after(limit_seconds) as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(_read, child.stdout, out)
                    group.start_soon(_read, child.stderr, err)
                await child.wait()
        finally:
            await _end(child)
        code = None if scope.cancelled_caught else child.returncode
        return ChildEnded(code, _document(bytes(out)), _end_of(err), _end_of(out))


def _end_of(data: bytearray) -> str:
    return safe_line(data[-2000:].decode("utf-8", "replace").strip()[-500:])


async def _read(stream: Any, into: bytearray) -> None:
    async for part in stream:
        if len(into) < OUTPUT_LIMIT_BYTES:
            into += part


async def _end(child: Any) -> None:
    """End it and what it started, also where the call was cancelled."""
    with anyio.CancelScope(shield=True):
        for number, patience in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
            if child.returncode is not None:
                break
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, number)
            with anyio.move_on_after(patience):
                await child.wait()
        await child.aclose()


def _document(text: bytes) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return None
