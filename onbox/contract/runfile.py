"""run.json: the contract of a run, frozen when the chain starts. One JSON object, laid out one stage per line.

The layout lets the runner read one stage at a time, so that ten thousand queued stages cost it no memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_json, parse_object
from onbox.model.engines import BY_NAME
from onbox.model.manifest import RunSettings, Stage, stage_from_dict, stage_to_dict
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SCHEMA = 1

# The code of a run whose first stage starts just now: it is looked at meanwhile.
NOT_LOOKED_YET = {"unknown": "not looked yet"}


class DamagedRunfile(ValueError):
    """A run.json that is none: edited by hand, or cut off. The text says what is wrong with it."""


_ODD = (ValueError, TypeError, KeyError, AttributeError, AssertionError, OverflowError, RecursionError)


class FrozenStage(NamedTuple):
    """A stage as frozen, with the fingerprint of its command and its place in the chain (from 1)."""

    stage: Stage
    fingerprint: str
    position: int


class RunHead(NamedTuple):
    """Everything in run.json but the stages. `data` holds all fields; the named ones are those that decisions use."""

    run: str
    run_id: str
    project: str
    chain_fingerprint: str
    stage_count: int
    settings: RunSettings
    data: Mapping[str, Any]


def is_sweep(head: RunHead) -> bool:
    """Whether the run is a sweep: many chains of their own, and one stage that stands for them all."""
    return bool(head.data.get("sweep"))


def is_apart(backend: Mapping[str, Any]) -> bool:
    """Whether the jobs of a back end, with its settings as in the head, have another disk than this one."""
    row = BY_NAME.get(str(backend.get("name")))
    return "project" in backend or (row is not None and row.takes_project)


def render_runfile(head: Mapping[str, Any], stages: Iterable[tuple[Stage, str]]) -> bytes:
    """The text of run.json. `head` holds the fields of `parse_head`, and whatever else is worth recording."""
    lines = [json.dumps({**stage_to_dict(stage), "fingerprint": print_}) for stage, print_ in stages]
    return _join(head, ",\n".join(lines))


def render_sweep_file(head: Mapping[str, Any], stage: Stage, fingerprint: str, sweep: Mapping[str, Any]) -> bytes:
    """The text of a sweep's run.json: its one stage, which stands for all cells and has their definition beside it."""
    return _join(head, json.dumps({**stage_to_dict(stage), "fingerprint": fingerprint, "sweep": dict(sweep)}))


def parse_sweep(stage_line: bytes) -> dict[str, Any]:
    """The cells' definition, from the line of that stage. Raises Damaged."""
    data = parse_object(stage_line.strip().removesuffix(b","))
    if data is None or not isinstance(data.get("sweep"), dict):
        raise DamagedRunfile("run.json: the definition of its cells cannot be understood")
    return dict(data["sweep"])


def replace_head(text: bytes, head: Mapping[str, Any]) -> bytes:
    """run.json with another head and the same stages."""
    stages = text.decode("ascii").partition("\n")[2].removesuffix("\n]}\n")
    return _join(head, stages)


def _join(head: Mapping[str, Any], stages: str) -> bytes:
    opening = json.dumps({"schema": SCHEMA, **head})
    return (opening[:-1] + ', "stages": [\n' + stages + "\n]}\n").encode("ascii")


def parse_head(first_line: bytes) -> RunHead:
    """The head of a run.json, from its first line. Raises Damaged saying all that is missing."""
    try:
        return _parse_head(first_line)
    except DamagedRunfile:
        raise
    except _ODD as error:
        raise DamagedRunfile(f"run.json: its head cannot be understood ({error})") from error


def _parse_head(first_line: bytes) -> RunHead:
    opening, cut, _ = first_line.decode("ascii", "replace").rpartition(', "stages": [')
    if not cut:
        raise DamagedRunfile("run.json: its first line is not the beginning of a run's definition")
    data = parse_json(opening + "}")
    wanted = ("run", "run_id", "project", "chain_fingerprint", "stage_count")
    missing = [key for key in wanted if key not in data]
    if missing:
        raise DamagedRunfile("run.json lacks " + ", ".join(missing))
    kept = data.get("settings") or {}
    odd = [key for key in wanted[:-1] if not isinstance(data[key], str)]
    if odd:
        raise DamagedRunfile("run.json: no text in " + ", ".join(odd))
    settings = RunSettings(
        **{key: float(value) for key, value in kept.items() if key in RunSettings._fields and value is not None}
    )
    return RunHead(
        run=data["run"],
        run_id=data["run_id"],
        project=data["project"],
        chain_fingerprint=data["chain_fingerprint"],
        stage_count=int(data["stage_count"]),
        settings=settings,
        data=data,
    )


def parse_stages(lines: Iterable[bytes], wanted: int | None = None) -> Iterator[FrozenStage]:
    """The stages of a run.json, from the lines behind its first, one at a time.

    wanted: how many there are by its head. Raises Damaged where there are not so many: a chain that was cut off must
    not be taken for a whole one.
    """
    position = 0
    for line in lines:
        text = line.strip().removesuffix(b",")
        if text.startswith(b'{"name"'):
            position += 1
            yield _parse_stage(text, position)
    if wanted is not None and position != wanted:
        raise DamagedRunfile(f"run.json: its head tells of {wanted} stages, and {position} are there")


def _parse_stage(text: bytes, position: int) -> FrozenStage:
    try:
        data = parse_json(text)
        frozen = FrozenStage(stage_from_dict(data), str(data["fingerprint"]), position)
    except _ODD as error:
        raise DamagedRunfile(f"run.json: its stage {position} cannot be understood ({error})") from error
    if not isinstance(frozen.stage.name, str):
        raise DamagedRunfile(f"run.json: its stage {position} has no name")
    return frozen
