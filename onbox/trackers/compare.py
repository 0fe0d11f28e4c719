"""A tracker's word against what was intended and what was seen before: one ordered table. Pure.

A second opinion only: it can confirm that a run moves, or say that the tracker shows another run; it never makes a run
failed. After a resume the steps repeat what was done since the last checkpoint: that is catching up, not going back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple
from onbox.trackers.reading import ENDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.trackers.reading import TrackerRun


class FrozenIntent(NamedTuple):
    """The run that is meant, as it was recorded when it was first seen (many names are given by the tracker). None: not
    recorded. A run may resume under the same id only.
    """

    run_id: str | None = None
    name: str | None = None
    project: str | None = None


class TrackerPoints(NamedTuple):
    """seen: at the tracker now. before: at the look before this one, None at the first. resumed: the attempt resumes
    an earlier one. log_moves: the run's own log got new lines lately; None: not known. running_seconds: since the
    attempt began. stale_after_seconds: how old the newest point of a run that moves may be.
    """

    intent: FrozenIntent
    seen: Maybe[TrackerRun]
    before: TrackerRun | None
    now_seconds: float
    running_seconds: float
    resumed: bool
    log_moves: bool | None
    stale_after_seconds: float

    @property
    def run(self) -> TrackerRun | None:
        return None if isinstance(self.seen, Absent | Unseen) else self.seen

    @property
    def age_seconds(self) -> float | None:
        """Of the newest point; None: not told. A clock that is ahead gives 0."""
        at = self.run.last_at_seconds if self.run is not None else None
        return None if at is None else max(0.0, self.now_seconds - at)

    @property
    def is_fresh(self) -> bool:
        age = self.age_seconds
        return age is not None and age <= self.stale_after_seconds

    @property
    def is_of_this_attempt(self) -> bool:
        """Whether the newest point was logged since the attempt began."""
        age = self.age_seconds
        return age is not None and age < self.running_seconds

    @property
    def drift(self) -> str | None:
        """What is not as intended; None: nothing that could be compared."""
        if self.run is None:
            return None
        for field, word in (("run_id", "id"), ("project", "project"), ("name", "name")):
            wanted, found = getattr(self.intent, field), getattr(self.run, field)
            if wanted is not None and found is not None and wanted != found:
                return f"the tracker shows the {word} {found}, meant is {wanted}"
        return None

    @property
    def step_change(self) -> float | None:
        """Since the look before; None where there are not two numbers of the same kind."""
        if self.run is None or self.before is None or self.run.own_step != self.before.own_step:
            return None
        if self.run.step is None or self.before.step is None:
            return None
        return self.run.step - self.before.step


class Opinion(NamedTuple):
    """rule: the row. moves: what the tracker says of the run's life; None: nothing. alert: a person should look."""

    rule: str
    moves: bool | None
    alert: bool
    text: str


class TrackerRow(NamedTuple):
    """First match wins."""

    rule: str
    holds: Callable[[TrackerPoints], bool]
    moves: bool | None
    alert: bool
    text: str


TABLE: tuple[TrackerRow, ...] = (
    TrackerRow(
        "could-not-look", lambda x: isinstance(x.seen, Unseen), None, False, "could not look at the tracker: {why}"
    ),
    TrackerRow(
        "not-there-yet",
        lambda x: isinstance(x.seen, Absent) and x.running_seconds <= x.stale_after_seconds,
        None,
        False,
        "not at the tracker yet: {why}",
    ),
    TrackerRow("missing", lambda x: isinstance(x.seen, Absent), False, True, "the run is not at the tracker: {why}"),
    TrackerRow("identity-drift", lambda x: x.drift is not None, None, True, "{drift}"),
    TrackerRow("ended", lambda x: x.run is not None and x.run.state in ENDED, None, False, "the tracker says {state}"),
    TrackerRow(
        "catching-up",
        lambda x: x.resumed and bool(x.log_moves) and not x.is_of_this_attempt,
        True,
        False,
        "catching up after the resume: the log moves, the tracker is still at step {step}",
    ),
    TrackerRow(
        "steps-went-back",
        lambda x: not x.resumed and (x.step_change or 0) < 0,
        None,
        True,
        "steps went back by {back} without a resume: another writer?",
    ),
    TrackerRow("moving", lambda x: (x.step_change or 0) > 0, True, False, "moving: step {step}, {age} ago"),
    TrackerRow("fresh", lambda x: x.is_fresh, True, False, "fresh: step {step}, {age} ago"),
    TrackerRow(
        "tracker-lags",
        lambda x: bool(x.log_moves),
        None,
        False,
        "the log moves, the tracker's newest point is {age} old: it may not be syncing",
    ),
    TrackerRow("stale", lambda x: x.age_seconds is not None, False, True, "no new point for {age}"),
    TrackerRow("no-times", lambda _: True, None, False, "the tracker tells no times"),
)


def compare(look: TrackerPoints) -> Opinion:
    """The opinion of the first row that holds. The last one always does."""
    row = next(row for row in TABLE if row.holds(look))
    run = look.run
    age = look.age_seconds
    text = row.text.format(
        why=look.seen.why if isinstance(look.seen, Absent | Unseen) else "",
        drift=look.drift or "",
        state=run.state if run is not None else "",
        step="?" if run is None or run.step is None else f"{run.step:g}",
        back=f"{-(look.step_change or 0):g}",
        age="?" if age is None else f"{age:.0f} s",
    )
    return Opinion(row.rule, row.moves, row.alert, text)
