"""What of a run lives: its runner, and its stage. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Unseen
from onbox.outside import safe_line
from patrol.probe.managed.values import json_of

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.probe.box.runs import RawRun
    from patrol.snapshot import BoxIdentity


def runner_alive(raw: RawRun, identity: BoxIdentity) -> Maybe[bool]:
    """The lock is the kernel's word; a process with pid, start time and boot of the lock's text is as good."""
    lock = raw.stats.get("lock")
    if lock is not None and lock.held:
        return True
    holder = json_of(raw.files, "lock")
    if not isinstance(holder, dict):
        return False if lock is None or lock.held is False or lock.size == 0 else Unseen("the lock's text is damaged")
    same_boot = holder.get("boot_id") in (None, identity.boot_id)
    alive = raw.runner
    if same_boot and alive is not None and alive.start_ticks == holder.get("start_ticks") and alive.state not in "ZX":
        return True
    if lock is not None and lock.held is False:
        return False
    if holder.get("host") not in (None, identity.hostname):
        return Unseen(f"its runner is on another host, {safe_line(holder.get('host'), 80)}")
    return False


def stage_alive(raw: RawRun, status: dict[str, Any], identity: BoxIdentity) -> Maybe[bool]:
    """Whether the newest slot is held, by its keeper or by the command that inherited it."""
    slot = raw.slot
    if slot is None:
        return False
    if raw.keeper_holds or slot.held:
        return raw.exit_code is None
    if slot.held is False:
        return False
    keeper = status.get("keeper")
    started = keeper.get("start_ticks") if isinstance(keeper, dict) and keeper.get("pid") == raw.keeper_pid else None
    alive = raw.keeper
    if alive is not None and alive.state not in "ZX" and started in (None, alive.start_ticks):
        return raw.exit_code is None
    runner = status.get("runner")
    host = runner.get("host") if isinstance(runner, dict) else None
    return Unseen("its stage is on another host") if host not in (None, identity.hostname) else False
