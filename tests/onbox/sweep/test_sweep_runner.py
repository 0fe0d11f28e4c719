"""What a sweep starts, what it takes a cell's end for, and when it is over. The runner is a fork of the test, its cells
are real.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain.lock.run_lock import Taken, take_lock
from onbox.chain.state.stop_request import StopRequest, write_request
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.contract.fingerprint import stage_fingerprint
from onbox.contract.paths import RunPaths
from onbox.model.manifest import Artifact, RunSettings, Stage
from onbox.model.sweep import Frozen, SweepSettings
from onbox.runs.room import RunRoom
from onbox.sweep import launch, look
from onbox.sweep.cells.drafts import Draft
from onbox.sweep.look import look_at_sweep
from onbox.sweep.results import read_table
from onbox.sweep.runner import cell_run
from onbox.sweep.runner.intake import Intake
from onbox.sweep.runner.runner_process import run_sweep
from onbox.sweep.state import orders
from onbox.sweep.state.board import cells_file, read_cells
from onbox.sweep.state.frozen_sweep import read_definition
from onbox.system.lock import try_lock
from tests.box import Box, wait_until
from tests.chain_here import end_of, forked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNS = Stage("run", "echo {n} >>ran")
WAITS = Stage("run", "echo {n} >>ran; for _ in $(seq 1200); do test -e go && break; sleep 0.05; done")
THREE = ("1", "2", "3")


class SweepHere:
    """One sweep over `n` in the folder of a test."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.paths = RunPaths(str(box.state))
        self.run_id = f"20261122-{os.urandom(4).hex()}"  # one of its own: by it the processes of an attempt are found

    def wanted(
        self, *template: Stage, values: tuple[str, ...] = THREE, queue: str | None = None, **settings: Any
    ) -> launch.WantedSweep:
        pairs = [(one, stage_fingerprint(one)) for one in template]
        head = {
            "run": self.box.run,
            "run_id": self.run_id,
            "project": str(self.box.project),
            "chain_fingerprint": cell_run.fingerprint_of(pairs),
            "stage_count": 1,
            "settings": RunSettings(grace_seconds=5.0).to_plain(),
        }
        drafts = [Draft((("n", value),)) for value in values]
        return launch.WantedSweep(self.paths, head, Frozen(SweepSettings(**settings), template, queue), drafts)

    def begin(self) -> int:
        """A runner of what is frozen; its pid."""
        lock = take_lock(self.paths)
        assert isinstance(lock, Taken)
        name, _, value = self.box.tag.partition("=")
        pid = forked(lambda: run_sweep(self.paths, lock.lock_fd), {name: value})
        os.close(lock.lock_fd)
        return pid

    def run(self, *template: Stage, **wanted: Any) -> int:
        """Frozen, and brought to its end: the exit code."""
        self.prepare(*template, **wanted)
        return end_of(self.begin())

    def prepare(
        self, *template: Stage, again: bool = False, **wanted: Any
    ) -> launch.PreparedSweep | launch.NothingToDo:
        """As `onbox sweep` does with the lock in its hands."""
        lock = take_lock(self.paths)
        assert isinstance(lock, Taken)
        try:
            return launch.prepare(self.wanted(*template, **wanted), again=again)
        finally:
            os.close(lock.lock_fd)

    def counts(self) -> dict[str, int]:
        """Cells by how they stand, without the rest."""
        return {
            key: value for key, value in look_at_sweep(self.paths).data["cells"].items() if value and key != "total"
        }

    @property
    def told(self) -> list[str]:
        return [str(event["event"]) for event in self.box.events()]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[SweepHere]:
    project = tmp_path / "digits"
    project.mkdir()
    box = Box(project, "grid")
    yield SweepHere(box)
    box.end_everything()


def test_every_cell_runs_once_and_the_sweep_is_done(here: SweepHere) -> None:
    assert here.run(RUNS) == Exit.DONE
    assert here.box.ran == list(THREE)
    assert here.box.markers == ["CHAIN_DONE", "SWEEP_DONE"]
    assert here.told[-2:] == [Event.STAGE_DONE, Event.CHAIN_DONE]
    before = here.box.events()
    assert isinstance(here.prepare(RUNS), launch.NothingToDo)
    assert here.box.events() == before


