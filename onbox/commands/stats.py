"""`onbox stats`: one honest picture of this container, as text, JSON or Prometheus metrics."""

from __future__ import annotations

import json
import os
import sys
import time
from glob import escape, glob
from typing import TYPE_CHECKING, Any

import click

from onbox.chain.observe.sample_file import read_samples
from onbox.chain.observe.sampling import touched_paths
from onbox.chain.run_status import look_at_run
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.chain.state.slots import find_keeper, read_slot
from onbox.cli.command import argument, command, config_option, json_option
from onbox.collectors.gpu.watch import read_once
from onbox.collectors.hogs import find_hogs, places_on_full_disk, places_to_look
from onbox.collectors.remote_disk import look_once
from onbox.collectors.sample import sample_of
from onbox.collectors.snapshot import Snapshot, find_groups, take_snapshot
from onbox.collectors.trend import seconds_until_empty
from onbox.commands.shared.project import load_project_to_read
from onbox.commands.shared.run_log import run_or_cell
from onbox.commands.show.hogs_text import render_hogs
from onbox.commands.show.process_tree import read_tree
from onbox.commands.show.stats_prometheus import render_metrics
from onbox.commands.show.stats_text import render_picture
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.contract.readings import plain
from onbox.contract.runfile import is_sweep
from onbox.errors import Trouble
from onbox.model.units import counted
from onbox.named_tuple import NamedTuple
from onbox.sweep.look import look_at_sweep
from onbox.system.clock import parse_utc, utc_text
from onbox.terminal.capable import obeys, shows_tables

if TYPE_CHECKING:
    from onbox.chain.run_status import RunView
    from onbox.cli.command import Options
    from onbox.collectors.gpu.nvml import GpuReading
    from onbox.commands.shared.project import Project
    from onbox.contract.readings import Maybe
    from onbox.contract.samples import Sample
    from onbox.system.process import Identity

EXAMPLES = """\
examples:
  onbox stats                   this container now: memory, CPU, disks, GPUs, the stage's processes
  onbox stats --watch           the same, every 2 seconds
  onbox stats --hogs            what is biggest in the project, temporary folders and caches
  onbox stats --prometheus >/var/lib/node_exporter/onbox.prom
"""
WATCH_SECONDS = 2.0
CLEAR = "\x1b[H\x1b[2J"


class StatsSubject(NamedTuple):
    """Whom the picture is about: a stage of a run, or this session (all None). cells: of a sweep, that are at work."""

    paths: RunPaths | None = None
    view: RunView | None = None
    stage: str | None = None
    leader: Identity | None = None
    touched: tuple[str, ...] = ()
    cells: int = 0

    @property
    def name(self) -> str:
        if self.view is None:
            return "this session"
        run = self.view.head.run
        if self.cells:
            return f"this session; {counted(self.cells, 'live cell')} of sweep {run}: onbox stats CELL"
        return f"{run}/{self.stage}" if self.leader else f"this session; run {run} rests"


class Picture(NamedTuple):
    """Everything that was seen. trends: by mount, seconds until bytes and inodes are gone (None: not in sight).

    rates: what changed per second since an earlier sample; empty if there is none.
    """

    subject: StatsSubject
    snapshot: Snapshot
    gpus: Maybe[GpuReading]
    trends: dict[str, dict[str, float | None]]
    rates: dict[str, float]
    oom_kills_since: int | None


@command(EXAMPLES, exclusive=[("--json", "--prometheus"), ("--hogs", "--prometheus", "--watch")])
@argument("run", required=False, metavar="RUN", help="name of the run, or a sweep's cell (default: the configured run)")
@config_option
@json_option
@click.option("--prometheus", is_flag=True, help="metrics in the text format of Prometheus")
@click.option("--watch", is_flag=True, help=f"again every {WATCH_SECONDS:g} s, until Ctrl-C")
@click.option("--hogs", is_flag=True, help="the biggest folders and files: project, /tmp, caches")
def run_stats(args: Options) -> int:
    if args.hogs:
        return _show_hogs(args)
    try:
        return _run(args)
    except KeyboardInterrupt:
        if not args.watch:
            raise
        return Exit.DONE  # the way out of --watch


def _run(args: Options) -> int:
    subject = find_subject(args)
    earlier = None
    while True:
        picture = take_picture(subject, earlier)
        _show(args, picture)
        if not args.watch:
            return Exit.DONE
        earlier = sample_of(picture.snapshot)
        time.sleep(WATCH_SECONDS)
        subject = find_subject(args)


def _show_hogs(args: Options) -> int:
    project = load_project_to_read(args.config)
    logs = sorted(glob(os.path.join(escape(project.state_dir), "*", "logs")))
    hogs = find_hogs(places_to_look(os.environ, project.folder), full=places_on_full_disk(project.folder, logs))
    print(json.dumps({"schema": 1, **plain(hogs)}, indent=2) if args.json else render_hogs(hogs))
    return Exit.DONE


def _show(args: Options, picture: Picture) -> None:
    if args.json:
        print(json.dumps(as_data(picture), indent=None if args.watch else 2), flush=True)
        return
    if args.prometheus:
        print(render_metrics(as_data(picture)), end="", flush=True)
        return
    if args.watch and obeys(sys.stdout, os.environ):
        print(CLEAR, end="", flush=True)
    if shows_tables(sys.stdout, os.environ):
        from onbox.commands.show.stats_screen import print_picture  # noqa: PLC0415 - only on such a terminal

        print_picture(sys.stdout, picture)
    else:
        print(render_picture(picture), flush=True)


