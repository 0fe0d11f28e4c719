"""The onbox.toml that `onbox init` writes: ten lines for a beginner, or every key with its explanation. Pure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from onbox.config.parse import TABLES
from onbox.config.tables.boxes import BoxKeys
from onbox.config.tables.engines import PARTS
from onbox.config.tables.stages import StageKeys
from onbox.contract.names import run_name_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onbox.config.keys import AnyKey, Keys

WIDTH = 100
_MARK = "@NAME@"

_SHORT = """\
# onbox.toml: what runs, and what must hold before it counts as done. Every other key: onbox init --full --stdout
[run]
name = "@NAME@"

[stages.train]
cmd = "python train.py"
#artifacts = ["best.npz"]     # files that must be there, and new, before the stage counts as done
#stall_after = "30m"          # log, artifacts and CPU quiet for so long: you are told

[stages.eval]
cmd = "python eval.py"

#[notify]                     # who is told when a stage ends or fails
#urls = ["env:ONBOX_WEBHOOK"]
"""
_HEAD = """\
# onbox.toml: what runs, and what must hold before it counts as done.
#
# A line that begins with "#" and no space is a setting that is switched off; remove the "#" to switch it on. Most show
# the default. Durations: "90s", "30m", "12h", "1h30m", or a number of seconds. Sizes: "5GB" (10^9), "5GiB" (2^30), or a
# number of bytes. Relative paths begin at this file's directory; those of a stage at the stage's cwd.
"""
_ON = {("[run]", "name"), ("[stages.train]", "cmd")}
_EVAL = """\
[stages.eval]
cmd = "python eval.py"
#artifacts = ["results.csv"]
#wait_for = { log = "up.log", regex = "^listening", fail_regex = "^Traceback", stall_after = "30m", pid = 4711 }
"""
_SEVERAL = """\
# One box with several projects, instead of `project`.
#[boxes.gpu2]
#projects = ["/root/llm", "/root/vit"]
"""
_BEHIND = {StageKeys: _EVAL, BoxKeys: _SEVERAL}  # a second example of the table


def render_template(run_name: str, *, full: bool = False) -> str:
    """The text of a new onbox.toml for the run `run_name` (made a valid name if it is not one). full: with every key.

    "#key" is a setting that can be switched on by removing the "#"; "# text" is an explanation. Removing every such
    "#" gives a valid file, too.
    """
    text = "\n".join([_HEAD, *_sections()]) if full else _SHORT
    return text.replace(_MARK, run_name_from(run_name))


def _sections() -> Iterator[str]:
    for keys in TABLES.values():
        if keys.HEADER:
            yield "".join(f"{line}\n" for line in _section(keys))
        if keys in _BEHIND:
            yield _BEHIND[keys]
    for part in PARTS.values():
        if part.box_template:
            yield f"# A cluster is asked over HTTP about jobs that you name.\n#[boxes.cluster]\n{part.box_template}"


def _section(keys: type[Keys]) -> Iterator[str]:
    shown = [key for key in keys.rows() if key.example]
    on = any((keys.HEADER, key.name) in _ON for key in shown)
    yield from _comment(keys.HELP)
    yield keys.HEADER if on else f"#{keys.HEADER}"
    for key in shown:
        yield from _comment(explanation(key))
        yield f"{'' if (keys.HEADER, key.name) in _ON else '#'}{key.name} = {key.example}"


def _comment(text: str) -> Iterable[str]:
    return (f"# {line}" for line in textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False))


def explanation(key: AnyKey) -> str:
    """What the key is for, and what holds without it."""
    if not key.usual:
        return key.help
    return f"{key.help} {'Required.' if key.usual == 'required' else f'Default: {key.usual}'}"
