"""What is promised of a run's checkpoints, as far as its runner must know it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Origin(NamedTuple):
    """tracker: its run at one, by which checkpoints may call it. initialize_from: the checkpoint that the training
    began from. final_step: of the whole training; None: not said. rejected: patterns of checkpoints that nobody may go
    on from.
    """

    tracker: str = ""
    initialize_from: str = ""
    final_step: int | None = None
    rejected: tuple[str, ...] = ()


def origin_to_dict(origin: Origin) -> dict[str, object]:
    """For run.json, without what is not said."""
    data = origin._asdict() | {"rejected": list(origin.rejected)}
    return {key: value for key, value in data.items() if value}


def origin_of(head: Mapping[str, object]) -> Origin:
    """The inverse, from the head of run.json. What is of another type is left out."""
    found = head.get("origin")
    data = found if isinstance(found, dict) else {}
    rejected, step = data.get("rejected"), data.get("final_step")
    tracker, source = data.get("tracker"), data.get("initialize_from")
    return Origin(
        tracker if isinstance(tracker, str) else "",
        source if isinstance(source, str) else "",
        step if isinstance(step, int) else None,
        tuple(one for one in rejected if isinstance(one, str)) if isinstance(rejected, list) else (),
    )
