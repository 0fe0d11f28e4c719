"""What the report names of a run's checkpoints."""

from __future__ import annotations

import pytest

from onbox.contract.events import Event, Record
from onbox.series.point import Point
from onbox.system.clock import utc_text
from patrol.memory.rows import LastWord
from patrol.page.files import written_by
from patrol.page.model import RunHistory
from tests.patrol.makers import NOW

BACK = {"stage": "train", "number": 1, "step": 60, "at": utc_text(NOW)}
DONE, UNDONE = ({**BACK, "event": event} for event in (Event.ROLLBACK_DONE, Event.ROLLBACK_UNDONE))
SAVED = [(60, -30.0), (80, -20.0), (100, -10.0)]


@pytest.mark.parametrize(
    ("events", "since", "steps"),
    [
        ((), (), [100, 80, 60]),
        ((DONE,), (), [60]),
        ((DONE,), ((80, 30.0),), [80, 60]),  # written anew by the next attempt
        ((DONE, UNDONE), (), [100, 80, 60]),
    ],
)
def test_what_a_rollback_set_aside_is_not_there(
    events: tuple[Record, ...], since: tuple[tuple[int, float], ...], steps: list[int]
) -> None:
    series = tuple(
        Point(NOW + at, "train", 1, checkpoint_step=step, checkpoint_at=NOW + at) for step, at in (*SAVED, *since)
    )
    run = RunHistory(LastWord("gpu1", "digits", NOW, "", "{}"), None, events=events, series=series)
    assert [one.what for one in written_by(run)] == [f"checkpoint of step {step}" for step in steps]
