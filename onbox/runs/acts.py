"""What may be typed next about a run, and what only a person's word allows. Pure."""

from __future__ import annotations

import shlex
from enum import Enum
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = "RUN"  # stands for the run's name
BOX, BOX_RUN = "BOX", "BOX/RUN"  # and for what the machine that looks at the box calls it; the box itself does not know


class Act(Enum):
    """What may be typed next: words of `onbox`, or of `patrol` where the results come home. None of them needs a
    person's word.
    """

    STATUS = ("status", RUN)
    LOGS = ("logs", "--run", RUN)
    RESUME = ("resume", "-d", RUN)
    DRY_RUN = ("resume", "--dry-run", RUN)
    SWEEP_RESUME = ("sweep", "resume", RUN)
    NOTICES = ("notify", "list", RUN)
    ROOM = ("df",)  # bytes and inodes of the project's disk, then which checkpoints may go
    INODES = ("df", "-i")  # what else is small and many only its owner knows
    PULL = ("patrol", "pull", BOX_RUN)  # from here on words of `patrol`, on the machine that looks at the box
    VERIFY = ("patrol", "verify", BOX_RUN)
    TEARDOWN = ("patrol", "teardown-check", BOX)
    LOOK = ("look",)  # what the watcher that saw it says to look at: a check of the box, a log, a history

    @property
    def is_local(self) -> bool:
        """Whether it is typed on the machine that looks at the box."""
        return "patrol" in self.value

    def commands(
        self, run: str, onbox: Sequence[str] = ("onbox",), *, box: str = BOX, place: str = "."
    ) -> tuple[tuple[str, ...], ...]:
        """What is typed in the project's directory, on the box or here (`is_local`), one after the other. Not for LOOK,
        which is the watcher's. onbox: how it is called there. box: its name here. place: whose disk has no room.
        """
        if self is Act.ROOM:
            look = (("df", "-h", place), ("df", "-i", place))
            return (*look, (*onbox, "prune", "--dry-run", run)) if run else look
        if self is Act.INODES:
            return (("df", "-i", place),)
        if self.is_local:
            names = {BOX: box, BOX_RUN: f"{box}/{run}"}
            return (tuple(names.get(word, word) for word in self.value),)
        return ((*onbox, *_with_run(self.value, run)),)

    def line(self, run: str, *, place: str = ".") -> str:
        """The commands for a shell that stands there."""
        return " && ".join(map(shlex.join, self.commands(run, place=place)))


def _with_run(words: Sequence[str], run: str) -> tuple[str, ...]:
    return tuple(run if word == RUN else word for word in words)


class WithWord(Enum):
    """What is done only with a person's word for that very act: as people are told of it, and words of `onbox`."""

    STOP = ("stop it", ("stop", RUN))
    RESUME = ("resume it", ("resume", "-d", RUN))
    REDO = ("run a stage again", ("resume", "-d", "--redo", "STAGE", RUN))
    RETRY_CELLS = ("run the failed cells again", ("sweep", "retry-failed", RUN))
    ANY_CHECKPOINT = ("take a checkpoint of another run", ("resume", "-d", "--any-checkpoint", RUN))
    ACKNOWLEDGE = ("acknowledge it", ())  # a command of the patrol, where there is one

    def __init__(self, what: str, words: tuple[str, ...]) -> None:
        self.what, self._words = what, words

    def words(self, run: str) -> tuple[str, ...]:
        """The words behind `onbox`; () where it is not a command of onbox."""
        return _with_run(self._words, run)


class NextStep(NamedTuple):
    """What to do about a run. name: of the row. then: what follows, one sentence.

    never: what must not be done meanwhile, parted by "; ". with_word: what is done only with a person's word for that
    very act. resume_now: whether a resume is right at once; False: only once something else was done.
    """

    name: str
    act: Act
    then: str
    never: str
    with_word: tuple[WithWord, ...] = ()
    resume_now: bool = False

    @property
    def continues(self) -> bool:
        """Whether its command goes on with the run."""
        return self.act in (Act.RESUME, Act.SWEEP_RESUME)

    @property
    def do_not(self) -> str:
        """What must not be done, each part with its own "not": a second part without it reads as an order."""
        return "; ".join(f"do not {part}" for part in self.never.split("; "))
