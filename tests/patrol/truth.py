"""The truth table: what is really so on a box, what a look brings of it, and what the patrol must say.

docs/patrol-truth.md is rendered from these rows by scripts/gen_docs.py; test_truth.py runs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen
from onbox.contract.states import RunState, StageState
from onbox.model.boxes import Billing, Price, StopAt
from onbox.runs.journal import StageResult
from patrol.memory.history import Before, BoxBefore
from patrol.memory.transfers import Home
from patrol.snapshot import (
    BoxIdentity,
    Cells,
    Detected,
    FileCount,
    FinishedStage,
    GpuLook,
    KernelFault,
    MemoryLook,
    Pressure,
    RemovedRun,
    RunLook,
)
from patrol.verdict import Severity
from tests.patrol.case import Case
from tests.patrol.cluster_looks import IRIS, iris_told, look_at_job, ray_told
from tests.patrol.makers import (
    HEALTHY_PROGRESS,
    NOW,
    TICK,
    UPTIME,
    artifacts,
    away,
    before,
    box,
    box_before,
    dead,
    disk,
    done,
    end,
    failure,
    log,
    on_engine,
    run,
    shrinking,
    watched,
)
from tests.patrol.truth_trackers import TRACKER_CASES

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.snapshot import Scheduler

OK, WARNING, CRITICAL, UNKNOWN = Severity.OK, Severity.WARNING, Severity.CRITICAL, Severity.UNKNOWN

HOUR = 3600.0
OLD = 3 * HOUR
GROUP_KILL = KernelFault(
    "oom", "Memory cgroup out of memory: Killed process 27576 (python3)", UPTIME - 60, Absent("no Xid")
)
BOX_KILL = KernelFault("oom", "Out of memory: Killed process 27576 (python3)", UPTIME - 60, Absent("no Xid"))
PAID = Billing(Price(2.0, "USD", HOUR), NOW - HOUR, budget=100.0, idle_budget=2.0)
HUNG = Unseen("late: it took too long on the box")
BLIP = failure("network_blip", "Connection reset by peer")
NO_EVIDENCE = "what was not seen is not evidence against the run"


def found(detector: str) -> tuple[Detected, ...]:
    """What the box's own detectors tell."""
    return (Detected(detector, "its proof, 10 readings at step 4500"),)


