"""Bars and curves made of letters."""

from __future__ import annotations

import pytest

from onbox.terminal.marks import bar, sparkline


@pytest.mark.parametrize(
    ("share", "drawn"),
    [
        (0.0, "░░░░"),
        (0.0001, "▏░░░"),
        (0.5, "██░░"),
        (0.99, "███▉"),
        (1.0, "████"),
        (7.0, "████"),
        (-1.0, "░░░░"),
        (None, ""),
        (float("nan"), ""),
        (float("inf"), ""),
    ],
)
def test_a_bar_is_full_at_the_end_only_and_empty_at_the_beginning_only(share: float | None, drawn: str) -> None:
    assert bar(share, 4) == drawn


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([3, 2, 1], "█▅▁"),
        ([5], "▁"),
        ([1, 1, 1], "▁▁▁"),
        ([1, None, 3, 2], "▁ █▅"),
        ([1, float("nan"), 3, 2], "▁ █▅"),
        ([1, 2], "▁█"),
        ([], ""),
        ([None] * 5, ""),
    ],
)
def test_a_curve_goes_as_the_values_do(values: list[float | None], drawn: str) -> None:
    assert sparkline(values, 8) == drawn


def test_a_curve_of_many_values_has_their_means_and_never_more_letters_than_asked_for() -> None:
    assert sparkline([1000.0 - number for number in range(1000)], 4) == "█▆▃▁"
    assert len(sparkline([float(number % 7) for number in range(123)], 10)) == 10
