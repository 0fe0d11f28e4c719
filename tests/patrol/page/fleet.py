"""A patrol's memory as it is after days of ticks over many boxes, each in another situation: for the page's tests and
its benchmark. What is said of the last look is judged as a tick judges it; the ticks before it are numbers only.
"""

from __future__ import annotations

import json
import math
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.events import Event, render_event
from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen, observed
from onbox.logs.cursor import Cursor
from onbox.project import load_project
from onbox.series.point import Point as SeriesPoint
from onbox.system.clock import utc_text
from patrol.config.configured import settings_of
from patrol.judge import Frame, box_note, judge, run_note
from patrol.memory.history import Before, BoxBefore
from patrol.memory.rows import Past, TickNote, TickPoint
from patrol.memory.run_memory import BoxMemory, LogPlace, Memories, RunMemory
from patrol.memory.run_records import RecordText
from patrol.memory.sqlite import series
from patrol.memory.store import FILE, Memory
from patrol.snapshot import BoxIdentity, BoxLook, Cells, GpuLook, MemoryLook, RunLook, Snapshot, Unreachable
from patrol.tick import policy_of
from tests.patrol.makers import UPTIME, artifacts, box, dead, disk, done, failure, log, run

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from pathlib import Path

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged

GIB = 1 << 30
LOST_SECONDS = 9000.0
SERIES_ROWS = 1500
WITH_SERIES = ("h100-a", "spot-3", "lost-7", "h100-c")
TRACE = (
    "Traceback (most recent call last):",
    '  File "/root/digits/train.py", line 211, in <module>',
    "    save(model, path)",
    '  File "/root/digits/train.py", line 88, in save',
    "    file.write(payload)",
    "OSError: [Errno 28] No space left on device",
)


class Case(NamedTuple):
    """How a box is at the last look. run: None: it was not reached. look: of the box, from the usual one."""

    name: str
    run: RunLook | None
    look: Callable[[BoxLook], BoxLook] = lambda look: look
    fall: float = 0.0  # of inodes, in percent of them per tick


def _progress(current: float, loss: float | str | None, eta: float | None = None, most: int = 50_000) -> Progress:
    return Progress(current=current, exact_max=most, unit="step", loss=loss, eta_seconds=eta, finished=False)


def cases() -> list[Case]:
    """One of each kind, the worst not first."""
    failed = dead(
        outcome="chain_failed",
        claimed_state="failed",
        attempt=2,
        failure=failure(traceback=TRACE),
        reason="exit_code: 1, wanted 0",
        ended_age_seconds=4200.0,
        progress=_progress(31_200, 0.0712),
    )
    sweep = Cells(
        "12 of 20 cells done · 2 failed · 4 run",
        12,
        20,
        (
            ("lr=1e-3,seed=0", "done", "acc 0.967"),
            ("lr=1e-3,seed=1", "failed", "oom_host"),
            ("lr=1e-4,seed=0", "running", ""),
        ),
    )
    moving = run(attempt=2, progress=_progress(38_210, 0.0431, 15_300.0), steps_per_second=0.77, stages_done=1)
    quiet = run(log=log(5400.0), artifacts=artifacts(5400.0), stall_after_seconds=1800.0)
    return [
        Case("h100-a", moving),
        Case("spot-3", failed),
        Case("a100-b", run(progress=_progress(12_020, 0.311, 98_000.0), attempt=3, retries=2), _filling, fall=0.4),
        Case("lost-7", None),
        Case("l40-1", done(progress=_progress(50_000, 0.0388)._replace(finished=True))),
        Case("cpu-9", quiet._replace(progress=_progress(9000, 0.52)), _no_gpu),
        Case("grid-2", run(progress=_progress(12, None, 5400.0, 20)._replace(unit="cells"), cells=sweep)),
        Case("h100-c", run(progress=_progress(4410, "nan", 61_000.0))),
        Case("h100-d", run(progress=_progress(20_100, 0.12, 41_000.0), timeout_seconds=90_000.0), _blind),
    ]  # fmt: skip


def _usual(look: BoxLook) -> BoxLook:
    memory = MemoryLook(int(45.2 * GIB), 64 * GIB, 0, 30 * GIB, 128 * GIB)
    gpus = tuple(GpuLook(number, 90 + number, 70 * GIB, 80 * GIB, 61 + number) for number in range(4))
    return look._replace(memory=memory, gpus=gpus, disks=(disk(), disk(31.0, 12.0, "/data")))


def _filling(look: BoxLook) -> BoxLook:
    return look._replace(disks=(disk(34.0, 91.0, "/data"),))