RUNNING_CASES: tuple[Case, ...] = (
    Case("trains past the step where a person wants to stop", "stop-point", WARNING, RunState.RUNNING, "told to whom it concerns; nothing is stopped", run(stop_at=StopAt(step=4000))),
    Case("trains, and the stopping point is ahead", "healthy", OK, RunState.RUNNING, "nothing is reached yet", run(stop_at=StopAt(step=5000, loss=0.0001))),
    Case("trains, everything fresh", "healthy", OK, RunState.RUNNING, "alive and moving", run()),
    Case("trains, first look ever", "healthy", OK, RunState.RUNNING, "no memory is needed for that", run(), before=Before(), box_before=BoxBefore()),
    Case("started a minute ago, the log of the attempt before is old", "just-started", OK, RunState.RUNNING, "an earlier attempt's silence is not this one's",
         run(stage_began_age_seconds=60.0, attempt=2, log=log(OLD), artifacts=artifacts(OLD))),
    Case("started a minute ago, and its own runner calls it stalled", "stalled", CRITICAL, RunState.STALLED, "the runner looks at this attempt alone; a short `stall_after` is meant",
         run(stage_began_age_seconds=60.0, claimed_state="stalled", stall_after_seconds=20.0, log=log(45.0), artifacts=Absent("none"))),
    Case("started 121 s ago and is well", "healthy", OK, RunState.RUNNING, "the grace is 120 s", run(stage_began_age_seconds=121.0)),
    Case("waits for a file of another job", "waiting", OK, RunState.RUNNING, "a bounded wait is not a stall",
         run(waiting_for="file data/READY (since 2h)", log=log(OLD), artifacts=artifacts(OLD))),
    Case("waits in the Slurm queue", "capacity-wait", OK, RunState.PENDING, "a queue is not a failure",
         run(runner_alive=Absent("not started"), stage_alive=Absent("not started"), attempt=Absent("none"), scheduler=on_engine("PENDING", "Resources"))),
    Case("made, but never started", "pending", OK, RunState.PENDING, "nothing has begun that could have died",
         run(runner_alive=Absent("no status"), stage_alive=Absent("no attempt"), attempt=Absent("no attempt"), log=Absent("no log"), heartbeat_age_seconds=Absent("no status"), progress=Absent("none"), claimed_state=Absent("no status"), artifacts=Absent("none")), before=Before()),
    Case("an exception was caught and training goes on", "healthy", OK, RunState.RUNNING, "a survived exception is not a failure; triage names none", run(log=log(3.0, "Traceback (most recent call last):"))),
    Case("one rank's log shows an error, the job lives on", "healthy", OK, RunState.RUNNING, "only the end of the process is death; the line is told as a flag",
         run(failure=failure("nccl_or_distributed", "NCCL timeout on rank 3", source="log")), flags=("failure-survived",)),
    Case("a metric named Error is printed", "healthy", OK, RunState.RUNNING, "words in a log are judged by triage alone", run(log=log(5.0, "val mean Error 0.02"))),
    Case("alive, log old, but checkpoints are still written", "healthy", OK, RunState.RUNNING, "one fresh signal is enough", run(log=log(OLD))),
    Case("hangs: log and checkpoints three hours old", "stalled", CRITICAL, RunState.STALLED, "alive and all signals old", run(log=log(OLD), artifacts=artifacts(OLD))),
    Case("512 GPUs spin at 100% in a dead collective", "stalled", CRITICAL, RunState.STALLED, "utilisation is not progress",
         run(log=log(OLD), artifacts=artifacts(OLD)), box(gpus=(GpuLook(0, 100, 1, 2, 70),))),
    Case("log exactly stall_after old", "healthy", OK, RunState.RUNNING, "older than, not as old as", run(log=log(1800.0), artifacts=artifacts(OLD))),
    Case("log one second older than stall_after", "stalled", CRITICAL, RunState.STALLED, "the boundary", run(log=log(1801.0), artifacts=artifacts(OLD))),
    Case("a long evaluation prints nothing, the box's monitor sees CPU time", "quiet", WARNING, RunState.DEGRADED, "the monitor on the box sees what the log does not show",
         run(log=log(OLD), artifacts=artifacts(OLD), stall_after_seconds=1800.0)),
    Case("the box's monitor calls it stalled, too", "stalled", CRITICAL, RunState.STALLED, "claim and signals agree",
         run(log=log(OLD), artifacts=artifacts(OLD), stall_after_seconds=1800.0, claimed_state="stalled")),
    Case("the monitor claims stalled, the log is fresh", "healthy", OK, RunState.RUNNING, "a claim against fresh signals is only a claim", run(claimed_state="stalled")),
    Case("alive; the log lies on a hung mount", "signals-unseen", UNKNOWN, RunState.RUNNING, "whether it moves is not known", run(log=HUNG, artifacts=HUNG)),
    Case("alive, checkpoints old, log on a hung mount", "healthy", OK, RunState.RUNNING, "not all signals were seen, so a stall is not proven; said as a flag", run(log=HUNG, artifacts=artifacts(OLD)), flags=("signal-unseen",)),
    Case("a 2 MB progress bar in one line", "healthy", OK, RunState.RUNNING, "the counter is read, the line is cut", run(log=log(1.0, "\rstep 4600" * 200_000))),
    Case("throughput fell to 60% three ticks ago", "throughput-collapse", WARNING, RunState.DEGRADED, "by its own history, for several ticks",
         run(), before=before(rates=(0.2,) * 8 + (0.12,) * 2, steps=((NOW - TICK, 4400.0),))),
    Case("one slow tick: a checkpoint was written", "healthy", OK, RunState.RUNNING, "one tick is not a collapse", run(), before=before(rates=(0.2,) * 10)),
    Case("10% slower than usual", "healthy", OK, RunState.RUNNING, "within what varies", run(), before=before(rates=(0.122,) * 10)),
    Case("the loss is nan", "loss-lost", CRITICAL, RunState.DEGRADED, "it burns time without learning", run(progress=HEALTHY_PROGRESS._replace(loss="nan"))),
    Case("the loss doubled two looks ago and stays there", "healthy", OK, RunState.RUNNING, "a flag: whether it is ruined a person says", run(progress=HEALTHY_PROGRESS._replace(loss=4.1)), before=before(losses=(2.2, 2.1, 2.0, 2.0, 1.9, 4.0), steps=((NOW - TICK, 4400.0),)), flags=("loss-risen",)),
    Case("its box sees the loss climb", "healthy", OK, RunState.RUNNING, "the box looks at every sample; the ticks have seen too few", run(detected=found("loss-risen")), flags=("loss-risen",)),
    Case("its box sees no rise where two ticks do", "healthy", OK, RunState.RUNNING, "the box decides where it looked", run(detected=(), progress=HEALTHY_PROGRESS._replace(loss=4.1)), before=before(losses=(2.2, 2.1, 2.0, 2.0, 1.9, 4.0), steps=((NOW - TICK, 4400.0),))),
    Case("its box finds it slow", "throughput-collapse", WARNING, RunState.DEGRADED, "by every sample, not by ticks", run(detected=found("slow"))),
    Case("its box finds it as fast as ever, where three ticks do not", "healthy", OK, RunState.RUNNING, "the box decides where it looked", run(detected=()), before=before(rates=(0.2,) * 8 + (0.12,) * 2, steps=((NOW - TICK, 4400.0),))),
    Case("its box has seen a nan since", "loss-lost", CRITICAL, RunState.DEGRADED, "half a minute after it was printed", run(detected=found("loss-not-finite"))),
    Case("its box finds its checkpoints late", "healthy", OK, RunState.RUNNING, "by complete ones, and by its own intervals", run(detected=found("checkpoints-late")), flags=("artifacts-late",)),
    Case("its box finds exploding gradients", "healthy", OK, RunState.RUNNING, "said with the box's proof", run(detected=found("grad-norm-risen")), flags=("detected",)),
    Case("one hard batch at the moment of the look", "healthy", OK, RunState.RUNNING, "one look is not a rise", run(progress=HEALTHY_PROGRESS._replace(loss=4.1)), before=before(losses=(2.2, 2.1, 2.0, 2.0, 1.9, 1.9), steps=((NOW - TICK, 4400.0),))),
    Case("a likelihood as a loss, below zero", "healthy", OK, RunState.RUNNING, "a share of a negative number means nothing", run(progress=HEALTHY_PROGRESS._replace(loss=-1.0)), before=before(losses=(-5.0,) * 5 + (-1.0,), steps=((NOW - TICK, 4400.0),))),
    Case("steps go on, its saves hang since two hours", "healthy", OK, RunState.RUNNING, "alive and moving, but a resume would lose hours", run(artifacts=artifacts(2 * HOUR)), before=before(artifact_gaps=(600.0, 900.0, 1200.0)), flags=("artifacts-late",)),
    Case("a checkpoint every five hours, the next one is not due", "healthy", OK, RunState.RUNNING, "by its own history", run(artifacts=artifacts(4 * HOUR)), before=before(artifact_gaps=(5 * HOUR,) * 3)),
    Case("its artifacts are as old as the pause before this attempt", "healthy", OK, RunState.RUNNING, "the pause is not its fault", run(artifacts=artifacts(9 * HOUR), stage_began_age_seconds=TICK), before=before(artifact_gaps=(600.0,) * 6)),
    Case("the second retry of its stage", "degraded", WARNING, RunState.DEGRADED, "the budget is being used up", run(retries=2)),
    Case("goes up and down with every look", "flapping", WARNING, RunState.DEGRADED, "21 samples, weighted", run(), before=before(rules=("healthy", "stalled") * 10)),
    Case("came back from one bad look", "healthy", OK, RunState.RUNNING, "one change is not a flapping", run(), before=before(rules=("healthy",) * 19 + ("could-not-look",))),
    Case("the runner was killed with -9, and the stage hangs", "stalled", CRITICAL, RunState.STALLED, "the worse is said first, both are said", run(runner_alive=False, log=log(OLD), artifacts=artifacts(OLD)), flags=("runner-gone",)),
    Case("the runner died while it waited; its last words still say so", "gone", WARNING, RunState.UNKNOWN, "a dead runner's claim to wait is only a claim", dead(waiting_for="file data/READY")),
    Case("preempted and put back into the queue", "capacity-wait", OK, RunState.PENDING, "the queue's word comes before dead", dead(scheduler=on_engine("PENDING", "Priority")), before=before(gone_ticks=3)),
    Case("runs on a compute node; the login node shows no process", "healthy", OK, RunState.RUNNING, "the scheduler saw it at work", dead(scheduler=on_engine("RUNNING")), before=before(gone_ticks=3)),
    Case("runs on a compute node; squeue does not answer", "could-not-look", UNKNOWN, RunState.UNKNOWN, "a blocked query is not a failure", dead(scheduler=HUNG), before=before(gone_ticks=3)),
    Case("the runner was killed with -9, the stage trains on", "runner-gone", WARNING, RunState.RUNNING, "the stage is well; a resume takes it over", run(runner_alive=False, heartbeat_age_seconds=700.0), resume=True),
    Case("the run is well, its monitor hangs", "heartbeat-stale", WARNING, RunState.RUNNING, "monitor stale, run healthy", run(heartbeat_age_seconds=61.0)),
    Case("heartbeat exactly two cadences old", "healthy", OK, RunState.RUNNING, "more than two", run(heartbeat_age_seconds=60.0)),
    Case("a cadence of 200 ms on a busy box", "healthy", OK, RunState.RUNNING, "late by seconds is load, not a hung monitor", run(heartbeat_age_seconds=9.0, heartbeat_every_seconds=0.2)),
    Case("the run hangs and its monitor, too", "stalled", CRITICAL, RunState.STALLED, "both are said", run(heartbeat_age_seconds=OLD, log=log(OLD), artifacts=artifacts(OLD)), flags=("heartbeat-stale",)),
    Case("new run of the same name", "healthy", OK, RunState.RUNNING, "history of the old one does not count",
         run(run_id="r2"), before=before(rates=(9.0,) * 12, gone_ticks=3, signatures=(("x", "r1/train/1"),)), flags=("replaced",)),
    Case("CHAIN_DONE is there, the runner still delivers notices", "ending", OK, RunState.RUNNING, "finished needs both: no process and the marker", done(runner_alive=True, ended_age_seconds=5.0)),
    Case("done long ago, a process still holds the GPU", "lingering", WARNING, RunState.RUNNING, "it costs money", done(stage_alive=True, ended_age_seconds=1200.0)),
    Case("the process table could not be read", "could-not-look", UNKNOWN, RunState.UNKNOWN, NO_EVIDENCE, run(runner_alive=HUNG, stage_alive=HUNG)),
    Case("the runner could not be looked for, its stage was seen alive", "healthy", OK, RunState.RUNNING, "a live stage is positive proof", run(runner_alive=HUNG)),
    Case("old memory says dead, the look says alive", "healthy", OK, RunState.RUNNING, "the box wins over any memory", run(), before=before(gone_ticks=5, rule="interrupted", known_state="interrupted")),
)  # fmt: skip

