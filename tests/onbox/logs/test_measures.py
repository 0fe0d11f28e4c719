"""Learning rate, grad norm and metrics, as trainers print them."""

from __future__ import annotations

import pytest

from onbox.logs.measures import Measures, read_measures
from onbox.logs.progress import ProgressReader

LINES = {
    "{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 1.0}": Measures(5e-5, 1.2),
    "step   100 | loss 3.2 | norm 0.2712 | lr 6.00e-04 | 12.3 ms": Measures(6e-4, 0.2712),
    " iteration 10/ 100 | learning rate: 1.500E-04 | lm loss: 1.0E+01 | grad norm: 1.234 |": Measures(1.5e-4, 1.234),
    '{"epoch": 1, "lr": "0.0005", "gnorm": "1.9", "loss": "3.1"}': Measures(0.0005, 1.9),
    "lr-Adam=0.001, train/grad_norm=nan": Measures(0.001, "nan"),
    "epoch 3 train_acc: 0.0": Measures(metric=0.0, metric_name="train_acc"),
    "val_accuracy: 0.9": Measures(metric=0.9, metric_name="val_accuracy"),
    "normal layernorm 5, error rate 0.3, accuracy 55%": Measures(),
}


@pytest.mark.parametrize("line", LINES)
def test_what_a_line_shows(line: str) -> None:
    assert read_measures(line) == LINES[line]


def test_a_reader_knows_the_newest_of_each_and_keeps_them_over_a_pause() -> None:
    reader = ProgressReader()
    reader.feed(b"step 1/9 loss 2.0 lr 0.1\nstep 2/9 loss 1.5 lr 0.2\n")
    again = ProgressReader.from_state(reader.state())
    again.feed(b"step 3/9 loss 1.0 grad_norm inf\n")
    seen = again.readings()
    assert {name: one.value for name, one in seen.items()} == {"loss": 1.0, "learning_rate": 0.2, "grad_norm": "inf"}
