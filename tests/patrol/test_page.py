"""The page holds what was kept, and nothing from a box becomes markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from patrol.memory.rows import Flip, LastWord, Point
from patrol.report.page import RunHistory, render_page

HOSTILE = "<script>alert('x')</script>&\"'"


def page(points: list[tuple[int, str, int, Point]]) -> str:
    word = LastWord("gpu1", HOSTILE, 1.0, HOSTILE, "{}")
    flip = Flip(1.0, "gpu1", HOSTILE, None, HOSTILE, 2, HOSTILE, HOSTILE)
    return render_page(HOSTILE, [HOSTILE], [RunHistory(word, points, [flip])])


def test_nothing_becomes_markup() -> None:
    text = page([(60 * n, HOSTILE, n % 5, Point(float(n), 0.5)) for n in range(5)])
    assert "<script" not in text
    for svg in re.findall(r"<svg.*?</svg>", text):
        ET.fromstring(svg)


def test_gaps_in_the_knowledge_are_gaps_in_the_line() -> None:
    values = [1.0, 2.0, None, None, 5.0, 6.0]
    text = page([(60 * n, "healthy", 0, Point(value)) for n, value in enumerate(values)])
    (path,) = re.findall(r'<path d="([^"]*)"', text)
    assert re.sub(r"[0-9. ]", "", path) == "MLML"


def test_one_value_and_equal_times_are_no_trouble() -> None:
    assert "<path" not in page([(60, "healthy", 0, Point(1.0))])
    assert "<path" in page([(60, "healthy", 0, Point(1.0)), (60, "healthy", 0, Point(1.0))])
    assert "No run is known" in render_page("x", [], [])


def test_many_points_are_thinned_out() -> None:
    text = page([(60 * n, "healthy", 0, Point(float(n))) for n in range(50_000)])
    assert len(text) < 100_000
