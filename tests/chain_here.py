"""A chain by its drivers alone: definition, launch and runner, without a command line and its start. Keepers and
commands are real; a runner is a fork of the test, with its own signals.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from onbox.chain.launch import Definition, prepare
from onbox.chain.lock.run_lock import Taken, take_lock
from onbox.chain.runner.runner_process import resume_words, run_chain
from onbox.chain.state.earlier_results import ResultWishes
from onbox.contract.fingerprint import chain_fingerprint, stage_fingerprint
from onbox.contract.paths import RunPaths
from onbox.model.manifest import Retry, RunSettings, Stage
from tests.box import Box, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

NO_WISHES = ResultWishes()
NO_PAUSE = Retry(1, ("network_blip",), backoff_seconds=0.0)


class ChainHere:
    """One run in the folder of a test. The names of its files are `box`'s."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.paths = RunPaths(str(box.state))
        self.run_id = f"20261122-{os.urandom(4).hex()}"  # one of its own: by it the processes of an attempt are found

    def definition(self, *stages: Stage, **head: Any) -> Definition:
        pairs = [(stage, stage_fingerprint(stage)) for stage in stages]
        fingerprint = chain_fingerprint((stage.name, print_) for stage, print_ in pairs)
        whole = {
            "run": self.box.run,
            "run_id": self.run_id,
            "project": str(self.box.project),
            "chain_fingerprint": fingerprint,
            "stage_count": len(pairs),
            "settings": RunSettings(grace_seconds=5.0).to_plain(),
            **head,
        }
        return Definition(self.paths, whole, pairs, fingerprint)

    def freeze(self, *stages: Stage, wishes: ResultWishes = NO_WISHES, **head: Any) -> int:
        """As a launch does; the lock's descriptor."""
        lock = take_lock(self.paths)
        assert isinstance(lock, Taken)
        prepare(self.definition(*stages, **head), wishes)
        return lock.lock_fd

    def begin(self, lock_fd: int, only: str | None = None) -> int:
        """A runner of what is frozen; its pid. The lock is its own from then on."""
        words = resume_words(self.paths.root, only="")  # a keeper whose runner has gone starts no other
        name, _, value = self.box.tag.partition("=")
        pid = forked(lambda: run_chain(self.paths, lock_fd, only=only, words=words), {name: value})
        os.close(lock_fd)
        return pid

    def run(self, *stages: Stage, only: str | None = None, **head: Any) -> int:
        """Frozen, and brought to its end: the exit code; negative: the signal that ended the runner."""
        return end_of(self.begin(self.freeze(*stages, **head), only))

    @property
    def told(self) -> list[str]:
        """The journal's events, in order."""
        return [str(event["event"]) for event in self.box.events()]


def forked(work: Callable[[], int], environ: dict[str, str]) -> int:
    """A fork of this process that does the work and ends with its exit code; its pid."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        os.environ.update(environ)
        code = work()
    finally:
        os._exit(code)


def end_of(pid: int) -> int:
    """The exit code of a fork, waited for."""
    status: list[int] = []

    def ended() -> bool:
        found, value = os.waitpid(pid, os.WNOHANG)
        status.append(value)
        return found == pid

    try:
        wait_until(ended, f"the end of pid {pid}")
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return os.waitstatus_to_exitcode(status[-1])
