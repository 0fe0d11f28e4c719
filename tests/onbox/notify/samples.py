"""Notices to try formats with: a usual one, and one whose every text is hostile."""

from __future__ import annotations

from onbox.contract.notices import Notice
from onbox.contract.notify_targets import NotifyTarget
from onbox.notify.queue.outbox import Message, Name
from onbox.notify.types import FormatInput

AT = "2026-11-21T05:10:24.123Z"
NOW = 1795237824.0

FAILED = Notice(
    id="msg_20261121-3aa1641a_1671_5ebd3a9e",
    at=AT,
    event="stage_failed",
    state="FAILED",
    run="digits",
    run_id="20261121-3aa1641a",
    project="/root/digits",
    host="gpu1",
    stage="train",
    attempt=2,
    stages_total=2,
    exit_code=137,
    failure_class="host_oom",
    remedy="Use less memory, then resume.",
    proof="Killed",
    reason="exit_code: 137 (SIGKILL), wanted 0",
    resources={"peak_working_set_bytes": 8_000_000_000, "peak_gpu_memory_bytes": {"0": 40_000_000_000}},
    duration_seconds=4325.0,
    log="/root/digits/.onbox/digits/logs/train.2.log",
    next_command="cd /root/digits && onbox logs train --run digits",
)
DONE = FAILED._replace(
    id="msg_a_1_0",
    event="chain_done",
    state="done",
    attempt=None,
    failure_class=None,
    remedy=None,
    proof=None,
    reason=None,
)
EVIL = '<!channel> @everyone <at user_id="all">x</at> **b** [l](http://evil) `c` \r\n\x1b[31m"\\ ' + "é漢" * 3000
HOSTILE = FAILED._replace(
    run="digits\r\nX-Evil: 1", stage=EVIL, reason=EVIL, proof=EVIL, remedy=EVIL, host=EVIL, log=EVIL, log_tail=EVIL * 9
)


def ask(
    notice: Notice = FAILED, url: str = "https://hook.example/x/SECRETPATH", secret: str | None = None
) -> FormatInput:
    return FormatInput(notice, url, secret, NOW)


def message(offset: int, notice: Notice = FAILED, target: str = "hook") -> Message:
    named = notice._replace(id=f"msg_{offset}")
    return Message(Name(offset, target), AT, NotifyTarget(target, "env:HOOK"), named)
