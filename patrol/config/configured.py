"""From the command line and the environment to the settings of a patrol."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onbox.config.trust_keys import FOR_PATROL, SSH
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.project import BrokenConfig, Project, load_project
from patrol.config.settings import SSH_VARIABLE, Settings, state_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onbox.cli.command import Options
    from onbox.model.boxes import BoxSettings


def load_settings(args: Options, environ: Mapping[str, str], *, looks: bool = False) -> Settings:
    """The settings of the project that a command is about. looks: it asks boxes, so that at a terminal somebody is
    asked for keys that are not accepted yet. Raises Trouble with every error of its file.
    """
    if args.folder:
        try:
            os.chdir(args.folder)
        except OSError as error:
            raise Trouble(Exit.USAGE, f"{args.folder}: {error.strerror}") from error
    with unseen_meanwhile():
        project = load_project(args.config, asks=uses_of_patrol(environ) if looks else ())
    return settings_of(project, environ)


@contextmanager
def unseen_meanwhile() -> Iterator[None]:
    """Of a file that cannot be used it is said what that means for whoever watches from here."""
    try:
        yield
    except BrokenConfig as broken:
        broken.also("until then nothing is looked at from here, and nobody is told of anything; what runs goes on")
        raise


def uses_of_patrol(environ: Mapping[str, str]) -> frozenset[str]:
    """What of a file is asked for: not its ssh where the environment says another."""
    return FOR_PATROL - {SSH} if environ.get(SSH_VARIABLE) else FOR_PATROL


def settings_of(project: Project, environ: Mapping[str, str]) -> Settings:
    """Raises Trouble."""
    words = environ.get(SSH_VARIABLE, "")
    try:
        command = tuple(shlex.split(words)) or project.config.ssh_command
    except ValueError as error:
        raise Trouble(Exit.CONFIG, f"{SSH_VARIABLE}: {error}") from error
    state = state_folder(project.folder, environ)
    uses = uses_of_patrol(environ)
    withheld = tuple(one for one in project.withheld if one.use in uses)
    return Settings(project.folder, project.config_path, project.config, state, command, withheld)


def choose_boxes(settings: Settings, names: Sequence[str]) -> tuple[BoxSettings, ...]:
    """The named boxes, or all; with a run's name (`gpu1/digits`) its box. Raises Trouble."""
    boxes = settings.config.boxes
    if not boxes:
        where = settings.config_path or settings.folder
        raise Trouble(Exit.USAGE, f"no box is known in {where}; add one: patrol add HOST")
    known = [*(box.name for box in boxes), *dict.fromkeys(box.group for box in boxes if box.group)]
    names = [name if name in known else split_run(name)[0] for name in names]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Trouble(Exit.USAGE, f"no box {', '.join(map(repr, unknown))}; there are: {', '.join(known)}")
    return tuple(box for box in boxes if not names or box.name in names or (box.group and box.group in names))


def split_run(word: str) -> tuple[str, str | None]:
    """`gpu1/digits` as box and run, and so is `gpu1:digits`, as `sentinel` writes it; `gpu1` as box and None."""
    box, between, run = re.fullmatch(r"([^/:]*)([/:]?)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
    return box, run if between else None
