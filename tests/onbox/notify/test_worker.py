"""One target's queue: age, damage, a disk without room."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.contract.notify_targets import DeliveryPace, NotifyTarget
from onbox.contract.paths import RunPaths
from onbox.notify.queue.outbox import Message, Outbox
from onbox.notify.send.worker import Left, Worker, WorkerTerms, hide
from onbox.notify.targets import TargetStanding, write_standing
from onbox.system.clock import utc_text, wall
from tests.fault_server import CANARY, FaultServer
from tests.onbox.notify.samples import DONE, FAILED, message

if TYPE_CHECKING:
    from pathlib import Path

QUICK = DeliveryPace(2.0, 0.01, 0.05, 3600.0)


@pytest.fixture
def box(tmp_path: Path) -> Outbox:
    made = Outbox(RunPaths(os.fspath(tmp_path / "run")))
    made.make()
    return made


def fresh(offset: int, age_seconds: float = 0.0, **changes: str) -> Message:
    notice = DONE._replace(**changes)  # type: ignore[arg-type]
    return message(offset, notice)._replace(enqueued_at=utc_text(wall() - age_seconds))


def work(box: Outbox, url: str, pace: DeliveryPace = QUICK, seconds: float = 60.0) -> Left:
    terms = WorkerTerms(pace, {"HOOK": url}, "/", wall() + seconds)
    return Worker(box.paths, NotifyTarget("hook", "env:HOOK"), terms).run()


def reasons(box: Outbox) -> list[str]:
    ends = [box.read(name, box.paths.dead) for name in box.names(box.paths.dead)]
    return [(one.end or {})["reason"] for one in ends if isinstance(one, Message)]


def test_what_is_too_old_is_given_up_with_the_reason(box: Outbox, server: FaultServer) -> None:
    box.put(fresh(1, age_seconds=7200))
    box.put(fresh(2))
    write_standing(box.paths, "hook", TargetStanding(reason="HTTP 500: the receiver is in trouble"))
    assert work(box, server.url()) is Left.EMPTY
    assert reasons(box) == ["not delivered within 7200 s; the last try: HTTP 500: the receiver is in trouble"]
    assert len(server.acknowledged) == 1


def test_a_damaged_file_is_set_aside(box: Outbox, server: FaultServer) -> None:
    box.put(fresh(2))
    with open(f"{box.paths.outbox}/00000000000001-hook.json", "wb"):
        pass
    assert work(box, server.url()) is Left.EMPTY
    assert [name.offset for name in box.names(box.paths.dead)] == [1]
    assert len(server.acknowledged) == 1


def test_a_long_retry_after_is_left_to_the_next_one(box: Outbox, server: FaultServer) -> None:
    box.put(fresh(1))
    assert work(box, server.url("retry_hour")) is Left.BEYOND
    assert len(server.received) == 1
    assert work(box, server.url()) is Left.BEYOND
    assert len(server.received) == 1, "not before the hour is over"


@pytest.mark.parametrize("fault", ["retry_seconds", "retry_date"])
def test_a_short_retry_after_is_kept_to(box: Outbox, server: FaultServer, fault: str) -> None:
    server.plan = [fault]
    box.put(fresh(1))
    assert work(box, server.url()) is Left.EMPTY
    first, second = (one.at for one in server.received)
    assert 0.9 <= second - first < 2.6


def test_a_flapping_stage_makes_few_messages(box: Outbox, server: FaultServer) -> None:
    for offset in range(200):
        stalled = FAILED._replace(event="stalled", failure_class=None)
        box.put(message(offset, stalled)._replace(enqueued_at=utc_text(wall())))
    assert work(box, server.url()) is Left.EMPTY
    (one,) = server.acknowledged
    assert one.json()["data"]["times"] == 200
    assert len(box.names(box.paths.sent)) == 200


def test_an_answer_that_is_not_the_channel_s_is_not_tried_for_ever(box: Outbox, server: FaultServer) -> None:
    box.put(fresh(1))
    terms = WorkerTerms(QUICK, {"HOOK": server.url("garbage_200")}, "/", wall() + 60)
    server.plan = ["200", "200", "200", "200"]  # 200 without Slack's `ok`
    assert Worker(box.paths, NotifyTarget("hook", "env:HOOK", format="slack"), terms).run() is Left.EMPTY
    assert len(server.received) == 3
    assert "not `ok`" in reasons(box)[0]


def test_a_group_whose_finisher_died_is_not_sent_again(box: Outbox, server: FaultServer) -> None:
    for offset in (1, 2, 3):
        box.put(message(offset, FAILED)._replace(enqueued_at=utc_text(wall())))
    group = tuple(name.text for name in box.pending())
    write_standing(box.paths, "hook", TargetStanding(tries=1, group=group))
    box.set_aside(box.pending()[0], box.paths.sent)
    assert work(box, server.url()) is Left.EMPTY
    assert server.received == []
    assert len(box.names(box.paths.sent)) == 3


@pytest.mark.root
def test_a_full_disk_repeats_nothing(tmp_path: Path, server: FaultServer) -> None:
    import subprocess

    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "onbox-test", os.fspath(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root and mounts")
    try:
        box = Outbox(RunPaths(os.fspath(disk / "run")))
        box.make()
        for offset in (1, 2):
            box.put(fresh(offset))
        with open(disk / "filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        assert work(box, server.url()) is Left.EMPTY
        assert len(server.acknowledged) == 2
        assert box.pending() == []
        assert len(box.names(box.paths.sent)) == 2
    finally:
        subprocess.run(["umount", "-l", os.fspath(disk)], check=True)


def test_reasons_hide_every_part_of_the_secret() -> None:
    from onbox.notify.targets import Resolved

    resolved = Resolved(
        NotifyTarget("hook", "env:HOOK"), f"https://x.example/services/T1/{CANARY}?key=abcdef1", "whsec_zzzzzz"
    )
    said = f"no {CANARY} and key=abcdef1 or whsec_zzzzzz at https://x.example/services/T1/{CANARY}?key=abcdef1"
    hidden = hide(said, resolved)
    assert not any(word in hidden for word in (CANARY, "abcdef1", "zzzzzz"))
    assert CANARY not in repr(resolved)
