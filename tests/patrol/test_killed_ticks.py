"""A tick that is killed while it tells people: nothing is lost, nothing is told twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from patrol.tell import messages as speaking
from tests.patrol.killed_ticks import KilledTicks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("when", ["before", "after", "torn"])
def test_a_tick_killed_at_any_step_loses_and_doubles_nothing(
    tmp_path: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaking, "start_deliverer", lambda *_: 0)
    monkeypatch.setattr(speaking, "WAIT_OF_PERSON_SECONDS", 0.0)
    ticks = KilledTicks(tmp_path)
    ticks.speak(ticks.look())
    killed, operation = 0, 1
    while True:
        judged = ticks.change()
        if not ticks.killed_at(judged, operation, when):
            break
        killed, operation = killed + 1, operation + 1
        ticks.speak(ticks.look())
        told = ticks.told()
        assert [event for event, _ in told] == ticks.changes, f"killed {when} operation {operation - 1}"
        assert len({id_ for _, id_ in told}) == len(told)
    assert killed >= 6, "every step was tried"
