"""A stage with placeholders, and the stage of one cell. Pure.

`{lr}` stands for the cell's value of `lr`, `{cell}` for the cell's name, which is a good name for a folder. In a shell
line a value is quoted as the place needs it, so that it stays itself whatever is in it; a list of words takes it as it
is. `{{lr}}` is `{lr}` itself, and `${lr}` is left to the shell.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from onbox.did_you_mean import meant
from onbox.model.sweep import PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from onbox.model.manifest import Artifact, Stage
    from onbox.model.sweep import Cell

OWN = ("cell", "sweep")
LINE = "line"  # the whole line of a queue file whose lines are not NAME=VALUE
_PLACEHOLDER = re.compile(rf"\{{\{{({PARAMETER})\}}\}}|(?<!\$)\{{({PARAMETER})\}}")


def fill(text: str, values: Mapping[str, str], quote: Callable[[str], str] = str) -> str:
    """The text with every known placeholder replaced."""

    def replaced(found: re.Match[str]) -> str:
        if found[1] is not None:
            return f"{{{found[1]}}}"
        return quote(values[found[2]]) if found[2] in values else found[0]

    return _PLACEHOLDER.sub(replaced, text)


def fill_line(line: str, values: Mapping[str, str]) -> str:
    """The same for a shell line: no value ends a quotation or becomes a second word."""
    parts, at, quote = [], 0, ""
    for found in _PLACEHOLDER.finditer(line):
        quote = _quote_after(line[at : found.start()], quote)
        parts += [line[at : found.start()], fill(found[0], values, _IN_QUOTES[quote])]
        at = found.end()
    return "".join([*parts, line[at:]])


def _quote_after(text: str, quote: str) -> str:
    """Which quotation is open behind the text, where `quote` was open before it; "": none."""
    skip = False
    for character in text:
        if skip:
            skip = False
        elif character == "\\" and quote != "'":
            skip = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in ("'", '"'):
            quote = character
    return quote


_IN_QUOTES: dict[str, Callable[[str], str]] = {
    "": shlex.quote,
    "'": lambda value: value.replace("'", "'\\''"),
    '"': lambda value: re.sub(r'([\\"$`])', r"\\\1", value),
}


def stage_of_cell(stage: Stage, sweep: str, cell: Cell) -> Stage:
    """The stage that the cell runs."""
    values = {**dict(cell.values), "cell": cell.name, "sweep": sweep}

    def path(text: str) -> str:
        return fill(text, values)

    wait = stage.wait_for
    if wait is not None:
        wait = wait._replace(file=wait.file and path(wait.file), log=wait.log and path(wait.log))
    return stage._replace(
        cmd=tuple(map(path, stage.cmd)) if isinstance(stage.cmd, tuple) else fill_line(stage.cmd, values),
        cwd=path(stage.cwd),
        env=tuple((name, path(value)) for name, value in stage.env),
        artifacts=tuple(_artifact(one, values) for one in stage.artifacts),
        wait_for=wait,
    )


def _artifact(artifact: Artifact, values: Mapping[str, str]) -> Artifact:
    return artifact._replace(pattern=fill(artifact.pattern, values, _escape if artifact.is_glob else str))


def _escape(value: str) -> str:
    """What a glob would take for a pattern, as itself (as `glob.escape`, which is 4 ms to import)."""
    return re.sub(r"([*?[])", r"[\1]", value)


# -- what is wrong with a template


def texts_of(stage: Stage) -> Iterator[str]:
    """Every text of a stage in which a placeholder is filled in."""
    yield from stage.cmd if isinstance(stage.cmd, tuple) else (stage.cmd,)
    yield stage.cwd
    yield from (value for _, value in stage.env)
    yield from (artifact.pattern for artifact in stage.artifacts)
    if stage.wait_for is not None:
        yield from filter(None, (stage.wait_for.file, stage.wait_for.log))


def placeholders(texts: Iterable[str]) -> set[str]:
    return {found[2] for text in texts for found in _PLACEHOLDER.finditer(text) if found[2] is not None}


def wanted_by(template: Iterable[Stage]) -> set[str]:
    """The parameters that a cell must have for these stages."""
    return placeholders(text for stage in template for text in texts_of(stage)) - {*OWN}


def problems_of(template: Iterable[Stage], names: Collection[str]) -> Iterator[str]:
    """What is wrong with stages for cells that have these parameters: a sentence each."""
    used: set[str] = set()
    for stage in template:
        found = placeholders(texts_of(stage))
        used |= found
        for name in sorted(found - {*names, *OWN}):
            hint = meant(name, names) or f"to keep the braces as they are: {{{{{name}}}}}"
            yield f"stage {stage.name}: {{{name}}} is not a parameter of the cells; {hint}"
    for name in names:
        if name not in used:
            yield f"parameter {name} is in no command: write {{{name}}} where its value belongs"


_PLACES = re.compile(r"-o|--?(?:out|output|save|log|ckpt|checkpoint|result|work)[\w-]*")


def shared_places(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options that usually name a place to write, with a value that is the same for every cell: (option, value)."""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        option, sign, value = word.partition("=")
        place = value if sign else following
        if _PLACES.fullmatch(option) and place and not place.startswith("-") and not placeholders([place]):
            yield option, place
