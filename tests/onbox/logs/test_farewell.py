"""What trackers say at the end of every run is no sign of how it ended."""

from __future__ import annotations

import pytest

from onbox.logs.farewell import is_farewell
from onbox.logs.tail import last_words

TAIL = (
    b"step 30/30 loss 0.4\nacc 0.967\nwandb: \nwandb: Run history:\nwandb: Find logs at: wandb/offline-run-1/logs\n"
    b"\xf0\x9f\x8f\x83 View run ripe-owl at: https://mlflow.example/#/runs/1\n"
)


def test_the_last_words_are_the_programs_own() -> None:
    assert last_words(TAIL) == "acc 0.967"
    assert last_words(b"wandb: Find logs at: x\n") == "wandb: Find logs at: x"


@pytest.mark.parametrize("line", ["KeyError: 'wandb'", "loss 0.4", "Killed", "training the wandb way: 3", "aimed: 4"])
def test_the_programs_own_lines_stay(line: str) -> None:
    assert not is_farewell(line)
