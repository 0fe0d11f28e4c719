"""`onbox prune`: remove checkpoints that nothing keeps, after a look at the list and by a person's word."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import command, config_option, json_option
from onbox.cli.consent import agrees
from onbox.commands.checkpoints import look_at_checkpoints_of, retention_of, retention_options
from onbox.commands.shared.alone import alone
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.project import existing_run, load_project_to_read, run_to_act_on
from onbox.commands.show.prune_text import begun_lines, done_line, plan_lines
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.units import counted, format_size
from onbox.outside import safe_line
from onbox.retention.plan import make_plan
from onbox.retention.record import strays, unfinished
from onbox.retention.removal import finish, remove_listed
from onbox.system.clock import utc_text, wall

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.checkpoints.keep import Retention
    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.contract.paths import RunPaths
    from onbox.retention.plan import PruneItem, PrunePlan
    from onbox.retention.record import Begun
    from onbox.retention.removal import Removed

EXAMPLES = """\
examples:
  onbox prune --keep 3                   what may go and how much space that frees; asks on a terminal
  onbox prune --keep 3 --milestones 10000
  onbox prune --keep 3 --yes 1f09ab22    remove exactly the list that had this word; another list is refused

Always kept: the newest whole ones, final, best, launch and recovery source, rollback targets, links, what is open
or was just written, and all that is not a checkpoint of this run. It may be typed while the run works.
"""


@command(EXAMPLES, exclusive=[("--yes", "--dry-run"), ("--yes", "--json")])
@run_argument
@config_option
@json_option
@retention_options
@click.option("--yes", metavar="WORD", help="do not ask: remove the list that showed this word")
@click.option("--dry-run", is_flag=True, help="do not ask: only list")
def run(args: Options) -> int:
    project = load_project_to_read(args.config)
    asks = args.yes is not None or (sys.stdin.isatty() and not args.dry_run and not args.json)
    paths = run_to_act_on(project, args.run) if asks else existing_run(project, args.run)
    prune = _Prune(project, paths, retention_of(args))
    if args.json:
        print(json.dumps(prune.as_data(), indent=2))
        return Exit.DONE
    if args.yes is not None:
        return prune.by_word(args.yes)
    kept = prune.plan.retention.keep
    if args.keep is not None and args.keep < kept:
        print(f"--keep {args.keep} becomes {kept}: `min_count` of an artifact asks for so many")
    print(prune.text())
    return prune.ask() if asks else Exit.DONE


class _Prune:
    """One look at a run's checkpoints, and what follows from it."""

    def __init__(self, project: Project, paths: RunPaths, retention: Callable[[Retention], Retention]) -> None:
        self.project, self.paths, self.retention = project, paths, retention
        self.name = os.path.basename(paths.root)
        self.run = look_at_checkpoints_of(project, paths, retention)
        self.plan = make_plan(paths, self.run, wall())
        self.begun = self._begun()

    def _begun(self) -> list[Begun]:
        """What somebody agreed to and what was cut off."""
        noted = unfinished(self.paths)
        folders = {os.path.dirname(one.path) for of in self.run.stages for one in of.survey.found}
        return [*noted, *strays(self.run.head.project, folders, [one.word for one in noted])]

    def text(self) -> str:
        lines = plan_lines(self.name, self.plan, wall())
        for begun in self.begun:
            lines += begun_lines(self.name, begun)
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "schema": 1,
            "run": self.name,
            "word": plan.word,
            "keep": plan.retention.keep,
            "milestones": plan.retention.milestones,
            "checkpoints": plan.found,
            "bytes": plan.bytes,
            "candidates": [_as_data(item) for item in plan.items],
            "guarded": [one._asdict() for one in plan.guarded],
            "begun": [
                {"word": one.word, "at": one.at, "by": one.by, "paths": [move.item.path for move in one.moves]}
                for one in self.begun
            ],
        }

    def ask(self) -> int:
        """On a terminal."""
        code: int = Exit.DONE
        for begun in self.begun:
            if agrees(f"Finish what was agreed as {begun.word}?", unasked=""):
                code = max(code, self.by_word(begun.word))
        plan = self.plan
        if plan.items and agrees(
            f"Remove {counted(len(plan.items), 'checkpoint')}, {format_size(plan.bytes)}?", unasked=""
        ):
            code = max(code, self.by_word(plan.word))
        return code

    def by_word(self, word: str) -> int:
        """Somebody has agreed to the list of this word. All is looked at again: time has passed."""
        with alone(self.paths):
            now = _Prune(self.project, self.paths, self.retention)
            begun = next((one for one in now.begun if one.word == word), None)
            if begun is not None:
                return now.tell(finish(self.paths, begun, now.plan_of(begun)))
            agreed = now.plan.agreed(word)
            if agreed is None:
                raise Trouble(Exit.USAGE, now.other_list(word))
            return now.tell(remove_listed(self.paths, agreed, now.run.head.project))

    def plan_of(self, begun: Begun) -> PrunePlan:
        """What may go by the rules under which it was agreed."""
        run = look_at_checkpoints_of(self.project, self.paths, lambda _: begun.retention)
        return make_plan(self.paths, run, wall())

    def other_list(self, word: str) -> str:
        now = f"now it is {self.plan.word}" if self.plan.items else "now nothing may go"
        return safe_line(f"nothing was removed: {word} is not the word of this list, {now}; look again: onbox prune")

    def tell(self, done: Removed) -> int:
        print(safe_line(done_line(done)))
        for text in done.left:
            print(safe_line(f"  left: {text}"))
        if not done.recorded:
            print("onbox: note: the disk had no room for a record of this", file=sys.stderr)
        if done.trouble:
            finish_it = f"to finish it: onbox prune {self.name}"
            raise Trouble(Exit.STATE_NOT_WRITTEN, safe_line(f"could not remove all: {done.trouble}; {finish_it}"))
        return Exit.DONE


def _as_data(item: PruneItem) -> dict[str, Any]:
    return {key: value for key, value in item._asdict().items() if key not in ("identity", "newest_at")} | {
        "written_at": utc_text(item.newest_at)
    }
