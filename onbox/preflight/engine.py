"""The engine that `backend` names: whether it is there, and would take this chain. One check for each engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.collectors.mounts import locate, read_mounts
from onbox.contract.readings import Absent, Unseen
from onbox.preflight.engine_iris import check_iris
from onbox.preflight.engine_ray import check_ray
from onbox.preflight.engine_slurm import all_nodes_are_here, check_slurm
from onbox.preflight.place import existing
from onbox.preflight.report import passed, unseen, warned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.preflight.report import Facts, Result

_CHECKS: dict[str, Callable[[Facts], Iterator[Result]]] = {
    "slurm": check_slurm,
    "ray": check_ray,
    "iris": check_iris,
}
SHARE = "set state_dir to a disk that the nodes share (NFS, Lustre, …), where flock(2) works"


def check_engine(facts: Facts) -> Iterator[Result]:
    """Nothing for a chain that runs on this machine."""
    check = _CHECKS.get(facts.engine)
    if check is None:
        return
    yield from check(facts)
    if facts.engine != "iris" and "project" not in facts.engine_settings:
        yield check_shared(facts, here=_is_here(facts))


def _is_here(facts: Facts) -> bool:
    """Whether all that the engine has is this machine."""
    return facts.engine == "slurm" and all_nodes_are_here(facts)


def check_shared(facts: Facts, *, here: bool) -> Result:
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
