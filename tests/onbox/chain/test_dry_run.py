"""What `onbox resume` would do, foretold from what lies there, and what `onbox status` says of the same."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain import run_room
from onbox.chain.dry_run import Forecast, as_data, foretell, in_words
from onbox.chain.lock.lock_owner import Holder, write_holder
from onbox.chain.lock.runner_health import is_late
from onbox.chain.run_status import NOT_JUDGED, look_at_run
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.chain.state.slots import reserve_slot
from onbox.collectors.disk import Disk, Room
from onbox.commands.show.status_data import as_data as status_of
from onbox.contract.events import Event, render_event
from onbox.contract.exits import Exit
from onbox.contract.readings import Absent, Unseen
from onbox.contract.runfile import RunHead
from onbox.model.manifest import Artifact, RunSettings, Stage
from onbox.system.lock import is_locked, try_lock
from onbox.system.process import look_up
from tests.box import wait_until
from tests.chain_here import ChainHere

if TYPE_CHECKING:
    from tests.box import Box

A = Stage("a", "echo a >model.pt", artifacts=(Artifact("model.pt"),))
B = Stage("b", "echo b >>ran")


class OnDisk(ChainHere):
    """A run of two stages that was begun, and nothing of it lives: its journal is written by the test."""

    def journaled(self, *events: tuple[str, dict[str, Any]]) -> None:
        os.close(self.freeze(A, B))
        ((_, fingerprint), _) = self.definition(A, B).stages
        usual = {"at": "2026-11-22T10:00:00.000Z", "stage": "a", "attempt": 1, "fingerprint": fingerprint}
        records = [{**usual, "event": event, **fields} for event, fields in events]
        (self.box.state / "events.jsonl").write_bytes(b"".join(map(render_event, records)))

    def forecast(self) -> Forecast:
        """Looked at twice: looking changes nothing."""
        head = read_head(self.paths)
        assert head is not None
        stages = list(read_stages(self.paths))
        first, second = (foretell(self.paths, head, stages) for _ in range(2))
        assert first == second
        return first

    def status(self) -> dict[str, Any]:
        view = look_at_run(self.paths)
        assert view is not None
        return status_of(self.paths, view)


BEGUN = (Event.CHAIN_STARTED, {"launch": 1})
STARTED = (Event.ATTEMPT_STARTED, {"resume": False})


@pytest.fixture
def here(box: Box) -> OnDisk:
    return OnDisk(box)


@pytest.fixture
def done(here: OnDisk) -> OnDisk:
    assert here.run(A, B) == Exit.DONE
    return here


def words(forecast: Forecast) -> tuple[str, str | None, bool]:
    return forecast.would, forecast.stage, forecast.resuming


def test_a_run_that_never_began_starts_for_the_first_time(here: OnDisk) -> None:
    here.journaled()
    forecast = here.forecast()
    assert words(forecast) == ("start", "a", False)
    assert in_words(forecast).endswith("starts stage a for the first time")
    assert (here.status()["state"], here.status()["step"]) == ("pending", "unattended")


@pytest.mark.parametrize(
    ("events", "foretold", "then"),
    [
        ((), "for the first time", "its first open stage starts for the first time"),
        (
            (STARTED, (Event.STAGE_REDO, {})),
            "anew, without ONBOX_RESUME",
            "its first open stage starts for the first time",
        ),
        ((STARTED, (Event.ATTEMPT_ENDED, {"exit_code": 0})), "judges how", "the resume judges how its stage ended"),
    ],
    ids=("not begun", "to be redone", "ended"),
)
def test_status_foretells_the_same_as_the_dry_run(
    here: OnDisk, events: tuple[tuple[str, dict[str, Any]], ...], foretold: str, then: str
) -> None:
    here.journaled(BEGUN, *events)
    assert foretold in in_words(here.forecast())
    status = here.status()
    assert (status["state"], status["next_command"]) == ("interrupted", "onbox resume -d digits")
    assert status["then"].startswith(then)
    assert "ONBOX_RESUME=1" not in status["then"]


@pytest.mark.parametrize(
    ("bytes_free", "inodes_free", "command"), [(0, 99, "df -h . && df -i ."), (1 << 30, 3, "df -i .")]
)
def test_no_resume_is_advised_while_the_disk_is_full(
    here: OnDisk, monkeypatch: pytest.MonkeyPatch, bytes_free: int, inodes_free: int, command: str
) -> None:
    here.journaled(BEGUN, STARTED)
    room = Room(bytes_free, 1 << 30, (1 << 30) - bytes_free, inodes_free, 100)
    disk = Disk("/", "ext4", "/dev/vda", read_only=False, paths=(here.paths.root,), room=room)
    monkeypatch.setattr(run_room, "read_disks", lambda *_, **__: (disk,))
    status = here.status()
    assert status["next_command"].startswith(command)
    assert "resume" in status["then"]
    assert status["warnings"][-1].startswith(f"{here.paths.root}: its disk has only ")
    disk = disk._replace(room=Unseen("a hung mount"))
    assert here.status()["next_command"] == "onbox resume -d digits", "what could not be looked at holds nobody back"


def test_what_was_cut_off_is_started_again_as_a_resume(here: OnDisk) -> None:
    here.journaled(BEGUN, STARTED)
    assert words(here.forecast()) == ("start", "a", True)
    assert in_words(here.forecast()).endswith("starts stage a again, with ONBOX_RESUME=1")
    status = here.status()
    assert (status["state"], status["next_command"]) == ("interrupted", "onbox resume -d digits")


def test_a_live_runner_is_attached_to(here: OnDisk) -> None:
    here.journaled(BEGUN, STARTED)
    lock = try_lock(here.paths.lock)
    assert lock is not None
    assert (here.forecast().would, here.status()["runner_alive"]) == ("attach", True)
    os.close(lock)


def test_a_frozen_runner_is_not_said_to_be_at_work(here: OnDisk) -> None:
    """Its stage has ended meanwhile: it is for that runner to judge how, and nobody says that none lives."""
    here.journaled(BEGUN, STARTED)
    slot = reserve_slot(here.paths, here.run_id, "a", 1)
    os.write(slot, b"keeper 4711\nexit 0\n")
    os.close(slot)
    lock = try_lock(here.paths.lock)
    assert lock is not None
    runner = subprocess.Popen(["sleep", "600"])
    try:
        os.kill(runner.pid, signal.SIGSTOP)
        wait_until(lambda: (entry := look_up(runner.pid)) is not None and entry.state == "T", "it to be stopped")
        entry = look_up(runner.pid)
        assert entry is not None
        write_holder(lock, Holder(*entry.identity, None, platform.node(), here.run_id, ""))
        said = in_words(here.forecast())
        assert said.startswith(f"its runner (pid {runner.pid}) is frozen by a signal (SIGSTOP): ")
        assert f"kill -CONT {runner.pid}" in said
        dried = here.box.onbox("resume", "--dry-run")
        assert "no runner lived" not in dried.stdout
        assert [line.split(None, 1) for line in dried.stdout.splitlines() if line.startswith("  a ")] == [
            ["a", NOT_JUDGED]
        ]
        stage = here.status()["stages"][0]
        assert (stage["state"], stage["note"]) == ("waiting", NOT_JUDGED)
    finally:
        runner.kill()
        runner.wait()
        os.close(lock)


def test_a_runner_whose_heartbeat_is_late_is_not_said_to_be_at_work(here: OnDisk) -> None:
    here.journaled(BEGUN, STARTED)
    (here.box.state / "status.json").write_text('{"state": "running", "stage": "a", "at": "2026-11-22T10:00:00.000Z"}')
    lock = try_lock(here.paths.lock)
    assert lock is not None
    assert here.status()["heartbeat_late"] is True
    assert in_words(here.forecast()).startswith("its runner is stuck or stopped, its heartbeat is late")
    os.close(lock)


def test_a_heartbeat_that_a_busy_box_delays_by_seconds_is_not_late(here: OnDisk) -> None:
    head = RunHead("a", "a-1", "/p", "f", 1, RunSettings(sample_every_seconds=0.2), {})
    assert not is_late(head, 9.0)
    assert is_late(head, 11.0)


def test_a_stage_that_lives_without_a_runner_is_adopted_and_started_no_second_time(here: OnDisk) -> None:
    here.journaled(BEGUN, STARTED)
    slot = reserve_slot(here.paths, here.run_id, "a", 1)  # as its keeper holds it
    os.write(slot, b"keeper 4711\n")
    assert words(here.forecast())[:2] == ("adopt", "a")
    assert "second time" in in_words(here.forecast())
    status = here.status()
    assert (status["state"], status["stage_alive"], status["step"]) == ("running", True, "runner-gone")
    os.close(slot)


def test_a_run_that_is_done_starts_nothing(done: OnDisk) -> None:
    assert words(done.forecast()) == ("nothing", None, False)
    status = done.status()
    assert (status["state"], status["stages_done"], status["warnings"]) == ("done", 2, [])
    assert isinstance(done.forecast().checkpoint, Absent)


def test_a_result_of_a_done_run_that_is_gone_is_missed_by_both(done: OnDisk) -> None:
    (done.box.project / "model.pt").unlink()
    assert done.forecast().missing == (("a", "model.pt"),)
    assert done.forecast().would == "refuse"
    (warning,) = done.status()["warnings"]
    assert warning.startswith("stage a is DONE, but ")
    assert done.status()["step"] == "results-missing"


def test_a_result_that_was_emptied_is_missing(done: OnDisk) -> None:
    (done.box.project / "model.pt").write_text("")
    assert done.forecast().missing == (("a", "model.pt"),)


def test_where_only_the_end_is_not_on_record_a_resume_records_it(done: OnDisk) -> None:
    (done.box.state / "markers/CHAIN_DONE").unlink()
    assert words(done.forecast()) == ("start", None, False)
    assert in_words(done.forecast()) == "every stage is done: a resume records the end"


def test_a_done_of_another_command_needs_a_word_first(done: OnDisk) -> None:
    os.close(take(done))
    marker = done.box.state / "markers" / "a_DONE"
    marker.write_text(marker.read_text().replace(done.box.marker("a_DONE")["fingerprint"], "0" * 16))
    forecast = done.forecast()
    assert forecast.would == "refuse"
    assert in_words(forecast).startswith("a resume starts nothing before a word of yours: a: ")
    (note,) = [stage["note"] for stage in done.status()["stages"] if stage["note"]]
    assert note == "DONE of another command"


def take(here: OnDisk) -> int:
    assert not is_locked(here.paths.lock)
    lock = try_lock(here.paths.lock)
    assert lock is not None
    return lock


def test_the_forecast_as_json_names_all_that_its_sentence_does(done: OnDisk) -> None:
    (done.box.project / "model.pt").unlink()
    data = as_data("digits", done.run_id, done.forecast())
    assert (data["would"], data["missing"]) == ("refuse", [{"stage": "a", "path": "model.pt"}])
    assert [one["action"] for one in data["stages"]] == ["done", "done"]


# -- what the status says of a bad end


def test_a_failure_is_told_from_its_marker_with_the_step(here: OnDisk) -> None:
    assert here.run(Stage("a", "echo 'ValueError: bad shape' >&2; exit 1"), B) == Exit.FAILED
    status = here.status()
    failure = status["failure"]
    assert (failure["stage"], failure["failure_class"], failure["may_resume_by_itself"]) == ("a", "code_error", False)
    assert "ValueError: bad shape" in failure["proof"]
    assert (status["state"], status["stage"], status["repeated"]) == ("failed", "a", None)


def test_an_end_that_came_twice_in_the_same_way_is_told_as_such(here: OnDisk) -> None:
    failing = Stage("a", "echo 'ValueError: bad shape' >&2; exit 1")
    assert [here.run(failing), here.run(failing)] == [Exit.FAILED, Exit.FAILED]
    repeated = here.status()["repeated"]
    assert repeated["times"] == 2
    assert here.run(Stage("a", "true")) == Exit.DONE
    assert here.status()["repeated"] is None


def test_a_dead_runners_words_are_no_state(here: OnDisk) -> None:
    """What it last said of a wait, of resources and of notices was true while it lived."""
    here.journaled(BEGUN, STARTED)
    text = '{"state": "stalled", "stage": "a", "waiting_for": "the file READY", "resources": {"cpu": 1}}'
    (here.box.state / "status.json").write_text(text)
    status = here.status()
    assert (status["state"], status["waiting_for"], status["resources"]) == ("interrupted", None, None)
    assert (status["stall"], status["heartbeat_late"]) == (None, False)
