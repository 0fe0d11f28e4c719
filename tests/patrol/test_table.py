"""Runs as rows of a table: every situation fits every screen, and says what the plain line says."""

from __future__ import annotations

import pytest

from onbox.model.screen import columns
from onbox.terminal import palette
from patrol.report.rows import ReportRow, RowSource, row_of
from patrol.report.table import head, lines_of, pane, style_of
from patrol.verdict import Severity
from tests.patrol.makers import NOW, box
from tests.patrol.situations import Situation, decide, situations

SEEN_AT = NOW - 12


def subject_of(one: Situation, losses: tuple[float | None, ...] = ()) -> RowSource:
    verdict, look = decide(one)
    return RowSource(verdict, look, box(), losses, SEEN_AT)


def row(one: Situation, losses: tuple[float | None, ...] = ()) -> ReportRow:
    return row_of(subject_of(one, losses), NOW)


@pytest.mark.parametrize("width", [60, 72, 80, 100, 160])
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    for one in situations():
        lines = [head(width), *lines_of(row(one, (3.0, 2.0, 1.0)), NOW, width)]
        assert [line.plain for line in lines if columns(line.plain) > width] == [], one.what


@pytest.mark.parametrize("one", situations(), ids=lambda one: one.what)
def test_what_is_wrong_has_its_colour_its_cause_and_its_next_command(one: Situation) -> None:
    verdict, _ = decide(one)
    shown = row(one)
    bad = verdict.severity_told(NOW) is not Severity.OK
    assert (style_of(shown) in (palette.WARNING, palette.CRITICAL, palette.UNKNOWN)) >= bad
    assert bool(shown.remark) >= bad
    assert shown.next_command == (verdict.finding.command if bad else "")


def test_what_does_not_move_has_no_time_left() -> None:
    for one in situations():
        verdict, _ = decide(one)
        if verdict.state.value not in ("running", "degraded"):
            assert row(one).eta == "", one.what


def test_a_word_that_is_old_is_marked_and_tells_no_time_left() -> None:
    shown = row(next(one for one in situations() if row(one).eta))
    (fresh, *_), (old, *_) = (
        lines_of(shown, NOW, 80, stale_seconds=60),
        lines_of(shown, NOW + 3600, 80, stale_seconds=60),
    )
    assert shown.eta in fresh.plain
    assert shown.eta not in old.plain
    assert any(span.style == palette.WARNING for span in old.spans)


def test_a_loss_is_a_curve_from_three_readings_on() -> None:
    one = next(one for one in situations() if row(one).eta)
    assert row(one, (3.0, 2.0)).losses == ()
    assert row(one, (None, 3.0, None, 2.0, 1.0)).losses == (3.0, None, 2.0, 1.0)
    assert "█" in lines_of(row(one, (3.0, 2.0, 1.0)), NOW, 80)[0].plain


def test_the_pane_tells_what_to_type_before_numbers_and_proof() -> None:
    proven = 0
    for one in situations():
        subject = subject_of(one)
        labels = [str(cell) for cell in pane(subject, row_of(subject, NOW), NOW).columns[1].cells]
        if "proof" in labels and "next" in labels:
            proven += 1
            assert labels.index("cause") < labels.index("next") < labels.index("box") < labels.index("proof")
    assert proven > 3
