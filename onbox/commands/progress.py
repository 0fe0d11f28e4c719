"""`onbox progress`: how far a run is, from its log."""

from __future__ import annotations

import json
import sys
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import command, config_option
from onbox.commands.shared.log_argument import (
    age_seconds,
    log_argument,
    log_to_read,
    name_of,
    opened_log,
    refuse_binary_input,
)
from onbox.commands.shared.log_progress import is_at_work, progress_settings, regex_limit
from onbox.commands.shared.project import load_project_to_read
from onbox.contract.exits import Exit
from onbox.contract.progress import SCHEMA, Progress, render_progress
from onbox.logs.large import LargeLogReading, read_large
from onbox.logs.tail import TAIL_BYTES, last_line
from onbox.outside import safe_line
from onbox.system.kept import places_of

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.logs.progress import ProgressSettings
    from onbox.system.places import Places

ENDED = " · finished"  # by its log; of one that does not tell, or of a run that died, nothing is said
EXAMPLES = """\
examples:
  onbox progress                      of the run: the log that `onbox logs` shows
  onbox progress train.log            ~4600/5155 (89%) eta 1h12m loss 0.41
  onbox progress train.log --json
  ssh box cat train.log | onbox progress -

`~` stands before what was read from a log: the work itself may be further. `/unknown`: the log never says the end.
A maximum is shown only if the log gives it exactly (never `5.16k`). Set `regex` or `max` in [progress] of onbox.toml
if a log shows its progress in its own form.
"""


@command(EXAMPLES)
@log_argument
@config_option
@click.option("--json", is_flag=True, help="everything known as one JSON object")
def run(args: Options) -> int:
    project = load_project_to_read(args.config)
    log = log_to_read(project, args)
    settings = progress_settings(project, log)
    with regex_limit(settings):
        progress, line, age = _read(log, settings)
    if settings.max is not None and (progress.current or 0) > settings.max:
        told = f"[progress] max = {settings.max} is below {progress.current}, where the log stands: correct it"
        print(f"onbox progress: {told}", file=sys.stderr)
    if settings.regex and progress.rule != "own":
        told = "the regex of [progress] gives no number of this log: what is shown is read without it"
        print(f"onbox progress: {told}", file=sys.stderr)
    at_work = is_at_work(log)
    if at_work is False:
        progress = progress._replace(eta_seconds=None)
    if at_work and progress.finished:  # it may serve, save or evaluate what it has trained
        progress = progress._replace(finished=None)
    if args.json:
        print(json.dumps(progress_as_json(progress, line, age)))
    else:
        print(render_progress(progress) + (ENDED if progress.finished else ""))
    return Exit.DONE


def _read(path: str, settings: ProgressSettings) -> tuple[Progress, str | None, float | None]:
    """The progress, the last line (None: there is none), and the age of the log in seconds (None: it is a pipe)."""
    with opened_log(path) as file:
        log, age = places_of(file), age_seconds(file)
        refuse_binary_input(path, log)
        reading = read_large(log, settings)
        end = log.read(max(0, log.size - TAIL_BYTES), log.size)
        progress = _weighed(reading.progress, log) if reading.progress.finished else reading.progress
    _tell_unread(name_of(path), reading)
    return progress, last_line(end), age


def _weighed(progress: Progress, log: Places) -> Progress:
    """What seems to be finished, beside what `onbox triage` says of the same log."""
    # Of a log that is at its end only: to import them takes a quarter of this command's time.
    from onbox.triage.beside_progress import with_verdict  # noqa: PLC0415
    from onbox.triage.classify import classify  # noqa: PLC0415
    from onbox.triage.reading.large import Excerpt  # noqa: PLC0415

    return with_verdict(progress, classify(Excerpt(log).parts()))


def _tell_unread(name: str, reading: LargeLogReading) -> None:
    if reading.matters:
        print(
            f"onbox progress: read the beginning, the end and a few places between of {name};"
            f" {reading.unread_bytes} bytes in the middle were not read",
            file=sys.stderr,
        )


def _in_json(loss: float | str | None) -> float | str | None:
    """JSON has no number for what is none: `"nan"`, `"inf"`, `"-inf"`."""
    return loss if isinstance(loss, str | None) or isfinite(loss) else str(loss)


def progress_as_json(progress: Progress, line: str | None, age_seconds: float | None) -> dict[str, Any]:
    """One object for programs. Null always means: the log does not say (log_age_seconds: it came over a pipe)."""
    return {
        "schema": SCHEMA,
        "current": progress.current,
        "exact_max": progress.exact_max,
        "unit": progress.unit,
        "epoch_current": progress.epoch_current,
        "epoch_max": progress.epoch_max,
        "loss": _in_json(progress.loss),
        "eta_seconds": progress.eta_seconds,
        "finished": progress.finished,
        "tracker_run": safe_line(progress.tracker_run) if progress.tracker_run else None,
        "percent": progress.percent,
        "last_line": line,
        "log_age_seconds": None if age_seconds is None else round(age_seconds, 1),
        "rule": progress.rule,
    }
