"""`patrol list`, `patrol remove`, `patrol forget`: which boxes and runs this patrol knows, and to know one no more."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from onbox.cli.command import argument, command
from onbox.cli.consent import agrees
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.units import counted, format_duration
from onbox.outside import safe_line
from onbox.project import parse_toml, read_toml
from onbox.system.clock import wall
from onbox.system.files import read_file, replace_file
from patrol.commands.options import common_options, complete_box, project_options, run_name_argument
from patrol.config.configured import choose_boxes, load_settings, split_run
from patrol.config.toml_edit import without_box
from patrol.decide.remote_command import here
from patrol.memory.codec import verdict_from_text
from patrol.memory.store import Memory
from patrol.memory.transfers import Register, transfer_line

if TYPE_CHECKING:
    from typing import Any

    from onbox.cli.command import Options
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings

LIST_EXAMPLES = """\
examples:
  patrol list              each box with its runs as the last tick saw them, and transfers
  patrol list --json | jq -r '.boxes[].name'
"""
REMOVE_EXAMPLES = """\
examples:
  patrol remove gpu1       removes [boxes.gpu1] from onbox.toml and what is remembered of it; asks first
"""
FORGET_EXAMPLES = """\
examples:
  patrol forget gpu1/digits     drops what is remembered of it; a tick that still sees it adds it again
"""


@command(LIST_EXAMPLES)
@common_options
def run_list(args: Options) -> int:
    settings = load_settings(args, os.environ)
    now = wall()
    words = Memory(settings.state).last_words()
    register = Register(settings.state)
    transfers = register.all()
    if args.json:
        print(json.dumps(_data(settings.config.boxes, words, transfers), indent=2))
        return Exit.DONE
    for box in settings.config.boxes:
        print(_box_line(box))
        mine = [word for word in words if word.box == box.name and word.run]
        for word in mine:
            print(f"  {safe_line(word.run)}  {_state(word)}, seen {format_duration(max(0.0, now - word.at))} ago")
        if not mine:
            print("  no run is known: patrol tick")
    for one in transfers:
        print(transfer_line(one, now, runs=register.runs(one)))
    if not settings.config.boxes:
        print("no box is known yet: patrol add HOST")
    return Exit.DONE


def _box_line(box: BoxSettings) -> str:
    parts = [box.name, f"host {box.host}", f"project {box.project}" if box.project else "no project", box.backend]
    parts += [str(box.billing.price)] if box.billing is not None else []
    return safe_line("  ".join(parts), 300)


def _state(word: Any) -> str:
    known = verdict_from_text(word.verdict)
    return known.state.value if known is not None else "not known"


def _data(boxes: tuple[BoxSettings, ...], words: Any, transfers: Any) -> dict[str, Any]:
    listed = [
        {
            "name": box.name,
            "host": box.host,
            "project": box.project,
            "backend": box.backend,
            "price": str(box.billing.price) if box.billing is not None else None,
            "runs": [{"run": word.run, "state": _state(word), "at": word.at} for word in words if word.box == box.name],
        }
        for box in boxes
    ]
    return {"schema": 1, "boxes": listed, "transfers": [one._asdict() for one in transfers]}


@command(REMOVE_EXAMPLES)
@argument("box", metavar="BOX", help="the box, by its name in onbox.toml", shell_complete=complete_box)
@click.option("--yes", is_flag=True, help="do not ask")
@project_options
def run_remove(args: Options) -> int:
    settings = load_settings(args, os.environ)
    (box,) = choose_boxes(settings, [args.box])
    path = settings.config_path
    assert path is not None, "a box is known only by a file"
    new = _without(path, box.name)
    runs = [word.run for word in Memory(settings.state).last_words() if word.box == box.name and word.run]
    print(f"takes [boxes.{box.name}] out of {path}, and forgets {counted(len(runs), 'run')} of it here")
    print("nothing on the box is stopped or deleted; if you pay for it: " + here("patrol", "teardown-check", box.name))
    if not (args.yes or agrees(f"remove {box.name}?", unasked=here("patrol", "remove", box.name, "--yes"))):
        print("nothing was changed")
        return Exit.DONE
    real = os.path.realpath(path)
    replace_file(real, new, mode=os.stat(real).st_mode & 0o777)
    Memory(settings.state).forget(box.name)
    _drop_transfers(settings, box.name, None)
    print(f"{box.name} is not looked at any more")
    return Exit.DONE


def _without(path: str, name: str) -> bytes:
    """The file without this box, which then says what it said and nothing else. Raises Trouble where it
    cannot be told.
    """
    real = os.path.realpath(path)
    before = read_toml(real)
    new = without_box((read_file(real) or b"").decode("utf-8"), name).encode("utf-8")
    wanted = {key: value for key, value in before["boxes"].items() if key != name}
    rest = {key: value for key, value in before.items() if key != "boxes"}
    try:
        after = parse_toml(new, path)
    except Trouble:
        after = None
    if after is None or {**after, "boxes": after.get("boxes", {})} != {**rest, "boxes": wanted}:
        raise Trouble(Exit.CONFIG, f"{path}: the table of {name} cannot be told from the rest; take it out yourself")
    return new


@command(FORGET_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@project_options
def run_forget(args: Options) -> int:
    settings = load_settings(args, os.environ)
    box, run = split_run(args.run_name)
    if not run:
        raise Trouble(Exit.USAGE, f"{box!r} does not name a run: BOX/RUN; a whole box: {here('patrol', 'remove', box)}")
    if not Memory(settings.state).forget(box, run) + _drop_transfers(settings, box, run):
        raise Trouble(Exit.USAGE, f"nothing is known of {box}/{run}")
    print(f"{box}/{run}: forgotten here; a tick that still sees it knows it again")
    return Exit.DONE


def _drop_transfers(settings: Settings, box: str, run: str | None) -> int:
    register = Register(settings.state)
    found = [one for one in register.all() if one.box == box and run in (None, one.run)]
    for one in found:
        register.remove(one)
    return len(found)
