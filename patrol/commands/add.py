"""`patrol add HOST`: write a box into onbox.toml and look at it, within seconds."""

from __future__ import annotations

import itertools
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import argument, command
from onbox.cli.consent import agrees
from onbox.contract.exits import Exit
from onbox.contract.names import name_problem, run_name_from
from onbox.contract.paths import CONFIG_FILE, DEFAULT_STATE_DIR
from onbox.errors import Trouble
from onbox.model.boxes import BoxSettings, Watch
from onbox.outside import safe_line
from onbox.project import load_project, parse_toml, read_toml
from onbox.system.files import read_file, replace_file
from onbox.trust import accept_new
from patrol.commands import add_cluster
from patrol.commands.add_cluster import cluster_options
from patrol.commands.options import here_options
from patrol.config.configured import choose_boxes, load_settings, settings_of
from patrol.config.ssh_target import target_of
from patrol.config.toml_edit import render_box, with_box
from patrol.cron_job import installed_lines
from patrol.decide.remote_command import Untypeable, here
from patrol.discover import END_MARK, discover_stdin, parse_found, state_dir_of
from patrol.report.lines import details
from patrol.report.output import Output
from patrol.ssh.client import NoAnswer, ask
from patrol.ssh.unreachable_reasons import BY_KEY
from patrol.tick import Busy, TickWishes, tick, warn
from patrol.timer.claims import place_of
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.discover import Discovered, Training
    from patrol.verdict import Finding

EXAMPLES = """\
examples:
  patrol add gpu1                             an alias of ~/.ssh/config; finds its runs
  patrol add gpu1 --project /root/digits      the project directory there
  patrol add root@203.0.113.7 --name box7 --project /workspace/llm
  patrol add gpu1 --project /root/llm --log out.log --process train.py --done-regex '^saved to'
  patrol add http://127.0.0.1:8265 --name ray --backend ray --job raysubmit_Xh3hF2 --token file:~/.ray/auth_token
"""
FIRST_SECONDS = 20.0
OTHERS_SHOWN = 5


