"""What the runner brings about: stage after stage, attempt after attempt, to one end of the chain."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from onbox.chain.state.slots import reserve_slot
from onbox.chain.state.stop_request import StopRequest, write_request
from onbox.contract.events import Event, render_event
from onbox.contract.exits import Exit
from onbox.model.manifest import Amount, Artifact, Gates, Stage, WaitFor
from tests.box import wait_until
from tests.chain_here import NO_PAUSE, ChainHere, end_of

if TYPE_CHECKING:
    from tests.box import Box

A, B = Stage("a", "echo a >>ran"), Stage("b", "echo b >>ran")
BLIP = "echo x >>ran; echo 'ConnectionResetError: [Errno 104] Connection reset by peer' >&2; exit 1"


@pytest.fixture
def here(box: Box) -> ChainHere:
    return ChainHere(box)


def test_stages_run_in_order_and_the_chain_is_done_after_the_last(here: ChainHere) -> None:
    assert here.run(A, B) == Exit.DONE
    assert (here.box.ran, here.box.markers) == (["a", "b"], ["CHAIN_DONE", "a_DONE", "b_DONE"])
    assert here.told[0] == Event.CHAIN_STARTED
    assert here.told[-1] == Event.CHAIN_DONE
    assert not os.path.exists(here.paths.stop_request)


def test_nothing_is_started_behind_a_stage_that_failed(here: ChainHere) -> None:
    assert here.run(Stage("a", "exit 7"), B) == Exit.FAILED
    assert (here.box.ran, here.box.markers) == ([], ["CHAIN_FAILED", "a_FAILED"])
    end = here.box.marker("CHAIN_FAILED")
    assert (end["stopped_at"], end["outcome"], end["exit_code"]) == ("a", Event.CHAIN_FAILED, 1)
    assert "7" in end["reason"]


def test_exit_code_0_without_its_artifact_is_a_failure(here: ChainHere) -> None:
    assert here.run(A._replace(artifacts=(Artifact("model.pt"),))) == Exit.FAILED
    assert "model.pt" in here.box.marker("a_FAILED")["reason"]


def test_a_failure_of_a_named_class_is_tried_again_as_a_resume_and_no_more_often(here: ChainHere) -> None:
    cmd = f"echo $ONBOX_ATTEMPT:$ONBOX_RESUME >>told; {BLIP}"
    assert here.run(Stage("a", cmd, retry=NO_PAUSE)) == Exit.FAILED
    assert (here.box.project / "told").read_text().split() == ["1:0", "2:1"]
    (again,) = here.box.events(Event.STAGE_RETRYING)
    assert (again["failure_class"], again["retry"], again["retries"]) == ("network_blip", 1, 1)


def test_a_failure_of_another_class_is_not_tried_again(here: ChainHere) -> None:
    assert here.run(Stage("a", BLIP, retry=NO_PAUSE._replace(classes=("hang_stall",)))) == Exit.FAILED
    assert here.box.ran == ["x"]


def test_a_gate_that_refuses_starts_nothing_and_says_what_it_saw(here: ChainHere) -> None:
    gates = Gates(disk_free=Amount(number=1 << 60))
    assert here.run(A, B._replace(gates=gates)) == Exit.GATE_REFUSED
    assert (here.box.ran, here.box.markers) == (["a"], ["CHAIN_FAILED", "a_DONE"])
    end = here.box.marker("CHAIN_FAILED")
    assert (end["outcome"], end["stopped_at"], len(end["findings"])) == (Event.GATE_REFUSED, "b", 1)


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        (A._replace(cwd="nowhere"), "is not a folder"),
        (A._replace(wait_for=WaitFor("READY", None, None, 0.0)), "did not appear within 0.00s: the file "),
        (A._replace(env=(("TOKEN", "env:NOT_SET_ANYWHERE"),)), "NOT_SET_ANYWHERE"),
    ],
)
def test_a_command_that_cannot_be_started_fails_with_the_reason(here: ChainHere, stage: Stage, says: str) -> None:
    assert here.run(stage) == Exit.FAILED
    failed = here.box.marker("a_FAILED")
    assert (failed["cause"], here.box.ran) == ("not_started", [])
    assert says in failed["reason"]


def test_what_ends_far_too_soon_is_done_with_a_warning(here: ChainHere) -> None:
    assert here.run(A._replace(expected_seconds=3600.0)) == Exit.DONE
    (warning,) = here.box.marker("CHAIN_DONE")["warnings"]
    assert warning.startswith("a: ")


# -- asked to end


def stopped(here: ChainHere, number: int, **environ: str) -> int:
    """The end of a runner that gets a signal while its stage works."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        pid = here.begin(here.freeze(Stage("a", "echo a >>ran; touch began; exec sleep 600"), B))
    here.box.wait_for_file("began")
    if not environ:
        write_request(here.paths.stop_request, StopRequest(5.0))
    os.kill(pid, number)
    return end_of(pid)


