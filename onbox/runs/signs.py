"""What was seen of a run beside its state, and what tells it: a failure's class, the room on its disk, its stage.

Pure.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from onbox.contract.events import Event
from onbox.triage.classes import may_repeat

if TYPE_CHECKING:
    from onbox.contract.markers import Slot
    from onbox.runs.journal import JournalFacts
    from onbox.runs.room import RunRoom
    from onbox.runs.unseen_end import UnseenEnd


class Sign(Enum):
    """What was seen of a run beside its state. The watcher that saw it says so; absent means only "not seen"."""

    NO_CONTACT = "the box did not answer, so nothing new is known of the run"
    VANISHED = "its directory is gone"
    REMOVED_ALIVE = "its directory is gone, and its processes are alive"
    NO_RUN = "no run was seen, only the box"
    FOREIGN = "onbox did not start it"
    RESULTS_MISSING = "files that a DONE marker vouches for are gone"
    PULLED = "all its files are home"
    VERIFIED = "all its files are home, and each was loaded once"
    SEALED = "its record is sealed"
    DOUBTED = "what is done of it has a warning beside its DONE"
    REPEATED = "an earlier attempt failed in the same way"
    NO_ROOM = "its failure is a full disk or quota"
    NO_INODES = "its failure is a disk without free inodes"
    CELLS_FAILED = "it is a sweep, and cells of it have failed"
    CELLS_SKIPPED = "it is a sweep, and each cell that failed was skipped afterwards"
    RECHECKED = "the stage at which it ended was judged again since, and is DONE"
    CAUSE_UNKNOWN = "its failure has no class"
    BY_A_PERSON = "somebody ended it"
    NOT_STARTED = "its stage never started, so there is no log of it"
    NO_REPEAT = "its failure's class can only repeat under the same configuration"
    LOSS_LOST = "its loss is not a number any more"
    OTHER_LINEAGE = "a newer checkpoint is of another run"
    GATE_REFUSED = "a gate refused, nothing was started"
    WOULD_REFUSE = "earlier results do not fit: a resume refuses"
    DISK_FULL_NOW = "its disk has no room at this moment"
    INODES_GONE_NOW = "its disk has no free inodes at this moment"
    STAGE_NOT_BEGUN = "its first open stage has never begun"
    STAGE_NOT_JUDGED = "how its stage ended is on record, and no runner has judged it"
    END_MISSED = "its stage came to an end without its runner and its keeper, and its exit code is not known"
    RUNNER_GONE = "its stage is alive, its runner is not"
    RUNNER_FROZEN = "its runner was stopped by a signal (SIGSTOP)"
    KEEPER_GONE = "nothing records how its live stage ends"
    SEEN_ONCE = "one look found no process of it"
    STOP_POINT = "it is at the stopping point that a person set"
    NOTICES_STUCK = "its notifications cannot be delivered"
    ILL = "the watcher warns of something, and says what to look at"
    UNATTENDED = "nothing of it runs, and nothing will start it by itself"


NO_ROOM = frozenset({"disk_full", "quota_exceeded"})
NO_INODES_CLASS = "inode_exhausted"
UNKNOWN_CLASS = "unknown"
NOT_STARTED_CLASS = "not_started"
BY_A_PERSON_CLASS = "user_interrupt"


def signs_of_failure(failure_class: str, own_word: bool | None = None) -> frozenset[Sign]:  # noqa: FBT001 - a reading
    """What a failure's class says; "" for no failure. own_word: as `may_repeat` takes it."""
    if not failure_class:
        return frozenset()
    rows = (
        (failure_class in NO_ROOM, Sign.NO_ROOM),
        (failure_class == NO_INODES_CLASS, Sign.NO_INODES),
        (failure_class == UNKNOWN_CLASS, Sign.CAUSE_UNKNOWN),
        (failure_class == NOT_STARTED_CLASS, Sign.NOT_STARTED),
        (failure_class == BY_A_PERSON_CLASS, Sign.BY_A_PERSON),
        (not may_repeat(failure_class, own_word=own_word), Sign.NO_REPEAT),
    )
    return frozenset(sign for holds, sign in rows if holds)


def signs_of_room(room: RunRoom | None) -> frozenset[Sign]:
    """What the room says where the run writes. None: it was not seen, or is of no interest."""
    short_of = "" if room is None else room.short_of
    return frozenset({_OF_ROOM[short_of]}) if short_of else frozenset()


_OF_ROOM = {"bytes": Sign.DISK_FULL_NOW, "inodes": Sign.INODES_GONE_NOW}


def signs_of_stage(facts: JournalFacts, slot: Slot | None, unseen: UnseenEnd | None = None) -> frozenset[Sign]:
    """What a resume finds of a stage of which nothing runs, where that is not simply cut off. slot: of the newest
    attempt; None: none was seen. unseen: what is known of its end, where nobody recorded it; None: it may live. Not for
    a sweep, whose cells have journals of their own.
    """
    is_its = slot is not None and (slot.stage, slot.attempt) == (facts.stage, facts.attempt)
    if facts.stage_event == Event.ATTEMPT_STARTED:
        known = facts.series.get(facts.stage or "")
        if (known is not None and not known.is_open) or (is_its and slot is not None and slot.exit_code is not None):
            return frozenset({Sign.STAGE_NOT_JUDGED})
        never_ran = is_its and slot is not None and slot.keeper_pid is None and slot.attempt == 1
        if never_ran:
            return frozenset({Sign.STAGE_NOT_BEGUN})
        return frozenset({Sign.END_MISSED}) if unseen is not None and unseen.was_missed else frozenset()
    between = facts.stage is None or facts.stage_event in (Event.STAGE_DONE, Event.STAGE_REDO)
    return frozenset({Sign.STAGE_NOT_BEGUN}) if between and not facts.series else frozenset()
