"""The probe through a real sshd: one login per look, and nothing of it on the box afterwards."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import BoxSettings, Watch
from patrol.memory.run_memory import nothing_remembered
from patrol.probe.take import take
from patrol.snapshot import BoxLook, Unreachable
from patrol.ssh.client import Answer, NoAnswer, SshTarget, ask
from tests.box import wait_until
from tests.hung_mount import hung_mount
from tests.patrol.probe.local_sh import settings_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sshd import Sshd


def question(target: SshTarget, stdin: bytes, mark: bytes, deadline: float) -> Answer | NoAnswer:
    return ask(target, stdin, end_mark=mark, deadline_seconds=deadline)


def test_two_looks_are_two_logins_and_leave_nothing(sshd: Sshd, tmp_path: Path) -> None:
    log = tmp_path / "nohup.out"
    log.write_bytes(b"step 3/4 loss 0.5\n")
    box = BoxSettings("gpu1", "gpu1", project=str(tmp_path), watches=(Watch("w", log=str(log)),))
    known = nothing_remembered()
    for event in ("first", "same"):
        asked = partial(question, sshd.target())
        look, known = take(box, settings_for(tmp_path), known, asked, time.time())
        assert isinstance(look, BoxLook), look
        assert not isinstance(look.runs, Absent | Unseen)
        assert look.runs[0].log.event == event  # type: ignore[union-attr]
        assert not isinstance(look.identity, Absent | Unseen)
        assert abs(look.identity.clock_skew_seconds) < 30
    assert sshd.logins() == 2
    wait_until(lambda: not sshd.sessions(), "the sessions to be gone")


def test_a_hung_disk_ends_within_the_deadline_and_does_not_hold_the_link(sshd: Sshd, tmp_path: Path) -> None:
    with hung_mount(tmp_path / "hung") as hung:
        box = BoxSettings("gpu1", "gpu1", project=str(hung / "p"))
        look, _ = take(
            box, settings_for(tmp_path, 25.0), nothing_remembered(), partial(question, sshd.target()), time.time()
        )
        assert isinstance(look, BoxLook), look
        assert isinstance(look.runs, Unseen)
        assert not isinstance(look.memory, Absent | Unseen)


def test_a_box_that_is_not_there_is_unreachable(sshd: Sshd, tmp_path: Path) -> None:
    target = sshd.target()
    sshd.stop()
    look, _ = take(
        BoxSettings("gpu1", "gpu1"),
        settings_for(tmp_path),
        nothing_remembered(),
        partial(question, target),
        time.time(),
    )
    assert isinstance(look, Unreachable)
    assert look.reason == "refused"
    assert os.listdir(tmp_path) == ["ssh"]
