"""The table that `onbox status` draws on a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from onbox.commands.show import status_screen

STAGE = {
    "name": "train", "state": "done", "elapsed_seconds": None, "duration_seconds": 97.0, "attempts": 1, "note": None,
    "timeout_left_seconds": None,
}  # fmt: skip
RESULT = {"stage": "train", "current": 300.0, "maximum": 300, "loss": 0.1367, "metric": "acc 0.9655"}


@pytest.mark.parametrize(
    ("result", "row"),
    [
        (RESULT, "100% 300/300 0.1367 1m37s └ acc 0.9655"),
        ({**RESULT, "current": None, "maximum": None, "loss": None}, "100% 1m37s └ acc 0.9655"),
    ],
)
def test_the_metric_of_a_stage_that_is_done_is_whole_and_in_no_other_column(
    result: dict[str, object], row: str
) -> None:
    out = Console(file=StringIO(), width=80, force_terminal=True, color_system=None)
    status_screen._print_stages(out, {"stages": [{**STAGE, "result": result}], "stage": "train", "progress": None})
    assert isinstance(out.file, StringIO)
    assert row in " ".join(out.file.getvalue().split())