END_CASES: tuple[Case, ...] = (
    Case("finished", "done", OK, RunState.DONE, "no process and the marker of this very run", done()),
    Case("finished, a person knows it", "done-acknowledged", OK, RunState.DONE, "acknowledged for this run id", done(), before=before(acknowledged="r1:done")),
    Case("finished, the acknowledgement was for an earlier run", "done", OK, RunState.DONE, "an acknowledgement is of one run", done(run_id="r2"), before=before(acknowledged="r1:done"), flags=("replaced",)),
    Case("finished after 49% of the expected time", "done", OK, RunState.DONE, "a flag, not a verdict", done(finished=(FinishedStage("train", 4900.0, 10_000.0),)), flags=("fast-finish",)),
    Case("finished after 51% of the expected time", "done", OK, RunState.DONE, "the boundary is 50%", done(finished=(FinishedStage("train", 5100.0, 10_000.0),))),
    Case("its training was over in a second, and the evaluation behind it goes on", "healthy", OK, RunState.RUNNING, "each stage is looked at, also while the chain goes on", run(stage="eval", finished=(FinishedStage("train", 1.0, 50_400.0),)), flags=("fast-finish",)),
    Case("its training took its time, and the evaluation was quick as declared", "done", OK, RunState.DONE, "each stage by its own expectation", done(finished=(FinishedStage("train", 40_000.0, 50_400.0), FinishedStage("eval", 60.0, 60.0)))),
    Case("all of it was over after a tenth of the expected time", "done", OK, RunState.DONE, "also where no stage has a time of its own", done(stages_total=1, stage_results=(StageResult("train", 4000.0, spent_seconds=4000.0),), began_age_seconds=4600.0, whole_expected_seconds=40_000.0), flags=("fast-finish",)),
    Case("done, and its last loss is nan", "done", OK, RunState.DONE, "done by its exit code, and nobody can use the model", done(stages_total=1, stage_results=(StageResult("train", 4000.0, loss="nan", warnings=("the last loss in its log is nan",)),)), flags=("done-with-warning",)),
    Case("a sweep is done, the loss of two cells is nan", "done", OK, RunState.DONE, "a few cells are easily overlooked", done(cells=Cells("4/4", 4, 4, warnings=("2 cells: the last loss in its log is nan",))), flags=("done-with-warning",)),
    Case("only its evaluation was made again, in no time", "done", OK, RunState.DONE, "what was done before counts", done(stages_total=2, stage_results=(StageResult("train", 40_000.0, spent_seconds=40_000.0), StageResult("eval", 5.0, spent_seconds=5.0)), began_age_seconds=605.0, whole_expected_seconds=40_000.0)),
    Case("resumed at its last step, so its last attempt was quick", "done", OK, RunState.DONE, "all attempts of the stage count; one whose end nobody saw is not judged", done(stage_began_age_seconds=610.0, expected_seconds=50_000.0)),
    Case("watched: over after a tenth of the time that its watch expects", "done", OK, RunState.DONE, "a flag, not a verdict", watched(done="`Training completed`", stage_alive=False, ended_age_seconds=600.0, stage_began_age_seconds=1600.0, expected_seconds=10_000.0), before=before(gone_ticks=1), flags=("fast-finish",)),
    Case("runs for twice the time that was declared", "healthy", OK, RunState.RUNNING, "told once, and nothing is stopped", run(expected_seconds=20_000.0, stage_first_began_age_seconds=40_000.0), flags=("overdue",)),
    Case("runs for a little more than was declared", "healthy", OK, RunState.RUNNING, "half as long again is meant", run(expected_seconds=30_000.0, stage_first_began_age_seconds=40_000.0)),
    Case("its attempt is young, its stage is not", "healthy", OK, RunState.RUNNING, "whoever expected it counts from the first attempt", run(expected_seconds=20_000.0, stage_first_began_age_seconds=40_000.0, stage_began_age_seconds=4000.0), flags=("overdue",)),
    Case("the whole run takes twice as long as declared", "healthy", OK, RunState.RUNNING, "also where no stage has a time of its own", run(whole_expected_seconds=20_000.0, began_age_seconds=40_000.0), flags=("overdue",)),
    Case("finished ten times faster than the runs before it", "done", OK, RunState.DONE, "its own history is the expectation", done(finished=(FinishedStage("train", 40_000.0),)), before=before(durations=(("train@r0", 400_000.0),)), flags=("fast-finish",)),
    Case("finished, and a checkpoint was deleted since", "done", OK, RunState.DONE, "done it is; its results are not there", done(lost=("best.pt of stage train is not there any more",)), flags=("results-missing",)),
    Case("finished, deleted there, whole and loaded here", "done", OK, RunState.DONE, "what is home needs the box no more", done(lost=("best.pt of stage train is not there any more",), home=Home("r1", "/home/ada/pulled", verified=True))),
    Case("finished, its files are on a mount that hangs", "done", OK, RunState.DONE, "not seen is not gone", done(lost=HUNG), flags=("results-unseen",)),
    Case("finished an hour ago on a box with a price", "done", OK, RunState.DONE, "it bills while nobody looks", done(ended_age_seconds=3600.0), box(billing=PAID, runs=(done(ended_age_seconds=3600.0),)), flags=("idle-cost",)),
    Case("its box has cost its budget, and it runs", "healthy", OK, RunState.RUNNING, "who set a budget wants to know", run(), box(billing=PAID._replace(started_at=NOW - 360_000.0), runs=(run(),)), flags=("budget-spent",)),
    Case("its marker is there, its processes could not be looked for", "could-not-look", UNKNOWN, RunState.UNKNOWN, "success needs two pieces of evidence", done(runner_alive=HUNG, stage_alive=HUNG)),
    Case("ended behind its stopping point", "stopped-at-point", OK, RunState.STOPPED, "who set it did not want more: no alarm, no resume", dead(stop_at=StopAt(step=4000))),
    Case("killed between two ticks: first look", "gone", WARNING, RunState.UNKNOWN, "one look can fall between end and marker", dead()),
    Case("killed between two ticks: second look", "interrupted", CRITICAL, RunState.INTERRUPTED, "no process and no marker, twice", dead(), before=before(gone_ticks=1, rule="gone"), resume=True),
    Case("died an hour ago, first look ever", "interrupted", CRITICAL, RunState.INTERRUPTED, "a heartbeat that ended long ago rules a race out", dead(heartbeat_age_seconds=3600.0), before=Before(), box_before=BoxBefore(), resume=True),
    Case("it ended after its runner and its keeper were killed", "interrupted", CRITICAL, RunState.INTERRUPTED, "its work may be done: a person looks before it is repeated", dead(unseen_end="its log went on", stage_signs=("END_MISSED",)), before=before(gone_ticks=1, rule="gone")),
    Case("the box was rebooted, the run is gone", "interrupted", CRITICAL, RunState.INTERRUPTED, "no process survives a reboot", dead(), box(identity=BoxIdentity("gpu1", "boot-2", 900.0, NOW, 0.0)), flags=("rebooted",), resume=True),
    Case("rebooted, and the run was resumed by somebody", "healthy", OK, RunState.RUNNING, "a new process of this boot was seen", run(attempt=2, stage_began_age_seconds=400.0), box(identity=BoxIdentity("gpu1", "boot-2", 900.0, NOW, 0.0)), flags=("rebooted",)),
    Case("died of a full disk before it could say so", "interrupted", CRITICAL, RunState.INTERRUPTED, "class and proof from its log", dead(failure=failure(source="log")), before=before(gone_ticks=1)),
    Case("died of a defect in its code", "interrupted", CRITICAL, RunState.INTERRUPTED, "a defect is never retried", dead(failure=failure("code_error", "KeyError: 'lr'", source="log")), before=before(gone_ticks=1)),
    Case("died; its log could not be read", "interrupted", CRITICAL, RunState.INTERRUPTED, "dead is proven, why is not: nothing is tried", dead(failure=HUNG, log=HUNG), before=before(gone_ticks=1)),
    Case("the last log line says step 4600, the process is gone", "gone", WARNING, RunState.UNKNOWN, "an old log line never proves the present", dead(log=log(4.0))),
    Case("gone; the markers could not be read", "could-not-look", UNKNOWN, RunState.UNKNOWN, "without a look at the marker nobody is dead", dead(done=HUNG), before=before(gone_ticks=4)),
    Case("gone; the journal could not be read", "could-not-look", UNKNOWN, RunState.UNKNOWN, "without a look at the end record nobody is dead", dead(outcome=HUNG), before=before(gone_ticks=4)),
    Case("its failed stage was judged again and is DONE", "put-right", WARNING, RunState.FAILED, "a person has dealt with it; a resume records what follows", dead(outcome="chain_failed", reason="stage eval was judged again", rechecked=True), resume=True),
    Case("its runner wrote down that it was ended", "interrupted-recorded", CRITICAL, RunState.INTERRUPTED, "a record is proof; no second look", dead(outcome="chain_interrupted", reason="signal 15", ended_age_seconds=90.0), resume=True),
    Case("CUDA out of memory", "failed", CRITICAL, RunState.FAILED, "its class forbids an unchanged retry", dead(outcome="chain_failed", failure=failure("cuda_oom", "CUDA out of memory. Tried to allocate 2.00 GiB"))),
    Case("the spot instance was preempted", "failed", CRITICAL, RunState.FAILED, "its class allows the same configuration again", dead(outcome="chain_failed", failure=failure("preempted", "slurmstepd: error: PREEMPTED")), resume=True),
    Case("failed in the same way as the attempt before", "repeated-failure", CRITICAL, RunState.FAILED, "twice is not an accident: never a third time", dead(outcome="chain_failed", attempt=2, failure=failure()), before=before(signatures=((failure().signature, "r1/train/1"),))),
    Case("failed, seen again at the next tick", "failed", CRITICAL, RunState.FAILED, "the same attempt is not counted twice", dead(outcome="chain_failed", failure=BLIP), before=before(signatures=((BLIP.signature, "r1/train/1"),), rule="failed"), resume=True),
    Case("failed for want of disk space", "failed", CRITICAL, RunState.FAILED, "without room its next save fails in the same way: a person makes room first", dead(outcome="chain_failed", failure=failure())),
    Case("its loss was lost, and it ended of that", "failed", CRITICAL, RunState.FAILED, "the same configuration diverges again, and its newest checkpoints hold the blow-up", dead(outcome="chain_failed", failure=failure("divergence", "ValueError: Loss is nan"))),
    Case("killed for memory", "failed", CRITICAL, RunState.FAILED, "the same configuration needs the same memory again", dead(outcome="chain_failed", failure=failure("host_oom", "oom_kill"))),
    Case("the network failed it, and it had failed so before this patrol was there", "repeated-failure", CRITICAL, RunState.FAILED, "the journal knows what no memory here does", dead(outcome="chain_failed", attempt=2, failure=BLIP, ends=(end(1, 900.0, BLIP.signature), end(2, 4000.0, BLIP.signature))), before=Before()),
    Case("broken at step 4600, where the attempt before was killed", "repeated-failure", CRITICAL, RunState.FAILED, "two ends at one step are one failure, whatever their words", dead(outcome="chain_failed", attempt=2, failure=BLIP, ends=(end(1, 4590.0), end(2, 4600.0, BLIP.signature))), before=Before()),
    Case("killed together with its runner at step 4600, as before", "interrupted-again", CRITICAL, RunState.INTERRUPTED, "what dies twice at one step dies there a third time", dead(attempt=2, ends=(end(1, 4600.0),)), before=before(gone_ticks=1, rule="gone")),
    Case("killed together with its runner, at another step than before", "interrupted", CRITICAL, RunState.INTERRUPTED, "two accidents", dead(attempt=2, ends=(end(1, 3000.0),)), before=before(gone_ticks=1, rule="gone"), resume=True),
    Case("failed, and a class that nobody knows", "failed", CRITICAL, RunState.FAILED, "its marker's own word on retries counts", dead(outcome="chain_failed", failure=failure("license_busy", "no seats", retry_allowed=False, remedy="Wait for a seat."))),
    Case("failed; its log could not be read", "failed", CRITICAL, RunState.FAILED, "why is not known: nothing is tried", dead(outcome="chain_failed", failure=HUNG)),
    Case("a gate refused for lack of disk", "gate-refused", CRITICAL, RunState.FAILED, "nothing is lost, nothing runs", dead(outcome="gate_refused", reason="disk_free 3.0 GB, wanted 5 GB")),
    Case("a person stopped it", "stopped", OK, RunState.STOPPED, "what a person stopped is left alone", dead(outcome="chain_stopped", reason="asked to stop")),
    Case("stopped a week ago, heartbeat old, log old", "stopped", OK, RunState.STOPPED, "an end record answers before any age", dead(outcome="chain_stopped", heartbeat_age_seconds=600_000.0, log=log(600_000.0)), before=before(gone_ticks=200, rule="stopped")),
    Case("marker of an earlier attempt lies there, this one trains", "healthy", OK, RunState.RUNNING, "only the marker of this very run is proof; the probe brings no other", run(done=Absent("CHAIN_DONE is of another run"))),
)  # fmt: skip

