"""Situations as a person meets them in the night, and how the patrol shows each of them on a screen.

python -m tests.patrol.situations      write tests/cases/screens/ anew, then read them in a terminal
"""

from __future__ import annotations

import os
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.events import Event
from onbox.contract.notices import PATROL_DONE, PATROL_TROUBLE
from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen
from onbox.contract.states import RunState
from onbox.model.boxes import BoxSettings
from onbox.notify import message_text
from onbox.runs.journal import StageResult
from patrol.decide.decide import decide_box, decide_run, decide_unreachable_run
from patrol.decide.time_left import with_time_left
from patrol.judge import BoxJudged, Judged
from patrol.memory.update_history import acknowledgement
from patrol.report.lines import details, line, wide_line
from patrol.snapshot import ResultFile
from patrol.tell.news import News, worst_told
from patrol.tell.words import notice_of
from patrol.verdict import Severity
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
    on_engine,
    run,
    watched,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.notices import Notice
    from patrol.memory.history import Before
    from patrol.snapshot import RunLook, Snapshot
    from patrol.verdict import Verdict

FOLDER = Path(__file__).resolve().parent.parent / "cases" / "screens"
FAREWELL = "wandb: Find logs at: wandb/offline-run-20261122_070702-do666tpf/logs"
OF_TRAIN = StageResult("train", 36_000.0, 5155.0, 5155, 0.41)
OF_EVAL = StageResult("eval", 700.0, 30.0, 30, None)
KILLED = "exit_code: 137 (SIGKILL), wanted 0"
NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled"
NO_ROOM = "disk_free: 1.2 GB free, wanted 5.0 GB"
MISSING = "artifact ckpt/checkpoint-*: missing, wanted 2 new of at least 100.0 kB"


class Situation(NamedTuple):
    """what: as a person would say it. look: None where the box was not reached."""

    what: str
    look: RunLook | None
    snapshot: Snapshot
    memory: Before


def failed(stage: str, reason: str, failure_class: str, proof: str, **changes: Any) -> RunLook:
    found = failure(failure_class, proof, stage=stage)._replace(**changes)
    return dead(outcome=Event.CHAIN_FAILED, stage=stage, reason=reason, failure=found, progress=at(2076, 5000))


def at(current: float, maximum: int | None, **changes: Any) -> Progress:
    return HEALTHY_PROGRESS._replace(current=current, exact_max=maximum, eta_seconds=None, **changes)


def _all() -> Iterator[tuple[str, RunLook] | tuple[str, RunLook, Snapshot] | tuple[str, RunLook, Snapshot, Before]]:
    yield "all is well", run()
    yield (
        "resumed twice, and its bar says that nothing is left",
        run(attempt=3, progress=HEALTHY_PROGRESS._replace(eta_seconds=0.0)),
        box(),
        before(attempt="r1/train/3", steps=((NOW - TICK, 4400.0),)),
    )
    yield "its time limit comes before its end", run(timeout_seconds=42_000.0, steps_per_second=0.1)
    yield "well, but the disk fills", run(), box(disks=(disk(97.0, 12.0),))
    yield "it hangs", run(log=log(2700.0), artifacts=artifacts(3000.0)), box(), before(steps=((NOW - TICK, 4600.0),))
    yield "its loss is lost", run(progress=at(2076, 5000, loss="nan"))
    yield "slower than it was", run(), box(), before(rates=(0.4,) * 8 + (0.2,) * 3)
    yield "killed with its runner, seen once", dead(progress=at(2076, 5000))
    yield (
        "killed with its runner, seen twice",
        dead(progress=at(2076, 5000), keeps_checkpoints=True),
        box(),
        before(gone_ticks=1, rule="gone"),
    )
    yield (
        "killed by somebody",
        failed("train", KILLED, "unknown", "Killed", signal=9, oom_kills=0, rule="killed-none-counted"),
    )
    yield "killed by the kernel for memory", failed("train", KILLED, "host_oom", "Killed", signal=9, oom_kills=1)
    yield "a torch without CUDA", failed("train", "exit_code: 1, wanted 0", "cuda_env", NO_CUDA, where="train.py:12")
    yield (
        "a slip in the evaluation",
        failed("eval", "exit_code: 1, wanted 0", "code_error", "KeyError: 'acc'", where="eval.py:10"),
    )
    yield (
        "ended with 0 and left nothing",
        failed("train", MISSING, "false_success", FAREWELL, rule="exit-0-but-refused"),
    )
    yield (
        "the same failure again",
        failed("train", "exit_code: 1, wanted 0", "code_error", "KeyError: 'lr'", where="train.py:31")._replace(
            attempt=2
        ),
        box(),
        before(signatures=(("code_error: KeyError: 'lr'", "r1/train/1"),), attempt="r1/train/2"),
    )
    yield (
        "a gate refused",
        dead(outcome=Event.GATE_REFUSED, reason="disk_free: 1.2 GB free, wanted 5.0 GB", stage="eval"),
    )
    yield "stopped by a person", dead(outcome=Event.CHAIN_STOPPED, reason="stopped on request", progress=at(2076, 5000))
    yield (
        "done",
        done(
            began_age_seconds=37_320.0,
            stage="eval",
            stage_results=(OF_TRAIN, OF_EVAL),
            log=log(600.0, "acc 0.967"),
            progress=Progress(current=30, exact_max=30),
            results=(ResultFile("/root/digits/results.csv", "epoch,acc\n30,0.967\n", whole=True),),
        ),
    )
    yield (
        "done, and a person knows it",
        done(stage_results=(OF_TRAIN,), log=log(600.0, FAREWELL)),
        box(),
        before(acknowledged=acknowledgement("r1", "done"), rule="done"),
    )
    yield "a bare training with nohup", watched()
    yield (
        "a bare training that ended, and nothing proves success",
        watched(stage_alive=False, progress=at(5155, 5155, finished=True), log=log(600.0, FAREWELL)),
    )
    yield "waits for its data", run(waiting_for="data/READY", progress=Absent("none"), log=Absent("no log yet"))
    yield (
        "waits in a queue",
        dead(
            scheduler=on_engine("PENDING", "Resources"),
            outcome=Absent("open"),
            attempt=Absent("none"),
            progress=Absent("-"),
        ),
    )
    yield "a name of many letters", run(run="llama-3-70b-continued-pretraining-on-the-new-mixture-v4")
    yield "could not look at its processes", run(runner_alive=Unseen("late"), stage_alive=Unseen("late"))


