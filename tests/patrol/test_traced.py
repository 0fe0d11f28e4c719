"""Each figure of a line is traced to a reading: made-up looks, whose every number is known and unlike the others."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from onbox.contract.progress import Progress
from onbox.contract.readings import Absent
from onbox.model.units import format_duration
from onbox.notify.message_text import lines as notice_lines
from onbox.notify.message_text import title
from onbox.runs.journal import StageResult
from patrol.decide.decide import decide_run
from patrol.decide.time_left import with_time_left
from patrol.report.lines import line
from tests.onbox.notify.samples import FAILED
from tests.patrol.makers import NOW, TICK, WAY, artifacts, before, box, box_before, dead, done, log, run

if TYPE_CHECKING:
    from patrol.memory.history import Before
    from patrol.snapshot import RunLook

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def made(seed: int) -> tuple[RunLook, Before, dict[str, str]]:
    """A look, its memory, and every number that may stand in its line, by what it is of."""
    dice = random.Random(seed)
    current, maximum = dice.randrange(1000, 4000), dice.randrange(5000, 9000)
    loss, attempt = round(dice.uniform(1, 9), 3), dice.randrange(2, 9)
    earlier = current - dice.randrange(100, 900)
    began, limit = dice.uniform(20_000, 40_000), dice.choice([None, dice.uniform(41_000, 90_000)])
    age, quiet = dice.uniform(1, 100), dice.uniform(2000, 9000)
    told = Progress(current=current, exact_max=maximum, loss=loss, eta_seconds=0.0)
    base = {
        "attempt": attempt, "progress": told, "log": log(age), "stage_began_age_seconds": began,
        "timeout_seconds": Absent("none") if limit is None else limit,
    }  # fmt: skip
    kinds = (
        lambda: run(**base),
        lambda: run(**{**base, "log": log(quiet), "artifacts": artifacts(quiet + 60)}),
        lambda: dead(**base),
        lambda: done(
            began_age_seconds=began + 600.0, log=log(600.0, f"acc {loss}"),
            stage_results=(StageResult("train", began, float(current), maximum, loss),), stages_done=2, stages_total=2,
        ),
    )  # fmt: skip
    look = dice.choice(kinds)()
    memory = before(steps=((NOW - TICK, float(earlier)),), attempt=f"r1/train/{attempt}")
    pace = (current - earlier) / TICK
    known = {
        "counter": f"{current}", "maximum": f"{maximum}", "share": f"{int(100 * current / maximum)}",
        "time left": format_duration((maximum - current) / pace), "loss": f"{loss:.4g}", "accuracy": f"{loss}",
        "attempt": f"{attempt}", "quiet": format_duration(quiet), "took": format_duration(began), "stages": "2 2",
        "time limit": format_duration(max(0.0, (limit or 0.0) - began)),
    }  # fmt: skip
    return look, memory, known


@pytest.mark.parametrize("seed", range(200))
def test_each_figure_of_a_line_is_a_reading(seed: int) -> None:
    look, memory, known = made(seed)
    look = with_time_left(look, memory, NOW)
    verdict = decide_run(look, box(), memory, box_before(), NOW, way=WAY)
    told = line(verdict, look, NOW).partition("gpu1/digits ")[2]
    readings = {number for words in known.values() for number in NUMBER.findall(words)}
    assert [number for number in NUMBER.findall(told) if number not in readings] == [], (told, known)


def test_each_figure_of_a_notice_is_of_its_record() -> None:
    notice = FAILED._replace(duration_seconds=4321.0, attempt=7, resources={"peak_tree_rss_bytes": 123_000_000})
    told = " ".join([title(notice), *notice_lines(notice)])
    assert "took 1h12m" in told
    assert "attempt 7" in told
    assert "peak memory 123.0 MB" in told
    assert "4320" not in told
