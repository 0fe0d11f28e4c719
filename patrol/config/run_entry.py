"""By which entry of onbox.toml a run is looked for: a run whose entry was taken out is gone from there, not from its
box. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onbox.model.boxes import BoxSettings
    from patrol.memory.history import Before
    from patrol.snapshot import RunLook


def origin_of(box: BoxSettings, look: RunLook) -> str | None:
    """Of a run that was seen: the box's project, or one of its watches. None: it is of neither, as far as is known.

    The host is not part of it: a project that is not there on another machine is missed.
    """
    if look.managed:
        return _project(box)
    names = [watch.name for watch in box.watches]
    return _watch(box, look.run) if look.run in names else None


def is_asked_for(box: BoxSettings, before: Before) -> bool:
    """Whether the configuration still has the entry; true where it is not known which one it was."""
    return before.origin in (None, _project(box), *(_watch(box, watch.name) for watch in box.watches))


def _project(box: BoxSettings) -> str:
    return f"project {(box.project or '').rstrip('/')}"


def _watch(box: BoxSettings, name: str) -> str:
    return f"watch {name} of {_project(box)}"
