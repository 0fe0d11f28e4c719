"""`onbox progress`: how far a run is, from its log."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from onbox.cli.command import command, config_option
from onbox.commands.shared.log_argument import log_argument, log_to_read
from onbox.commands.shared.log_progress import has_ended, progress_settings, regex_limit
from onbox.commands.shared.project import load_project_to_read
from onbox.contract.exits import Exit
from onbox.contract.progress import SCHEMA, Progress, render_progress
from onbox.errors import Trouble
from onbox.logs.large import LargeLogReading, read_large
from onbox.logs.tail import TAIL_BYTES, last_line
from onbox.outside import safe_line
from onbox.system.clock import wall
from onbox.system.files import open_plain, read_tail
from onbox.system.kept import places_of
from onbox.system.places import Places

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.logs.progress import ProgressSettings

EXAMPLES = """\
examples:
  onbox progress                      of the run: the log that `onbox logs` shows
  onbox progress train.log            ~4600/5155 (89%) eta 1h12m loss 0.41
  onbox progress train.log --json
  ssh box cat train.log | onbox progress -

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
    if has_ended(log):
        progress = progress._replace(eta_seconds=None)
    if args.json:
        print(json.dumps(progress_as_json(progress, line, age)))
    else:
        print(render_progress(progress))
    return Exit.DONE


def _read(path: str, settings: ProgressSettings) -> tuple[Progress, str | None, float | None]:
    return _read_stream(sys.stdin.buffer, settings) if path == "-" else _read_file(path, settings)


def _read_stream(stream: BinaryIO, settings: ProgressSettings) -> tuple[Progress, str | None, float | None]:
    log = places_of(stream)
    reading = read_large(log, settings)
    _tell_unread("the standard input", reading)
    return reading.progress, last_line(log.read(max(0, log.size - TAIL_BYTES), log.size)), None


def _read_file(path: str, settings: ProgressSettings) -> tuple[Progress, str | None, float | None]:
    """The progress, the last line (None: there is none), and the age of the log in seconds."""
    try:
        with open_plain(path) as file:
            seen = os.fstat(file.fileno())
            reading = read_large(Places(file.fileno(), seen.st_size), settings)
        end = read_tail(path, TAIL_BYTES) or b""
    except FileNotFoundError:
        raise Trouble(Exit.USAGE, f"no log {path}") from None
    except OSError as error:
        raise Trouble(Exit.USAGE, f"cannot read the log {path}: {error.strerror or error}") from error
    _tell_unread(path, reading)
    return reading.progress, last_line(end), max(0.0, wall() - seen.st_mtime)


def _tell_unread(name: str, reading: LargeLogReading) -> None:
    if reading.matters:
        print(
            f"onbox progress: read the beginning, the end and a few places between of {name};"
            f" {reading.unread_bytes} bytes in the middle were not read",
            file=sys.stderr,
        )


def progress_as_json(progress: Progress, line: str | None, age_seconds: float | None) -> dict[str, Any]:
    """One object for programs. Null always means: the log does not say (log_age_seconds: it came over a pipe)."""
    return {
        "schema": SCHEMA,
        "current": progress.current,
        "exact_max": progress.exact_max,
        "unit": progress.unit,
        "epoch_current": progress.epoch_current,
        "epoch_max": progress.epoch_max,
        "loss": progress.loss,
        "eta_seconds": progress.eta_seconds,
        "finished": progress.finished,
        "tracker_run": safe_line(progress.tracker_run) if progress.tracker_run else None,
        "percent": progress.percent,
        "last_line": line,
        "log_age_seconds": None if age_seconds is None else round(age_seconds, 1),
        "rule": progress.rule,
    }
