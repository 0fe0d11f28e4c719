"""How far a log is, as every command reads it: with [progress] of onbox.toml, else as the log's run was frozen."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

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