def test_a_sweep_that_was_cut_off_goes_on_with_its_open_cells_once_there_is_room(
    here: SweepHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.prepare(RUNS)
    launch.journal_now(here.paths, [{"event": Event.CHAIN_STARTED, "launch": 1}])
    data = look_at_sweep(here.paths).data
    assert (data["state"], data["next_command"], data["disk"]) == ("interrupted", "onbox resume -d grid", None)
    assert data["then"].startswith("the resume runs the cells that are open")
    monkeypatch.setattr(look, "find_short_room", lambda *_: RunRoom(here.paths.root, 1 << 30, 0))
    data = look_at_sweep(here.paths).data
    assert (data["step"], data["next_command"]) == ("inodes-gone-now", "df -i .")
    assert data["disk"] == f"{here.paths.root}: its disk has only 0 free inodes now"


def test_the_others_go_on_after_a_failure_and_the_sweep_has_failed(here: SweepHere) -> None:
    assert here.run(RUNS._replace(cmd="echo {n} >>ran; test {n} != 2")) == Exit.FAILED
    assert here.box.ran == list(THREE)
    end = here.box.marker("CHAIN_FAILED")
    assert (end["failed_cells"], end["cells"]["done"], end["cells"]["failed"]) == (["n=2"], 2, 1)


def test_a_warning_of_a_cell_that_is_done_is_told_of_the_sweep(here: SweepHere) -> None:
    echo = RUNS._replace(cmd="echo step 1/2 loss 1; echo step 2/2 loss $(test {n} = 2 && echo 0.5 || echo nan)")
    assert here.run(echo) == Exit.DONE
    says = "2 cells: the last loss in its log is nan (n=1; n=3)"
    assert here.box.marker("SWEEP_DONE")["warnings"] == [says]
    seen = look_at_sweep(here.paths).data
    assert (seen["warnings"], seen["step"]) == ([says], "done-with-warning")
    states = [row[0] for row in read_table(here.paths).rows]
    assert states == ["done: the last loss in its log is nan", "done", "done: the last loss in its log is nan"]


def test_too_many_failures_end_it_before_the_rest(here: SweepHere) -> None:
    assert here.run(RUNS._replace(cmd="echo {n} >>ran; false"), max_failures=0) == Exit.FAILED
    assert here.box.ran == ["1"]
    assert "more than max_failures = 0" in here.box.marker("CHAIN_FAILED")["reason"]


def test_a_resume_runs_only_what_is_open_and_a_reopened_cell_is(here: SweepHere) -> None:
    cmd = "echo {n} >>ran; test {n} != 2 || test -e fixed"
    assert here.run(RUNS._replace(cmd=cmd)) == Exit.FAILED
    (here.box.project / "fixed").touch()
    orders.leave(here.paths, orders.REOPEN, [2, 1, 99])
    assert end_of(here.begin()) == Exit.DONE
    assert here.box.ran == [*THREE, "2"], "what is done is not reopened"
    assert not list(orders.waiting(here.paths))


def test_a_stop_ends_the_live_cells_and_leaves_the_sweep_open(here: SweepHere) -> None:
    here.prepare(WAITS, jobs=2)
    pid = here.begin()
    wait_until(lambda: len(here.box.ran) == 2, "two cells at work")
    write_request(here.paths.stop_request, StopRequest(5.0))
    os.kill(pid, signal.SIGTERM)
    assert end_of(pid) == Exit.STOPPED
    assert (here.box.markers, here.told[-1]) == ([], Event.CHAIN_STOPPED)
    assert here.box.processes() == []
    (here.box.project / "go").touch()
    assert end_of(here.begin()) == Exit.DONE
    assert sorted(here.box.ran) == ["1", "1", "2", "2", "3"]


def test_a_cell_that_is_skipped_while_it_runs_is_ended_and_not_run_again(here: SweepHere) -> None:
    here.prepare(WAITS)
    pid = here.begin()
    wait_until(lambda: here.box.ran, "a cell at work")
    orders.leave(here.paths, orders.SKIP, [1])
    os.kill(pid, signal.SIGUSR1)
    wait_until(lambda: len(here.box.ran) > 1, "the next cell")
    (here.box.project / "go").touch()
    assert end_of(pid) == Exit.DONE
    assert (here.box.ran, here.counts()) == (list(THREE), {"done": 2, "skipped": 1})


def test_cells_that_outlive_the_runner_are_taken_over_and_started_no_second_time(here: SweepHere) -> None:
    here.prepare(WAITS, jobs=2)
    pid = here.begin()
    wait_until(lambda: len(here.box.ran) == 2, "two cells at work")
    os.kill(pid, signal.SIGKILL)
    end_of(pid)
    pid = here.begin()
    here.box.wait_for_event(Event.CELL_ADOPTED)
    (here.box.project / "go").touch()
    assert end_of(pid) == Exit.DONE
    assert sorted(here.box.ran) == list(THREE)


def test_a_cell_whose_own_runner_was_killed_took_all_the_time_since_its_first_start(here: SweepHere) -> None:
    here.prepare(WAITS)
    pid = here.begin()
    wait_until(lambda: here.box.ran, "a cell at work")
    (cell,) = (here.box.state / "cells").iterdir()
    os.kill(json.loads((cell / "lock").read_text())["pid"], signal.SIGKILL)
    here.box.wait_for_event(Event.CELL_ENDED)
    (here.box.project / "go").touch()
    assert end_of(pid) == Exit.DONE
    (seconds,) = (one["seconds"] for one in here.box.events("cell_ended") if "seconds" in one and one["n"] == 1)
    assert seconds == json.loads((cell / "markers/CHAIN_DONE").read_text())["duration_seconds"]


def test_a_done_cell_whose_marker_is_gone_is_run_again(here: SweepHere) -> None:
    assert here.run(RUNS) == Exit.DONE
    (here.box.state / "cells/n=2/markers/CHAIN_DONE").unlink()
    (here.box.state / "cells/n=2/markers/run_DONE").unlink()
    assert isinstance(here.prepare(RUNS), launch.PreparedSweep)
    assert end_of(here.begin()) == Exit.DONE
    assert here.box.ran == [*THREE, "2"]


# -- what may be started


def test_new_cells_are_added_to_those_that_are_known(here: SweepHere) -> None:
    assert here.run(RUNS, values=("1", "2")) == Exit.DONE
    found = here.prepare(RUNS, values=("2", "3"))
    assert isinstance(found, launch.PreparedSweep)
    assert (found.added, len(found.board)) == (1, 3)
    assert end_of(here.begin()) == Exit.DONE
    assert here.box.ran == list(THREE)


def test_cells_that_began_with_another_command_need_a_word(here: SweepHere) -> None:
    assert here.run(RUNS) == Exit.DONE
    other = RUNS._replace(cmd="echo other-{n} >>ran")
    with pytest.raises(launch.OtherCommands) as caught:
        here.prepare(other)
    assert caught.value.begun == 3
    assert here.run(other, again=True) == Exit.DONE
    assert here.box.ran[3:] == ["other-1", "other-2", "other-3"]
    assert (here.box.state / "cells.1" / "n=1").is_dir(), "moved aside, not deleted"


def test_cells_that_would_write_one_file_are_refused_before_any_runs(here: SweepHere) -> None:
    with pytest.raises(launch.SharedPaths, match=r"n=1 and n=2 both write .*model.pt"):
        here.prepare(RUNS._replace(artifacts=(Artifact("model.pt"),)))
    assert not (here.box.state / "run.json").exists()


# -- cells from a queue file


def test_a_queue_grows_the_sweep_and_a_full_disk_loses_no_cell(here: SweepHere) -> None:
    """A cell that could not be written down is no cell that writes the same file as itself."""
    queue = here.box.project / "queue"
    queue.write_text("n=1\n")
    here.prepare(RUNS._replace(artifacts=(Artifact("{n}.pt"),)), values=("1",), queue=str(queue))
    found = read_definition(here.paths)
    assert found is not None
    board = launch.read_known(here.paths).board
    intake = Intake(here.paths, found.head, found.frozen, board)
    assert (intake.look(), intake.problems) == (0, [])
    queue.write_text("n=1\nn=2\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(cells_file(here.paths)), limits[1]))
    try:
        assert intake.look() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot write" in intake.problems[0]
    assert (intake.look(), intake.problems) == (1, [])
    assert board.name(2) == "n=2"


# -- how a cell stands


@pytest.mark.parametrize(
    ("cmd", "end"),
    [("true", ("done", "", "")), ("echo 'ValueError: bad' >&2; exit 1", ("failed", "code_error", "run"))],
)
def test_a_cells_own_markers_tell_its_end(here: SweepHere, cmd: str, end: tuple[str, str, str]) -> None:
    here.run(RUNS._replace(cmd=f"{cmd} #{{n}}"), values=("1",))
    paths = cell_run.cell_paths(here.paths, "n=1")
    fingerprint = cell_run.frozen_fingerprint(paths)
    assert fingerprint is not None
    seen = cell_run.end_of(paths, f"{here.run_id}-1", fingerprint)
    assert (seen.outcome, seen.failure_class, seen.stage) == end
    assert cell_run.end_of(paths, f"{here.run_id}-2", fingerprint).outcome == "unfinished", "of another run"
    assert cell_run.end_of(paths, f"{here.run_id}-1", "0" * 16).outcome == "unfinished", "of another command"


def test_a_cell_whose_lock_is_held_is_busy_and_not_frozen_anew(here: SweepHere) -> None:
    here.prepare(RUNS)
    found = read_definition(here.paths)
    assert found is not None
    cell = launch.read_known(here.paths).board
    paths = cell_run.cell_paths(here.paths, "n=1")
    os.makedirs(paths.root)
    held = try_lock(paths.lock)
    assert held is not None
    (one, *_) = [one for one, _ in read_cells(here.paths)]
    assert isinstance(cell_run.make_ready(here.paths, found.head, found.frozen.template, one), cell_run.CellBusy)
    assert (cell.name(1), os.path.exists(paths.manifest)) == ("n=1", False)
    os.close(held)
