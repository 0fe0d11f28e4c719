"""A sweep as a user meets it: a grid, a queue file, failures, a stop, a kill, and what is told of it."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.system.clock import parse_utc
from tests.box import REPOSITORY, Box, is_running, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fault_server import FaultServer

SLOW = "echo begins-{n} >>ran; until [ -e go ]; do sleep 0.05; done; echo ends-{n} >>ran"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    project = tmp_path / "digits"
    project.mkdir()
    made = Box(project, "sweep")
    yield made
    made.end_everything()


def cells_in(box: Box, end: str) -> list[str]:
    """The cells that have such a marker."""
    return sorted(path.parent.parent.name for path in box.state.glob(f"cells/*/markers/CHAIN_{end}"))


def start_slow(box: Box, *words: str) -> None:
    """Cells that wait for the file `go`, detached; the first two have begun."""
    done = box.onbox("sweep", "-d", "-j", "2", *(words or ("n=1..4",)), "--", SLOW)
    assert done.returncode == 0, done.stderr
    wait_until(lambda: len(box.ran) >= 2, "two cells at work")


def finish(box: Box) -> None:
    at_work = box.processes()
    (box.project / "go").touch()
    wait_until(lambda: {"CHAIN_DONE", "CHAIN_FAILED"} & set(box.markers), "the sweep's end")
    box.wait_until_gone(at_work)  # who comes before attaches to it


def test_a_failing_cell_does_not_end_the_sweep_and_the_end_names_it(box: Box) -> None:
    done = box.onbox("sweep", "-j", "2", "lr=1e-3,1e-4", "seed=0..2", "--", "test {lr} != 7 -a {seed} != 1")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith("sweep FAILED: 4 of 6 done, 2 failed: unknown 2")
    assert cells_in(box, "FAILED") == ["lr=1e-3,seed=1", "lr=1e-4,seed=1"]
    assert box.marker("SWEEP_FAILED")["failed_cells"] == ["lr=1e-3,seed=1", "lr=1e-4,seed=1"]
    again = box.onbox("sweep", "-j", "2", "lr=1e-3,1e-4", "seed=0..2", "--", "test {lr} != 7 -a {seed} != 1")
    assert again.returncode == 1
    assert "onbox sweep retry-failed sweep" in again.stdout
    status = box.onbox("sweep", "status").stdout
    assert "next     onbox logs lr=1e-3,seed=1 --run sweep\n" in status
    assert box.onbox("logs", "lr=1e-3,seed=1", "--run", "sweep").returncode == 0
    assert "then: onbox sweep retry-failed sweep" in status
    assert "each of its cells has a series of its own: onbox series CELL" in box.onbox("series").stderr
    said = " ".join(box.onbox("resume", "--dry-run").stdout.split())
    assert "failed ones only `onbox sweep retry-failed`" in said


def test_a_cells_log_is_read_by_the_name_that_the_table_gives_it(box: Box) -> None:
    command = "echo step 1/4 of {n}; echo 'RuntimeError: CUDA error: out of memory'; test {n} = 2"
    assert box.onbox("sweep", "n=1,2", "--", command).returncode == 1
    assert "logs     onbox logs CELL --run sweep" in box.onbox("sweep", "status").stdout
    assert box.onbox("logs", "n=1").stdout.startswith("step 1/4 of 1\n")
    assert box.onbox("logs", "n=1", "--stage", "run", "--run", "sweep").stdout.startswith("step 1/4 of 1\n")
    assert "of a sweep: onbox sweep status sweep" in box.onbox("check").stdout
    assert box.onbox("progress", "n=1").stdout.startswith("~1/4")
    assert box.onbox("triage", "n=1").stdout.startswith("cuda_oom: dead")
    assert box.onbox("series", "n=1").returncode == 0
    assert box.onbox("checkpoints", "n=1").stdout == "n=1: none yet\n"
    for words, says in (
        (("logs", "n=3"), "no cell 'n=3' of sweep sweep has begun; its cells: onbox sweep table sweep"),
        (("logs", "n=1", "--stage", "x"), "no stage 'x' in this run; there are: run"),
        (("checkpoints",), "onbox checkpoints CELL"),
        (("triage",), "sweep is a sweep: name a cell, or a log"),
        (("progress", "n=3"), "no log n=3, and no cell of a sweep"),
    ):
        refused = box.onbox(*words)
        assert (refused.returncode, says in refused.stderr) == (64, True), refused.stderr


def test_a_sweeps_next_step_leads_on(box: Box) -> None:
    assert box.onbox("sweep", "-d", "n=1", "--", "sleep 60 # {n}").returncode == 0
    for words in (("sweep", "status"), ("status",)):
        said = box.onbox(*words).stdout
        assert "next     nothing: it goes on by itself; follow it: onbox attach sweep" in said
    assert box.onbox("sweep", "stop", "sweep").returncode == 0


def test_the_box_names_no_box_that_it_does_not_know(box: Box) -> None:
    assert box.onbox("sweep", "--name", "grid", "n=1", "--", "true {n}").returncode == 0
    assert box.onbox("chain", "a=true").returncode == 0
    for name in ("grid", box.project.name):
        said = box.onbox("status", name).stdout
        assert "BOX" not in said
        assert "next     on the machine that looks at this box" in said
        assert json.loads(box.onbox("status", "--json", name).stdout)["next_command"] is None
    (box.project / "onbox.toml").write_text('[boxes.here]\nbackend = "local"\nproject = "."\n')
    for name in ("grid", box.project.name):
        assert f"next     patrol pull here/{name}\n" in box.onbox("status", name).stdout


def test_a_column_that_no_cell_has_is_told(box: Box) -> None:
    assert box.onbox("sweep", "n=2,1", "--", "test {n}").returncode == 0
    wrong = box.onbox("sweep", "table", "--sort", "-acuracy")
    assert (wrong.returncode, len(wrong.stdout.splitlines())) == (0, 3)
    assert "no cell has 'acuracy', so nothing is sorted; there are: n, seconds" in wrong.stderr
    right = box.onbox("sweep", "table", "--sort", "n")
    assert (right.stderr, right.stdout.splitlines()[1].split()[1]) == ("", "1")


def test_failed_cells_run_again_and_only_they(box: Box) -> None:
    words = ("sweep", "n=1..3", "--", "echo {n} >>ran; test {n} != 2 || test -e good")
    assert box.onbox(*words).returncode == 1
    (box.project / "good").touch()
    assert box.onbox("sweep", "retry-failed").returncode == 0
    assert box.ran == ["1", "2", "3", "2"]
    assert box.markers == ["CHAIN_DONE", "SWEEP_DONE"]
    (end,) = box.events("chain_done")
    times = [parse_utc(one["at"]) or 0.0 for one in (*box.events("chain_started"), *box.events("chain_failed"), end)]
    first_launch, second_launch = times[2] - times[0], times[3] - times[1]
    took = end["duration_seconds"]
    assert first_launch < took < first_launch + second_launch + 0.05, "its launches together, not the time between them"
    journal = box.state / "cells" / box.events("cell_ended")[-1]["cell"] / "events.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    began, ended = (
        [parse_utc(one["at"]) or 0.0 for one in records if one["event"] == event][-1]
        for event in ("chain_started", "chain_done")
    )
    assert box.events("cell_ended")[-1]["seconds"] < ended - began + 0.05, "a cell that is retried takes its own time"
    assert box.onbox(*words).returncode == 0
    assert box.ran == ["1", "2", "3", "2"]


def test_again_alone_is_told_the_sweeps_own_command(box: Box) -> None:
    assert box.onbox("sweep", "-j", "2", "a=1..2", 'b=["x,y", "z"]', "--", "echo {a} >>ran; true '{b}'").returncode == 0
    refused = box.onbox("sweep", "--again")
    assert refused.returncode == 64
    told = shlex.split(refused.stderr.split("its command: ")[1].split("; go on with")[0])
    again = box.onbox(*told[1:])
    assert (again.returncode, sorted(box.ran)) == (0, ["1"] * 4 + ["2"] * 4), again.stderr


def test_an_adopted_cell_took_all_the_time_since_its_start(box: Box) -> None:
    start_slow(box)
    box.kill_runner()
    assert box.onbox("sweep", "resume", "-d").returncode == 0
    wait_until(lambda: len(box.events("cell_adopted")) == 2, "both cells to be adopted")
    finish(box)
    ended = {record["cell"]: record["seconds"] for record in box.events("cell_ended")}
    for record in box.events("cell_adopted"):
        marker = json.loads((box.state / "cells" / record["cell"] / "markers/CHAIN_DONE").read_text())
        assert ended[record["cell"]] == marker["duration_seconds"]


def test_the_same_command_after_kill_9_goes_on_and_runs_no_cell_twice(box: Box) -> None:
    start_slow(box)
    assert box.onbox("stats").stdout.startswith("this session; 2 live cells of sweep sweep: onbox stats CELL")
    assert box.onbox("stats", "n=1").stdout.startswith("n=1/run · ")
    box.kill_runner()
    (box.project / "go").touch()
    again = box.onbox("sweep", "-j", "2", "n=1..4", "--", SLOW)
    assert again.returncode == 0, again.stderr
    assert sorted(box.ran) == sorted(f"{word}-{n}" for n in range(1, 5) for word in ("begins", "ends"))


def test_without_a_runner_the_first_cell_that_ends_calls_it_back(box: Box) -> None:
    start_slow(box)
    box.kill_runner()
    finish(box)
    assert box.markers == ["CHAIN_DONE", "SWEEP_DONE"]
    assert sorted(box.ran) == sorted(f"{word}-{n}" for n in range(1, 5) for word in ("begins", "ends"))


def test_the_runner_and_the_runners_of_its_cells_killed_together(box: Box) -> None:
    start_slow(box)
    pids = [box.runner_pid(), *(json.loads((cell / "lock").read_text())["pid"] for cell in box.state.glob("cells/*"))]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(map(is_running, pids)), "all runners to be gone")
    finish(box)
    assert box.markers == ["CHAIN_DONE", "SWEEP_DONE"]
    assert sorted(box.ran) == sorted(f"{word}-{n}" for n in range(1, 5) for word in ("begins", "ends"))


def test_a_stop_leaves_the_cells_open_and_resume_goes_on(box: Box) -> None:
    start_slow(box)
    assert box.onbox("stop", "sweep").returncode == 0
    assert not [pid for pid in box.processes() if is_running(pid)]
    status = json.loads(box.onbox("sweep", "status", "--json").stdout)
    assert (status["state"], status["cells"]["open"]) == ("stopped", 4)
    (box.project / "go").touch()
    assert box.onbox("resume", "sweep").returncode == 0
    assert box.markers == ["CHAIN_DONE", "SWEEP_DONE"]


def test_lines_added_to_the_queue_while_it_runs_are_taken_in(box: Box) -> None:
    queue = box.project / "queue.txt"
    queue.write_text("n=1\nn=2\n")
    start_slow(box, "--cells", "queue.txt")
    with queue.open("a") as file:
        file.write("n=3\nn=9 priority=5\nm=4\n")
    finish(box)
    assert "queue.txt line 5: lacks n; m is in no command" in box.marker("SWEEP_FAILED")["reason"]
    assert [one["cell"] for one in box.events("cell_started")] == ["n=1", "n=2", "n=9", "n=3"]
    assert len([word for word in box.ran if word.startswith("ends")]) == 4
    queue.write_text("n=1\nn=2\nn=3\nn=9\n")
    assert box.onbox("sweep", "resume").returncode == 0


def test_two_cells_with_one_output_path_are_refused_before_anything_starts(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        '[stages.train]\ncmd = "echo {n} >>ran; echo x >out"\nartifacts = ["out"]\n[sweep]\ngrid = { n = [1, 2] }\n'
    )
    refused = box.onbox("sweep")
    assert refused.returncode == 78
    assert "cells n=1 and n=2 both write" in refused.stderr
    assert box.ran == []


def test_one_error_after_the_other_ends_it_and_leaves_the_rest_open(box: Box) -> None:
    done = box.onbox("sweep", "--same-failures", "3", "n=1..9", "--", "echo {n} >>ran; cat /nowhere")
    assert done.returncode == 1
    assert box.ran == ["1", "2", "3"]
    assert "6 not run" in done.stdout
    assert "3 cells in a row failed in the same way" in done.stdout


def test_a_skipped_cell_is_no_failure(box: Box) -> None:
    start_slow(box)
    assert box.onbox("sweep", "skip", "n=1", "n=4").returncode == 0
    wait_until(lambda: len(box.events("cell_skipped")) == 2, "both to be skipped")
    finish(box)
    assert box.markers == ["CHAIN_DONE", "SWEEP_DONE"]
    assert sorted(word for word in box.ran if word.startswith("ends")) == ["ends-2", "ends-3"]


def test_after_each_failed_cell_was_skipped_the_resume_is_next(box: Box) -> None:
    assert box.onbox("sweep", "n=1..4", "--", "test {n} -gt 2").returncode == 1
    assert box.onbox("sweep", "skip", "n=1").returncode == 0
    assert [one["failed_left"] for one in box.events("cell_skipped")] == [1]
    assert "onbox sweep resume sweep" in box.onbox("sweep", "skip", "n=2").stdout
    assert box.events("cell_skipped")[-1]["failed_left"] == 0
    for words in (("sweep", "status"), ("status", "sweep")):
        told = json.loads(box.onbox(*words, "--json").stdout)
        assert (told["step"], told["next_command"]) == ("cells-skipped", "onbox sweep resume sweep")
        assert told["reason"] == "2 of 4 done, 2 skipped; each cell that failed was skipped after the end"
    assert box.onbox("sweep", "resume", "sweep").returncode == 0
    assert box.markers == ["CHAIN_DONE", "SWEEP_DONE"]


def test_the_table_shows_what_the_cells_left(box: Box) -> None:
    command = "mkdir -p o/{cell}; echo '{\"acc\": 0.{n}}' >o/{cell}/m.json; test {n} != 3"
    words = ("--metrics", "o/{cell}/m.json", "--sort", "-acc", "n=1,3,2", "--", command)
    assert box.onbox("sweep", *words).returncode == 1
    rows = list(csv.reader(io.StringIO(box.onbox("sweep", "table", "--csv").stdout)))
    assert rows[0] == ["state", "n", "acc", "seconds", "cell"]
    assert [(row[0], row[1], row[2]) for row in rows[1:]] == [
        ("done", "2", "0.2"),
        ("done", "1", "0.1"),
        ("failed: unknown", "3", ""),
    ]
    assert "best     0.2 cell n=2" in box.onbox("sweep", "status").stdout


def test_a_sweep_that_runs_everything_again_shows_no_result_of_the_time_before(box: Box) -> None:
    left = "mkdir -p o/{cell}; echo '{\"acc\": 0.{n}}' >o/{cell}/m.json"
    words = ("-j", "1", "--metrics", "o/{cell}/m.json", "--sort", "-acc", "n=1,2", "--", f"{SLOW}; {left}")
    (box.project / "go").touch()
    assert box.onbox("sweep", *words).returncode == 0
    (box.project / "go").unlink()
    assert box.onbox("sweep", "--again", "-d", *words).returncode == 0
    wait_until(lambda: len(box.events("cell_started")) == 3, "the first cell to begin once more")
    rows = list(csv.reader(io.StringIO(box.onbox("sweep", "table", "--csv").stdout)))
    assert rows == [["state", "n", "seconds", "cell"], ["running", "1", "", "n=1"], ["open", "2", "", "n=2"]]
    assert "best" not in box.onbox("sweep", "status").stdout
    finish(box)


def test_a_gate_that_refuses_holds_the_cells_back_and_says_what_for(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        '[stages.train]\ncmd = "echo {n} >>ran"\ngates = { memory_free = "100%" }\n'
        '[sweep]\ngrid = { n = [1, 2] }\ngate_wait = "0s"\n'
    )
    done = box.onbox("sweep")
    assert done.returncode == 3, done.stdout
    assert "memory_free" in done.stdout
    assert box.ran == []
    (box.project / "onbox.toml").write_text('[stages.train]\ncmd = "echo {n} >>ran"\n[sweep]\ngrid = { n = [1, 2] }\n')
    assert box.onbox("sweep").returncode == 0
    assert box.ran == ["1", "2"]


def test_a_cell_whose_directory_was_removed_is_open_again(box: Box) -> None:
    words = ("sweep", "n=1..2", "--", "echo {n} >>ran")
    assert box.onbox(*words).returncode == 0
    for path in sorted((box.state / "cells" / "n=1").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert box.onbox(*words).returncode == 0
    assert box.ran == ["1", "2", "1"]


def test_another_command_is_refused_with_the_difference_and_again_moves_aside(box: Box) -> None:
    assert box.onbox("sweep", "n=1", "--", "echo old-{n} >>ran").returncode == 0
    refused = box.onbox("sweep", "n=1", "--", "echo new-{n} >>ran")
    assert refused.returncode == 78
    assert "+ run cmd: echo new-{n} >>ran" in refused.stderr
    assert box.onbox("sweep", "--again", "n=1", "--", "echo new-{n} >>ran").returncode == 0
    assert box.ran == ["old-1", "new-1"]
    assert (box.state / "cells.1" / "n=1" / "markers" / "CHAIN_DONE").exists()


def test_more_cells_with_the_same_command_join_the_sweep(box: Box) -> None:
    assert box.onbox("sweep", "n=1..2", "--", "echo {n} >>ran").returncode == 0
    assert box.onbox("sweep", "n=2..4", "--", "echo {n} >>ran").returncode == 0
    assert box.ran == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("sweep",), "nothing to run"),
        (("sweep", "n=1..2"), "nothing to run"),
        (("sweep", "n=1..2", "--", "echo"), "parameter n is in no command"),
        (("sweep", "n=1,1", "--", "echo {n}"), "given twice"),
        (("sweep", "--cells", "nowhere", "--", "echo {n}"), "nowhere cannot be read (No such file or directory)"),
        (("sweep", "-j", "0", "n=1", "--", "echo {n}"), "0 is not in the range x>=1"),
        (("sweep", "--retry", "cuda_oom", "n=1", "--", "echo {n}"), "must not be retried unchanged"),
        (("sweep", "skip", "n=7"), "no sweep"),
        (("sweep", "status"), "no sweep"),
        (("sweep", "statsu"), 'did you mean "status"'),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(box: Box, words: tuple[str, ...], says: str) -> None:
    done = box.onbox(*words)
    assert done.returncode in (64, 78)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_chain_and_a_sweep_of_one_name_refuse_each_other(box: Box) -> None:
    assert box.onbox("sweep", "n=1", "--", "true {n}").returncode == 0
    assert "is a sweep" in box.onbox("chain", "--run", "sweep", "a=true").stderr
    assert box.onbox("chain", "--run", "other", "a=true").returncode == 0
    assert "not of a sweep" in box.onbox("sweep", "--name", "other", "n=1", "--", "true {n}").stderr
    assert [line.split()[:3] for line in box.onbox("runs").stdout.splitlines() if line.startswith("sweep")] == [
        ["sweep", "DONE", "1/1"]
    ]


def test_a_dry_run_shows_the_commands_and_starts_nothing(box: Box) -> None:
    done = box.onbox("sweep", "--dry-run", "n=1..2", "--", "echo {n} >>ran")
    assert done.stdout.splitlines() == [
        "n=1: echo 1 >>ran",
        "n=2: echo 2 >>ran",
        "2 cells; 1 at once; nothing was started",
    ]
    assert not box.state.exists()


def test_people_are_told_of_the_sweep_and_not_of_each_cell(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    (box.project / "onbox.toml").write_text(
        "[stages.a]\ncmd = 'test {n} != 2'\n[sweep]\ngrid = { n = '1..4' }\n[notify]\nurls = ['env:HOOK']\n"
    )
    assert box.onbox("sweep").returncode == 1
    wait_until(lambda: server.acknowledged, "a message")
    box.onbox("notify", "flush")
    assert [one.json()["type"] for one in server.acknowledged] == ["onbox.chain_failed"]
    assert "3 of 4 done, 1 failed: unknown 1" in str(server.acknowledged[0].json()["data"])


def test_after_a_restart_of_the_machine_it_goes_on(box: Box) -> None:
    start_slow(box)
    box.end_everything()
    done = box.onbox("boot", "run")
    assert done.returncode == 0, done.stderr
    assert "sweep: interrupted; onbox resume ended with 0" in done.stdout
    finish(box)
    assert cells_in(box, "DONE") == ["n=1", "n=2", "n=3", "n=4"]
    assert json.loads((box.state / "cells/n=1/events.jsonl").read_text().splitlines()[-1])["event"] == "chain_done"


def test_a_look_ahead_at_a_resume_starts_nothing(box: Box) -> None:
    assert box.onbox("sweep", "n=1..2", "--", "echo {n} >>ran; exit 1").returncode == 1
    assert box.onbox("resume", "--dry-run", "sweep").returncode == 0
    assert len(box.events("chain_started")) == 1


def on_cards(box: Box, used_mib: str, *words: str) -> subprocess.CompletedProcess[str]:
    program = str(REPOSITORY / "tests" / "fakes" / "sweep_on_cards.py")
    return box.run_program([sys.executable, program, used_mib, "sweep", "--inline", *words])


def test_each_cell_gets_a_free_card_of_its_own(box: Box) -> None:
    """Three cards, the second in use by somebody else: two cells at a time, never both on one card."""
    held = "until grep -q cells_held .onbox/sweep/events.jsonl; do sleep 0.05; done"
    command = f"echo begins-$CUDA_VISIBLE_DEVICES >>ran; {held}; echo ends-$CUDA_VISIBLE_DEVICES >>ran; : {{n}}"
    done = on_cards(box, "0,9000,0", "--gpus", "1", "n=1..4", "--", command)
    assert done.returncode == 0, done.stderr
    assert set(box.ran) == {"begins-0", "ends-0", "begins-2", "ends-2"}
    for number in "02":
        mine = [word.partition("-")[0] for word in box.ran if word.endswith(number)]
        assert mine == ["begins", "ends"] * (len(mine) // 2)
    assert {tuple(one["gpus"]) for one in box.events("cell_started")} == {(0,), (2,)}
    assert "no cell starts for now: gpu: wanted a free GPU; 0 of 3 free: GPU 1 has 9000 MiB in use" in done.stdout


def test_without_the_cards_it_wants_nothing_is_started(box: Box) -> None:
    assert "1 GPUs that can be handed out are here" in on_cards(box, "0", "--gpus", "2", "n=1", "--", "true {n}").stderr
    refused = box.onbox("sweep", "--gpus", "1", "n=1", "--", "true {n}")
    assert refused.returncode == 3
    assert "GPU" in refused.stderr
    assert not box.state.exists()


def test_a_place_that_all_cells_are_given_is_told(box: Box) -> None:
    told = box.onbox("sweep", "n=1", "--", "true", "{n}", "--out", "results", "--log-dir=logs/{cell}").stdout
    assert "every cell is given --out results" in told
    assert "--log-dir" not in told


def test_a_state_that_was_removed_under_it_is_not_begun_again(box: Box) -> None:
    start_slow(box)
    box.remove(box.state)
    again = box.onbox("sweep", "-j", "2", "n=1..4", "--", SLOW)
    assert again.returncode == 75
    assert "was removed" in again.stderr
    assert len([word for word in box.ran if word.startswith("begins")]) == 2


def test_a_cell_is_retried_by_its_class_and_too_many_failures_end_it(box: Box) -> None:
    blip = "echo 'ConnectionError: Max retries exceeded'; exit 1"
    (box.project / "onbox.toml").write_text(
        f'[stages.train]\ncmd = "echo {{n}} >>ran; if [ ! -e t{{n}} ]; then touch t{{n}}; {blip}; fi; [ {{n}} = 1 ]"\n'
        'retry = { max = 1, classes = ["network_blip"], backoff = "0s" }\n'
        '[sweep]\ngrid = { n = "1..9" }\nmax_failures = 0\n'
    )
    done = box.onbox("sweep")
    assert done.returncode == 1, done.stderr
    assert box.ran == ["1", "1", "2", "2"]
    assert "1 of 9 done, 7 not run, 1 failed" in done.stdout
    assert "more than max_failures = 0 cells failed" in done.stdout


def test_stages_of_a_sweep_are_not_run_as_they_stand_there(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[stages.a]\ncmd = "echo {n} >>ran"\n[sweep]\ngrid = { n = "1..2" }\n')
    refused = box.onbox("chain")
    assert refused.returncode == 64
    assert "{n} is filled in for each cell of [sweep]: onbox sweep" in refused.stderr
    (box.project / "onbox.toml").write_text(
        '[run]\nbackend = "slurm"\n[stages.a]\ncmd = "echo {n} >>ran"\n[sweep]\ngrid = { n = "1..2" }\n'
    )
    assert "a job array does it" in box.onbox("sweep").stderr
    assert box.ran == []


def test_two_sweeps_at_once_never_share_a_card(box: Box) -> None:
    """Both look before the other's cell shows on a card."""
    both = "until [ $(grep -c begins ran) = 2 ]; do sleep 0.05; done"
    command = f"echo begins-$CUDA_VISIBLE_DEVICES >>ran; {both}; echo ends-$CUDA_VISIBLE_DEVICES >>ran; : {{n}}"
    program = str(REPOSITORY / "tests" / "fakes" / "sweep_on_cards.py")
    words = [sys.executable, program, "0,0", "sweep", "--inline", "--gpus", "1"]
    sweeps = [
        subprocess.Popen([*words, "--name", name, "n=1", "--", command], cwd=box.project, env=box.env)
        for name in ("one", "two")
    ]
    assert [one.wait(60) for one in sweeps] == [0, 0]
    assert sorted(box.ran) == ["begins-0", "begins-1", "ends-0", "ends-1"]


