"""What each cell of a sweep runs, and how: stages and settings, the command line's before those of onbox.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.commands.shared.project import load_project
from onbox.commands.sweeps.named import sweep_names
from onbox.commands.sweeps.own_command import own_command
from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.config.tables.sweep import sort_key
from onbox.config.trust_keys import CHAIN, TELL
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.manifest import Retry, Stage
from onbox.outside import safe_line
from onbox.triage.classes import CLASSES, NEVER
from onbox.trust import require

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.model.sweep import SweepSettings


EXAMPLE = "onbox sweep 'lr=1e-3,1e-4' -- python train.py --lr {lr}"


def load_for_sweep(args: Options, *, own_command: bool) -> Project:
    """As for `onbox chain`: who types it runs the file's stages; whose command stands here is asked for the rest."""
    given = frozenset() if own_command else frozenset({TELL, CHAIN})
    found = load_project(args.config, given=given)
    uses = frozenset({TELL, CHAIN}) - given
    if any(one.use in uses for one in found.withheld):
        found = load_project(args.config, asks=uses, given=given)
        require(found.config_path, found.withheld, uses)
    return found


def template_of(args: Options, project: Project, command: str | tuple[str, ...] | None) -> tuple[Stage, ...]:
    config = project.config
    if command is not None:
        stage = Stage("run", command, env=config.env, gates=config.gates, retry=_retry(args.retry))
        return (stage,)
    if args.retry:
        raise Trouble(
            Exit.USAGE, "--retry is for a command of the command line; a stage of onbox.toml has its own retry"
        )
    wanted = tuple(args.stage) or config.sweep.stages
    known = {stage.name: stage for stage in config.stages}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise Trouble(Exit.USAGE, f"no stage {', '.join(unknown)}; there are: {', '.join(known) or 'none'}")
    stages = tuple(known[name] for name in wanted) or config.stages
    if not stages:
        ways = _whole_command(args, project)
        names = sweep_names(project)
        ways += f"; go on with {names[0]}: onbox sweep resume {names[0]}" if names else ""
        raise Trouble(Exit.USAGE, f"nothing to run: no stages are configured; {ways}")
    return stages


def _whole_command(args: Options, project: Project) -> str:
    """How it is typed whole: the sweep's own command, else an example."""
    options = [*(["--again"] if args.again else []), *(["--name", args.name] if args.name else [])]
    own = own_command(project.paths(args.name or project.config.sweep.name), *options)
    return f"its command: {safe_line(own)}" if own else f"give the command, too, for example: {EXAMPLE}"


def _retry(text: str | None) -> Retry:
    """`network_blip,preempted:2`."""
    if not text:
        return Retry()
    names, _, most = text.partition(":")
    classes = tuple(name.strip() for name in names.split(",") if name.strip())
    known = [row.key for row in CLASSES]
    for name in classes:
        if name not in known:
            raise Trouble(Exit.USAGE, f"--retry: no failure class {safe_line(name, 60)}; there are: {', '.join(known)}")
        if NEVER.get(name):
            raise Trouble(Exit.USAGE, f"--retry: {name} must not be retried unchanged: {NEVER[name]}")
    if not classes or not (most or "1").isdecimal():
        raise Trouble(Exit.USAGE, "--retry: wanted classes and how often, such as network_blip,preempted:2")
    return Retry(int(most or 1), classes)


def settings_of(args: Options, known: SweepSettings) -> SweepSettings:
    """Those of [sweep], the command line's before them."""
    given: dict[str, Any] = {key: getattr(args, key) for key in ("jobs", "gpus", "max_failures", "same_failures")}
    if args.gpus and args.jobs is None:
        known = known._replace(jobs=None)  # as many as there are cards for
    try:
        if args.sort:
            given["sort"] = sort_key(args.sort)
        if args.metrics_regex:
            given |= {"metrics_regex": values.regex(args.metrics_regex), "metrics_file": ""}
    except Unwanted as unwanted:
        raise Trouble(Exit.USAGE, f"--sort, --metrics-regex: wanted {unwanted.wanted}") from unwanted
    if args.metrics:
        given |= {"metrics_file": args.metrics, "metrics_regex": ""}
    settings = known._replace(**{key: value for key, value in given.items() if value is not None})
    settings = settings._replace(
        metrics_file=settings.metrics_file or None, metrics_regex=settings.metrics_regex or None
    )
    return settings if settings.jobs or settings.gpus else settings._replace(jobs=1)
