"""Each figure of a line is traced to a reading: made-up looks, whose every number is known and unlike the others."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from handbook.box.run_facts import PatrolKept, describe
from handbook.page.phrases import clock
from handbook.page.render_run import render_run
from onbox.contract.notices import PATROL_DONE, PATROL_TROUBLE
from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, observed
from onbox.contract.states import RunState
from onbox.model.boxes import BoxSettings
from onbox.model.units import format_duration
from onbox.notify.message_text import lines as notice_lines
from onbox.notify.message_text import title
from onbox.runs.journal import StageResult
from onbox.system.clock import utc_text
from patrol.decide.decide import decide_run
from patrol.decide.phrases import ago
from patrol.decide.time_left import with_time_left
from patrol.judge import BoxJudged, Judged
from patrol.report.lines import details, line
from patrol.tell.news import News
from patrol.tell.words import notice_of
from tests.handbook.made import made_facts
from tests.onbox.notify.samples import FAILED
from tests.patrol.makers import NOW, TICK, WAY, artifacts, before, box, box_before, dead, done, log, run

if TYPE_CHECKING:
    from patrol.memory.history import Before
    from patrol.snapshot import RunLook
    from patrol.verdict import Verdict

TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
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
            progress=told._replace(current=maximum), began_age_seconds=began + 600.0, log=log(600.0, f"acc {loss}"),
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
    if observed(look.done):
        known["share"] = "100"
    return look, memory, known


@pytest.mark.parametrize("seed", range(200))
def test_each_figure_of_a_line_is_a_reading(seed: int) -> None:
    look, memory, known = made(seed)
    look = with_time_left(look, memory, NOW)
    verdict = decide_run(look, box(), memory, box_before(), NOW, way=WAY)
    told = line(verdict, look, NOW).partition("gpu1/digits ")[2]
    readings = {number for words in known.values() for number in NUMBER.findall(words)}
    assert [number for number in NUMBER.findall(told) if number not in readings] == [], (told, known)


def told_of(seed: int) -> tuple[Verdict, RunLook, Before, set[str]]:
    """A verdict on a made look, and every number that may be told of it."""
    look, memory, known = made(seed)
    look = with_time_left(look, memory, NOW)
    verdict = decide_run(look, box(), memory, box_before(), NOW, way=WAY)
    readings = {number for words in known.values() for number in NUMBER.findall(words)}
    log_look, made_at = observed(look.log), observed(look.artifacts)
    ages = [log_look.written_age_seconds if log_look else 0.0, observed(made_at.newest_age_seconds) if made_at else 0.0]
    ages += [observed(look.heartbeat_age_seconds) or 0.0, NOW - verdict.since, observed(look.ended_age_seconds) or 0.0]
    ages += [observed(look.stage_began_age_seconds) or 0.0, box_before().last_tick_at or 0.0]
    words = [form(age or 0.0) for age in ages for form in (format_duration, ago)]
    limits = ["30m00s", "GPU 96% 96", "seen 2 times", "attempt 1 2", "2m00s"]
    readings |= {number for text in (*words, *limits) for number in NUMBER.findall(text)}
    readings |= set(NUMBER.findall(log_look.last_line)) if log_look else set()
    return verdict, look, memory, readings


@pytest.mark.parametrize("seed", range(200))
def test_each_figure_below_a_line_is_a_reading(seed: int) -> None:
    verdict, look, _, readings = told_of(seed)
    for text in details(verdict, look, NOW):
        if not text.startswith(("  next", "  ask", "  also", "  since", "  remedy")):
            assert [number for number in NUMBER.findall(text) if number not in readings] == [], text


@pytest.mark.parametrize("seed", range(200))
def test_each_figure_of_a_message_is_a_reading_and_its_time_is_that_of_the_look(seed: int) -> None:
    verdict, look, memory, readings = told_of(seed)
    judged = Judged(verdict, look, memory, memory._replace(run_id="r1"), "")
    of_box = BoxJudged(BoxSettings("gpu1", "gpu1"), box(), box_before(), box_before(), (judged,), None)
    kind = PATROL_DONE if verdict.state is RunState.DONE else PATROL_TROUBLE
    news = News(kind, verdict.finding.rule, ((of_box, judged),))
    later = NOW + 77.0  # the other boxes took so long
    notice = notice_of(news, "msg_1", folder="/f", host="laptop", now=later)
    copied = ("next: ", "do: ", notice.at)
    told = [title(notice), *(text for text in notice_lines(notice) if not text.startswith(copied))]
    text = "\n".join(told).replace("gpu1/digits", "")
    assert [number for number in NUMBER.findall(text) if number not in readings] == [], text
    assert notice.at == utc_text(NOW), "its ages are of the look, and so is its time"


@pytest.mark.parametrize("seed", range(100))
def test_each_figure_of_the_page_is_a_reading_and_its_times_are_those_of_the_look(seed: int) -> None:
    verdict, look, _, readings = told_of(seed)
    kept = PatrolKept("gpu1", "digits", look, verdict, NOW)
    facts = describe(kept, WAY, None, None)
    text = "\n".join(render_run(made_facts(1), facts, roomy=True))
    times = {one for at in (NOW, verdict.since) for one in (clock(at),)}
    assert set(TIME.findall(text)) <= times, "no other time is told"
    said = [one for one in TIME.sub("", text).splitlines() if "`" not in one and not one.startswith("- remedy")]
    rest = "\n".join(said).replace("gpu1/digits", "")
    assert [number for number in NUMBER.findall(rest) if number not in readings] == [], rest


def test_each_figure_of_a_notice_is_of_its_record() -> None:
    notice = FAILED._replace(duration_seconds=4321.0, attempt=7, resources={"peak_tree_rss_bytes": 123_000_000})
    told = " ".join([title(notice), *notice_lines(notice)])
    assert "took 1h12m" in told
    assert "attempt 7" in told
    assert "peak memory 123.0 MB" in told
    assert "4320" not in told
