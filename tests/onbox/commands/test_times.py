"""How long a run took, as `onbox status` tells it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from onbox.commands.show.status_data import _times

ENDED = {"ended_at": "2026-11-21T09:00:00.000Z"}


@pytest.mark.parametrize(
    ("end", "seconds"),
    [(None, 7200.0), (ENDED, None), ({**ENDED, "duration_seconds": 60.0}, 60.0), ({"reason": "x"}, None)],
)
def test_the_time_of_a_run_that_has_ended_grows_no_more(end: dict[str, Any] | None, seconds: float | None) -> None:
    view = SimpleNamespace(end=end, worked_seconds=7200.0, began_at="2026-11-21T06:00:00.000Z", launches=1)
    assert _times(cast("Any", view))["elapsed_seconds"] == seconds
