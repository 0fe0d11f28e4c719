"""What to do about a run: one ordered table from how it stands to what is typed next. Pure.

No row's command stops, repeats, deletes or acknowledges anything: what needs a person's word stands apart from it. What
continues a run is always `onbox resume`, which takes the run's own lock, attaches to a live runner, and takes over a
live stage; no row starts anything that may be alive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from onbox.runs.acts import Act, NextStep, WithWord
from onbox.runs.signs import Sign

if TYPE_CHECKING:
    from collections.abc import Callable


class Standing(NamedTuple):
    """How a run stands: its state, and what was seen beside it."""

    state: RunState
    signs: frozenset[Sign] = frozenset()

    def has(self, *signs: Sign) -> bool:
        """Whether one of these was seen."""
        return not self.signs.isdisjoint(signs)


class StepRow(NamedTuple):
    """holds: when the row applies; the first that does is taken. reason: why it says so."""

    step: NextStep
    holds: Callable[[Standing], bool]
    reason: str


def _is(*states: RunState) -> Callable[[Standing], bool]:
    return lambda run: run.state in states


def _has(*signs: Sign) -> Callable[[Standing], bool]:
    return lambda run: run.has(*signs)


def _ended(*signs: Sign) -> Callable[[Standing], bool]:
    """It failed or was interrupted, with one of the signs."""
    return lambda run: run.state in (RunState.FAILED, RunState.INTERRUPTED) and run.has(*signs)


def _at_rest(*signs: Sign) -> Callable[[Standing], bool]:
    """As `_ended`, or a person stopped it."""
    return lambda run: run.state in (RunState.FAILED, RunState.INTERRUPTED, RunState.STOPPED) and run.has(*signs)


def _done(*signs: Sign) -> Callable[[Standing], bool]:
    return lambda run: run.state is RunState.DONE and (not signs or run.has(*signs))


TABLE: tuple[StepRow, ...] = (
    StepRow(
        NextStep("box-not-there", Act.LOOK, "when the box answers again, look again; nothing is known against the run",
             "start it elsewhere or call it dead: a link that is down says nothing of the run"),
        _has(Sign.NO_CONTACT), "its last known state still counts",
    ),
    StepRow(
        NextStep("removed-alive", Act.LOOK,
             "let its processes end, or end them yourself by their pids: without its records nothing continues the run",
             "start it a second time while they are alive: nothing of the first one would refuse that"),
        _has(Sign.REMOVED_ALIVE), "the state directory was removed under a run that lives",
    ),
    StepRow(
        NextStep("run-gone", Act.LOOK, "if that was not intended, look for the volume",
             "start a new one in its place before somebody has looked for the volume", (WithWord.ACKNOWLEDGE,)),
        _has(Sign.VANISHED), "a folder that is gone may be a mount that is away",
    ),
    StepRow(
        NextStep("no-run-seen", Act.LOOK,
             "no run was seen there; `onbox chain` starts one in its project, `patrol add HOST` adds a box",
             "take it for proof that none runs: a job that nobody declared is not seen"),
        _has(Sign.NO_RUN), "only the box was seen",
    ),
    StepRow(
        NextStep("results-pulled", Act.VERIFY, "load each of its files once: copied bytes are not yet results",
             "stop, release or delete anything before the results were loaded once and a person agreed",
             (WithWord.ACKNOWLEDGE,)),
        _done(Sign.PULLED), "a truncated checkpoint has the right checksum, too",
    ),
    StepRow(
        NextStep("not-onboxs-own-done", Act.LOOK, "pull the results and load each once: `patrol pull`, `patrol verify`",
             "start it a second time; delete anything before the results were loaded once and a person agreed",
             (WithWord.ACKNOWLEDGE,)),
        _done(Sign.FOREIGN), "its log or its marker proves the success; nothing else is to be done",
    ),
    StepRow(
        NextStep("not-onboxs-own", Act.LOOK, "onbox did not start it, so it cannot resume it: use what started it",
             "start it a second time while a process of it may be alive: nothing refuses that here"),
        _has(Sign.FOREIGN), "only a run with a lock of its own can be resumed without a second launch",
    ),
    StepRow(
        NextStep("results-verified", Act.TEARDOWN,
             "its results are home and were loaded once: see what giving the box back means",
             "stop, release or delete anything there unless a person agreed to exactly that", (WithWord.ACKNOWLEDGE,)),
        _done(Sign.VERIFIED), "complete and loaded results do not need the box any more",
    ),
    StepRow(
        NextStep("results-missing", Act.DRY_RUN, "find the files, or make them again",
             "pull, acknowledge or tear down as if it were done", (WithWord.REDO,)),
        _done(Sign.RESULTS_MISSING), "a marker vouches for files that were there; they are not there now",
    ),
    StepRow(
        NextStep("sealed", Act.PULL, "its record is sealed, its results are not home: pull them, load each of them once",
             "change or delete any of it; tear it down unless a person agreed to exactly that", (WithWord.ACKNOWLEDGE,)),
        _done(Sign.SEALED), "its end was checked and entered into its record",
    ),
    StepRow(
        NextStep("done-with-warning", Act.STATUS,
             "look at what its WARNING names, in log and results; only if they are as meant: `patrol pull`, `patrol verify`,"
             " `handbook seal`",
             "take its results for good before somebody has looked; stop, release or delete anything before a person agreed",
             (WithWord.ACKNOWLEDGE, WithWord.REDO)),
        _done(Sign.DOUBTED), "exit code and files were good, and something that was seen speaks against them",
    ),
    StepRow(
        NextStep("done", Act.PULL, "pull the results, load each of them once (`patrol verify`), then `handbook seal`",
             "stop, release or delete anything before the results were loaded once and a person agreed",
             (WithWord.ACKNOWLEDGE,)),
        _done(), "its own CHAIN_DONE (of a sweep SWEEP_DONE) is there, and no process of it",
    ),
    StepRow(
        NextStep("disk-full-now", Act.ROOM,
             "free some room: `onbox prune` lists the checkpoints that may go, `onbox stats --hogs` what else is big; then `onbox resume`",
             "resume before there is room; delete the best or the newest whole checkpoint"),
        lambda run: run.has(Sign.DISK_FULL_NOW) and _would_continue(run),
        "nothing else holds the run back, but without room a resume fails at its first record",
    ),
    StepRow(
        NextStep("inodes-gone-now", Act.INODES, "delete or pack small files (tar, shards), then `onbox resume`",
             "resume before there are free inodes; delete the best or the newest whole checkpoint"),
        lambda run: run.has(Sign.INODES_GONE_NOW) and _would_continue(run),
        "nothing else holds the run back, but without a free inode a resume fails at its first record",
    ),
    StepRow(
        NextStep("cells-skipped", Act.SWEEP_RESUME, "the resume runs the cells that are open, if any, and records the end",
             "run a skipped cell: a person left it out"),
        lambda run: run.state is RunState.FAILED and run.has(Sign.CELLS_SKIPPED),
        "no failed cell is left; only a runner records that the sweep is done",
    ),
    StepRow(
        NextStep("rechecked", Act.RESUME, "the chain goes on from its first open stage, or records that it is done",
             "run the stage again: its result counts now", resume_now=True),
        lambda run: run.state is RunState.FAILED and run.has(Sign.RECHECKED),
        "a person asked the gate again, and it holds; only a runner records what follows",
    ),
    StepRow(
        NextStep("ended-by-a-person", Act.DRY_RUN, "resume only if the person who ended it agrees", "resume it without asking",
             (WithWord.RESUME,)),
        _ended(Sign.BY_A_PERSON), "a cancelled job or a Ctrl-C is somebody's decision",
    ),
    StepRow(
        NextStep("cells-failed", Act.LOGS, "find out why cells failed, then `onbox sweep retry-failed`",
             "resume it: a resume runs open cells only, and a failed one is not open", (WithWord.RETRY_CELLS,)),
        lambda run: run.state is RunState.FAILED and run.has(Sign.CELLS_FAILED),
        "a failed cell runs again only when a person says so",
    ),
    StepRow(
        NextStep("no-inodes", Act.INODES, "delete or pack small files (tar, shards), then resume",
             "resume before there are free inodes; delete the best or the newest whole checkpoint"),
        _ended(Sign.NO_INODES), "a big checkpoint is few files: pruning makes no room here",
    ),
    StepRow(
        NextStep("no-room", Act.ROOM,
             "make room: `onbox prune` lists the checkpoints that may go, `onbox stats --hogs` what else is big; then resume",
             "resume before there is room; delete the best or the newest whole checkpoint"),
        _ended(Sign.NO_ROOM), "a resume without room fails at its next save",
    ),
    StepRow(
        NextStep("cause-not-known", Act.LOGS, "find out what ended it, as the remedy says; then resume",
             "resume it before somebody has looked for the cause", (WithWord.RESUME,)),
        _ended(Sign.CAUSE_UNKNOWN), "how it ended is known, why is not: no class says whether another attempt can help",
    ),
    StepRow(
        NextStep("not-started", Act.STATUS, "provide what it needs, then resume", "resume it before that is there"),
        _ended(Sign.NOT_STARTED), "what it waited for did not come, or it could not be started: there is no log that says more",
    ),
    StepRow(
        NextStep("do-not-repeat", Act.LOGS, "fix the cause, then resume: unchanged it can only fail again",
             "resume it unchanged"),
        _ended(Sign.NO_REPEAT), "the line that proves it is in the log",
    ),
    StepRow(
        NextStep("same-failure-again", Act.LOGS, "a person must change something, then resume",
             "resume it unchanged: what failed twice in the same way fails a third time"),
        _has(Sign.REPEATED), "two equal failures are a cause, not bad luck",
    ),
    StepRow(
        NextStep("loss-lost", Act.LOGS,
             "find the last step with a good loss; then stop it, `onbox rollback --to STEP --reason TEXT`, and resume",
             "continue from the newest checkpoint: it may already hold the blow-up", (WithWord.STOP,)),
        lambda run: run.has(Sign.LOSS_LOST) and run.state is not RunState.STOPPED,
        "every further step and every further checkpoint is wasted",
    ),
    StepRow(
        NextStep("other-lineage", Act.DRY_RUN,
             "the newest checkpoint is not of this run: move it away, or say that it is the one to take; then resume",
             "pass --any-checkpoint without asking", (WithWord.ANY_CHECKPOINT,)),
        _at_rest(Sign.OTHER_LINEAGE),
        "a higher number does not make it newer in this training; a wrong start is found days later",
    ),
    StepRow(
        NextStep("gate-refused", Act.STATUS, "make room for what the gate names, then resume: every gate is asked again",
             "lower the gate to get past it"),
        _has(Sign.GATE_REFUSED), "nothing was started and nothing is lost",
    ),
    StepRow(
        NextStep("stopped", Act.DRY_RUN, "resume only if the person who stopped it agrees", "resume it without asking",
             (WithWord.RESUME,)),
        _is(RunState.STOPPED), "what a person stopped is left alone",
    ),
    StepRow(
        NextStep("results-do-not-fit", Act.DRY_RUN, "choose for each stage: keep the result or run it again",
             "choose by guess", (WithWord.REDO,)),
        _ended(Sign.WOULD_REFUSE), "earlier results are of another command: nothing is skipped or repeated on a guess",
    ),
    StepRow(
        NextStep("failed", Act.LOGS, "see why, then resume: this kind of failure may pass with another attempt",
             "resume it again and again: the same failure twice needs a person"),
        _is(RunState.FAILED), "what can only repeat has rows of its own above",
    ),
    StepRow(
        NextStep("stalled", Act.LOGS, "take a stack dump of it before it is stopped; then stop and resume",
             "start a second copy: it is alive, and holds its GPUs", (WithWord.STOP,)),
        _is(RunState.STALLED), "alive is not progress, and a stall is not a death",
    ),
    StepRow(
        NextStep("runner-gone", Act.RESUME,
             "the resume starts the runner now: it takes over the live stage, and starts nothing twice; look again in a minute",
             "start its command by hand: the stage is alive", resume_now=True),
        _has(Sign.RUNNER_GONE), "the stage is well, but nothing watches it: no timeout and no stall is noticed",
    ),
    StepRow(
        NextStep("runner-frozen", Act.STATUS, "let its runner go on: `kill -CONT` and the pid that status names",
             "start it a second time: its runner lives, and holds the run"),
        _has(Sign.RUNNER_FROZEN), "a frozen runner sees no end, no stall and no timeout, and starts no next stage",
    ),
    StepRow(
        NextStep("keeper-gone", Act.LOGS,
             "let it end, look at its results, then resume: nobody records its exit code, so it will count as failed",
             "start it a second time: it is alive", (WithWord.STOP,)),
        _has(Sign.KEEPER_GONE), "the keeper that records the exit code was killed, its stage was not",
    ),
    StepRow(
        NextStep("stage-not-judged", Act.RESUME,
             "the resume judges how its stage ended, and goes on from there; look again in a minute",
             "start its command by hand: only the resume refuses a second copy", resume_now=True),
        lambda run: run.state is RunState.INTERRUPTED and run.has(Sign.STAGE_NOT_JUDGED),
        "the command had ended, and no runner lived to say how",
    ),
    StepRow(
        NextStep("stage-not-begun", Act.RESUME,
             "its first open stage starts for the first time (after --redo: anew), without ONBOX_RESUME; look again in a minute",
             "start its command by hand: only the resume refuses a second copy", resume_now=True),
        lambda run: run.state is RunState.INTERRUPTED and run.has(Sign.STAGE_NOT_BEGUN),
        "it was cut off before that stage began",
    ),
    StepRow(
        NextStep("end-missed", Act.LOGS,
             "look at its log's end and its results; if it has to run again, resume: the stage starts with ONBOX_RESUME=1",
             "resume it before somebody has looked: its work may be done, and would be repeated", (WithWord.RESUME,)),
        lambda run: run.state is RunState.INTERRUPTED and run.has(Sign.END_MISSED),
        "its stage went on after its runner and its keeper were killed: nobody knows its exit code",
    ),
    StepRow(
        NextStep("interrupted", Act.RESUME, "the stage starts again with ONBOX_RESUME=1; look again in a minute",
             "start its command by hand: only the resume refuses a second copy", resume_now=True),
        _is(RunState.INTERRUPTED), "no process and no result: it was cut off",
    ),
    StepRow(
        NextStep("seen-once", Act.STATUS, "look again: one look does not prove a death", "start it again"),
        _has(Sign.SEEN_ONCE), "a run that ends right now looks the same for a moment",
    ),
    StepRow(
        NextStep("stop-point", Act.STATUS, "ask whether it should stop here, or remove `stop_at` from onbox.toml",
             "stop it without asking", (WithWord.STOP,)),
        _has(Sign.STOP_POINT), "a person set the point; reaching it is not yet the order to stop",
    ),
    StepRow(
        NextStep("unattended", Act.RESUME, "the chain goes on from its first open stage", "start a stage's command by hand",
             resume_now=True),
        lambda run: run.state is RunState.PENDING and run.has(Sign.UNATTENDED),
        "no process of it is alive, and no job of it waits in a queue",
    ),
    StepRow(
        NextStep("notices-stuck", Act.NOTICES, "fix the target: waiting messages are kept and sent later",
             "start anything again: the run is well"),
        _has(Sign.NOTICES_STUCK), "messages that the box cannot deliver reach nobody",
    ),
    StepRow(
        NextStep("ill", Act.LOOK, "follow the remedy", "start it again: it may be alive"),
        _has(Sign.ILL), "the watcher's own rule knows best what to look at",
    ),
    StepRow(
        NextStep("well", Act.STATUS, "nothing: it goes on by itself", "start it a second time"),
        _is(RunState.RUNNING, RunState.PENDING, RunState.DEGRADED), "there is nothing to do",
    ),
    StepRow(
        NextStep("unknown", Act.STATUS, "look yourself: what was not seen is not evidence", "act on what was not seen"),
        lambda _: True, "nothing certain is known",
    ),
)  # fmt: skip


def next_step(run: Standing) -> NextStep:
    """The step of the first row that holds; the last one always does."""
    return next(row.step for row in TABLE if row.holds(run))


WITHOUT_ROOM = ("disk-full-now", "inodes-gone-now")


def _would_continue(run: Standing) -> bool:
    """Whether the table would continue it at once, if there were room."""
    step = next(row.step for row in TABLE if row.step.name not in WITHOUT_ROOM and row.holds(run))
    return step.continues


# How a run stands right after an event that people are told of; an event that is not here asks for nothing.
_AFTER: dict[str, Standing] = {
    "stage_failed": Standing(RunState.FAILED),
    "chain_failed": Standing(RunState.FAILED),
    "gate_refused": Standing(RunState.FAILED, frozenset({Sign.GATE_REFUSED})),
    "stalled": Standing(RunState.STALLED),
    "interrupted": Standing(RunState.INTERRUPTED),
    "stopped": Standing(RunState.STOPPED),
    "tracker_drift": Standing(RunState.RUNNING),
    "detected": Standing(RunState.RUNNING),
}


def step_after(event: str, signs: frozenset[Sign] = frozenset()) -> NextStep | None:
    """The step that a notification names. event: a word of `onbox.contract.notices`; None: nothing is to be done."""
    standing = _AFTER.get(event)
    return None if standing is None else next_step(standing._replace(signs=standing.signs | signs))
