"""Looks and memories in which anything may be unseen, absent, wrong or hostile. Seeded: the same ones every time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen
from onbox.model.tracker import TrackerIdentity
from onbox.trackers.reading import TrackerRun
from onbox.trackers.trackio_db import Alert
from patrol.memory.history import Before, BoxBefore
from patrol.snapshot import (
    NOT_ASKED,
    Artifacts,
    BoxIdentity,
    BoxLook,
    DiskLook,
    GpuLook,
    KernelFault,
    MemoryLook,
    Pressure,
    RunLook,
    Scheduler,
    TrackerLook,
)
from tests.patrol.makers import NOW, failure, log, on_engine

if TYPE_CHECKING:
    from random import Random

TEXTS = (
    "",
    "train",
    "a b",
    "\x1b[2J\x07evil",
    "\u202eturned \u200bhidden \u2028line \U000e0041tag \udcff",
    "x" * 5000,
    "|=';$(rm -rf /)",
    "名前" * 40,
    "line\nbreak\r\ttab",
    "{say}",
)
SCHEDULERS = (
    *(on_engine(word) for word in ("PENDING", "RUNNING", "COMPLETED", "OUT_OF_MEMORY", "TIMEOUT", "NO_SUCH_WORD", "")),
    Scheduler("slurm", "1", "pending", "PENDING", TEXTS[3], TEXTS[4], "never-ran", "failed", says=TEXTS[5]),
)
NUMBERS = (0.0, 1.0, 29.0, 61.0, 1801.0, 1e9, -5.0, float("nan"), float("inf"))
WHOLES = (0, 1, 2, 99, 10**15, -1)
OUTCOMES = ("chain_done", "chain_failed", "gate_refused", "chain_stopped", "chain_interrupted", "of_a_newer_version")
RULES = ("healthy", "stalled", "gone", "unreachable", "no such rule", "done", "interrupted")


def maybe(random: Random, *values: Any) -> Any:
    """One of the values, or a reading without one."""
    return random.choice((*values, *values, Absent("none"), Unseen("late"), NOT_ASKED))


def a_run(random: Random) -> RunLook:
    def number() -> Any:
        return maybe(random, *NUMBERS)

    def text() -> Any:
        return maybe(random, *TEXTS)

    return RunLook(
        run=random.choice(("digits", *TEXTS[1:])),
        managed=random.random() < 0.7,
        place=random.choice(TEXTS),
        run_id=maybe(random, "r1", "r2"),
        stage=text(),
        attempt=maybe(random, *WHOLES),
        stages_done=random.choice(WHOLES),
        stages_total=random.choice(WHOLES),
        claimed_state=maybe(random, "running", "stalled", "done", "\x1b[31m"),
        runner_alive=maybe(random, True, False),
        stage_alive=maybe(random, True, False),
        outcome=maybe(random, *OUTCOMES) if random.random() < 0.5 else Absent("open"),
        reason=random.choice(TEXTS),
        done=maybe(random, "CHAIN_DONE of r1") if random.random() < 0.5 else Absent("none"),
        ended_age_seconds=number(),
        heartbeat_age_seconds=number(),
        heartbeat_every_seconds=random.choice((30.0, 0.0, 1e9)),
        stage_began_age_seconds=number(),
        stall_after_seconds=number(),
        waiting_for=text(),
        retries=random.choice(WHOLES),
        failure=maybe(
            random, failure(), failure("nobody_knows", random.choice(TEXTS), retry_allowed=None, signature=""), failure("code_error")
        ),
        progress=maybe(random, a_progress(random)),
        log=maybe(random, log(random.choice(NUMBERS), random.choice(TEXTS))),
        artifacts=maybe(random, Artifacts(random.choice(WHOLES), 0, number())),
        undelivered=maybe(random, *WHOLES),
        notify_trouble=random.choice(TEXTS),
        scheduler=maybe(random, *SCHEDULERS),
        expected_seconds=number(),
        trackers=tuple(a_tracker(random) for _ in range(random.choice((0, 0, 1, 2)))),
    )  # fmt: skip


def a_tracker(random: Random) -> TrackerLook:
    def text() -> Any:
        return random.choice((None, *TEXTS))

    def a_run() -> TrackerRun:
        at = random.choice((None, *NUMBERS, NOW, NOW - 1e4))
        step, loss = random.choice((None, *NUMBERS)), random.choice((None, 0.5, "nan"))
        return TrackerRun(
            "wandb",
            text(),
            text(),
            text(),
            random.choice((None, "finished", "crashed", *TEXTS)),
            step,
            False,
            at,
            loss,
            None,
        )

    return TrackerLook(
        random.choice(("", "train", *TEXTS)),
        TrackerIdentity(random.choice(("wandb", "trackio", *TEXTS)), text(), text(), None, text(), text(), text()),
        tuple(TEXTS) if random.random() < 0.3 else (),
        maybe(random, a_run()),
        random.choice((None, a_run())),
        maybe(random, a_run()),
        (Alert(random.choice((None, *NUMBERS, NOW)), random.choice(("warn", *TEXTS)), *TEXTS[:2], random.choice((None, *NUMBERS))),),
        random.choice((None, True, False)),
        random.random() < 0.8,
    )  # fmt: skip


def a_progress(random: Random) -> Progress:
    return Progress(
        current=random.choice((None, *NUMBERS[:6], 4600.0)),
        exact_max=random.choice((None, 0, 5155)),
        loss=random.choice((None, 0.4, "nan", float("inf"), "\x1b[5m")),
        eta_seconds=random.choice((None, 0.0, 4320.0, 1e12)),
        finished=random.choice((None, True, False)),
        percent=random.choice((None, 12.5)),
    )


def a_box(random: Random) -> BoxLook:
    def number() -> Any:
        return maybe(random, *NUMBERS)

    def whole() -> Any:
        return maybe(random, *WHOLES)

    identity = BoxIdentity(
        random.choice(TEXTS), maybe(random, "boot-1", "boot-2"), number(), NOW, random.choice(NUMBERS)
    )
    return BoxLook(
        random.choice(("gpu1", *TEXTS)),
        NOW,
        maybe(random, identity),
        (),
        memory=maybe(random, MemoryLook(whole(), whole(), whole(), whole(), whole())),
        pressure=maybe(random, Pressure(number(), number(), number(), of_host=random.random() < 0.5)),
        disks=maybe(random, (DiskLook(random.choice(TEXTS), random.choice(WHOLES), random.choice(WHOLES), whole(), whole()),), ()),
        gpus=maybe(random, (GpuLook(0, whole(), whole(), whole(), whole(), random.choice(TEXTS)),), ()),
        kernel_faults=maybe(random, (KernelFault("xid", random.choice(TEXTS), number()), KernelFault("oom", "x", number()))),
        sections_unseen=((random.choice(TEXTS), random.choice(TEXTS)),),
        onbox_on_path=maybe(random, True, False),
    )  # fmt: skip


def a_memory(random: Random) -> Before:
    def time() -> float | None:
        return random.choice((None, NOW - 1800, NOW + 1e6, 0.0))

    return Before(
        last_seen_at=time(),
        run_id=random.choice((None, "r1", "r2")),
        boot_id=random.choice((None, "boot-1")),
        rule=random.choice((None, *RULES)),
        since=time(),
        gone_ticks=random.choice((0, 0, 1, 7)),
        steps=random.choice(((), ((NOW - 1800, 4400.0),), ((NOW + 5, 1.0),), ((NOW - 9, 5.0), (NOW - 3, 5.0)))),
        rates=random.choice(((), (0.2,) * 12, (0.0,) * 12)),
        signatures=random.choice(((), ((failure().signature, "r1/train/1"),))),
        rules=tuple(random.choice(RULES) for _ in range(random.choice((0, 1, 21, 40)))),
        acknowledged=random.choice((None, "r1:done")),
        silenced_until=time(),
        durations=random.choice(((), (("train@r0", 1e4),), (("", 0.0),))),
        attempt=random.choice((None, "r1/train/1")),
        uptime_seconds=random.choice((None, 1.0, 1e9)),
        gpu_percents=random.choice(((), (0, 0, 0))),
        artifact_at=time(),
        artifact_gaps=random.choice(((), (600.0,) * 3, (0.0,) * 16)),
        losses=random.choice(((), (2.0,) * 8, (-1.0, 0.0) * 8)),
        undelivered_ticks=random.choice((0, 3)),
        was_flapping=random.random() < 0.5,
    )


def a_box_memory(random: Random) -> BoxBefore:
    return BoxBefore(
        failures=random.choice((0, 1, 9)),
        first_failure_at=random.choice((None, NOW - 9, NOW + 9)),
        boot_id=random.choice((None, "boot-1")),
        oom_kills=random.choice((None, 0, 5)),
        kernel_seconds=random.choice((None, 0.0, 1e6)),
        last_tick_at=random.choice((None, NOW - 1800, NOW + 1e6, 0.0)),
        disks=tuple((NOW - at * 60, random.choice(TEXTS), at, random.choice((None, at))) for at in range(5, 0, -1)),
    )
