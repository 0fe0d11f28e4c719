"""[logbook] and [contract]: how the record of a run is kept, and what its head promises. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.keys import Key, Keys, ListKey
from onbox.model.origin import Origin
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.config.fields import Table

GIT_WAYS = ("never", "commit", "push")


class LogbookSettings(NamedTuple):
    """[logbook]. git: what is done by itself with an entry that was made by itself or by hand. remind_seconds: a live
    run without an entry by hand for so long is told as due.
    """

    git: str = "never"
    remind_seconds: float = 86_400.0


class Contract(NamedTuple):
    """[contract]: what a run that must be accounted for promises before its launch, in its owner's words; "" where
    nothing is said. final_step: of the whole training; None: not said. rejected: patterns of checkpoints that nobody
    may go on from.
    """

    dri: str = ""
    goal: str = ""
    stop: str = ""
    issue: str = ""
    tracker: str = ""
    output_root: str = ""
    initialize_from: str = ""
    final_step: int | None = None
    retention: str = ""
    rollback: str = ""
    runtime: str = ""
    babysitter: str = ""
    rejected: tuple[str, ...] = ()

    @property
    def origin(self) -> Origin:
        """What a runner must know of it."""
        return Origin(self.tracker, self.initialize_from, self.final_step, self.rejected)


_LOGBOOK = LogbookSettings()


class LogbookKeys(Keys):
    """[logbook]."""

    HEADER = "[logbook]"
    HELP = "The run's record, logbook/<run>.md."
    git = Key(
        values.one_of(GIT_WAYS, "a way"),
        _LOGBOOK.git,
        'What git does with new entries: "never" anything, "commit" (only that file, never what you staged), or "push".',
        '"never"',
        usual='"never"',
    )
    remind = Key(
        values.positive_duration,
        _LOGBOOK.remind_seconds,
        "You are reminded of a live run that had no entry by hand for this long.",
        '"24h"',
        usual='"24h"',
    )


class ContractKeys(Keys):
    """[contract]."""

    HEADER = "[contract]"
    HELP = (
        "What a run that must be accounted for promises before its launch; it heads the record. `handbook contract` says "
        "what is missing."
    )
    dri = Key(values.text, "", "Who is responsible for it.", '"ann"')
    goal = Key(values.text, "", "What it should reach.", '"a loss below 2.1 at step 100000"')
    stop = Key(
        values.text, "", "When it should be stopped.", '"loss above 4 for an hour; a second loss of the same node"'
    )
    issue = Key(values.text, "", "Its issue.", '"https://example.com/issues/1"')
    tracker = Key(values.text, "", "Its run at a tracker.", '"wandb lab/digits/run-1, resume=allow"')
    output_root = Key(values.text, "", "Where its output is.", '"/mnt/shared/digits"')
    initialize_from = Key(values.text, "", "What it was started from.", '"/mnt/shared/base/step-4000"', usual="nothing")
    final_step = Key(values.count_from(1), None, "The last step of the whole training.", "100000")
    retention = Key(
        values.text, "", "Which checkpoints are kept.", '"permanent every 100000 steps, temporary every 15 min"'
    )
    rollback = Key(values.text, "", "How many checkpoints it can go back.", '"10 checkpoints back"')
    rejected = ListKey(
        values.text,
        "Checkpoints that must never be used again; a resume that would take one refuses.",
        '["ckpt/step-2*"]',
    )
    runtime = Key(values.text, "", "What it runs in.", '"image lab/train:2.3"')
    babysitter = Key(values.text, "", "What watches it.", '"patrol on ann\'s machine"')


def read_logbook(table: Table) -> LogbookSettings:
    return LogbookSettings(git=table.get(LogbookKeys.git), remind_seconds=table.get(LogbookKeys.remind))


def read_contract(table: Table) -> Contract:
    texts = {key.name: table.get(key) for key in ContractKeys.rows() if isinstance(key, Key)}
    return Contract(**texts, rejected=table.get_list(ContractKeys.rejected))
