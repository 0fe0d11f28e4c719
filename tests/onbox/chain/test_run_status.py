"""What a run is right now; and that a run directory of format 1 stays readable."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from onbox.chain.run_status import log_look, look_at_run
from onbox.chain.state.read_status import read_status
from onbox.chain.state.replay import replay
from onbox.chain.state.slots import read_slot, reserve_slot
from onbox.contract.events import Event, Record, parse_events
from onbox.contract.fingerprint import chain_fingerprint, stage_fingerprint
from onbox.contract.markers import Marker, parse_marker
from onbox.contract.paths import RunPaths
from onbox.contract.runfile import FrozenStage, parse_head, parse_stages
from onbox.contract.states import RunState, StageState
from onbox.model.manifest import Artifact, RunSettings, Stage
from onbox.runs.journal import fold
from onbox.runs.state import state_of

SAMPLE = Path(__file__).resolve().parents[2] / "cases" / "schema_1" / "run"
RUN_ID = "20261121-2873615c"
TRAIN, EVAL, CHAIN = "5366777425a59415", "d6cff7e105637e84", "3b8458e96bccdeb6"

BEGIN: Record = {"event": Event.CHAIN_STARTED}
RUNNING, STALLED = {"state": "running"}, {"state": "stalled"}


@pytest.mark.parametrize(
    ("state", "records", "status", "runner", "stage"),
    [
        (RunState.PENDING, [], {}, False, False),
        (RunState.RUNNING, [], {}, True, False),
        (RunState.RUNNING, [BEGIN], RUNNING, True, True),
        (RunState.RUNNING, [BEGIN], {}, True, False),
        (RunState.STALLED, [BEGIN], STALLED, True, True),
        (RunState.RUNNING, [BEGIN], STALLED, False, True),
        (RunState.RUNNING, [BEGIN], RUNNING, False, True),
        (RunState.INTERRUPTED, [BEGIN], RUNNING, False, False),
        (RunState.INTERRUPTED, [BEGIN], STALLED, False, False),
        (RunState.DONE, [BEGIN, {"event": Event.CHAIN_DONE}], RUNNING, False, False),
        (RunState.DONE, [BEGIN, {"event": Event.CHAIN_DONE}], STALLED, True, False),
        (RunState.FAILED, [BEGIN, {"event": Event.CHAIN_FAILED}], {}, False, False),
        (RunState.FAILED, [BEGIN, {"event": Event.GATE_REFUSED}], {}, False, False),
        (RunState.STOPPED, [BEGIN, {"event": Event.CHAIN_STOPPED}], {}, False, False),
        (RunState.INTERRUPTED, [BEGIN, {"event": Event.CHAIN_INTERRUPTED}], {}, False, False),
        (RunState.RUNNING, [BEGIN, {"event": Event.CHAIN_FAILED}, BEGIN], {}, True, False),
        (RunState.INTERRUPTED, [BEGIN, {"event": Event.CHAIN_FAILED}, BEGIN], {}, False, False),
    ],
)
def test_the_state_follows_from_kernel_and_journal(
    state: RunState, records: list[Record], status: dict[str, Any], *, runner: bool, stage: bool
) -> None:
    stalls = status.get("state") == "stalled"
    assert state is state_of(fold(records), runner_alive=runner, stage_alive=stage, claims_stall=stalls)


@pytest.fixture
def sample(tmp_path: Path) -> RunPaths:
    """A copy of the checked-in run: train is done, eval failed with exit code 5."""
    shutil.copytree(SAMPLE, tmp_path / "digits", symlinks=True)
    return RunPaths(str(tmp_path / "digits"))


def test_no_run_is_none(tmp_path: Path) -> None:
    assert look_at_run(RunPaths(str(tmp_path))) is None


def test_a_run_of_format_1_is_still_looked_at(sample: RunPaths) -> None:
    view = look_at_run(sample)
    assert view is not None
    assert (view.state, view.runner_alive, view.stage_alive, view.holder) == (RunState.FAILED, False, None, None)
    assert [(stage.name, stage.state, stage.attempts, stage.note) for stage in view.stages] == [
        ("train", StageState.DONE, 1, ""),
        ("eval", StageState.FAILED, 1, ""),
    ]
    assert (view.current, view.unreadable_lines) == ("eval", 0)
    assert view.end is not None
    assert (view.end["event"], view.end["exit_code"], view.end["stopped_at"]) == (Event.CHAIN_FAILED, 1, "eval")
    assert view.heartbeat_age_seconds is not None


def test_the_log_of_format_1_is_still_found(sample: RunPaths) -> None:
    view = look_at_run(sample)
    assert view is not None
    log = log_look(sample, view)
    assert log is not None
    assert (f"{sample.root}/logs/eval.1.log", 11, "evaluating") == (log["path"], log["bytes"], log["last_line"])


def test_a_journal_of_format_1_is_still_replayed() -> None:
    history = replay(parse_events((SAMPLE / "events.jsonl").read_bytes().splitlines(keepends=True)))
    assert (history.open, history.launches, history.unreadable) == (False, 1, [])
    assert (history.of("train").last, history.of("train").attempts) == (Event.STAGE_DONE, 1)
    assert (history.of("eval").last, history.of("eval").attempts) == (Event.STAGE_FAILED, 1)
    assert history.last_end is not None
    assert history.last_end["event"] == Event.CHAIN_FAILED


def test_a_definition_of_format_1_is_still_read() -> None:
    first, *others = (SAMPLE / "run.json").read_bytes().splitlines(keepends=True)
    head = parse_head(first)
    assert head[:5] == ("digits", RUN_ID, "/root/digits", CHAIN, 2)
    assert RunSettings(30.0, 30.0) == head.settings
    assert [
        FrozenStage(
            Stage("train", "printf 'weights\n' > best.npz; echo epoch 1", artifacts=(Artifact("best.npz"),)), TRAIN, 1
        ),
        FrozenStage(Stage("eval", "echo evaluating; exit 5", env=(("SEED", "7"),)), EVAL, 2),
    ] == list(parse_stages(others))


def test_fingerprints_of_format_1_still_hold() -> None:
    _, *others = (SAMPLE / "run.json").read_bytes().splitlines(keepends=True)
    stages = list(parse_stages(others))
    assert [frozen.fingerprint for frozen in stages] == [stage_fingerprint(frozen.stage) for frozen in stages]
    assert chain_fingerprint((frozen.stage.name, frozen.fingerprint) for frozen in stages) == CHAIN


@pytest.mark.parametrize(
    ("name", "stage", "print_"),
    [("train_DONE", "train", TRAIN), ("eval_FAILED", "eval", EVAL), ("CHAIN_FAILED", "CHAIN", CHAIN)],
)
def test_markers_of_format_1_are_still_read(name: str, stage: str, print_: str) -> None:
    marker = parse_marker((SAMPLE / "markers" / name).read_bytes())
    assert isinstance(marker, Marker)
    assert (RUN_ID, stage, 1, print_) == marker[:4]


def test_a_status_of_format_1_is_still_read() -> None:
    status = read_status(RunPaths(str(SAMPLE)))
    assert status is not None
    assert (
        status["state"],
        status["stage"],
        status["stages_total"],
        status["runner"]["host"],
    ) == ("failed", "eval", 2, "box")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00"])
def test_a_damaged_status_is_none(sample: RunPaths, text: str) -> None:
    Path(sample.status).write_text(text)
    assert read_status(sample) is None
    view = look_at_run(sample)
    assert view is not None
    assert (view.state, view.heartbeat_age_seconds) == (RunState.FAILED, None)


def test_a_marker_removed_by_hand_takes_done_back(sample: RunPaths) -> None:
    Path(sample.done("train")).unlink()
    view = look_at_run(sample)
    assert view is not None
    assert StageState.DONE is not view.stages[0].state


def test_an_empty_marker_is_not_done_and_says_so(sample: RunPaths) -> None:
    Path(sample.done("train")).write_bytes(b"")
    view = look_at_run(sample)
    assert view is not None
    assert StageState.DONE is not view.stages[0].state
    assert "not a marker" in view.stages[0].note


def test_a_marker_of_another_command_is_noted(sample: RunPaths) -> None:
    path = Path(sample.done("train"))
    path.write_text(path.read_text().replace(TRAIN, "0" * 16))
    view = look_at_run(sample)
    assert view is not None
    assert (view.stages[0].state, view.stages[0].note) == (StageState.DONE, "DONE of another command")


def test_damaged_journal_lines_are_counted(sample: RunPaths) -> None:
    path = Path(sample.journal)
    path.write_bytes(b"garbage\n" + path.read_bytes() + b'{"event": "chain_don')
    view = look_at_run(sample)
    assert view is not None
    assert (view.state, view.unreadable_lines) == (RunState.FAILED, 1)


def test_a_damaged_definition_raises(sample: RunPaths) -> None:
    Path(sample.manifest).write_bytes(b"{}\n")
    with pytest.raises(ValueError, match="first line"):
        look_at_run(sample)


def test_a_live_stage_is_seen_without_its_runner(sample: RunPaths) -> None:
    Path(sample.journal).write_bytes(b'{"event": "chain_started"}\n')
    fd = reserve_slot(sample, RUN_ID, "eval", 2)
    try:
        os.write(fd, b"keeper 77\n")
        assert read_slot(sample.slot("eval"))[1:] == (True, True)
        view = look_at_run(sample)
    finally:
        os.close(fd)
    assert view is not None
    assert (view.state, view.stage_alive, view.runner_alive) == (RunState.RUNNING, "eval", False)
    assert view.stages[1][:3] == ("eval", StageState.RUNNING, 2)


def test_looking_changes_nothing(sample: RunPaths) -> None:
    def everything() -> list[tuple[str, int, int]]:
        seen = [(str(path), path.lstat()) for path in sorted(Path(sample.root).rglob("*"))]
        return [(path, stat.st_mtime_ns, stat.st_ino) for path, stat in seen]

    before = everything()
    look_at_run(sample)
    assert before == everything()