WATCHED_CASES: tuple[Case, ...] = (
    Case("bare nohup python train.py, trains", "healthy", OK, RunState.RUNNING, "the same line without onbox on the box", watched(), before=before(run_id=None)),
    Case("pgrep would match the probe's own shell, no training runs", "gone", WARNING, RunState.UNKNOWN, "the probe leaves itself out: nothing was found", watched(stage_alive=False), before=before(run_id=None)),
    Case("bare process died of an error that its log shows, first look", "crashed", CRITICAL, RunState.FAILED, "a fault at the log's end and no process are proof", watched(stage_alive=False, failure=failure("code_error", "KeyError: 'lr'", source="log")), before=before(run_id=None)),
    Case("bare process killed, second look", "interrupted", CRITICAL, RunState.INTERRUPTED, "twice without process and proof; onbox cannot resume what it did not start", watched(stage_alive=False, log=log(4000.0)), before=before(run_id=None, gone_ticks=1)),
    Case("bare process under another session name goes on writing", "unseen-writer", WARNING, RunState.UNKNOWN, "what is written after a look that found nobody has a writer", watched(stage_alive=False, log=log(4.0)), before=before(run_id=None, gone_ticks=1)),
    Case("bare process killed right before the first look, and the second look took long", "interrupted", CRITICAL, RunState.INTERRUPTED, "a look that takes long makes nothing young", watched(stage_alive=False, log=log(TICK - 5)), snapshot=box(at=NOW - 20), before=before(run_id=None, gone_ticks=1)),
    Case("bare process ended at 5155 of 5155, with other last words than the usual ones", "ended-unproven", WARNING, RunState.UNKNOWN, "the last step is not proof of results", watched(stage_alive=False, progress=Progress(current=5155, exact_max=5155)), before=before(run_id=None)),
    Case("bare process ended, done_regex matched", "done", OK, RunState.DONE, "no process and the declared proof", watched(stage_alive=False, done="line: Training completed"), before=before(run_id=None)),
    Case("only a log is declared, it grows", "moving", OK, RunState.RUNNING, "something writes", watched(stage_alive=Absent("no process is named")), before=before(run_id=None)),
    Case("only a log is declared, it is old", "silent", WARNING, RunState.UNKNOWN, "dead and stalled cannot be told apart", watched(stage_alive=Absent("no process is named"), log=log(OLD)), before=before(run_id=None)),
    Case("declared, not started yet", "pending", OK, RunState.PENDING, "no log, no process, never seen", watched(stage_alive=False, log=Absent("no such file"), progress=Absent("none")), before=Before()),
    Case("neither tmux nor screen on the box", "could-not-look", UNKNOWN, RunState.UNKNOWN, NO_EVIDENCE, watched(stage_alive=Unseen("neither tmux nor screen is on the box's path")), before=before(run_id=None)),
    Case("neither process nor log could be judged", "unclear", UNKNOWN, RunState.UNKNOWN, "the explicit default", watched(stage_alive=Absent("no process is named"), log=HUNG), before=before(run_id=None)),
    Case("bare process hangs", "stalled", CRITICAL, RunState.STALLED, "log old, nothing else declared", watched(log=log(OLD)), before=before(run_id=None)),
)  # fmt: skip