def situations() -> list[Situation]:
    told = [_situation(*one) for one in _all()]
    return [*told, Situation("the key is not accepted", None, away("auth", "Permission denied (publickey)."), before())]


def _situation(what: str, look: RunLook, snapshot: Snapshot | None = None, memory: Before | None = None) -> Situation:
    return Situation(what, look, snapshot or box(), memory or before())


def decide(one: Situation) -> tuple[Verdict, RunLook | None]:
    if one.look is None:
        return decide_unreachable_run(one.snapshot, "digits", one.memory, box_before(), NOW, way=WAY), None
    look = with_time_left(one.look, one.memory, NOW)
    return decide_run(look, one.snapshot, one.memory, box_before(), NOW, way=WAY), look  # type: ignore[arg-type]


def in_80_columns() -> str:
    parts = []
    for one in situations():
        verdict, look = decide(one)
        parts.append("\n".join([f"# {one.what}", line(verdict, look, NOW), *details(verdict, look, NOW)]))
    alone = decide_box(away("timeout", "no answer within 10 s"), box_before(), NOW, way=WAY)
    parts.append("\n".join(["# a box that nothing is known of", line(alone, None, NOW), *details(alone, None, NOW)]))
    return "\n\n".join(parts) + "\n"


def in_120_columns() -> str:
    """`--wide`, as a terminal of 120 columns wraps it."""
    parts = []
    for one in situations():
        verdict, look = decide(one)
        lines = [wide_line(verdict, look, one.snapshot, NOW, one.memory), *details(verdict, look, NOW, wide=True)]
        wrapped = [part for text in lines for part in textwrap.wrap(text, 120, drop_whitespace=False) or [""]]
        parts.append("\n".join([f"# {one.what}", *wrapped]))
    return "\n\n".join(parts) + "\n"


def notice(one: Situation) -> Notice | None:
    """What people are told of it; None where that is nothing."""
    verdict, look = decide(one)
    worst = worst_told(verdict)
    if worst.severity is Severity.OK and verdict.state is not RunState.DONE:
        return None
    kind = PATROL_DONE if verdict.state is RunState.DONE else PATROL_TROUBLE
    judged = Judged(verdict, look, one.memory, one.memory._replace(run_id="r1"), "")
    of_box = BoxJudged(BoxSettings("gpu1", "gpu1"), one.snapshot, box_before(), box_before(), (judged,), None)
    news = News(kind, worst.rule, ((of_box, judged),))
    return notice_of(news, "msg_1", folder="/home/me/digits", host="laptop", now=NOW)


def on_a_phone() -> str:
    told = [(one.what, found) for one in situations() if (found := notice(one)) is not None]
    return "\n\n".join(f"# {what}\n{message_text.text(found, 4000)}" for what, found in told) + "\n"


SCREENS = {"patrol_80.txt": in_80_columns, "patrol_120.txt": in_120_columns, "notices.txt": on_a_phone}


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    for name, render in SCREENS.items():
        (FOLDER / name).write_text(render())
