"""Slurm, before a chain is handed to it: commands, controller, accounting, and each stage's options by `--test-only`.

Nothing is submitted: `sbatch --test-only` asks the controller when a job would begin (sbatch(1)).
"""

from __future__ import annotations

import os
import re
import shutil
import socket
from typing import TYPE_CHECKING

from onbox.backends.base import QUERY_SECONDS, Order
from onbox.backends.slurm import text
from onbox.backends.slurm.options import with_warning
from onbox.contract.readings import Absent, Unseen
from onbox.preflight.report import EngineCheck, failed, passed, unreached, unseen, warned
from onbox.system.command import NotRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.model.manifest import Stage
    from onbox.preflight.report import CheckFacts, CheckResult

NEEDED = ("sbatch", "squeue", "scontrol", "scancel")
LOAD = "log in to a node with Slurm's commands, or load the site's module for them"
NAMES_SHOWN = 3


def _check(facts: CheckFacts) -> Iterator[CheckResult]:
    missing = [name for name in NEEDED if shutil.which(name, path=facts.environ.get("PATH")) is None]
    if missing:
        yield failed("slurm", f"not on PATH: {', '.join(missing)}", LOAD)
        return
    version = _ask(facts, "sbatch", "--version")
    yield passed("slurm", version.out.strip() if not isinstance(version, Unseen) else "its commands are there")
    yield from _outer_job(facts)
    controller = _controller(facts)
    yield controller
    if controller.looked and not controller.remedy:
        yield _accounting(facts)
        yield from _stages(facts)


def _ask(facts: CheckFacts, *argv: str) -> text.CommandAnswer | Unseen:
    """One question to Slurm; an answer of whatever exit code."""
    env = text.neutral_environment(facts.environ)
    answer = facts.run(argv, timeout_seconds=QUERY_SECONDS, env=env)
    return Unseen(answer.why) if isinstance(answer, NotRun) else text.CommandAnswer(*answer)


def _outer_job(facts: CheckFacts) -> Iterator[CheckResult]:
    if facts.environ.get("SLURM_JOB_ID"):
        seen = f"this shell is part of job {facts.environ['SLURM_JOB_ID']}; its options do not go into the stages' jobs"
        yield passed("outer job", seen)


def _controller(facts: CheckFacts) -> CheckResult:
    """`scontrol ping` tells of each controller `is UP` or `is DOWN`."""
    remedy = "try again later, or ask the people who run the cluster; see `scontrol ping`, and SLURM_CONF if it is set"
    answer = _ask(facts, "scontrol", "ping")
    if isinstance(answer, Unseen):
        return unreached("controller", answer.why, remedy)
    said = text.said(answer.out or answer.err)
    if " is UP" in answer.out:
        return passed("controller", said)
    if " is DOWN" in answer.out:
        return failed("controller", said, remedy)
    return unreached("controller", said or f"scontrol ended with {answer.code}", remedy)


def _accounting(facts: CheckFacts) -> CheckResult:
    """Optional: it tells of ended jobs that the controller has forgotten."""
    answer = _ask(facts, *text.sacct_argv(["1"], text.SACCT_OLD_FIELDS))
    history = answer if isinstance(answer, Unseen) else text.read_history(answer)
    if isinstance(history, Absent):
        return passed("accounting", "none is kept: a job that Slurm has forgotten is judged by its marker")
    if isinstance(history, Unseen):
        return unseen("accounting", history.why, "jobs that Slurm has forgotten cannot be told of until it answers")
    return passed("accounting", "ended jobs are on record")


def _stages(facts: CheckFacts) -> Iterator[CheckResult]:
    """Every set of options once, with the stages that have it."""
    groups: dict[tuple[tuple[str, str | None], ...], list[Stage]] = {}
    for stage in facts.stages:
        groups.setdefault(stage.sbatch, []).append(stage)
    partitions: dict[str, None] = {}
    for stages in groups.values():
        result, partition = _try_options(facts, stages)
        yield result
        if partition:
            partitions[partition] = None
    for partition in partitions:
        yield from _partition(facts, partition)


def _try_options(facts: CheckFacts, stages: Sequence[Stage]) -> tuple[CheckResult, str]:
    """Whether a job with these options could ever run, and in which partition ("" if that was not told)."""
    lead, grace = facts.engine_settings.get("lead"), float(facts.engine_settings.get("grace_seconds") or 0.0)
    options = with_warning(stages[0].sbatch, lead_seconds=lead, grace_seconds=grace)
    order = Order("onbox-check", (), facts.folder, output=os.devnull, options=options)
    argv = text.test_argv(order)
    env = text.submission_environment(facts.environ, {"LC_ALL": "C"})
    answer = facts.run(argv, timeout_seconds=QUERY_SECONDS, env=env)
    names = ", ".join(stage.name for stage in stages[:NAMES_SHOWN])
    names += f" and {len(stages) - NAMES_SHOWN} more" if len(stages) > NAMES_SHOWN else ""
    name = f"sbatch {names}"
    if isinstance(answer, NotRun):
        return unseen(name, answer.why), ""
    said = text.refusal(answer.err)
    found = re.search(r"Job \S+ to start at (\S+) using .* on nodes (\S+) in partition (\S+)", answer.err)
    if answer.code == 0:
        seen = f"would begin at {found[1]} on {found[2]} in {found[3]}" if found else said or "would be taken"
        return passed(name, seen), found[3] if found else ""
    if text.is_unreachable(answer.err):
        return unseen(name, said), ""
    remedy = "correct `sbatch` of the stage or of [slurm]; what there is: sinfo -o '%P %a %l %D %m %G'"
    return failed(name, said or f"sbatch ended with {answer.code}", remedy), ""


def _partition(facts: CheckFacts, partition: str) -> Iterator[CheckResult]:
    """`--test-only` does not tell that a partition is down: jobs are taken, and wait."""
    answer = _ask(facts, "sinfo", "-h", "-p", partition, "-o", "%a %D %t")
    if isinstance(answer, Unseen) or answer.code != 0:
        yield unseen(f"partition {partition}", answer.why if isinstance(answer, Unseen) else text.said(answer.err))
        return
    rows = [line.split() for line in answer.out.splitlines() if len(line.split()) == 3]
    counts = ", ".join(f"{count} {state}" for _, count, state in rows)
    usable = [state for _, _, state in rows if not state.startswith(("down", "drain", "drng", "fail", "maint", "unk"))]
    if rows and any(available != "up" for available, _, _ in rows):
        yield warned(
            f"partition {partition}",
            f"it is {rows[0][0]}: jobs are taken and wait",
            "ask the people who run the cluster",
        )
    elif rows and not usable:
        yield warned(f"partition {partition}", f"no node of it can work now ({counts})", "jobs are taken and wait")
    else:
        yield passed(f"partition {partition}", f"up; nodes: {counts}")


def _all_nodes_are_here(facts: CheckFacts) -> bool:
    """Whether the cluster is this one machine."""
    answer = _ask(facts, "sinfo", "-h", "-N", "-o", "%o")
    if isinstance(answer, Unseen) or answer.code != 0 or not answer.out.split():
        return False
    names = {socket.gethostname(), socket.gethostname().partition(".")[0], "localhost", "127.0.0.1"}
    return set(answer.out.split()) <= names


CHECK = EngineCheck(_check, _all_nodes_are_here)
