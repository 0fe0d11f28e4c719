"""The engine that `backend` names: whether it is there, and would take this chain. Each engine has a module."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from onbox.collectors.mounts import locate, read_mounts
from onbox.contract.readings import Absent, Unseen
from onbox.contract.runfile import is_apart
from onbox.model.engines import BY_NAME
from onbox.preflight.place import existing
from onbox.preflight.report import passed, unseen, warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.preflight.report import CheckFacts, CheckResult, EngineCheck

SHARE = "set state_dir to a disk that the nodes share (NFS, Lustre, …), where flock(2) works"


def check_engine(facts: CheckFacts) -> Iterator[CheckResult]:
    """Nothing for a chain that runs on this machine."""
    row = BY_NAME.get(facts.engine)
    if row is None:
        return
    engine: EngineCheck = import_module(row.check).CHECK
    yield from engine.check(facts)
    if not is_apart({**facts.engine_settings, "name": row.name}):
        yield check_shared(facts, here=engine.is_here(facts))


def check_shared(facts: CheckFacts, *, here: bool) -> CheckResult:
    """Whether the run's state lies where the jobs see it. That it can be locked is tried by the check of the state."""
    if here:
        return passed("shared disk", "every node is this machine")
    mounts = read_mounts(facts.root)
    folder = existing(facts.paths.root)
    mount = None if isinstance(mounts, Absent | Unseen) else locate(folder, mounts)
    if mount is None:
        return unseen("shared disk", f"what {folder} lies on is not known", SHARE)
    if mount.is_local:
        seen = f"{folder} lies on a disk of this machine ({mount.kind}); jobs on other machines would not see it"
        return warned("shared disk", seen, SHARE)
    return passed("shared disk", f"{folder} lies on {mount.kind} ({mount.source})")