@command(EXAMPLES)
@argument("host", metavar="HOST", help="as ssh takes it: an alias, or USER@HOST")
@click.option("--project", metavar="DIR", help="the project directory on the box (default: found by itself)")
@click.option("--name", metavar="NAME", help="what to call the box (default: made of HOST)")
@click.option("--log", metavar="FILE", help="watch a job that onbox did not start: its log")
@click.option("--process", metavar="PATTERN", help="its process, as pgrep -f takes it")
@click.option("--done-regex", metavar="REGEX", help="the line of its log that means it is done")
@click.option("--artifacts", metavar="GLOB", multiple=True, help="files that it writes; may be repeated")
@click.option("--resume-command", metavar="LINE", help="what starts it again on the box: shown, never run")
@click.option("--yes", is_flag=True, help="watch what is running there without asking")
@click.option("--local", is_flag=True, help="this machine itself, without ssh")
@cluster_options
@here_options
def run(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    box = _asked_for(args, settings)
    if box.project is None and box.backend == "local" and _holds_runs(settings):
        box = box._replace(project=settings.folder)
    watch = _watch_asked_for(args, box)
    if watch is not None:
        box = box._replace(watches=(watch,))
    elif not box.is_cluster:
        box = _found(settings, box, yes=args.yes)
    twin = _twin(settings, box)
    if twin is not None:
        raise Trouble(Exit.USAGE, f"{box.project} of {box.host} is the box {twin!r} already: patrol tick {twin}")
    path = settings.config_path or os.path.join(settings.folder, CONFIG_FILE)
    _write(path, box)
    print(f"wrote [boxes.{box.name}] into {path}")
    args.config = path
    return _first_look(settings_of(load_project(path), os.environ), box.name)


def _asked_for(args: Options, settings: Settings) -> BoxSettings:
    cluster = add_cluster.asked_for(args, args.name) if add_cluster.is_cluster(args) else None
    name = cluster.name if cluster is not None else args.name or run_name_from(args.host.rpartition("@")[2])
    problem = name_problem(name)
    if problem is not None:
        raise Trouble(Exit.USAGE, f"--name {name!r}: wanted {problem}")
    if args.host.startswith("-") or not args.host.strip():
        raise Trouble(Exit.USAGE, f"{args.host!r} is not a host")
    same = [box for box in settings.config.boxes if box.name == name]
    if same:
        raise Trouble(
            Exit.USAGE,
            f"there is a box {name!r} already ({same[0].host}); another name: --name NAME, a look: patrol tick",
        )
    if cluster is not None:
        return cluster
    return BoxSettings(name, args.host, args.project, "local" if args.local else "ssh")


def _watch_asked_for(args: Options, box: BoxSettings) -> Watch | None:
    """What was named on the command line; None: nothing of it."""
    given = (args.log, args.process, args.done_regex, args.artifacts, args.resume_command)
    if not any(given):
        return None
    if box.is_cluster:
        raise Trouble(Exit.USAGE, "--log, --process, --artifacts are for a box; of a cluster name --job")
    if not (args.log or args.process or args.artifacts):
        raise Trouble(Exit.USAGE, "give at least one of --log, --process, --artifacts: by them it is seen")
    if args.done_regex and not args.log:
        raise Trouble(Exit.USAGE, "--done-regex needs --log: the file in which that line is to be found")
    name = run_name_from(os.path.basename((box.project or "").rstrip("/")) or box.name)
    return Watch(
        name,
        log=args.log,
        process=args.process,
        artifacts=tuple(args.artifacts),
        done_regex=args.done_regex,
        resume=args.resume_command,
    )


def _found(settings: Settings, box: BoxSettings, *, yes: bool) -> BoxSettings:
    """With what is to be found there. A run of onbox is one; that a process is the training is a guess: then somebody
    is asked.
    """
    found = _with_found_project(settings, box) if box.project is None else _with_what_runs_there(settings, box)
    if not found.watches or yes:
        return found
    command = _watch_command(found)
    if not agrees("watch it?", unasked=f"nothing was written; to watch it: {command}"):
        raise Trouble(Exit.USAGE, f"nothing was written; another one: {command}")
    return found


def _watch_command(box: BoxSettings) -> str:
    """The command that adds just this."""
    watch = box.watches[0]
    words = [*(["--local"] if box.backend == "local" else []), "--name", box.name, "--project", box.project or "."]
    words += [f"--log={watch.log}"] if watch.log else []
    words += [f"--process={watch.process}"] if watch.process else []
    try:
        return here("patrol", "add", box.host, *words)
    except Untypeable:
        return "by hand: its path could not be typed as it is shown"


def _with_found_project(settings: Settings, box: BoxSettings) -> BoxSettings:
    found = _discover(settings, box)
    if isinstance(found, NoAnswer):
        reason = BY_KEY.get(found.reason, BY_KEY["unknown"])
        text = f"{box.host}: {reason.says} ({found.detail}); {reason.remedy_for(box.host)}. Nothing was written"
        raise Trouble(Exit.USAGE, text)
    if not found.projects:
        if not found.trainings:
            raise Trouble(Exit.USAGE, nothing_found(box, found))
        return _with_trainings(box, found.trainings)
    places = [
        box._replace(project=project, state_dir=state_dir_of(project, folder, DEFAULT_STATE_DIR))
        for project, folder in found.projects
    ]
    new = [place for place in places if _twin(settings, place) is None]
    for line in _others(settings, new[1:]):
        warn(line)
    return new[0] if new else places[0]


def _with_what_runs_there(settings: Settings, box: BoxSettings) -> BoxSettings:
    """In a project that was named and holds no run, what works in it is watched. A box that does not answer says
    nothing of that: it is added as it was named, and its first look tells why.
    """
    found = _discover(settings, box)
    inside = () if isinstance(found, NoAnswer) else found.trainings_in_place()
    return _with_trainings(box, inside)._replace(project=box.project) if inside else box


def _discover(settings: Settings, box: BoxSettings) -> Discovered | NoAnswer:
    stdin = discover_stdin(box.project or "")
    return parse_found(ask(target_of(settings, box), stdin, end_mark=END_MARK, deadline_seconds=FIRST_SECONDS))


def _others(settings: Settings, places: list[BoxSettings]) -> Iterator[str]:
    """A command for each further project, ready to be typed."""
    taken = {box.name for box in settings.config.boxes}
    names = (name for number in itertools.count(2) if (name := f"{places[0].name}-{number}") not in taken)
    for place, name in zip(places[:OTHERS_SHOWN], names, strict=False):
        yield f"there are runs in {safe_line(place.project)}, too: {_add_command(place._replace(name=name))}"
    if len(places) > OTHERS_SHOWN:
        yield f"and in {len(places) - OTHERS_SHOWN} more projects"


def _add_command(box: BoxSettings) -> str:
    local = ["--local"] if box.backend == "local" else []
    try:
        return here("patrol", "add", box.host, *local, "--name", box.name, "--project", box.project or ".")
    except Untypeable:
        return "by hand: its path could not be typed as it is shown"


def _twin(settings: Settings, box: BoxSettings) -> str | None:
    """The name of the box that is this very place already: two would say every line twice."""
    if box.is_cluster:
        return None
    return next((one.name for one in settings.config.boxes if place_of(one) == place_of(box)), None)


def _holds_runs(settings: Settings) -> bool:
    """Whether the directory in which this is typed has runs of its own."""
    below = os.path.join(settings.folder, settings.config.state_dir)
    return any(os.path.exists(os.path.join(below, name, "run.json")) for name in _names(below))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _with_trainings(box: BoxSettings, trainings: Sequence[Training]) -> BoxSettings:
    """What onbox did not start is watched where it works: the first; the others are named."""
    first, *others = trainings
    print(f"no run of onbox is there; what runs in {safe_line(first.folder)} can be watched: {first.words}")
    if first.log is None:
        warn("its stdout goes to no file: give `log`, so that progress and errors can be seen")
    for number, other in enumerate(others[:OTHERS_SHOWN], 2):
        its = Watch(other.name, log=other.log, process=other.pattern)
        command = _watch_command(box._replace(name=f"{box.name}-{number}", project=other.folder, watches=(its,)))
        warn(f"there runs more, in {safe_line(other.folder)}: {other.words}; to watch it: {command}")
    watch = Watch(first.name, log=first.log, process=first.pattern)
    return box._replace(project=first.folder, watches=(watch,))


def nothing_found(box: BoxSettings, found: Discovered) -> str:
    local = " --local" if box.backend == "local" else ""
    lines = [
        f"{box.host}: no run of onbox was found there. Name the project: patrol add {box.host}{local} --project DIR"
    ]
    if found.sessions:
        lines.append("  what runs there can be watched all the same; write into onbox.toml:")
        values: dict[str, Any] = {"host": box.host, **({"backend": "local"} if box.backend == "local" else {})}
        values["watch"] = {"log": "/path/to/train.log", "session": found.sessions[0]}
        lines += [f"    {line}" for line in render_box(box.name, values).splitlines()]
    return "\n".join(lines)


def _watch_table(watch: Watch) -> dict[str, Any]:
    named = {
        "name": watch.name,
        "log": watch.log,
        "process": watch.process,
        "artifacts": list(watch.artifacts) or None,
        "done_regex": watch.done_regex,
        "resume": watch.resume,
        "job": watch.job,
    }
    return {key: value for key, value in named.items() if value is not None}


def _write(path: str, box: BoxSettings) -> None:
    """Add the table, and see that the file then says what it said and the new box, nothing else."""
    values: dict[str, Any] = {"host": box.host, "project": box.project, "state_dir": box.state_dir}
    if box.is_cluster:
        values = dict(add_cluster.values_of(box))
    elif box.backend != "ssh":
        values["backend"] = box.backend
    tables = [_watch_table(watch) for watch in box.watches]
    values["watch"] = tables[0] if len(tables) == 1 and not box.is_cluster else tables or None
    table = render_box(box.name, {key: value for key, value in values.items() if value is not None})
    real = os.path.realpath(path)
    before = read_toml(real) if os.path.exists(real) else {}
    text = (read_file(real) or b"").decode("utf-8")
    new = with_box(text, table).encode("utf-8")
    _check(new, before, box.name, path, table)
    mode = os.stat(real).st_mode & 0o777 if os.path.exists(real) else 0o644
    replace_file(real, new, mode=mode)
    accept_new(real, before, parse_toml(new, path), os.environ)  # it is the user's own word


def _check(new: bytes, before: dict[str, Any], name: str, path: str, table: str) -> None:
    try:
        after = parse_toml(new, path)
    except Trouble:
        after = {}
    boxes = {key: value for key, value in (after.get("boxes") or {}).items() if key != name}
    rest = {key: value for key, value in after.items() if key != "boxes"}
    if name not in (after.get("boxes") or {}) or {**rest, **({"boxes": boxes} if boxes else {})} != before:
        raise Trouble(Exit.CONFIG, f"{path} cannot be added to at its end; write this into it yourself:\n{table}")


def _first_look(settings: Settings, name: str) -> int:
    output = Output(sys.stdout)
    wishes = TickWishes(choose_boxes(settings, [name]), act=False)

    def show(judged: Any) -> None:
        told: set[Finding] = set()
        for one in judged.runs:
            for line in (one.line, *details(one.verdict, one.look, judged.snapshot.at, told)):
                output.print(line)

    try:
        ticked = tick(settings, wishes, os.environ, show)
    except Busy:
        warn("another tick of this patrol is at work; the box is looked at by the next one")
        return Severity.UNKNOWN
    for trouble in ticked.troubles:
        warn(trouble)
    print("next: patrol check" + ("" if installed_lines(settings) else ", then: patrol install"))
    return int(ticked.severity)
