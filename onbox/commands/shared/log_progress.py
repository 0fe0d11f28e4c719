"""How far a log is, as every command reads it: with [progress] of onbox.toml, else as the log's run was frozen."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from onbox.chain.run_status import look_at_run
from onbox.chain.state.frozen_run import read_head
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.errors import Trouble
from onbox.logs.progress import ProgressSettings
from onbox.system.time_limit import TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from onbox.project import Project

REGEX_SECONDS = 30.0  # a regular expression of the user's own may take for ever


def progress_settings(project: Project, log: str) -> ProgressSettings:
    """What [progress] says now goes first, so that it can be tried out. log: its path; "-": the standard input."""
    plain = project.config.progress or _frozen(log)
    regex, most = plain.get("regex"), plain.get("max")
    return ProgressSettings(str(regex) if regex else None, most if isinstance(most, int) else None)


def run_of_log(log: str) -> RunPaths | None:
    """The run whose log this is; None: it is another log."""
    path = os.path.realpath(log)
    paths = RunPaths(os.path.dirname(os.path.dirname(path)))
    is_its = log != "-" and paths.logs == os.path.dirname(path) and os.path.isfile(paths.manifest)
    return paths if is_its else None


def attempt_of(log: str) -> tuple[str, int | None]:
    """Stage and number, by the name of an attempt's log."""
    stage, _, number = os.path.basename(os.path.realpath(log)).removesuffix(".log").rpartition(".")
    return stage, int(number) if number.isdigit() else None


def is_at_work(log: str) -> bool | None:
    """Whether the attempt of this log is known to run now, or to run no more; None where it is not known: a log of no
    run, or of one on an engine's node, which is not seen from here.
    """
    paths = run_of_log(log)
    view = None
    with suppress(ValueError):  # a damaged run.json
        view = None if paths is None else look_at_run(paths)
    if view is None or isinstance(view.head.data.get("backend"), dict):
        return None
    stage, number = attempt_of(log)
    newest = next((one.attempts for one in view.stages if one.name == stage), None)
    return view.stage_alive == stage and newest == number


def _frozen(log: str) -> Mapping[str, Any]:
    paths = run_of_log(log)
    try:
        head = None if paths is None else read_head(paths)
    except (OSError, ValueError):  # damaged, or another's: then the log speaks for itself
        return {}
    told = None if head is None else head.data.get("progress")
    return told if isinstance(told, dict) else {}


@contextmanager
def regex_limit(settings: ProgressSettings) -> Iterator[None]:
    """Bounds what a regular expression of the user's own may take. Raises Trouble."""
    try:
        with time_limit(REGEX_SECONDS) if settings.regex else nullcontext():
            yield
    except TooLong as error:
        reason = f"the regex of [progress] took over {REGEX_SECONDS:.0f} s on this log; simplify it"
        raise Trouble(Exit.CONFIG, reason) from error
