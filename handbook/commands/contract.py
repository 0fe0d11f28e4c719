"""`handbook contract`: what a run that must be accounted for promises before its launch, and what of it is not so."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from handbook.check.contract_check import BLOCKS, World, named_files, promises
from handbook.commands.options import common_options
from onbox.chain.command.code_identity import look_at_git
from onbox.checkpoints.wholeness import examine
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.model.screen import hanging
from onbox.outside import safe_line
from onbox.system.command import CommandResult, run_command
from onbox.system.git import QUIET, QUIET_DIFF, quiet_environment
from patrol.config.configured import load_settings

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.config.settings import Settings

EXAMPLES = """\
examples:
  handbook contract                       the items, each stated, inferred or MISSING; 0 only if none blocks
  handbook contract && onbox chain -d     no launch with an open item
"""
GIT_SECONDS = 10.0


@command(EXAMPLES)
@common_options
@click.option("--accept-dirty", is_flag=True, help="accept changed code")
def run(args: Options) -> int:
    found = promises(_look(load_settings(args, os.environ, looks=True)), accept_dirty=args.accept_dirty)
    open_ones = [one for one in found if one.standing in BLOCKS]
    if args.json:
        items = [{**one._asdict(), "blocks": one.standing in BLOCKS} for one in found]
        print(json.dumps({"schema": 1, "open": len(open_ones), "items": items}, indent=1))
    else:
        for one in found:
            print("\n".join(hanging(f"{one.standing:<9} {one.name:<17} ", safe_line(one.says), indent=28)))
        print("nothing is open" if not open_ones else f"{len(open_ones)} open: do not launch before they are answered")
    return Exit.FAILED if open_ones else Exit.DONE


def _look(settings: Settings) -> World:
    config, folder = settings.config, settings.folder
    changed = _git(folder, *QUIET_DIFF, "--name-only", "-z", "HEAD")
    remote = _git(folder, "branch", "-r", "--contains", "HEAD")
    limit = config.progress.get("max")
    return World(
        contract=config.contract,
        stages=config.stages,
        git=look_at_git(folder, looks=True),
        changed=tuple(filter(None, (changed or "").split("\0"))),
        pushed=None if remote is None else bool(remote.strip()),
        owners=tuple(box.owner for box in config.boxes if box.owner),
        configured_max=limit if isinstance(limit, int) else None,
        source=_source(folder, config.contract.initialize_from),
        untracked=_untracked(folder, [one for one in named_files(config.stages) if _is_file(folder, one)]),
    )


def _is_file(folder: str, path: str) -> bool:
    return os.path.isfile(os.path.join(folder, path))


def _untracked(folder: str, paths: list[str]) -> tuple[str, ...]:
    """Those that git does not hold, ignored ones, too."""
    told = _git(folder, "--literal-pathspecs", "ls-files", "--others", "-z", "--", *paths) if paths else None
    return tuple(filter(None, (told or "").split("\0")))


def _git(folder: str, *words: str) -> str | None:
    try:
        environ = quiet_environment(folder, os.environ)
    except (OSError, subprocess.TimeoutExpired):
        return None
    done = run_command(["git", "-C", folder, *QUIET, *words], timeout_seconds=GIT_SECONDS, env=environ)
    return done.out if isinstance(done, CommandResult) and done.code == 0 else None


def _source(folder: str, path: str) -> bool | None:
    """Whether the checkpoint to start from is there and whole; None: it lies elsewhere."""
    if "://" in path or not path:
        return None
    whole = os.path.join(folder, os.path.expanduser(path))
    if not os.path.exists(os.path.dirname(whole.rstrip("/"))):
        return None  # it is a path on the box
    with suppress(OSError):
        proven = examine(whole)[0]
        return proven is True if os.path.isdir(whole) else proven is not False
    return False
