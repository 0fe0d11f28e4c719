"""A run whose state directory was removed while its processes live: the words for it, the same everywhere. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN_PIDS = 20
REMOVED_UNDER_IT = "its state directory is not there, but processes of it are alive: its state was removed under it"


def way_on(pids: Sequence[int]) -> str:
    """What to do: nothing continues such a run."""
    return f"let them end, or end them yourself: kill {' '.join(map(str, pids[:SHOWN_PIDS]))}"
