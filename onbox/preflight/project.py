"""The project: its configuration, its commands, its scripts, its variables, its gates."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from onbox.chain.command.command_files import what_is_missing
from onbox.chain.command.crlf_check import find_crlf_scripts
from onbox.chain.command.environment import VariableMissing, resolve
from onbox.chain.command.keeper import command_argv
from onbox.chain.command.syntax_check import why_unreadable
from onbox.chain.gates.start_gates import check_gates
from onbox.model.manifest import Gates
from onbox.model.units import counted
from onbox.preflight.report import CheckResult, failed, passed, unseen, warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.model.manifest import Stage
    from onbox.preflight.report import CheckFacts

DEVICES = "CUDA_VISIBLE_DEVICES"


def check_configuration(facts: CheckFacts) -> Iterator[CheckResult]:
    if facts.config_errors:
        yield failed("configuration", facts.config_errors, "correct the file; every error is listed")
    elif not facts.config_path:
        yield passed("configuration", "no onbox.toml: stages are given on the command line (`onbox init` writes one)")
    elif not facts.stages:
        yield warned("configuration", f"{facts.config_path} names no stages", "add a [stages.NAME] table with a cmd")
    else:
        names = " → ".join(stage.name for stage in facts.stages[:8]) + (" → …" if len(facts.stages) > 8 else "")
        yield passed("configuration", f"{facts.config_path}: {names}")


def check_trust(facts: CheckFacts) -> Iterator[CheckResult]:
    if facts.not_accepted:
        yield failed("trust", facts.not_accepted, "see it, and accept it if it is yours: `onbox trust`")


def folder_of(facts: CheckFacts, stage: Stage) -> str:
    return os.path.normpath(os.path.join(facts.folder, stage.cwd))


def check_commands(facts: CheckFacts) -> Iterator[CheckResult]:
    """Whether each stage's folder and program are there. What a shell line calls is not known before it runs."""
    missing, broken = [], []
    for number, stage in enumerate(facts.stages):
        found = what_is_missing(stage, folder_of(facts, stage), facts.environ)
        missing += [(number, f"stage {stage.name}: {text}") for text in found]
        if why := why_unreadable(stage.cmd):
            broken.append(f"stage {stage.name}: {why}")
    for text in broken:
        yield failed("commands", text, "correct cmd: is a quote or a bracket open?")
    for number, text in missing:
        if number == 0:
            yield failed("commands", text, "put it there, or correct cmd or cwd")
        else:
            yield warned("commands", text, "it must be there when its turn comes: does an earlier stage make it?")
    if facts.stages and not missing and not broken:
        lines = sum(1 for stage in facts.stages if command_argv(stage.cmd, lambda _: None)[-2:-1] == ["-c"])
        unjudged = f"; what {lines} shell lines call is not known before they run" if lines else ""
        yield passed("commands", f"folders and programs of {counted(len(facts.stages), 'stage')} are there{unjudged}")


def check_scripts(facts: CheckFacts) -> Iterator[CheckResult]:
    count = 0
    for stage in facts.stages:
        for path in find_crlf_scripts(stage, folder_of(facts, stage)):
            count += 1
            yield failed(
                "line ends",
                f"stage {stage.name}: {path} has Windows line ends (CRLF)",
                f"`sed -i 's/\\r$//' {shlex.quote(path)}`",
            )
    if facts.stages and not count:
        yield passed("line ends", "no script with Windows line ends")


def check_variables(facts: CheckFacts) -> Iterator[CheckResult]:
    """Whether every `env:NAME` and `file:PATH` leads somewhere. Values are never shown."""
    wanted = [
        (f"stage {stage.name}", name, value, folder_of(facts, stage))
        for stage in facts.stages
        for name, value in stage.env
    ]
    wanted += [("notify", "urls", reference, facts.folder) for reference in facts.notify]
    troubles = []
    for where, name, value, folder in wanted:
        try:
            resolve(name, value, facts.environ, folder)
        except VariableMissing as missing:
            troubles.append(f"{where}: {missing}")
    for trouble in dict.fromkeys(troubles):
        yield failed("variables", trouble, "export it in the shell that starts the chain, or write file:PATH")
    references = [value for _, _, value, _ in wanted if value.startswith(("env:", "file:"))]
    if references and not troubles:
        yield passed("variables", f"{len(references)} references lead somewhere")


def check_buffering(facts: CheckFacts) -> Iterator[CheckResult]:
    """Python holds its output back when it does not write to a terminal; the chain switches that off by default."""
    holding = [stage.name for stage in facts.stages if dict(stage.env).get("PYTHONUNBUFFERED", "1") == ""]
    if holding:
        seen = f"PYTHONUNBUFFERED is empty for {', '.join(holding)}: logs come late, and are lost in a crash"
        yield warned("output", seen, "remove it from env")
    elif facts.environ.get("PYTHONUNBUFFERED", "1") == "":
        yield warned("output", "PYTHONUNBUFFERED is set to nothing in this shell", "unset PYTHONUNBUFFERED")
    else:
        yield passed("output", "PYTHONUNBUFFERED=1 for every stage")


def check_all_gates(facts: CheckFacts) -> Iterator[CheckResult]:
    """The gates as the chain would ask them now, each kind once."""
    if facts.config_errors:
        yield unseen("gates", "the configuration has errors")
        return
    asked: dict[tuple[Gates, str, str | None], list[str]] = {}
    for stage in facts.stages:
        if stage.gates != Gates():
            devices = dict(stage.env).get(DEVICES, facts.environ.get(DEVICES))
            asked.setdefault((stage.gates, folder_of(facts, stage), devices), []).append(stage.name)
    refused = 0
    for (gates, folder, devices), names in asked.items():
        sight = facts.sight({} if devices is None else {DEVICES: devices})
        for finding in check_gates(gates, facts.paths.root, folder, sight):
            refused += 1
            remedy = "make room, or change the gate; the chain would refuse"
            yield failed("gates", f"{', '.join(names)}: {finding}", remedy)
    if not asked:
        yield passed("gates", "none configured")
    elif not refused:
        yield passed("gates", f"all hold for {sum(map(len, asked.values()))} stages")