BOX_CASES: tuple[Case, ...] = (
    Case("inodes 99% in use, bytes 34%", "healthy", OK, RunState.RUNNING, "inodes end a run as bytes do", run(), box(disks=(disk(34.0, 99.0),)), flags=("disk-critical",)),
    Case("bytes 91% in use", "healthy", OK, RunState.RUNNING, "time to prune", run(), box(disks=(disk(91.0),)), flags=("disk-pressure",)),
    Case("a file system that counts no inodes", "healthy", OK, RunState.RUNNING, "none counted is not none left", run(), box(disks=(disk(50.0, Absent("not counted")),))),
    Case("a million small files an hour, inodes full in 5 h", "healthy", OK, RunState.RUNNING, "the trend is told before the limit", run(), box(disks=(disk()._replace(inodes_free=5_000_000),)), box_before=box_before(disks=shrinking("/", 1e6, 5_000_000)), flags=("disk-trend",)),
    Case("inodes full in 1 h", "healthy", OK, RunState.RUNNING, "no later than the next tick but one", run(), box(disks=(disk()._replace(inodes_free=1_000_000),)), box_before=box_before(disks=shrinking("/", 1e6, 1_000_000)), flags=("disk-critical",)),
    Case("inodes full in 1 h by what was seen in 14 minutes", "healthy", OK, RunState.RUNNING, "a dataset that is unpacked falls as steeply, and then no more: nobody is woken", run(), box(disks=(disk()._replace(inodes_free=1_000_000),)), box_before=box_before(disks=shrinking("/", 1e6, 1_000_000, every=140.0)), flags=("disk-trend",)),
    Case("inodes full in 1 h by what was seen in 14 minutes after a pause of days", "healthy", OK, RunState.RUNNING, "what was seen before the pause is not what the trend is of", run(), box(disks=(disk()._replace(inodes_free=1_000_000),)), box_before=box_before(disks=((NOW - 72 * HOUR, "/", 10**11, 9_000_000), *shrinking("/", 1e6, 1_000_000, every=140.0))), flags=("disk-trend",)),
    Case("inodes full in 1 h by four looks after a pause of days", "healthy", OK, RunState.RUNNING, "four looks may be the falling half of checkpoints that are written and pruned", run(), box(disks=(disk()._replace(inodes_free=1_000_000),)), box_before=box_before(disks=((NOW - 72 * HOUR, "/", 10**11, 9_000_000), *shrinking("/", 1e6, 1_000_000, ticks=3)))),
    Case("inodes full in 1 h by what was seen in 16 minutes", "healthy", OK, RunState.RUNNING, "a quarter of the time that is left", run(), box(disks=(disk()._replace(inodes_free=1_000_000),)), box_before=box_before(disks=shrinking("/", 1e6, 1_000_000, every=160.0)), flags=("disk-critical",)),
    Case("inodes full in 5 minutes by what was seen in 2", "healthy", OK, RunState.RUNNING, "what is that fast cannot be looked at for longer", run(), box(disks=(disk()._replace(inodes_free=1_000_000),)), box_before=box_before(disks=shrinking("/", 12e6, 1_000_000, every=20.0)), flags=("disk-critical",)),
    Case("nohup, and the declared log was moved away", "healthy", OK, RunState.RUNNING, "it lives, but half of the look is missing", watched(log=Absent("no such file")), flags=("log-absent",)),
    Case("forty runs live in one project", "healthy", OK, RunState.RUNNING, "eight of them may be dead, and nobody looked", run(), box(runs=(run(),), runs_left_out=8), flags=("runs-left-out",)),
    Case("forty runs, the oldest ended long ago", "healthy", OK, RunState.RUNNING, "the newest were looked at, and some of these have ended", run(), box(runs=(run(), done(outcome="chain_done")), runs_left_out=8)),
    Case("df hung", "healthy", OK, RunState.RUNNING, "the run is well, the disk unknown", run(), box(disks=HUNG, sections_unseen=(("disk", "late"),)), flags=("section-unseen",)),
    Case("memory at 90.0% of the limit", "healthy", OK, RunState.RUNNING, "above 90%, not at", run(), box(memory=MemoryLook(90_000, 100_000, 0, 1, 2))),
    Case("memory at 90.1% of the limit", "healthy", OK, RunState.RUNNING, "the boundary", run(), box(memory=MemoryLook(90_100, 100_000, 0, 1, 2)), flags=("memory-pressure",)),
    Case("page cache fills the group", "healthy", OK, RunState.RUNNING, "held is without what can be dropped", run(), box(memory=MemoryLook(24_000, 100_000, 0, 1, 2))),
    Case("no limit, the host is at 97%", "healthy", OK, RunState.RUNNING, "nothing protects the run", run(), box(memory=MemoryLook(1, Absent("no limit"), 0, 30, 1000)), flags=("host-memory",)),
    Case("a data loader was killed for memory", "healthy", OK, RunState.RUNNING, "the counter's difference", run(), box(memory=MemoryLook(71_000, 100_000, 4, 1, 2)), box_before=box_before(oom_kills=3), flags=("oom-kill",)),
    Case("the count of kills is of a new group", "healthy", OK, RunState.RUNNING, "a count that shrank began anew", run(), box(memory=MemoryLook(71_000, 100_000, 1, 1, 2)), box_before=box_before(oom_kills=7)),
    Case("a neighbour's container was killed for memory", "healthy", OK, RunState.RUNNING, "the group's own count stands still: told, and no alarm", run(), box(kernel_faults=(GROUP_KILL,)), flags=("oom-elsewhere",)),
    Case("an OOM kill of half an hour ago, seen at the first look", "healthy", OK, RunState.RUNNING, "what was before the first look is not news", run(), box(memory=Unseen("the group has no counts"), kernel_faults=(BOX_KILL,)), before=Before(), box_before=BoxBefore(), flags=("oom-elsewhere",)),
    Case("another group's kill, and this one has no count", "healthy", OK, RunState.RUNNING, "a group without a limit is not killed for it", run(), box(memory=Unseen("the group has no counts"), kernel_faults=(GROUP_KILL,)), flags=("oom-elsewhere",)),
    Case("the whole box ran out of memory, and there is no count", "healthy", OK, RunState.RUNNING, "without a count the kernel's line since the last look is all there is", run(), box(memory=Unseen("the group has no counts"), kernel_faults=(BOX_KILL,)), flags=("oom-kill",)),
    Case("half the time is lost to swapping", "healthy", OK, RunState.RUNNING, "pressure says what load averages do not", run(), box(pressure=Pressure(50.0, 10.0, 0.0, of_host=False)), flags=("pressure",)),
    Case("a GPU fell off the bus", "healthy", OK, RunState.RUNNING, "it spoils results before it fails", run(), box(gpus=(GpuLook(0, HUNG, HUNG, HUNG, HUNG, "GPU is lost"),)), flags=("gpu-fault",)),
    Case("a new Xid 79", "healthy", OK, RunState.RUNNING, "newer than the last look", run(), box(kernel_faults=(KernelFault("xid", "NVRM: Xid (PCI:0000:3b:00): 79", UPTIME - 60, 79),)), flags=("gpu-fault",)),
    Case("an Xid of a quarter of an hour ago, seen at the first look", "healthy", OK, RunState.RUNNING, "nobody saw it come: told as a thing of before, not as news", run(), box(kernel_faults=(KernelFault("xid", "NVRM: Xid (PCI:0000:3b:00): 79", UPTIME - 900, 79),)), before=Before(), box_before=BoxBefore(), flags=("gpu-fault-before",)),
    Case("an Xid of last week", "healthy", OK, RunState.RUNNING, "an old line never proves the present", run(), box(kernel_faults=(KernelFault("xid", "NVRM: Xid 79", UPTIME - 400_000, 79),))),
    Case("the kernel's log may not be read", "healthy", OK, RunState.RUNNING, "told, and never counted as none", run(), box(kernel_faults=Unseen("no rights"), sections_unseen=(("kernel", "no rights"),)), flags=("section-not-readable",)),
    Case("GPU at 0% in one look", "healthy", OK, RunState.RUNNING, "never from one snapshot", run(), box(gpus=(GpuLook(0, 0, 1, 2, 40),))),
    Case("GPU at 0% for three ticks while the log advances", "healthy", OK, RunState.RUNNING, "bound by CPU or data, not idle", run(), box(gpus=(GpuLook(0, 0, 1, 2, 40),)), before(gpu_percents=(96, 0, 0)), flags=("gpu-idle",)),
    Case("GPU at 40% for three ticks", "healthy", OK, RunState.RUNNING, "told, no trouble", run(), box(gpus=(GpuLook(0, 40, 1, 2, 40),)), before(gpu_percents=(40, 40)), flags=("gpu-underused",)),
    Case("a box without GPUs", "healthy", OK, RunState.RUNNING, "looked, there is none", run(), box(gpus=Absent("no nvidia-smi"))),
    Case("the box's clock is an hour behind", "healthy", OK, RunState.RUNNING, "ages are by the box's own clock", run(), box(identity=BoxIdentity("gpu1", "boot-1", UPTIME, NOW - 3600, -3600.0)), flags=("clock-skew",)),
    Case("this laptop slept for six hours", "healthy", OK, RunState.RUNNING, "the patrol's own gap is not the run's", run(), box_before=box_before(last_tick_at=NOW - 6 * 3600, kernel_seconds=UPTIME - 60), flags=("patrol-stale",)),
    Case("the last tick was exactly two cadences ago", "healthy", OK, RunState.RUNNING, "more than two", run(), box_before=box_before(last_tick_at=NOW - 2 * TICK)),
    Case("this machine's clock was set back by a day", "healthy", OK, RunState.RUNNING, "a time of the future is not an age", run(), before=before(last_seen_at=NOW + 86400, since=NOW + 86400, steps=((NOW + 86400, 4400.0),)), box_before=box_before(last_tick_at=NOW + 86400)),
    Case("the webhook is down, notices wait for two ticks", "healthy", OK, RunState.RUNNING, "what is not delivered nobody hears", run(undelivered=2), before=before(undelivered_ticks=1), flags=("notifications-stuck",)),
    Case("a notice was written this second", "healthy", OK, RunState.RUNNING, "it may be on its way", run(undelivered=1)),
    Case("the transfer of the data was cut off at 7 of 10 files", "healthy", OK, RunState.RUNNING, "completeness is a count", run(), box(counts=(FileCount("data/train", "data/train", 7, 10),)), flags=("files-missing",)),
    Case("the data's directory is not there", "healthy", OK, RunState.RUNNING, "none of ten", run(), box(counts=(FileCount("data/train", "data/train", Absent("none"), 10),)), flags=("files-missing",)),
    Case("the files could not be counted", "healthy", OK, RunState.RUNNING, NO_EVIDENCE, run(), box(counts=(FileCount("data/train", "data/train", HUNG, 10),))),
    Case("ten of ten files are there, three of them empty", "healthy", OK, RunState.RUNNING, "three empty files are not a data set", run(), box(counts=(FileCount("data/train", "data/train", 10, 10, 7000, 10_000),)), flags=("files-missing",)),
    Case("done, and onbox is not on the PATH of ssh", "done", OK, RunState.DONE, "nothing has to be typed there", done(), box(onbox_on_path=False)),
    Case("the runner is dead, and onbox lies in a virtual environment", "runner-gone", WARNING, RunState.RUNNING, "its records name the interpreter", run(runner_alive=False, python="/opt/venv/bin/python3"), box(onbox_on_path=False), resume=True),
    Case("dead, and onbox is not on the PATH of ssh", "interrupted", CRITICAL, RunState.INTERRUPTED, "the next command would not be found", dead(), box(onbox_on_path=False), before(gone_ticks=1), flags=("no-onbox",), resume=True),
)  # fmt: skip