def test_a_cell_that_ended_between_the_look_and_its_lock_is_not_run_again(box: Box) -> None:
    assert box.onbox("sweep", "n=1", "--", "echo {n} >>ran; exit 1").returncode == 1
    code = (
        "import sys; from onbox.contract.paths import RunPaths; from onbox.sweep.state.board import SweepStanding\n"
        "from onbox.sweep.runner.room import Cards; from onbox.sweep.runner.runner import SweepRunner\n"
        "one = SweepRunner(RunPaths(sys.argv[1])); one.board.set(1, SweepStanding.RUNNING)\n"
        "one.starter.start(one.sweep.cell(1), Cards()); print(len(one.live), one.board.standing(1).name)\n"
    )
    done = box.run_program([sys.executable, "-c", code, str(box.state)])
    assert done.stdout == "0 FAILED\n", done.stderr
    assert box.ran == ["1"]


def test_a_resume_with_nothing_but_failed_cells_says_what_to_type(box: Box) -> None:
    assert box.onbox("sweep", "n=1..3", "--", "echo {n} >>ran; test {n} != 2").returncode == 1
    events = len(box.events())
    for words in (("resume", "sweep"), ("sweep", "resume")):
        done = box.onbox(*words)
        assert done.returncode == 1
        assert "2 of 3 done, 1 failed" in done.stdout
        assert "onbox sweep retry-failed sweep" in done.stdout
    assert len(box.events()) == events, "nothing was started"
    assert sorted(box.ran) == ["1", "2", "3"]
    shown = box.onbox("status", "sweep").stdout
    assert max(len(line) for line in shown.splitlines() if str(box.project) not in line) <= 80


