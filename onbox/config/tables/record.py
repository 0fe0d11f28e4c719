"""[logbook] and [contract]: how the record of a run is kept, and what its head promises. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onbox.config import values

if TYPE_CHECKING:
    from onbox.config.fields import Table

GIT_WAYS = ("never", "commit", "push")
LOGBOOK_KEYS = ("git", "remind")


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


CONTRACT_KEYS = Contract._fields


def read_logbook(table: Table) -> LogbookSettings:
    default = LogbookSettings()
    return LogbookSettings(
        git=table.read("git", values.one_of(GIT_WAYS, "a way"), default.git),
        remind_seconds=table.read("remind", values.positive_duration, default.remind_seconds),
    )


def read_contract(table: Table) -> Contract:
    texts = {key: table.read(key, values.text, "") for key in CONTRACT_KEYS if key not in ("final_step", "rejected")}
    return Contract(
        **texts,
        final_step=table.read("final_step", values.count_from(1), None),
        rejected=table.read_list("rejected", values.text, 'a list such as ["ckpt/step-2*"]'),
    )