LINK_CASES: tuple[Case, ...] = (
    Case("trains behind a link that is down, first time", "unreachable", UNKNOWN, RunState.UNKNOWN, "soft; a lost link is not a lost run", None, away("timeout", "Connection timed out")),
    Case("trains behind a link that is down, second time", "unreachable", UNKNOWN, RunState.UNKNOWN, "hard; still nothing is said of the run", None, away("timeout"), box_before=box_before(failures=1, first_failure_at=NOW - TICK)),
    Case("the key was not accepted", "unreachable", UNKNOWN, RunState.UNKNOWN, "hard at once: trying again cannot help", None, away("auth", "Permission denied (publickey).")),
    Case("the host key changed", "unreachable", UNKNOWN, RunState.UNKNOWN, "never weakened, always told", None, away("host_key", "REMOTE HOST IDENTIFICATION HAS CHANGED")),
    Case("nothing listens on the port", "unreachable", UNKNOWN, RunState.UNKNOWN, "its own word", None, away("refused")),
    Case("sshd accepts and never speaks", "unreachable", UNKNOWN, RunState.UNKNOWN, "frozen or out of memory; its own word", None, away("banner")),
    Case("the answer was cut in the middle", "unreachable", UNKNOWN, RunState.UNKNOWN, "half an answer is none", None, away("cut")),
    Case("a wedged ControlMaster", "unreachable", UNKNOWN, RunState.UNKNOWN, "late; the run is not judged by it", None, away("late_login")),
    Case("the project lies on a hung mount", "runs-unseen", UNKNOWN, RunState.UNKNOWN, "an unseen project is not an empty one", None, box(runs=HUNG)),
    Case("the run's directory was removed", "vanished", WARNING, RunState.UNKNOWN, "what became of it is not known", None, box()),
    Case("the run's directory was removed, its processes live", "removed-alive", CRITICAL, RunState.UNKNOWN, "a second copy would be refused by nothing", None, box(removed=(RemovedRun("digits", (7, 8)),))),
    Case("another run's directory was removed, its processes live", "vanished", WARNING, RunState.UNKNOWN, "that says nothing of this one", None, box(removed=(RemovedRun("other", (7,)),))),
    Case("no run is there, processes of one live", "removed-alive", CRITICAL, RunState.DEGRADED, "not a fresh box", None, box(removed=(RemovedRun("digits", (7, 8)),)), name=""),
    Case("the box is away, no run known", "unreachable", UNKNOWN, RunState.UNKNOWN, "the box speaks for itself", None, away("dns"), name=""),
    Case("a fresh box without runs", "no-runs", OK, RunState.PENDING, "looked, there is none", None, box(), name=""),
    Case("a box with a run", "reached", OK, RunState.RUNNING, "the run has a verdict of its own", None, box(runs=(run(),)), name=""),
    Case("the box answers, its project hangs, no run known", "runs-unseen", UNKNOWN, RunState.UNKNOWN, "said of the box", None, box(runs=HUNG), name=""),
)  # fmt: skip

