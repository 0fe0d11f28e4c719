"""Looks and memories of runs, small to write: what is not named is as it is on a healthy box."""

from __future__ import annotations

from typing import Any

from onbox.backends.slurm.states import job_from
from onbox.contract.progress import Progress
from onbox.contract.readings import Absent
from onbox.contract.states import RunState, StageState
from onbox.logs.cursor import Cursor
from onbox.runs.engine_word import SeenStage, judge_run, judge_stage
from onbox.triage.classes import may_repeat
from onbox.triage.repeats import AttemptEnd
from patrol.decide.remote_command import Way
from patrol.memory.history import Before, BoxBefore
from patrol.snapshot import (
    Artifacts,
    BoxIdentity,
    BoxLook,
    DiskLook,
    Failure,
    GpuLook,
    LogLook,
    MemoryLook,
    Pressure,
    RunLook,
    Scheduler,
    Unreachable,
)

NOW = 1_700_000_000.0
UPTIME = 500_000.0
TICK = 1800.0
WAY = Way("gpu1", "gpu1", "/root/digits")
HEALTHY_PROGRESS = Progress(current=4600, exact_max=5155, unit="step", loss=0.41, eta_seconds=4320, finished=False)


def log(age: float = 12.0, last_line: str = "step 4600 loss 0.41", **changes: Any) -> LogLook:
    look = LogLook("/root/digits/train.log", Cursor(1, 2, 100_000, ""), "grown", 100_000, age, 500, 0, last_line)
    return look._replace(**changes)


def artifacts(age: float = 300.0) -> Artifacts:
    return Artifacts(3, 3_000_000, age)


def failure(
    failure_class: str = "disk_full", proof: str = "OSError: No space left on device", **changes: Any
) -> Failure:
    found = Failure(
        failure_class,
        "",
        may_repeat(failure_class),
        f"{failure_class}: {proof}",
        proof,
        "train.1.log:900",
        "marker",
        "train",
    )
    return found._replace(**changes)


def end(attempt: int, step: float, signature: str = "") -> AttemptEnd:
    """A bad end of the stage, as the journal tells of it."""
    return AttemptEnd("train", attempt, signature.partition(":")[0], signature, step)


def run(**changes: Any) -> RunLook:
    """A run that onbox started: 4600 of 5155 steps, everything fresh."""
    look = RunLook(
        "digits",
        True,
        "/root/digits/.onbox/digits",
        run_id="r1",
        stage="train",
        attempt=1,
        stages_done=0,
        stages_total=2,
        claimed_state="running",
        runner_alive=True,
        stage_alive=True,
        heartbeat_age_seconds=8.0,
        stage_began_age_seconds=40_000.0,
        progress=HEALTHY_PROGRESS,
        log=log(),
        artifacts=artifacts(),
        undelivered=0,
    )
    return look._replace(**changes)


def dead(**changes: Any) -> RunLook:
    """No runner, no stage, no marker, no end record; the heartbeat is fresh enough for a race."""
    return run(runner_alive=False, stage_alive=False, heartbeat_age_seconds=40.0)._replace(**changes)


def on_engine(
    native_state: str, reason: str = "", *, disk: StageState = StageState.PENDING, **changes: Any
) -> Scheduler:
    """Slurm's word on the stage `train`, weighed as the probe weighs it. disk: what the run directory says of it.

    native_state "": the controller answers and does not know the job any more.
    """
    job = (
        job_from("4711", native_state, reason, None, 0)
        if native_state
        else Absent("Slurm does not know this job any more")
    )
    verdict = judge_stage(SeenStage("slurm", "4711", disk, job))
    found = Scheduler(
        "slurm", "4711", "forgotten", native_state, reason, "", verdict.rule,
        judge_run([verdict.state], RunState.RUNNING).value, "train", verdict.failure_class, 0, verdict.text,
    )  # fmt: skip
    if not isinstance(job, Absent):
        found = found._replace(job_state=job.state.value, note=job.note, held=job.held)
    return found._replace(**changes)


def done(**changes: Any) -> RunLook:
    """Finished ten minutes ago, after 40,000 s."""
    look = run(
        runner_alive=False,
        stage_alive=False,
        outcome="chain_done",
        done="CHAIN_DONE of r1",
        ended_age_seconds=600.0,
        stage_began_age_seconds=40_600.0,
        heartbeat_age_seconds=600.0,
        claimed_state="done",
        stages_done=2,
        progress=HEALTHY_PROGRESS._replace(current=5155, eta_seconds=None, finished=True),
    )
    return look._replace(**changes)


def watched(**changes: Any) -> RunLook:
    """`nohup python train.py`: a process and a log, nothing else."""
    look = RunLook(
        "watched",
        False,
        "/root/digits/train.log",
        runner_alive=Absent("onbox did not start it"),
        stage_alive=True,
        progress=HEALTHY_PROGRESS,
        log=log(),
    )
    return look._replace(**changes)


def box(**changes: Any) -> BoxLook:
    """A box with room for everything."""
    look = BoxLook(
        "gpu1",
        NOW,
        BoxIdentity("gpu1", "boot-1", UPTIME, NOW, 0.2),
        (),
        memory=MemoryLook(71_000, 100_000, 0, 400_000, 1_000_000),
        pressure=Pressure(0.0, 1.0, 5.0, of_host=False),
        disks=(disk(),),
        gpus=(GpuLook(0, 96, 70_000, 80_000, 61),),
        kernel_faults=(),
    )
    return look._replace(**changes)


def disk(used: float = 62.0, inodes: Any = 8.0, mount: str = "/") -> DiskLook:
    """In percent; inodes: or a reading."""
    if not isinstance(inodes, float):
        return DiskLook(mount, int(1e10 * (100 - used)), int(1e12), inodes, inodes)
    return DiskLook(mount, int(1e10 * (100 - used)), int(1e12), int(1e5 * (100 - inodes)), int(1e7))


def before(**changes: Any) -> Before:
    """Seen healthy one tick ago."""
    memory = Before(
        last_seen_at=NOW - TICK,
        run_id="r1",
        boot_id="boot-1",
        rule="healthy",
        since=NOW - 20 * TICK,
        rule_ticks=20,
        steps=((NOW - TICK, 4400.0),),
        rules=("healthy",) * 20,
        known_rule="healthy",
        known_state="running",
        attempt="r1/train/1",
        uptime_seconds=UPTIME - TICK,
    )
    return memory._replace(**changes)


def box_before(**changes: Any) -> BoxBefore:
    """Reached one tick ago."""
    memory = BoxBefore(
        last_reached_at=NOW - TICK,
        boot_id="boot-1",
        oom_kills=0,
        kernel_seconds=UPTIME - TICK,
        last_tick_at=NOW - TICK,
    )
    return memory._replace(**changes)


def away(reason: str, detail: str = "") -> Unreachable:
    return Unreachable("gpu1", NOW, reason, detail)


def shrinking(
    mount: str, inodes_per_hour: float, left: int, ticks: int = 6, every: float = TICK
) -> tuple[tuple[float, str, int, int], ...]:
    """Earlier looks at a file system whose inodes go down evenly to `left` now."""
    lost = inodes_per_hour * every / 3600
    return tuple((NOW - at * every, mount, 10**11, int(left + at * lost)) for at in range(ticks, 0, -1))