def _no_gpu(look: BoxLook) -> BoxLook:
    return look._replace(gpus=Absent("no nvidia-smi and no NVIDIA device"), memory=look.memory)


def _blind(look: BoxLook) -> BoxLook:
    return look._replace(
        gpus=Unseen("nvidia-smi did not answer within 5 s"), memory=Unseen("/sys/fs/cgroup is not readable")
    )


def make_fleet(
    folder: Path, now: float, *, boxes: int, days: float, with_series: Container[str] = WITH_SERIES
) -> Settings:
    """A project with so many boxes, looked at every half hour for so long. More boxes than kinds: they come again.
    with_series: kinds of which a runner keeps a series.
    """
    kinds = cases()
    named = [(kinds[number % len(kinds)], number) for number in range(boxes)]
    fleet = {kind.name if number < len(kinds) else f"{kind.name}-{number}": kind for kind, number in named}
    settings = make_project(folder, list(fleet), now)
    memory = Memory(settings.state)
    for at in (now - LOST_SECONDS, now):
        judged = [_judged(settings, box, fleet[box.name], at, now) for box in settings.config.boxes]
        rows = [run_note(one, found.snapshot, at) for found in judged for one in found.runs]
        memory.remember(TickNote(at, at + 2.0, 2, tuple(map(box_note, judged)), tuple(rows)))
    _add_points(settings, fleet, now, days)
    with closing(sqlite3.connect(f"{settings.state}/{FILE}")) as db, db:
        for number, (name, kind) in enumerate(fleet.items()):
            if kind.name in with_series:
                until = now - LOST_SECONDS if kind.run is None else now
                series.add(db, name, "digits", own_series(kind, until, days, number=number))
    return settings


