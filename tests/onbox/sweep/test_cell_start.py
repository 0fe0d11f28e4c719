"""The runner of a cell, while it is being made: a fork of the sweep's."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from onbox.sweep.runner import cell_run
from tests.box import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

TRIES = 20  # a stop that comes too early for the fork was lost in nearly each of them


def tried(place: Path) -> Iterator[int]:
    """Pids of runners that have just been begun."""
    for at in range(TRIES):
        lock_fd = os.open(place / f"lock{at}", os.O_RDWR | os.O_CREAT)
        paths = SimpleNamespace(runner_log=os.fspath(place / "log"), root=os.fspath(place))
        ready: Any = SimpleNamespace(paths=paths, lock_fd=lock_fd)
        try:
            yield cell_run.begin(ready, {}, (), lambda: None)
        finally:
            os.close(lock_fd)


def test_a_stop_that_comes_with_the_start_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_run, "run_chain", lambda *_, **__: time.sleep(60))
    heard_by_the_sweep = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        for pid in tried(tmp_path):
            os.kill(pid, signal.SIGTERM)
            ended: list[int] = []
            try:
                wait_until(partial(_reap, pid, ended), "the runner to end", 5.0)
            finally:
                if not ended:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            assert os.WTERMSIG(ended[0]) == signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, heard_by_the_sweep)


def _reap(pid: int, ended: list[int]) -> bool:
    found, status = os.waitpid(pid, os.WNOHANG)
    ended += [status] if found else []
    return bool(found)
