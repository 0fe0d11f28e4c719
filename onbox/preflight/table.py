"""All checks, in the order in which they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.preflight.earlier import check_earlier
from onbox.preflight.engine import check_engine
from onbox.preflight.gpus import check_gpus, check_xids
from onbox.preflight.limits import check_memory, check_pids, check_rlimits, check_threads
from onbox.preflight.own_python import check_python
from onbox.preflight.place import check_disks, check_state
from onbox.preflight.project import (
    check_all_gates,
    check_buffering,
    check_commands,
    check_configuration,
    check_scripts,
    check_trust,
    check_variables,
)
from onbox.preflight.report import CheckResult, unseen
from onbox.preflight.session import check_session, check_shells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.preflight.report import CheckFacts

CHECKS: tuple[tuple[str, Callable[[CheckFacts], Iterator[CheckResult]]], ...] = (
    ("configuration", check_configuration),
    ("trust", check_trust),
    ("commands", check_commands),
    ("python", check_python),
    ("line ends", check_scripts),
    ("variables", check_variables),
    ("output", check_buffering),
    ("gates", check_all_gates),
    ("state", check_state),
    ("earlier run", check_earlier),
    ("disks", check_disks),
    ("memory", check_memory),
    ("threads", check_threads),
    ("processes", check_pids),
    ("limits", check_rlimits),
    ("gpu", check_gpus),
    ("xid", check_xids),
    ("engine", check_engine),
    ("session", check_session),
    ("shell", check_shells),
)


def run_checks(facts: CheckFacts) -> Iterator[CheckResult]:
    """Every result. A check that breaks costs its own result only, and says so."""
    for name, check in CHECKS:
        try:
            yield from check(facts)
        except (OSError, ValueError) as error:
            yield unseen(name, f"{type(error).__name__}: {error}")
