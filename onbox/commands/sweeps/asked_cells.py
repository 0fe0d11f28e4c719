"""Which cells a person asks for: a grid on the command line, a queue file, or [sweep] of onbox.toml."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.did_you_mean import meant
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.sweep.cells.drafts import BadCell, Draft, axis_of, check_name, from_table, grid, text_of, values_of
from onbox.sweep.cells.queue_file import read_queue
from onbox.sweep.cells.template import problems_of, wanted_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.model.manifest import Stage
    from onbox.sweep.cells.drafts import Axis

SHOWN = 20
COMMANDS = ("start", "status", "stop", "resume", "retry-failed", "skip", "table")


def cells_asked_for(
    args: Options, axes: Sequence[Axis], project: Project, template: Sequence[Stage]
) -> tuple[list[Draft], str | None]:
    """The cells that are asked for, and the queue file. Raises Trouble with every problem."""
    config = project.config.sweep
    if args.axes and args.cells:
        raise Trouble(Exit.USAGE, "a grid and --cells at once: give one of them")
    own_words = bool(args.axes or args.cells)
    queue = args.cells or (None if own_words else config.queue)
    try:
        if queue is not None:
            place = os.path.abspath(queue) if args.cells else os.path.join(project.folder, os.path.expanduser(queue))
            beside = [] if own_words else _from_config(project)
            return [*beside, *_from_queue(place, template)], place
        drafts = list(grid(axes)) if own_words else _from_config(project)
    except BadCell as bad:
        raise Trouble(Exit.USAGE, f"{bad}; nothing was started") from bad
    if not drafts:
        ways = "'lr=1e-3,1e-4' on the command line, --cells FILE, or [sweep] grid or cells in onbox.toml"
        raise Trouble(Exit.USAGE, f"which cells? give {ways}")
    _refuse_unfitting(template, drafts)
    return drafts, None


def axes_of(words: Sequence[str]) -> list[Axis]:
    """The grid of the command line."""
    axes: list[Axis] = []
    for word in words:
        try:
            axes.append(axis_of(word))
        except BadCell as bad:
            hint = "" if "=" in word else meant(word, COMMANDS)
            said = f"{safe_line(word, 80)}: {bad}" + (f"; {hint}" if hint else "")
            raise Trouble(Exit.USAGE, f"{said}; nothing was started") from bad
    return axes


def _from_config(project: Project) -> list[Draft]:
    config = project.config.sweep
    if config.tables:
        return [from_table(table, f"cells[{place}]") for place, table in enumerate(config.tables)]
    if not config.grid:
        return []
    axes = [
        (check_name(name), values_of(value) if isinstance(value, str) else tuple(map(text_of, _all(value))))
        for name, value in config.grid
    ]
    return list(grid(axes))


def _all(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple) else ()


def _from_queue(path: str, template: Sequence[Stage]) -> list[Draft]:
    wanted = wanted_by(template)
    problems = list(problems_of(template, wanted))
    if not wanted:
        problems.append("the commands have no placeholder, so every line would do the same: write {NAME}, or {line}")
    try:
        queue = read_queue(path, wanted)
    except OSError as error:
        raise Trouble(Exit.USAGE, f"{path} cannot be read ({error.strerror}); nothing was started") from error
    problems += queue.problems
    if problems:
        raise _problems(problems)
    if not queue.drafts and not queue.is_growing:
        raise Trouble(Exit.USAGE, f"{path} has no cell in it; nothing was started")
    return list(queue.drafts)


def _refuse_unfitting(template: Sequence[Stage], drafts: Sequence[Draft]) -> None:
    problems: list[str] = []
    for names in dict.fromkeys(tuple(name for name, _ in draft.values) for draft in drafts):
        problems += problems_of(template, names)
    seen: dict[str, Draft] = {}
    for draft in drafts:
        if draft.name in seen:
            problems.append(f"{draft.origin}: the same cell as {seen[draft.name].origin}: each cell runs once")
        seen[draft.name] = draft
    if problems:
        raise _problems(list(dict.fromkeys(problems)))


def _problems(found: Sequence[str]) -> Trouble:
    more = [f"  and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    lines = [f"  {safe_line(one)}" for one in found[:SHOWN]]
    return Trouble(Exit.USAGE, "\n".join(["nothing was started:", *lines, *more]))
