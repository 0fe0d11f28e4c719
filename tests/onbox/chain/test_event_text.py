"""Journal records as lines for people."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.chain.viewer.colour import coloured
from onbox.chain.viewer.event_text import live_line, narrate
from onbox.contract.events import Event

AT = "2026-11-21T05:11:20.123Z"
SECRET = "hf_" + "a" * 24
SILENT = {
    Event.ATTEMPT_ENDED,
    Event.NOTICES_WRITTEN,
    Event.JOB_SUBMITTING,
    Event.PATROL_SILENT,
    Event.PATROL_BACK,
}

TOLD: list[tuple[str, str, dict[str, Any]]] = [
    ("chain        held         notifications: cannot write x", Event.NOTICES_HELD, {"reason": "cannot write x"}),
    ("chain        started      2 stages · runner pid 7", Event.CHAIN_STARTED, {"stages": 2, "pid": 7}),
    ("chain        started      1 stage · runner pid 7", Event.CHAIN_STARTED, {"stages": 1, "pid": 7}),
    (
        "train        waiting      for the file READY, at most 10m00s",
        Event.STAGE_WAITING,
        {"stage": "train", "waiting_for": "the file READY", "timeout_seconds": 600.0},
    ),
    (
        "train        started      attempt 1 · logs/train.1.log",
        Event.ATTEMPT_STARTED,
        {"stage": "train", "attempt": 1, "resume": False, "log": "logs/train.1.log"},
    ),
    (
        "train        started      attempt 2, resuming · logs/train.2.log",
        Event.ATTEMPT_STARTED,
        {"stage": "train", "attempt": 2, "resume": True, "log": "logs/train.2.log"},
    ),
    (
        "train        adopted      attempt 1 · alive, pid 77",
        Event.ATTEMPT_ADOPTED,
        {"stage": "train", "attempt": 1, "pid": 77},
    ),
    (
        "train        STALLED      no sign of life for 30m00s",
        Event.STAGE_STALLED,
        {"stage": "train", "quiet_seconds": 1800.0},
    ),
    (
        "train        submitted    slurm job 17 · after 16",
        Event.JOB_SUBMITTED,
        {"stage": "train", "backend": "slurm", "job_id": "17", "after": ["16"]},
    ),
    (
        "train        REFUSED      by slurm: no such partition",
        Event.JOB_REFUSED,
        {"stage": "train", "backend": "slurm", "reason": "no such partition"},
    ),
    (
        "chain        stopping     ray job digits-1",
        Event.JOB_STOPPING,
        {"stage": None, "backend": "ray", "job_id": "digits-1"},
    ),
    (
        "train        job ended    slurm job 17: TIMEOUT (TimeLimit)",
        Event.JOB_ENDED,
        {"stage": "train", "backend": "slurm", "job_id": "17", "native_state": "TIMEOUT", "reason": "TimeLimit"},
    ),
    (
        "chain        handed on    stage train is done; the next one is another job",
        Event.CHAIN_HANDED_ON,
        {"stage": "CHAIN", "stopped_at": "train"},
    ),
    (
        "train        LOOK         its loss climbs: loss 3, 200% above its trend of 1",
        Event.DETECTED,
        {"stage": "train", "what": "its loss climbs", "reason": "loss 3, 200% above its trend of 1"},
    ),
    (
        "train        well again   no longer: loss 3, 200% above its trend of 1",
        Event.DETECTED_OVER,
        {"stage": "train", "reason": "no longer: loss 3, 200% above its trend of 1"},
    ),
    ("train        moving       again", Event.STAGE_MOVING, {"stage": "train"}),
    (
        "train        rollback     to step 9, by ann: loss is nan",
        Event.ROLLBACK_BEGUN,
        {"stage": "train", "step": 9, "by": "ann", "reason": "loss is nan"},
    ),
    (
        "train        rolled back  to step 9: 2 checkpoints set aside",
        Event.ROLLBACK_DONE,
        {"stage": "train", "step": 9, "count": 2},
    ),
    (
        "train        undoing      the rollback to step 9, by ann",
        Event.ROLLBACK_UNDOING,
        {"stage": "train", "step": 9, "by": "ann"},
    ),
    ("train        undone       the rollback to step 9", Event.ROLLBACK_UNDONE, {"stage": "train", "step": 9}),
    (
        "train        done         56.2s · exit 0 · 4 artifacts, 45.1 kB",
        Event.STAGE_DONE,
        {"stage": "train", "duration_seconds": 56.2, "exit_code": 0, "artifact_count": 4}
        | {"artifact_bytes_total": 45_123},
    ),
    (
        "train        done         ? · exit 0 · 1 artifact, 1 B",
        Event.STAGE_DONE,
        {"stage": "train", "duration_seconds": None, "exit_code": 0, "artifact_count": 1, "artifact_bytes_total": 1},
    ),
    (
        "train        FAILED       exit_code: 1, wanted 0\n  remedy   unknown: Read the log.",
        Event.STAGE_FAILED,
        {"stage": "train", "reason": "exit_code: 1, wanted 0", "failure_class": "unknown", "remedy": "Read the log."},
    ),
    (
        "train        retry        1 of 2 in 60 s · preempted · signal 15",
        Event.STAGE_RETRYING,
        {"stage": "train", "retry": 1, "retries": 2, "delay_seconds": 60.0, "failure_class": "preempted"}
        | {"reason": "signal 15"},
    ),
    (
        "train        interrupted  attempt 1 · stopped",
        Event.STAGE_INTERRUPTED,
        {"stage": "train", "attempt": 1, "reason": "stopped"},
    ),
    ("train        redo         it runs again from the start", Event.STAGE_REDO, {"stage": "train"}),
    (
        "train        accepted     its earlier DONE counts",
        Event.DONE_ACCEPTED,
        {"stage": "train"},
    ),
    (
        "train        accepted     you accepted its result in spite of: exit_code: 1, wanted 0",
        Event.DONE_ACCEPTED,
        {"stage": "train", "in_spite_of": "exit_code: 1, wanted 0"},
    ),
    ("chain        done         2 of 2 stages · 1m00s", Event.CHAIN_DONE, {"stages": 2, "duration_seconds": 60.0}),
    (
        'train        tracker      wandb abc12345 "try-7" · https://wandb.ai/lab/lm/runs/a · as the attempt before',
        Event.TRACKER_RUN,
        {
            "stage": "train",
            "tracker": "wandb",
            "run_id": "abc12345",
            "name": "try-7",
            "again": True,
            "url": "https://wandb.ai/lab/lm/runs/a",
        },
    ),
    (
        "train        DRIFT        the id is a, not b",
        Event.TRACKER_DRIFT,
        {"stage": "train", "reason": "the id is a, not b"},
    ),
    *(
        (
            f"chain        {word:<12} at stage eval: why",
            event,
            {"stage": "CHAIN", "stopped_at": "eval", "reason": "why"},
        )
        for word, event in (
            ("FAILED", Event.CHAIN_FAILED),
            ("stopped", Event.CHAIN_STOPPED),
            ("interrupted", Event.CHAIN_INTERRUPTED),
            ("REFUSED", Event.GATE_REFUSED),
        )
    ),
]


@pytest.mark.parametrize(("line", "event", "fields"), TOLD)
def test_each_event_is_told_in_its_words(line: str, event: str, fields: dict[str, Any]) -> None:
    assert f"05:11:20 {line}" == narrate({"at": AT, "event": event, **fields})


def test_every_event_is_told_or_known_to_be_silent() -> None:
    known = {value for name, value in vars(Event).items() if name.isupper()}
    of_cells = {event for event in known if event.startswith("cell")}  # tests/onbox/sweep/test_results.py
    assert known - of_cells == SILENT | {event for _, event, _ in TOLD}


@pytest.mark.parametrize("event", [*sorted(SILENT), "stage_blessed", ""])
def test_what_is_not_worth_a_line_is_none(event: str) -> None:
    assert narrate({"at": AT, "event": event, "stage": "train"}) is None


@pytest.mark.parametrize("secret", [SECRET, f"HF_TOKEN={SECRET}", "PASSWORD=hunter2", "https://me:hunter2@host/x"])
def test_secrets_are_masked(secret: str) -> None:
    line = narrate({"at": AT, "event": Event.STAGE_INTERRUPTED, "stage": "train", "attempt": 1, "reason": secret})
    assert line is not None
    assert "***" in line
    assert SECRET not in line
    assert "hunter2" not in line


def test_control_characters_are_left_out() -> None:
    reason = "\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07 \rback \x9bx"
    line = narrate({"at": AT, "event": Event.STAGE_INTERRUPTED, "stage": "train", "attempt": 1, "reason": reason})
    assert line is not None
    assert line.endswith("red bell ⏎back ")
    assert line.isprintable()


def test_a_line_break_in_a_name_keeps_one_line() -> None:
    reason = "artifact a\nb: missing, wanted a new file of at least 1 B"
    line = narrate({"at": AT, "event": Event.STAGE_INTERRUPTED, "stage": "train", "attempt": 1, "reason": reason})
    assert line is not None
    assert "\n" not in line


STATUS = {"stage": "train", "stage_state": "running", "position": 1, "stages_total": 2, "elapsed": "1m00s"}


def test_the_live_line_says_where_the_chain_is() -> None:
    line = live_line({**STATUS, "last_line": "epoch 3"}, "05:11:20", 120)
    assert line == "05:11:20 train        running · 1m00s · 1/2 · epoch 3"


def test_a_run_of_one_stage_has_no_place_in_a_chain() -> None:
    line = live_line({"stage": "SWEEP", "state": "done", "stages_total": 1}, "05:11:20", 120)
    assert line == "05:11:20 SWEEP        done"


def test_the_live_line_of_an_empty_status_is_a_line() -> None:
    assert live_line({}, "05:11:20", 120) == "05:11:20 chain        None · ?/?"


@pytest.mark.parametrize("width", [1, 2, 3, 10, 47, 48, 49, 80, 200])
@pytest.mark.parametrize("last", ["", "epoch 3", "x" * 500, "\x1b[31m" + "y" * 90, "模" * 90])
def test_the_live_line_is_never_longer_than_its_width(width: int, last: str) -> None:
    line = live_line({**STATUS, "last_line": last}, "05:11:20", width)
    assert len(line) <= width
    assert line.isprintable()


def test_the_time_left_and_the_loss_go_before_bar_and_times_on_a_narrow_terminal() -> None:
    progress = {"text": "~20400/1020000 (2%) eta 44m06s loss 0.0401", "current": 20400, "exact_max": 1020000}
    for width in (80, 100):
        line = live_line({**STATUS, "progress": progress, "last_line": "epoch 6"}, "05:11:20", width, bars=True)
        assert str(progress["text"]) in line
        assert line.startswith("05:11:20 train ")


def test_the_live_line_masks_secrets() -> None:
    assert SECRET not in live_line({**STATUS, "last_line": f"login {SECRET}"}, "05:11:20", 120)


def test_the_live_line_draws_a_bar_and_names_what_is_nearly_full() -> None:
    progress = {"text": "~50/100 (50%)", "current": 50, "exact_max": 100}
    resources = {
        "memory_working_set_bytes": 91,
        "memory_limit_bytes": 100,
        "disks": {"/": [1, 2, 50, 100], "/data": [1, 2, 3, 100], "/odd": [1, 2, None, None]},
    }
    line = live_line({**STATUS, "progress": progress, "resources": resources}, "05:11:20", 120, bars=True)
    assert line.endswith("████░░░░ ~50/100 (50%) · inodes 97% · mem 91%")
    assert "█" not in live_line({**STATUS, "progress": progress}, "05:11:20", 120)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("05:11:20 train        FAILED       x", "05:11:20 train        \x1b[1;31mFAILED\x1b[0m       x"),
        ("05:11:20 train        done         56.2s", "05:11:20 train        \x1b[32mdone\x1b[0m         56.2s"),
        ("05:11:20 chain        started      2 stages", "05:11:20 chain        started      2 stages"),
        ("  remedy   FAILED", "  remedy   FAILED"),
        ("", ""),
    ],
)
def test_what_happened_has_its_colour_and_keeps_its_letters(line: str, shown: str) -> None:
    assert coloured(line) == shown