def test_a_stop_ends_the_stage_and_leaves_no_marker(here: ChainHere) -> None:
    assert stopped(here, signal.SIGTERM) == Exit.STOPPED
    assert (here.box.ran, here.box.markers, here.box.processes()) == (["a"], [], [])
    assert here.told[-2:] == [Event.STAGE_INTERRUPTED, Event.CHAIN_STOPPED]
    assert not os.path.exists(here.paths.stop_request), "the next start would be taken for a stop"


def test_a_signal_without_a_request_is_an_interruption(here: ChainHere) -> None:
    assert stopped(here, signal.SIGTERM, OTHER="1") == Exit.STOPPED
    assert here.told[-1] == Event.CHAIN_INTERRUPTED
    assert "signal" in here.box.events()[-1]["reason"]


def test_the_end_of_a_jobs_time_is_told_as_such(here: ChainHere) -> None:
    assert stopped(here, signal.SIGUSR1, ONBOX_JOB="slurm:17") == Exit.STOPPED
    end = here.box.events()[-1]
    assert (end["event"], end["reason"]) == (Event.CHAIN_INTERRUPTED, "the job's time limit is near")


def test_a_stage_that_was_stopped_goes_on_as_a_resume(here: ChainHere) -> None:
    stage = Stage("a", "echo $ONBOX_RESUME >>ran; test $ONBOX_RESUME = 1 || { touch began; exec sleep 600; }")
    pid = here.begin(here.freeze(stage))
    here.box.wait_for_file("began")
    os.kill(pid, signal.SIGTERM)
    assert end_of(pid) == Exit.STOPPED
    assert here.run(stage) == Exit.DONE
    assert here.box.ran == ["0", "1"]


# -- after a runner that was killed


READ_RUNNER = """RUNNER=$(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' .onbox/digits/lock)"""  # who signed the lock
KILL_RUNNER = f"{READ_RUNNER}; kill -9 $RUNNER"


def test_an_end_that_no_runner_saw_is_judged_and_not_run_again(here: ChainHere) -> None:
    stage = Stage("a", f"echo a >>ran; {KILL_RUNNER}; echo w >model.pt", artifacts=(Artifact("model.pt"),))
    assert here.run(stage) == -signal.SIGKILL
    wait_until(lambda: not here.box.processes(), "command and keeper to end")
    assert here.run(stage, B) == Exit.DONE
    assert here.box.ran == ["a", "b"]
    assert here.box.marker("a_DONE")["attempt"] == 1


def test_a_stage_that_outlives_its_runner_is_taken_over(here: ChainHere) -> None:
    waits = "for _ in $(seq 1200); do test -e go && break; sleep 0.05; done"
    stage = Stage("a", f"echo a >>ran; {KILL_RUNNER}; {waits}")
    assert here.run(stage) == -signal.SIGKILL
    pid = here.begin(here.freeze(stage))
    here.box.wait_for_event(Event.ATTEMPT_ADOPTED)
    (here.box.project / "go").touch()
    assert end_of(pid) == Exit.DONE
    assert here.box.ran == ["a"]


