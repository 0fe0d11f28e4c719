"""Ticks that tell people and are killed anywhere: a run that fails and recovers in turns, told by real files.

Each kill is in a process of its own; the next tick is a whole one. What people are told is then compared with what
happened.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from onbox.config.parse import Config, Notify
from onbox.contract.notices import PATROL_RECOVERED, PATROL_TROUBLE
from onbox.contract.notify_targets import NotifyTarget
from onbox.model.boxes import PatrolSettings
from onbox.notify.queue.outbox import Message, Outbox
from patrol.config.settings import Settings
from patrol.tell import messages as speaking
from tests.fakes.die_at import OTHERS, WRITES, Sweep
from tests.patrol.makers import NOW, box, dead, failure, run
from tests.patrol.test_news import Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from patrol.judge import BoxJudged


class KilledTicks:
    """environ: of the deliverer, where there is one; it gives up what is old. now: of the first tick."""

    def __init__(
        self, folder: Path, url: str = "env:HOOK", environ: dict[str, str] | None = None, now: float = NOW
    ) -> None:
        config = Config(
            "digits",
            notify=Notify((NotifyTarget("team", url),)),
            patrol=PatrolSettings(alerts_per_day=10**6, digest_minute=None),
        )
        self.settings = Settings(os.fspath(folder), None, config, os.fspath(folder / "state"), ())
        self.environ = environ or {}
        self.watch = Watch()
        self.watch.now = now
        rules = tuple(rule for rule in self.watch.policy.run_rules if rule.name != "flapping")
        self.watch.policy = self.watch.policy._replace(run_rules=rules)  # it would be told instead
        self.changes: list[str] = []  # what was to be told, in order
        os.makedirs(self.settings.state)
        self.look()

    def look(self) -> list[BoxJudged]:
        """A run that is well after an even number of changes, and has failed after an odd one."""
        ill = len(self.changes) % 2
        found = dead(failure=failure(), outcome="chain_failed", attempt=len(self.changes)) if ill else run()
        return self.watch.judged(gpu1=box(runs=(found,)))

    def change(self) -> list[BoxJudged]:
        self.changes.append(PATROL_RECOVERED if len(self.changes) % 2 else PATROL_TROUBLE)
        return self.look()

    def speak(self, judged: list[BoxJudged]) -> None:
        speaking.speak(self.settings, judged, self.environ, self.watch.now, unattended=False)

    def killed_at(self, judged: list[BoxJudged], operation: int, when: str) -> bool:
        """A tick that dies at its n-th operation on the disk; False: it came to its end before."""

        def work() -> None:
            sweep = Sweep(operation, when)
            for name in WRITES + OTHERS:
                sweep.wrap(name)
            self.speak(judged)

        return self._in_child(work, None)

    def killed_after(self, judged: list[BoxJudged], seconds: float) -> bool:
        return self._in_child(lambda: self.speak(judged), seconds)

    def _in_child(self, work: Callable[[], None], seconds: float | None) -> bool:
        pid = os.fork()
        if not pid:
            try:
                if seconds is not None:
                    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
                    signal.setitimer(signal.ITIMER_REAL, seconds)
                work()
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        return os.WIFSIGNALED(status)

    def told(self) -> list[tuple[str, str]]:
        """Event and id of every message that was ever put in, in order."""
        outbox = Outbox(speaking.paths_of(self.settings))
        found = {}
        for folder in (outbox.paths.outbox, outbox.paths.sent, outbox.paths.dead):
            for name in outbox.names(folder):
                message = outbox.read(name, folder)
                assert isinstance(message, Message), message
                found[name] = (message.notice.event, message.notice.id)
        return [found[name] for name in sorted(found)]