CONTROLLER_DOWN = Unseen("slurm job 4711: could not look: Unable to contact slurm controller")
ELSEWHERE = Unseen("its runner is on another host, node-7")
DISK_DONE, DISK_FAILED = StageState.DONE, StageState.FAILED


def on_login_node(scheduler: Maybe[Scheduler], **changes: Any) -> RunLook:
    """A run that is with Slurm, seen from where no process of it is visible."""
    return dead(scheduler=scheduler, **changes)


SLURM_CASES: tuple[Case, ...] = (
    Case("runs on a node whose lock this machine can read", "healthy", OK, RunState.RUNNING, "the scheduler saw it at work", on_login_node(on_engine("RUNNING"), runner_alive=ELSEWHERE, stage_alive=ELSEWHERE)),
    Case("its job is ending, no marker yet", "healthy", OK, RunState.RUNNING, "COMPLETING is not over", on_login_node(on_engine("COMPLETING"))),
    Case("its last marker is there, its job has not ended", "ending", OK, RunState.RUNNING, "success is marker and COMPLETED", done(scheduler=on_engine("COMPLETING", disk=DISK_DONE), ended_age_seconds=5.0)),
    Case("hangs on its node: log and checkpoints three hours old", "stalled", CRITICAL, RunState.STALLED, "RUNNING is not progress", on_login_node(on_engine("RUNNING"), log=log(OLD), artifacts=artifacts(OLD))),
    Case("submitted, the cluster is full", "capacity-wait", OK, RunState.PENDING, "Resources: waits for free nodes", on_login_node(on_engine("PENDING", "Resources"), attempt=Absent("none"), log=Absent("no log"))),
    Case("waits in the queue since forty minutes", "capacity-long", WARNING, RunState.PENDING, "beyond capacity_after (30 minutes) it is told", on_login_node(on_engine("PENDING", "Resources"), attempt=Absent("none"), log=Absent("no log"), submitted_age_seconds=2400.0)),
    Case("was first seen in the queue forty minutes ago", "capacity-long", WARNING, RunState.PENDING, "beyond capacity_after (30 minutes) it is told", on_login_node(on_engine("PENDING", "Resources"), attempt=Absent("none"), log=Absent("no log")), before=before(rule="capacity-wait", since=NOW - 2400)),
    Case("preempted, on record, and put back into the queue", "capacity-wait", OK, RunState.PENDING, "the requeue has overtaken the record", on_login_node(on_engine("PENDING", "BeginTime", restarts=1), outcome="chain_interrupted", reason="signal 15"), before=before(gone_ticks=3)),
    Case("put back into the queue and held there", "held", WARNING, RunState.PENDING, "it does not start by itself", on_login_node(on_engine("REQUEUE_HOLD"))),
    Case("held by a person", "held", WARNING, RunState.PENDING, "it does not start by itself", on_login_node(on_engine("PENDING", "JobHeldUser"))),
    Case("asks for what no node has", "held", WARNING, RunState.PENDING, "BadConstraints is not a capacity wait", on_login_node(on_engine("PENDING", "BadConstraints"))),
    Case("the stage before it failed, its job can never run", "upstream-failed", CRITICAL, RunState.FAILED, "DependencyNeverSatisfied", on_login_node(on_engine("PENDING", "DependencyNeverSatisfied", stage="eval"))),
    Case("cancelled by Slurm because the stage before it failed", "upstream-failed", CRITICAL, RunState.FAILED, "kill-on-invalid-dep", on_login_node(on_engine("CANCELLED", "DependencyNeverSatisfied", stage="eval"))),
    Case("killed for memory beside its marker", "failed-on-engine", CRITICAL, RunState.FAILED, "OUT_OF_MEMORY outweighs CHAIN_DONE", done(scheduler=on_engine("OUT_OF_MEMORY", disk=DISK_DONE))),
    Case("killed for memory, a class was guessed from its log", "failed-on-engine", CRITICAL, RunState.FAILED, "the engine proves the class", on_login_node(on_engine("OUT_OF_MEMORY", disk=DISK_FAILED), outcome="chain_failed", failure=failure("killed", "Killed"))),
    Case("its job was killed, nobody wrote an end", "failed-on-engine", CRITICAL, RunState.FAILED, "FAILED without a record is an end all the same", on_login_node(on_engine("FAILED", "JobLaunchFailure"))),
    Case("COMPLETED, but no marker", "failed-on-engine", CRITICAL, RunState.FAILED, "success is both", on_login_node(on_engine("COMPLETED"))),
    Case("failed by its own exception on its node", "failed", CRITICAL, RunState.FAILED, "its marker knows more than FAILED", on_login_node(on_engine("FAILED", "NonZeroExitCode", disk=DISK_FAILED), outcome="chain_failed", failure=failure("code_error", "KeyError: 'lr'"))),
    Case("ran into its time limit", "interrupted-by-engine", CRITICAL, RunState.INTERRUPTED, "TIMEOUT: no second look is needed", on_login_node(on_engine("TIMEOUT")), resume=True),
    Case("preempted and not put back", "interrupted-by-engine", CRITICAL, RunState.INTERRUPTED, "PREEMPTED", on_login_node(on_engine("PREEMPTED"), outcome="chain_interrupted"), resume=True),
    Case("its node was lost", "interrupted-by-engine", CRITICAL, RunState.INTERRUPTED, "NODE_FAIL", on_login_node(on_engine("NODE_FAIL")), resume=True),
    Case("a person cancelled its job", "interrupted-by-engine", CRITICAL, RunState.INTERRUPTED, "what a person ended is not resumed by a patrol", on_login_node(on_engine("CANCELLED"))),
    Case("a person stopped it, its jobs are cancelled", "stopped", OK, RunState.STOPPED, "the record says who", on_login_node(on_engine("CANCELLED"), outcome="chain_stopped", reason="asked to stop")),
    Case("COMPLETED and CHAIN_DONE", "done", OK, RunState.DONE, "success is both", done(scheduler=on_engine("COMPLETED", disk=DISK_DONE))),
    Case("done long ago, Slurm has forgotten its jobs", "done", OK, RunState.DONE, "then the marker counts", done(scheduler=on_engine("", disk=DISK_DONE))),
    Case("Slurm has forgotten its job, no marker", "forgotten", UNKNOWN, RunState.UNKNOWN, "an empty answer alone proves nothing", on_login_node(on_engine(""), heartbeat_age_seconds=OLD), before=before(gone_ticks=5)),
    Case("runs; the controller is down", "could-not-look", UNKNOWN, RunState.UNKNOWN, "never dead", on_login_node(CONTROLLER_DOWN, heartbeat_age_seconds=OLD), before=before(gone_ticks=5)),
    Case("CHAIN_DONE is there; the controller is down", "could-not-look", UNKNOWN, RunState.UNKNOWN, "the job may have been killed for memory beside it", done(scheduler=CONTROLLER_DOWN)),
    Case("failed, on record; the controller is down", "failed", CRITICAL, RunState.FAILED, "a recorded failure needs no engine", on_login_node(CONTROLLER_DOWN, outcome="chain_failed", failure=failure("code_error", "KeyError: 'lr'"))),
    Case("runs on this very machine; the controller is down", "healthy", OK, RunState.RUNNING, "a living process is positive proof", run(scheduler=CONTROLLER_DOWN), flags=("engine-unseen",)),
)  # fmt: skip

