"""`onbox check`: everything that would go wrong, before money is spent. Starts nothing."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.chain.gates.resource_probe import sight_of
from onbox.chain.observe.sampling import touched_paths
from onbox.cli.command import command, config_option, json_option
from onbox.collectors.gpu.health import read_xids
from onbox.collectors.gpu.watch import read_once
from onbox.collectors.remote_disk import look_once
from onbox.collectors.snapshot import find_groups, take_snapshot
from onbox.commands.shared.project import load_project, project_despite
from onbox.commands.sweeps.named import sweep_names
from onbox.config.trust_keys import CHAIN, ENGINE, TELL
from onbox.contract.exits import Exit
from onbox.model.engines import CHOICES
from onbox.model.screen import hanging
from onbox.model.units import counted
from onbox.outside import safe_line, safe_text
from onbox.preflight.own_python import other_packages
from onbox.preflight.report import CheckFacts, CheckResult, CheckVerdict
from onbox.preflight.table import run_checks
from onbox.project import BrokenConfig
from onbox.trust import not_accepted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.model.manifest import Stage

EXAMPLES = """\
examples:
  onbox check                   PASS, WARN or FAIL for everything that a run needs, each with a remedy
  onbox check --backend slurm   also whether Slurm answers and would take every stage
  onbox check --json | jq '.results[] | select(.verdict == "FAIL")'

exit code 0: nothing fails; 3: something does
"""
INDENT = 21
_COLOURS = {CheckVerdict.PASS: "32", CheckVerdict.WARN: "33", CheckVerdict.FAIL: "31"}


@command(EXAMPLES)
@config_option
@click.option("--backend", help="check for this engine (default: [run] backend)", type=click.Choice(CHOICES))
@json_option
def run_check(args: Options) -> int:
    results = []
    for result in run_checks(gather(args.config, args.backend)):
        results.append(result)
        if not args.json:
            print(render(result, colour=_coloured(os.environ)), flush=True)
    counts = {verdict: sum(1 for result in results if result.verdict is verdict) for verdict in CheckVerdict}
    if args.json:
        print(json.dumps(_as_data(results), indent=2))
    else:
        warnings, failures = (
            counted(counts[CheckVerdict.WARN], "warning"),
            counted(counts[CheckVerdict.FAIL], "failure"),
        )
        print(f"{counts[CheckVerdict.PASS]} passed, {warnings}, {failures}")
    return Exit.GATE_REFUSED if counts[CheckVerdict.FAIL] else Exit.DONE


def _coloured(environ: Mapping[str, str]) -> bool:
    """For a terminal that understands it, unless somebody wants none (no-color.org)."""
    return sys.stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def gather(config: str | None, backend: str | None = None) -> CheckFacts:
    """Look at everything that the checks judge. backend: the engine; None: that of the configuration. Raises Trouble
    when not even the project can be found.
    """
    errors = ""
    try:
        project = load_project(config, asks=(ENGINE,), given=(TELL, CHAIN))
    except BrokenConfig as broken:
        project, errors = project_despite(broken), broken.errors
    paths = project.paths(None)
    engine = backend or project.config.backend
    stages: Sequence[Stage] = project.config.stages
    touched: dict[str, None] = dict.fromkeys((paths.root, project.folder, os.environ.get("TMPDIR", "/tmp"), "/dev/shm"))
    for stage in stages:
        folder = os.path.normpath(os.path.join(project.folder, stage.cwd))
        touched |= dict.fromkeys(touched_paths(paths.root, stage, folder))
    return CheckFacts(
        folder=project.folder,
        config_path=project.config_path or "",
        config_errors=errors,
        not_accepted=_not_accepted(project, engine),
        sweeps=[project.paths(name) for name in sweep_names(project)],
        stages=stages,
        notify=[
            reference
            for target in project.config.notify.targets
            for reference in (target.url, target.secret)
            if reference is not None
        ],
        paths=paths,
        environ=os.environ,
        snapshot=take_snapshot(find_groups(), touched, None, look_remote=look_once),
        gpus=read_once(),
        xids=read_xids(),
        sight=sight_of,
        engine=engine,
        python=sys.executable,
        packages=other_packages,
        typed=(*(("-c", config) if config else ()), *(("--backend", backend) if backend else ())),
        engine_settings={
            **project.config.backends.get(engine, {}),
            "grace_seconds": project.config.settings.grace_seconds,
        },
    )


def _not_accepted(project: Project, engine: str) -> str:
    """What the start of this chain would be refused for."""
    wanted = [one for one in project.withheld if one.use == ENGINE and one.key.startswith(f"{engine}.")]
    return not_accepted(project.config_path or project.folder, wanted) if wanted else ""


def render(result: CheckResult, *, colour: bool) -> str:
    """What was seen, and below it the remedy, folded to 80 columns; a configuration's errors keep their lines."""
    word = result.verdict.value
    word = f"\x1b[{_COLOURS[result.verdict]}m{word}\x1b[0m" if colour else word
    first, *more = safe_text(result.seen).splitlines() or [""]
    lines = hanging(f"{result.verdict.value}  {result.check:<14} ", first, INDENT)
    lines[0] = lines[0].replace(result.verdict.value, word, 1)
    for line in more:
        lines += hanging(" " * INDENT, line, INDENT + 2)
    if result.remedy:
        lines += hanging(f"{'':<{INDENT}}→ ", safe_line(result.remedy), INDENT + 2)
    return "\n".join(lines)


def _as_data(results: Sequence[CheckResult]) -> dict[str, Any]:
    return {
        "schema": 1,
        "failed": any(result.verdict is CheckVerdict.FAIL for result in results),
        "results": [
            {
                "check": result.check,
                "verdict": result.verdict.value,
                "seen": safe_text(result.seen),
                "remedy": safe_text(result.remedy) or None,
                "looked": result.looked,
            }
            for result in results
        ],
    }