def make_project(folder: Path, boxes: Sequence[str], now: float) -> Settings:
    """An onbox.toml with these boxes, and a patrol's folder beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    rented = utc_text(now - 6 * 86400)
    tables = (
        f'[boxes.{json.dumps(name)}]\nhost = "10.0.0.{number}"\nproject = "/root/digits"\n'
        f'price = "2.10 USD/h"\nstarted = "{rented}"\n'
        for number, name in enumerate(boxes)
    )
    (folder / "onbox.toml").write_text('[run]\nname = "digits"\n' + "".join(tables))
    return settings_of(load_project(str(folder / "onbox.toml")), {"XDG_STATE_HOME": str(folder / "state")})


def _judged(settings: Settings, box: BoxSettings, kind: Case, at: float, now: float) -> BoxJudged:
    """As a tick judges it; the box that is lost in the end was well before."""
    past = Past({}, {box.name: _box_before(kind, at)}, {})
    if kind.run is None and at == now:
        before = Before(last_seen_at=now - LOST_SECONDS, run_id="r1", known_rule="healthy", known_state="running")
        past.runs[box.name, "digits"] = before
    kind = kind._replace(run=run()) if at < now else kind
    memories = Memories(BoxMemory(), {"digits": RunMemory(log=_log(kind))}) if kind.run is not None else None
    return judge(box, _snapshot(box.name, kind, at), memories, Frame(past, policy_of(settings), ("ssh",), at))


def _snapshot(name: str, kind: Case, now: float) -> Snapshot:
    if kind.run is None:
        return Unreachable(name, now, "timeout", "connect to host 10.0.0.7 port 22: Connection timed out")
    look = box(box=name, at=now, runs=(kind.run,), records=(("digits", _record(now)),))
    identity = BoxIdentity(name, "boot-1", UPTIME, now, 0.2)
    return kind.look(_usual(look._replace(identity=identity)))


def _box_before(kind: Case, now: float) -> BoxBefore:
    disks = tuple(
        (now - ticks * 1800.0, "/data", int(66e10), int(1e5 * (9 + kind.fall * ticks))) for ticks in range(12, 0, -1)
    )
    return BoxBefore(last_reached_at=now - 1800, boot_id="boot-1", oom_kills=0, kernel_seconds=UPTIME, disks=disks)


def _record(now: float) -> RecordText:
    def event(ago: float, kind: str, stage: str, **more: Any) -> dict[str, Any]:
        return {"at": utc_text(now - ago), "event": kind, "stage": stage, "attempt": 1, **more}

    tokens = {"path": "data/tokens.bin", "bytes": 2_100_000_000, "mtime": int(now - 190_100)}
    counted = {"artifacts": [tokens], "artifact_count": 1, "artifact_bytes_total": 2_100_000_000}
    why = {"retry": 1, "retries": 2, "delay_seconds": 60, "failure_class": "preempted", "reason": "SIGTERM of the host"}
    events = [
        event(190_000, Event.ATTEMPT_ENDED, "prepare", duration_seconds=9_000),
        event(190_000, Event.STAGE_DONE, "prepare", exit_code=0, duration_seconds=9_000, **counted),
        event(60_000, Event.ATTEMPT_ENDED, "train", duration_seconds=129_000),
        event(60_000, Event.STAGE_RETRYING, "train", **why),
    ]
    start = {"at": utc_text(now - 200_000), "event": Event.CHAIN_STARTED, "launch": 1, "stages": 2, "pid": 4711}
    return RecordText("{}", render_event(start).decode(), b"".join(map(render_event, events)).decode(), {})


def _log(kind: Case) -> LogPlace:
    lines = [
        f"step {step}/50000 loss {0.5 - step / 1e6:.4f} lr 3.0e-4 grad_norm 0.7{step % 10}"
        for step in range(4000, 4080)
    ]
    lines += list(TRACE) if kind.name.startswith("spot") else []
    return LogPlace("/root/digits/train.log", Cursor(1, 2, 9, ""), ("\n".join(lines) + "\n").encode())


def _add_points(settings: Settings, fleet: Mapping[str, Case], now: float, days: float) -> None:
    """The numbers of the ticks before: a loss that falls, a counter that moves, a hole of a night."""
    ticks = int(days * 48)
    night = range(int(ticks * 0.62), int(ticks * 0.62) + 16)
    with closing(sqlite3.connect(f"{settings.state}/{FILE}")) as db, db:
        db.executemany("INSERT OR IGNORE INTO rules (name) VALUES (?)", [("healthy",), ("slow",)])
        rules = dict(db.execute("SELECT name, key FROM rules"))
        for number, (name, kind) in enumerate(fleet.items()):
            (key,) = db.execute("SELECT key FROM runs WHERE box = ? AND run = 'digits'", (name,)).fetchone()
            chance = random.Random(number)
            for tick in (tick for tick in range(ticks) if tick not in night):
                slow, point = _row(tick, ticks, kind, chance)
                at = int(now - (ticks - tick) * 1800)
                row = (key, at, rules["slow" if slow else "healthy"], int(slow), *point)
                db.execute("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _row(tick: int, ticks: int, kind: Case, chance: random.Random) -> tuple[bool, TickPoint]:
    share = (tick + 1) / (ticks + 1)
    progress = observed(kind.run.progress) if kind.run is not None else None
    end = (progress.current if progress is not None else None) or 20_000.0
    slow = 0.40 < share < 0.46
    loss = 4.1 * math.exp(-4.2 * share) + 0.03 + chance.gauss(0, 0.012)
    busy = 40 if slow else 93
    return slow, TickPoint(
        current=round(end * (0.40 + (share - 0.40) / 3 if slow else share)),
        loss=round(max(loss, 0.01), 4),
        memory_percent=int(58 + 12 * share + chance.gauss(0, 2)),
        disk_percent=int(20 + 14 * share + 6 * ((tick % 40) / 40)),
        inodes_percent=max(0, int(91 - kind.fall * (ticks - tick))) if kind.fall else 12,
        gpu_percent=None if kind.look in (_no_gpu, _blind) else max(0, min(100, int(busy + chance.gauss(0, 4)))),
    )


def own_series(kind: Case, now: float, days: float, *, number: int = 0) -> tuple[SeriesPoint, ...]:
    """What the runner of such a run keeps of it: as many points as there is room for."""
    chance = random.Random(number)
    progress = observed(kind.run.progress) if kind.run is not None else None
    end = (progress.current if progress is not None else None) or 20_000.0
    begin = now - days * 86400
    return tuple(
        SeriesPoint(
            begin + share * (now - begin),
            "train",
            2,
            step=round(end * share),
            unit="step",
            loss=None if row % 3 == 1 else round(4.1 * math.exp(-4.2 * share) + 0.03 + chance.random() * 0.03, 4),
            learning_rate=round(3e-4 * 0.5 * (1 + math.cos(math.pi * share)), 8),
            grad_norm=round(0.8 + chance.gauss(0, 0.08) + (6 if row == SERIES_ROWS // 2 else 0), 4),
            steps_per_second=round(end / (now - begin) * chance.uniform(0.95, 1.05), 6),
            checkpoint_step=round(end * share / 1000) * 1000,
            checkpoint_at=begin + round(share * 20) / 20 * (now - begin),
            checkpoints=3,
            memory_bytes=int((38 + 9 * share + chance.random()) * GIB),
            gpu_percent=round(90 + chance.gauss(0, 3), 1),
        )
        for row in range(SERIES_ROWS)
        for share in [(row + 1) / SERIES_ROWS]
    )