STEPS, STEPS_LOG = "ray_api_job_steps2.json", "ray_api_logs_steps.json"
UNMET_LOG, DEAD_NODE = "ray_api_logs_want_unmet.json", "ray_api_nodes_one_dead.json"
MOVES = ray_told(STEPS, logs=STEPS_LOG)
NO_MARKER = "its disk is not seen: the engine's word alone decides"

CLUSTER_CASES: tuple[Case, ...] = (
    Case("runs on Ray, first look", "unconfirmed", OK, RunState.RUNNING, "RUNNING is the head's word only", look_at_job(MOVES)),
    Case("runs on Ray, its log was seen to change a moment ago", "healthy", OK, RunState.RUNNING, "the log's movement confirms the word", look_at_job(MOVES, ago=60.0)),
    Case("runs on Ray, its log has not changed for three hours", "stalled", CRITICAL, RunState.STALLED, "RUNNING is not progress", look_at_job(MOVES, ago=OLD)),
    Case("runs on Ray, the log could not be read", "signals-unseen", UNKNOWN, RunState.RUNNING, "what was not seen is not movement", look_at_job(ray_told(STEPS)._replace(log=Unseen("HTTP 500")))),
    Case("runs on Ray, a node of it died since", "engine-degraded", WARNING, RunState.DEGRADED, "the job's state stays RUNNING", look_at_job(ray_told("ray_api_job_steps2.json", logs=STEPS_LOG, nodes=DEAD_NODE), ago=60.0)),
    Case("runs on Ray, a node of it died since, and its steps go on", "healthy", OK, RunState.RUNNING, "what it lost it does not need", look_at_job(ray_told("ray_api_job_steps2.json", logs=STEPS_LOG, nodes=DEAD_NODE), ago=60.0), before=before(steps=((NOW - TICK, 1.0),))),
    Case("runs on Ray, a node had died before it began", "unconfirmed", OK, RunState.RUNNING, "the head remembers the dead of old", look_at_job(ray_told("ray_api_job_steps2.json", nodes=DEAD_NODE)._replace(troubles=()))),
    Case("runs on Ray, its tasks wait for a GPU that the cluster lacks", "engine-degraded", WARNING, RunState.DEGRADED, "the autoscaler says so in the job's log", look_at_job(ray_told(STEPS, logs=UNMET_LOG), ago=60.0)),
    Case("waits on Ray for a GPU, for long", "capacity-long", WARNING, RunState.PENDING, "a queue is not a failure, but a long one is told", look_at_job(ray_told("ray_api_job_need-gpu.json"))),
    Case("failed on Ray by its own exception", "failed-on-engine", CRITICAL, RunState.FAILED, "class and line from its log", look_at_job(ray_told("ray_api_job_bad.json", logs="ray_api_logs_bad.json"))),
    Case("a person stopped it on Ray", "interrupted-by-engine", CRITICAL, RunState.INTERRUPTED, "STOPPED is not started again silently", look_at_job(ray_told("ray_api_job_steps2_stopped.json"))),
    Case("the head was restarted and has lost the job", "forgotten", UNKNOWN, RunState.UNKNOWN, "its processes may live on: never dead", look_at_job(ray_told(""), session="session_2", ago=TICK), before=before(gone_ticks=5)),
    Case("somebody deleted the job, or the id is wrong", "forgotten", UNKNOWN, RunState.UNKNOWN, "not known is not an end", look_at_job(ray_told(""))),
    Case("Ray answers with a state that nobody knows", "could-not-look", UNKNOWN, RunState.UNKNOWN, "an unknown word is not a verdict", look_at_job(ray_told("ray_api_job_unknown_state.json"))),
    Case("Ray's answer on this job was cut off", "could-not-look", UNKNOWN, RunState.UNKNOWN, "half an answer is none", look_at_job(ray_told("ray_api_job_cut_off.txt")), before=before(gone_ticks=5)),
    Case("finished on Ray", "done", OK, RunState.DONE, NO_MARKER, look_at_job(ray_told("ray_api_job_steps.json", logs=STEPS_LOG))),
    Case("finished on Iris", "done", OK, RunState.DONE, NO_MARKER, look_at_job(iris_told("iris_rpc_GetJobStatus_steps.json", "/root/steps", logs="iris_rpc_FetchLogs_steps.json"), IRIS)),
    Case("failed on Iris by its own exception", "failed-on-engine", CRITICAL, RunState.FAILED, "the tasks have the exit code, the log the cause", look_at_job(iris_told("iris_rpc_GetJobStatus_bad.json", "/root/bad", logs="iris_rpc_FetchLogs_bad.json"), IRIS)),
    Case("a task of it was killed near its memory limit on Iris", "failed-on-engine", CRITICAL, RunState.FAILED, "137 with such a peak is the limit's kill", look_at_job(iris_told("iris_rpc_GetJobStatus_bad.json", "/root/bad", tasks="iris_rpc_ListTasks_137_peak.json"), IRIS)),
    Case("waits on Iris for 64 CPUs that nobody has", "capacity-long", WARNING, RunState.PENDING, "pendingReason is told", look_at_job(iris_told("iris_rpc_GetJobStatus_huge.json", "/root/huge"), IRIS)),
    Case("preempted on Iris and running again", "unconfirmed", OK, RunState.RUNNING, "Iris starts it again under the same id", look_at_job(iris_told("iris_2026-11_rpc_GetJobStatus_preempted_running.json", "/root/pre"), IRIS)),
    Case("runs on Ray behind a tunnel that is down", "unreachable", UNKNOWN, RunState.UNKNOWN, "of the job nothing is known", None, away("tunnel", "http://127.0.0.1:8265: connection refused")),
    Case("the head refuses the token", "unreachable", UNKNOWN, RunState.UNKNOWN, "a person must mend it: at once hard", None, away("engine_token", "HTTP 401")),
    Case("the head hangs", "unreachable", UNKNOWN, RunState.UNKNOWN, "late is not an end", None, away("engine_late", "no answer within 4 s"), before=before(gone_ticks=5)),
)  # fmt: skip

GROUPS: tuple[tuple[str, tuple[Case, ...]], ...] = (
    ("Runs that live, wait, or have not begun", RUNNING_CASES),
    ("Runs that ended, or may have", END_CASES),
    ("Runs that onbox did not start", WATCHED_CASES),
    ("Runs that are with Slurm, seen from a login node", SLURM_CASES),
    ("Jobs on Ray and Iris that onbox did not start", CLUSTER_CASES),
    ("Runs that log to an experiment tracker", TRACKER_CASES),
    ("A healthy run on a box that is not", BOX_CASES),
    ("What could not be looked at", LINK_CASES),
)
CASES: tuple[Case, ...] = tuple(case for _, group in GROUPS for case in group)
