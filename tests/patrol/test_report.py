"""The one line, the lines below it, and what machines read."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import BoxSettings
from onbox.model.screen import columns as columns_of
from onbox.runs.journal import StageResult
from patrol.commands.tick import SaidOnce, ShowAs, _lines
from patrol.decide.decide import decide_box, decide_run, decide_unreachable_run, explain_run
from patrol.decide.time_left import with_time_left
from patrol.judge import BoxJudged, Judged
from patrol.memory.history import Before
from patrol.report.lines import details, explanation, line, wide_line
from patrol.report.machine_formats import ReportEntry, document, nagios
from patrol.report.textfile import run_samples
from patrol.snapshot import NOT_ASKED, Cells, ResultFile
from patrol.verdict import Finding, Severity, Verdict, worst_severity
from tests.patrol.makers import (
    HEALTHY_PROGRESS,
    NOW,
    TICK,
    WAY,
    artifacts,
    away,
    before,
    box,
    box_before,
    dead,
    disk,
    done,
    failure,
    log,
    run,
    watched,
)

if TYPE_CHECKING:
    from patrol.snapshot import BoxLook, RunLook

CLOCK = time.strftime("%H:%M", time.localtime(NOW))


def decided(look: RunLook, seen: BoxLook | None = None, memory: Before | None = None) -> Verdict:
    return decide_run(look, seen or box(), memory or before(), box_before(), NOW, way=WAY)


def shown(look: RunLook, seen: BoxLook | None = None, memory: Before | None = None) -> str:
    return wide_line(decided(look, seen, memory), look, seen or box(), NOW, memory or before())


def test_the_line_of_a_healthy_run() -> None:
    assert shown(run()) == (
        f"{CLOCK} gpu1/digits RUNNING train ~4600/5155 (89%) +200 eta 1h12m · loss 0.41 · mem 71% · disk 62% inodes 8%"
        " · gpu 96% · log 12s ago · rule healthy"
    )


def test_the_short_line_says_what_matters() -> None:
    assert (
        line(decided(run()), run(), NOW) == f"{CLOCK} gpu1/digits RUNNING train ~4600/5155 (89%) eta 1h12m · loss 0.41"
    )


def test_nothing_is_subtracted_across_stages() -> None:
    look = run(stage="eval", progress=Progress(current=30, exact_max=30))
    memory = before(steps=((NOW - TICK, 3800.0),), attempt="r1/train/1")
    assert "-3770" not in shown(look, memory=memory)
    assert with_time_left(look, memory, NOW).progress == Progress(current=30, exact_max=30)


def test_a_counter_that_stands_still_is_said_to_do_so() -> None:
    still = before(steps=((NOW - TICK, 4600.0),))
    assert "~4600/5155 (89%) +0 " in shown(run(), memory=still)


def columns(text: str) -> list[str]:
    return re.findall(r"(?:^|· )(loss|mem|disk|gpu|log|rule) ", text)


@pytest.mark.parametrize(
    "look",
    [
        run(),
        dead(),
        done(),
        run(progress=Unseen("late"), log=Unseen("late")),
        run(log=log(9000.0), artifacts=Absent("none")),
        run(runner_alive=Unseen("late"), stage_alive=Unseen("late")),
    ],
)
def test_the_columns_are_the_same_every_time(look: RunLook) -> None:
    assert columns(shown(look))[:6] == ["loss", "mem", "disk", "gpu", "log", "rule"]


def test_the_wide_line_says_all_that_the_short_one_does() -> None:
    result = StageResult("train", 100.0, 5155.0, 5155, 0.41, metric="acc 0.967")
    over = shown(done(stage_results=(result,), stages_total=2, told_seconds=36_720.0))
    assert f"{CLOCK} gpu1/digits DONE 2/2 in 10h12m · loss" in over
    assert over.endswith("· train 5155/5155 loss 0.41 · acc 0.967")
    assert shown(run(attempt=3, timeout_seconds=4000.0, stage_began_age_seconds=3700.0)).endswith(
        "· timeout in 5m00s · attempt 3"
    )


def test_the_reason_comes_first_where_it_is_bad() -> None:
    text = shown(run(log=log(9000.0), artifacts=Absent("none")))
    assert text.startswith(f"{CLOCK} gpu1/digits STALLED alive, but every signal is old")


def test_a_flag_of_the_box_is_said_beside_a_healthy_run() -> None:
    full = box(disks=(disk(50.0, 99.0),))
    text = shown(run(), full)
    assert "RUNNING / 99% of inodes" in text
    assert text.endswith("rule healthy +disk-critical")


def test_what_was_not_seen_is_told_from_what_is_not_there() -> None:
    unseen = box(memory=Unseen("late"), gpus=Absent("none"), disks=Unseen("late"))
    text = shown(run(), unseen)
    assert "mem ? · disk ? inodes ? · gpu - ·" in text


def test_no_limit_is_no_share() -> None:
    memory = box().memory
    assert not isinstance(memory, Absent | Unseen)
    assert "mem - " in shown(run(), box(memory=memory._replace(limit_bytes=Absent("no limit"))))


def test_an_unknown_maximum_is_never_made_up() -> None:
    assert "~4600/unknown " in shown(run(progress=Progress(current=4600)))


def test_progress_is_never_rounded() -> None:
    text = shown(run(progress=Progress(current=123456789012, exact_max=123456789013)), memory=Before())
    assert "~123456789012/123456789013 " in text


def test_only_the_limit_itself_is_100_percent() -> None:
    assert "disk 99% " in shown(run(), box(disks=(disk(99.99),)))


def test_every_page_floors_the_same_share() -> None:
    seen = box(disks=(disk(91.9),))
    verdict = decided(run(), seen)
    (used,) = (one for one in (verdict.finding, *verdict.further) if one.rule == "disk-pressure")
    assert "disk 91% " in shown(run(), seen)
    assert used.say.startswith("/ 91% of bytes")


def test_a_change_is_said() -> None:
    assert "rule just-started (was healthy)" in shown(run(stage_began_age_seconds=5.0))
    assert "(was " not in shown(run())


@pytest.mark.parametrize(
    ("text", "whole", "part", "last"),
    [
        ("a,1\nb,2\n", True, "", "    | b,2"),
        ("a,1\nb,2", True, "", "    | b,2"),
        ("a,1\nb,2\nc,34", False, " (its first 2 lines)", "    | b,2"),
        ("1,2,3,4", False, " (its first 4 KiB)", "    | 1,2,3,4"),
        ("x\n" * 60, True, " (its first 5 lines)", "  more     patrol tick --wide gpu1"),
        ("1," * 900, True, " (its beginning)", "  more     patrol tick --wide gpu1"),
    ],
)
def test_of_a_long_result_only_whole_lines_are_shown(text: str, *, whole: bool, part: str, last: str) -> None:
    look = done()._replace(results=(ResultFile("/p/r.csv", text, whole),))
    lines = details(decided(look), look, NOW)
    assert lines[0] == f"  result   /p/r.csv{part}"
    assert lines[-1] == last
    assert len(lines) <= 7
    wide = details(decided(look), look, NOW, wide=True)
    assert "\n".join(line.removeprefix("    | ") for line in wide[1:]) == text.removesuffix("\nc,34").rstrip("\n")


def test_what_is_left_to_be_typed_is_told_though_nothing_is_wrong() -> None:
    note = Finding("tracker-unsynced", Severity.OK, "its metrics lie on this box only", "Send it.", "wandb sync x")
    silent = Finding("gpu-underused", Severity.OK, "no fault")
    verdict = decided(done())._replace(further=(note, silent))
    assert details(verdict, done(), NOW) == [
        "  note     tracker-unsynced: its metrics lie on this box only",
        "  remedy   Send it.",
        "  also     wandb sync x",
    ]
    assert details(verdict._replace(acknowledged=True), done(), NOW) == []


def test_a_session_without_a_log_is_no_file_to_read() -> None:
    bare = watched(place="llm", log=NOT_ASKED, stage_alive=False, progress=Absent("no log"))
    found = decided(bare, memory=Before())
    assert "llm" not in found.finding.command


def test_an_unreachable_box_says_why_and_what_was_last_known() -> None:
    gone = away("auth", "Permission denied (publickey).")
    memory = before()
    verdict = decide_unreachable_run(gone, "digits", memory, box_before(), NOW, way=WAY)
    text = line(verdict, None, NOW)
    assert text.startswith(f"{CLOCK} gpu1/digits UNKNOWN auth: the key was not accepted")
    assert "last seen 30m00s ago: running (healthy)" in " ".join(" ".join(details(verdict, None, NOW)).split())
    alone = decide_box(gone, box_before(), NOW, way=WAY)
    assert line(alone, None, NOW).startswith(f"{CLOCK} gpu1 UNREACHABLE auth")


HOSTILE = "\x1b[2J\x1b]0;owned\x07x\r\nDONE\t\u202e" + "y" * 4000


@pytest.mark.parametrize(
    "look",
    [
        run(run=HOSTILE, stage=HOSTILE, log=log(5.0, HOSTILE)),
        dead(run=HOSTILE, outcome="chain_failed", failure=failure("code_error", HOSTILE, where=HOSTILE)),
        dead(outcome="gate_refused", reason=HOSTILE),
        run(progress=HEALTHY_PROGRESS._replace(loss=HOSTILE), waiting_for=HOSTILE),
        dead(run="r" * 5000, stage="s" * 5000),
    ],
)
def test_text_of_a_box_can_do_nothing(look: RunLook) -> None:
    seen = box(box="b" * 3000, disks=(disk(99.0, mount=HOSTILE),), sections_unseen=((HOSTILE, HOSTILE),))
    verdict = decided(look, seen)
    lines = [
        wide_line(verdict, look, seen, NOW, before()),
        line(verdict, look, NOW),
        *details(verdict, look, NOW),
        *details(verdict, look, NOW, wide=True),
        *nagios([ReportEntry(verdict, look, seen)], NOW, Severity.OK),
    ]
    assert len(lines[0]) < 200
    assert columns_of(lines[1]) <= 80
    assert not [text for text in lines if re.search(r"[\x00-\x1f\x7f-\x9f]", text)]
    json.loads(json.dumps(document([ReportEntry(verdict, look, seen)], NOW, Severity.OK)))


def test_secrets_of_a_log_are_masked() -> None:
    look = dead(outcome="chain_failed", failure=failure("auth_error", "401 for token=abcdefghijklmnop"))
    text = "\n".join([shown(look), *details(decided(look), look, NOW)])
    assert "abcdefghijklmnop" not in text


def test_where_nothing_is_wrong_there_is_nothing_below_the_line() -> None:
    assert details(decided(run()), run(), NOW) == []


def test_what_is_wrong_comes_with_all_that_is_needed() -> None:
    look = dead(outcome="chain_failed", failure=failure())
    text = details(decided(look), look, NOW, wide=True)
    words = [part.split()[0] for part in text]
    assert words == ["cause", "since", "proof", "remedy", "next"]
    assert "«OSError: No space left on device»  [train.1.log:900]" in text[2]
    assert text[4] == "  next     ssh gpu1 'cd /root/digits && df -h . && df -i . && onbox prune --dry-run digits'"


def test_what_needs_a_persons_word_stands_apart_from_the_next_command() -> None:
    look = run(log=log(age=9000.0), artifacts=artifacts(9000.0))
    text = details(decided(look), look, NOW)
    assert "  next     ssh gpu1 'cd /root/digits && onbox logs --run digits'" in text
    assert "  decide   stop it: ssh gpu1 'cd /root/digits && onbox stop digits'" in text


def test_what_runs_of_a_box_have_in_common_is_told_once() -> None:
    full = box(disks=(disk(99.0),))
    told: set[Finding] = set()
    texts = ["\n".join(details(decided(look, full), look, NOW, told)) for look in (run(), run(run="other"))]
    assert "disk-critical" in texts[0]
    assert texts[1] == ""


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb", "a\u202eb", "a\u200bb", "a\udcffb", "a\U000e0041b"])
def test_a_command_that_cannot_be_shown_is_not_offered(name: str) -> None:
    way = WAY._replace(project=f"/root/{name}")
    verdict = decide_run(dead(), box(), before(gone_ticks=1), box_before(), NOW, way=way)
    last = details(verdict, dead(), NOW, wide=True)[-1]
    assert "No command is offered: it could not be typed as it is shown «ssh gpu1" in last
    assert "next " not in last
    assert not document([ReportEntry(verdict, dead(), box())], NOW, Severity.OK)["runs"][0]["next_command"]


def test_the_worst_is_by_rank_not_by_number() -> None:
    ok, critical = decided(run()), decided(dead(outcome="chain_failed"))
    unknown = decided(run(runner_alive=Unseen("late"), stage_alive=Unseen("late")))
    assert worst_severity([ok, unknown], NOW) is Severity.UNKNOWN
    assert worst_severity([unknown, critical, ok], NOW) is Severity.CRITICAL
    assert worst_severity([], NOW) is Severity.UNKNOWN


@pytest.mark.parametrize("quiet", [{"acknowledged": True}, {"silenced_until": NOW + 60.0}])
def test_what_a_person_has_dealt_with_is_ok_in_every_form(quiet: dict[str, Any]) -> None:
    look = dead(outcome="chain_failed")
    verdict = decided(look)._replace(**quiet)
    entries = [ReportEntry(verdict, look, box())]
    severity = worst_severity([verdict], NOW)
    assert severity is Severity.OK
    assert nagios(entries, NOW, severity)[0].startswith("PATROL OK - 1 of 1 ok")
    told = document(entries, NOW, severity)
    assert (told["exit_code"], told["runs"][0]["severity_told"], told["runs"][0]["severity"]) == (0, "ok", "critical")
    metric = next(sample for sample in run_samples(verdict, look, NOW) if sample.name == "patrol_run_severity")
    assert metric.value == 0.0


def test_the_document_for_machines() -> None:
    told = document([ReportEntry(decided(run()), run(), box())], NOW, Severity.OK)
    one = told["runs"][0]
    assert (told["schema"], told["exit_code"], told["severity"]) == (1, 0, "ok")
    assert (one["box"], one["run"], one["state"], one["rule"]) == ("gpu1", "digits", "running", "healthy")
    assert one["look"]["progress"]["current"] == 4600
    assert one["resources"]["memory"]["held_bytes"] == 71_000


def test_numbers_that_are_none_are_no_json_of_their_own() -> None:
    look = run(progress=Progress(current=float("nan"), loss=float("inf")))
    json.dumps(document([ReportEntry(decided(look), look, box())], NOW, Severity.OK), allow_nan=False)


# Monitoring Plugins guidelines, "performance data": 'label'=value[UOM];[warn];[crit];[min];[max]
PERFORMANCE = re.compile(r"'(?:[^'=|]|'')+'=-?[0-9.e+]+(?:%|s)?;[0-9.]*;[0-9.]*;[0-9.]*;[0-9.]*")


def test_the_answer_for_nagios() -> None:
    look = run(run="o'neil|x=1")
    first, *rest = nagios([ReportEntry(decided(look), look, box())], NOW, Severity.OK)
    text, _, data = first.partition(" | ")
    assert text == "PATROL OK - 1 of 1 ok"
    assert rest == []
    assert "|" not in data
    assert " ".join(PERFORMANCE.findall(data)) == data


def test_nagios_names_the_worst_first() -> None:
    entries = [
        ReportEntry(decided(look), look, box())
        for look in (run(), run(heartbeat_age_seconds=900.0), dead(outcome="chain_failed"))
    ]
    first = nagios(entries, NOW, worst_severity((one.verdict for one in entries), NOW))[0]
    assert first.startswith("PATROL CRITICAL - gpu1/digits failed")
    assert "1 of 3 ok" in first


def test_a_dry_run_says_why_no_other_rule_fired() -> None:
    told = explanation(explain_run(run(), box(), before(), box_before(), NOW, way=WAY))
    said = "stalled not so: every signal was seen, and all are older than stall_after"
    assert said in " ".join(" ".join(told).split())
    assert any(re.match(r"  healthy +names the verdict", text) for text in told)
    assert any(re.match(r"  disk-pressure +not so", text) for text in told)


def test_what_was_dealt_with_long_ago_leaves_the_screen() -> None:
    verdict = decided(done())._replace(acknowledged=True, since=NOW - 90_000.0)
    assert verdict.is_dealt_with(NOW)
    assert not verdict._replace(since=NOW - 80_000.0).is_dealt_with(NOW)
    assert not verdict._replace(acknowledged=False).is_dealt_with(NOW)
    assert not decided(run())._replace(acknowledged=True, since=0.0).is_dealt_with(NOW)


def test_of_a_killed_run_the_signal_is_told_and_whether_it_was_for_memory() -> None:
    killed = failure("unknown", "Killed", signal=9, oom_kills=0, rule="killed-none-counted")
    look = dead(outcome="chain_failed", failure=killed, reason="exit_code: 137 (SIGKILL), wanted 0")
    verdict = decided(look)
    assert "killed by SIGKILL, no OOM counted" in line(verdict, look, NOW)
    assert "Find out who did, then resume" in " ".join(" ".join(details(verdict, look, NOW)).split())
    assert not verdict.may_resume, "by itself nothing is resumed that somebody killed"


def test_of_failed_cells_the_way_on_is_told_and_no_resume() -> None:
    for stage, step, words in (("SWEEP", "cells-failed", "onbox sweep retry-failed digits"), ("train", "failed", "")):
        verdict = decided(dead(outcome="chain_failed", failure=failure("preempted", stage=stage)))
        assert (verdict.step, "resume -d" in str(verdict.asked)) == (step, False)
        assert words in str(verdict.asked)


def test_after_each_failed_cell_was_skipped_the_resume_of_the_sweep_is_next() -> None:
    looked = dead(outcome="chain_failed", failure=failure("config_error", stage="SWEEP"), failed_were_skipped=True)
    verdict = decided(looked)
    assert (verdict.step, verdict.finding.rule, verdict.may_resume) == ("cells-skipped", "put-right", False)
    assert "onbox sweep resume digits" in verdict.finding.command
    said = "\n".join([line(verdict, looked, NOW), *details(verdict, looked, NOW)])
    assert "config_error" not in said
    assert "proof" not in said
    assert "each cell that failed was skipped since" in said


def test_of_a_stage_that_was_judged_again_the_resume_is_next() -> None:
    looked = dead(outcome="chain_failed", reason="stage a was judged again and is DONE since", rechecked=True)
    verdict = decided(looked)
    assert (verdict.step, verdict.finding.rule, verdict.may_resume) == ("rechecked", "put-right", True)
    assert "stage a was judged again" in " ".join(details(verdict, looked, NOW))


def test_a_sweep_is_one_line_of_its_cells() -> None:
    text = "17/20, 2 running, 1 failed: cuda_oom · best 0.967 cell lr=1e-3,seed=2"
    told = shown(run()._replace(stage="SWEEP", cells=Cells(text, 17, 20)))
    timed = text.replace(" · best", " · eta 1h12m · best")
    assert f"gpu1/digits RUNNING {timed} · loss 0.41 · mem 71%" in told
    assert len(told) < 200


def test_skipped_cells_of_a_sweep_that_is_done_stand_beside_the_count() -> None:
    cells = Cells("2/4, 2 skipped · best 0.9 cell n=1", 2, 4)
    share = Progress(current=2, exact_max=4, unit="cells", rule="sweep")
    look = dead(
        outcome="chain_done", done="CHAIN_DONE of x", cells=cells, stages_done=2, stages_total=4, progress=share
    )
    assert "DONE 2/4, 2 skipped" in line(decided(look), look, NOW)
    assert decided(look).finding.say.endswith("; 2/4, 2 skipped"), "not ~2/4 (50%) of a sweep that is done"


def test_a_rollback_stands_in_place_of_the_steps_that_it_gave_up() -> None:
    look = dead(outcome="chain_stopped", rolled_back_to=4000.0)
    for told in (line(decided(look), look, NOW), shown(look)):
        assert "train" in told
        assert "rolled back to step 4000" in told
    assert "4600" not in line(decided(look), look, NOW)


def test_a_sweep_has_the_time_left_that_its_runner_tells() -> None:
    """It knows how many cells run at once; the pace of ticks does not."""
    cells = Cells("7/12, 4 running", 7, 12, ())
    look = run(cells=cells, progress=Progress(current=7, exact_max=12, unit="cells", eta_seconds=600.0, rule="sweep"))
    memory = before(steps=((NOW - TICK, 1.0),))
    told = with_time_left(look, memory, NOW)
    assert "7/12, 4 running · eta 10m00s" in line(decided(told), told, NOW)
    ended = with_time_left(dead(cells=cells, progress=look.progress), memory, NOW)
    assert isinstance(ended.progress, Progress)
    assert ended.progress.eta_seconds is None


def test_what_is_wrong_with_the_patrol_itself_is_told_below_the_first_box_alone() -> None:
    stale = Finding("patrol-stale", Severity.WARNING, "the patrol itself had not looked for 6h00m", "", "")
    full = Finding("disk-full", Severity.WARNING, "the disk is full", "", "")
    said = SaidOnce(set(), set())
    told = []
    for name in ("gpu1", "gpu2"):
        verdict = decided(run())._replace(box=name, further=(stale, full))
        judged = Judged(verdict, run(), before(), before(), "its line")
        of_box = BoxJudged(BoxSettings(name, name), box(), box_before(), box_before(), (judged,), None)
        told.append("\n".join(_lines(of_box, ShowAs(), said)))
    assert ["patrol-stale" in one for one in told] == [True, False]
    assert all("disk-full" in one for one in told)


def test_no_line_of_an_explanation_is_wider_than_80_columns() -> None:
    told = explanation(explain_run(run(), box(), before(), box_before(), NOW, way=WAY))
    assert max(map(columns_of, told)) <= 80


def test_whoever_is_told_to_follow_the_remedy_is_told_a_remedy() -> None:
    for look, where in (
        (run(stage_began_age_seconds=5.0), box(disks=(disk(91.0),))),
        (run(heartbeat_age_seconds=4000.0), box()),
    ):
        verdict = decided(look, where)
        assert verdict.finding.remedy or verdict.then != "follow the remedy", verdict.finding.rule
        assert verdict.then == "follow the remedy", verdict