def test_the_only_run_is_shown_though_onbox_toml_has_another_name(box: Box) -> None:
    assert box.onbox("sweep", "n=1", "--", "true {n}").returncode == 0
    (box.project / "onbox.toml").write_text('[run]\nname = "digits"\n[stages.a]\ncmd = "true"\n')
    shown = box.onbox("status")
    assert shown.returncode == 0
    assert shown.stdout.startswith("sweep sweep ")
    refused = box.onbox("stop")
    assert refused.returncode == 64, "what another name has is ended only by that name"
    assert "there are: sweep" in refused.stderr


@pytest.mark.parametrize("word", ["lr=1", "grid/lr=1"])
def test_a_cell_is_named_alike_everywhere(box: Box, word: str) -> None:
    assert box.onbox("sweep", "--name", "grid", "lr=1,2", "--", "echo", "{lr}").returncode == 0
    assert box.onbox("logs", word).stdout == "1\n"
    for command in ("status", "stop", "resume", "prune"):
        refused = box.onbox(command, word)
        assert (refused.returncode, len(refused.stderr.splitlines())) == (64, 1)
        assert "lr=1 is a cell of sweep grid; for its log: onbox logs lr=1 --run grid;" in refused.stderr


def test_a_dry_resume_of_a_sweep_that_is_done_promises_no_more_cells(box: Box) -> None:
    assert box.onbox("sweep", "lr=1", "--", "true {lr}").returncode == 0
    told = box.onbox("resume", "--dry-run").stdout
    assert "a resume starts nothing" in told
    assert "open cells" not in told
