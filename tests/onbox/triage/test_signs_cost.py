"""Ordinary logs of many lines that all hold a sign: what each of them costs."""

from __future__ import annotations

from onbox.triage.reading import signs

LINES = [f"{at % 100}%|####| {at}/9000 [00:{at % 60:02d}<1:00, 1it/s] loss=nan" for at in range(9000)]


def test_a_loop_that_has_lost_its_loss_is_searched_once() -> None:
    signs._lost_losses.cache_clear()
    assert all(signs.lost_loss(line) and signs.nan_loss(line) and not signs.says_handled(line) for line in LINES)
    assert signs._lost_losses.cache_info().misses < 10


def test_a_number_in_a_lines_shape_stays_a_number() -> None:
    assert signs.lost_loss("step 7 train_loss: nan val_loss: 2.5")
    assert not signs.lost_loss("step 7 val_loss: nan")
    assert not signs.lost_loss("step 7 loss: 2.5 loss: nan")
    assert signs.lost_loss("step 12 loss 0.000 grad_norm nan")
    assert not signs.lost_loss("step 12 loss 1.000 grad_norm nan")