def test_what_was_cut_off_with_its_runner_is_started_again_as_a_resume(here: ChainHere) -> None:
    stage = Stage("a", f"echo $ONBOX_RESUME >>ran; test $ONBOX_RESUME = 1 || {{ {KILL_RUNNER} 0; }}")
    assert here.run(stage) == -signal.SIGKILL
    wait_until(lambda: not here.box.processes(), "command and keeper to end")
    assert here.run(stage) == Exit.DONE
    assert here.box.ran == ["0", "1"]
    (told,) = here.box.events(Event.STAGE_INTERRUPTED)
    assert told["reason"] == "runner and stage were gone, and nobody recorded how"


def test_an_attempt_whose_command_never_began_is_not_counted(here: ChainHere) -> None:
    """The runner was killed between the journal and the word *go*."""
    lock_fd = here.freeze(A)
    ((_, fingerprint),) = here.definition(A).stages
    at = {"at": "2026-11-22T10:00:00.000Z"}
    started = {"event": Event.ATTEMPT_STARTED, "stage": "a", "attempt": 1, "fingerprint": fingerprint, "resume": False}
    begun = [{"event": Event.CHAIN_STARTED, "launch": 1}, started]
    (here.box.state / "events.jsonl").write_bytes(b"".join(render_event({**at, **one}) for one in begun))
    os.close(reserve_slot(here.paths, here.run_id, "a", 1))
    assert end_of(here.begin(lock_fd)) == Exit.DONE
    assert (here.box.ran, here.box.marker("a_DONE")["attempt"]) == (["a"], 1)


@pytest.mark.parametrize(
    ("cmd", "marker", "code"), [("true", "a_DONE", Exit.DONE), ("exit 3", "a_FAILED", Exit.FAILED)]
)
def test_a_verdict_that_was_journaled_gets_its_marker_and_no_second_run(
    here: ChainHere, cmd: str, marker: str, code: Exit
) -> None:
    stage = Stage("a", f"echo a >>ran; {cmd}")
    assert here.run(stage) == code
    journal = here.box.state / "events.jsonl"
    kept = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in kept if b'"event":"chain_' not in line or b"chain_started" in line))
    before = here.box.marker(marker)
    markers = here.box.state / "markers"
    (markers / marker).rename(markers / ".a.slot")  # which it was before it landed
    assert here.run(stage) == code
    assert here.box.ran == ["a"]
    assert {**here.box.marker(marker), "ended_at": 0} == {**before, "ended_at": 0}


def test_a_runner_that_meets_a_done_of_another_command_starts_nothing(here: ChainHere) -> None:
    """The launch asks a person before that; the marker may have been replaced since."""
    assert here.run(A) == Exit.DONE
    lock_fd = here.freeze(A, B)
    marker = here.box.state / "markers" / "a_DONE"
    marker.write_text(marker.read_text().replace(here.box.marker("a_DONE")["fingerprint"], "0" * 16))
    assert end_of(here.begin(lock_fd)) == Exit.CONFIG
    assert here.box.ran == ["a"]
    assert "another command" in here.box.marker("CHAIN_FAILED")["reason"]


# -- one stage as a job of its own


def test_a_job_runs_its_one_stage_and_hands_on(here: ChainHere) -> None:
    assert here.run(A, B, only="a") == Exit.DONE
    assert (here.box.ran, here.told[-1]) == (["a"], Event.CHAIN_HANDED_ON)
    assert here.run(A, B, only="b") == Exit.DONE
    assert (here.box.ran, here.box.markers) == (["a", "b"], ["CHAIN_DONE", "a_DONE", "b_DONE"])


def test_a_job_whose_turn_it_is_not_starts_nothing(here: ChainHere) -> None:
    assert here.run(A, B, only="b") == Exit.CONFIG
    assert here.box.ran == []
    assert "a, which comes before b, is not done" in here.box.marker("CHAIN_FAILED")["reason"]