def find_subject(args: Options) -> StatsSubject:
    """The run's live stage, else this session. A run that is asked for by name must be there."""
    project = load_project_to_read(args.config)
    try:
        paths, cells = _run_or_cell(project, args.run)
        view = look_at_run(paths)
    except Trouble:
        if args.run:
            raise
        return StatsSubject(touched=_session_paths(project.folder))
    except ValueError as error:
        raise Trouble(Exit.CONFIG, f"the run is damaged: {error}") from error
    if view is None:
        return StatsSubject(touched=_session_paths(project.folder))
    return _subject_of(paths, view)._replace(cells=cells)


def _run_or_cell(project: Project, name: str | None) -> tuple[RunPaths, int]:
    """The run, or the cell of a sweep: the one that is named, or that is at work alone. With how many cells are at work
    where the sweep as a whole is meant.
    """
    paths = run_or_cell(project, name)
    head = read_head(paths)
    if head is None or not is_sweep(head):
        return paths, 0
    cells = look_at_sweep(paths).data["running_cells"]
    return (RunPaths(cells[0]["state_dir"]), 0) if len(cells) == 1 else (paths, len(cells))


def _session_paths(folder: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((folder, os.environ.get("TMPDIR", "/tmp"), "/dev/shm")))


def _subject_of(paths: RunPaths, view: RunView) -> StatsSubject:
    leader = None
    if view.stage_alive is not None:
        slot, _, _ = read_slot(paths.slot(view.stage_alive))
        leader = find_keeper(slot, paths.slot(view.stage_alive)) if slot is not None else None
    touched: dict[str, None] = {}
    for frozen in read_stages(paths):
        if view.stage_alive in (None, frozen.stage.name):
            folder = os.path.normpath(os.path.join(view.head.project, frozen.stage.cwd))
            touched |= dict.fromkeys(touched_paths(paths.root, frozen.stage, folder))
    return StatsSubject(paths, view, view.stage_alive, leader, tuple(touched))


def take_picture(subject: StatsSubject, earlier: Sample | None = None) -> Picture:
    """Look at everything. earlier: a sample to compare with; None: the run's newest, if it has any."""
    pid = subject.leader.pid if subject.leader is not None else "self"
    snapshot = take_snapshot(
        find_groups(pid), subject.touched, subject.leader, look_remote=look_once, tree_of=read_tree
    )
    samples = _samples(subject)
    gpus = read_once()
    now = sample_of(snapshot, gpus)
    before = earlier or (samples[-1] if samples and subject.leader is not None else None)
    return Picture(
        subject,
        snapshot,
        gpus,
        find_trends([*samples, now]),
        find_rates(before, now) if before else {},
        _kills_since(subject, now),
    )


def _samples(subject: StatsSubject) -> list[Sample]:
    if subject.paths is None:
        return []
    try:
        return read_samples(subject.paths.samples)
    except OSError as error:
        print(f"onbox: note: no trend: {subject.paths.samples}: {error.strerror}", file=sys.stderr)
        return []


def find_trends(samples: list[Sample]) -> dict[str, dict[str, float | None]]:
    """By mount of the newest sample: seconds until its bytes and its inodes are gone, if it goes on so. Pure."""
    found = {}
    for mount in (samples[-1].get("disks") or {}) if samples else ():
        points: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
        for sample in samples:
            at, room = parse_utc(sample["at"]), (sample.get("disks") or {}).get(mount)
            for column, kept in ((0, points[0]), (2, points[1])):
                if at is not None and room is not None and room[column] is not None:
                    kept.append((at, room[column]))
        found[mount] = {
            "bytes_full_in_seconds": seconds_until_empty(points[0]),
            "inodes_full_in_seconds": seconds_until_empty(points[1]),
        }
    return found


def find_rates(before: Sample, now: Sample) -> dict[str, float]:
    """What changed per second between two samples: cores used, share of time throttled, new OOM kills. Pure."""
    began, ended = parse_utc(before["at"]), parse_utc(now["at"])
    if began is None or ended is None or ended - began < 0.5:
        return {}
    rates = {}
    for key, name in (("cpu_seconds_total", "cores_used"), ("throttled_seconds_total", "throttled_share")):
        if key in before and key in now and now[key] >= before[key]:
            rates[name] = round((now[key] - before[key]) / (ended - began), 3)
    return rates


def _kills_since(subject: StatsSubject, now: Sample) -> int | None:
    """OOM kills since the run's first sample; None: nothing to compare with."""
    if subject.leader is None:
        return None  # another session may stand in another group
    first = next((sample for sample in _samples(subject) if "oom_kills_total" in sample), None)
    if first is None or "oom_kills_total" not in now:
        return None
    return max(0, int(now["oom_kills_total"]) - int(first["oom_kills_total"]))


def as_data(picture: Picture) -> dict[str, Any]:
    """The picture as JSON-ready data; absent and unknown readings keep their reason."""
    subject, snapshot = picture.subject, picture.snapshot
    return {
        "schema": 1,
        "at": utc_text(snapshot.at_seconds),
        "run": subject.view.head.run if subject.view else None,
        "stage": subject.stage,
        "pid": subject.leader.pid if subject.leader else None,
        **{name: plain(getattr(snapshot, name)) for name in Snapshot._fields if name != "at_seconds"},
        "gpus": plain(picture.gpus),
        "trends": picture.trends,
        "rates": picture.rates,
        "oom_kills_since_run_began": picture.oom_kills_since,
    }
