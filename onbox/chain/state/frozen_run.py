"""The frozen definition of a run, as it lies in run.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.runfile import FrozenStage, RunHead, parse_head, parse_stages
from onbox.system.files import LINE_LIMIT_BYTES, lines_of, open_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.paths import RunPaths


def read_head(paths: RunPaths) -> RunHead | None:
    """The head of the frozen definition; None if there is none. Raises OSError, ValueError."""
    try:
        with open_plain(paths.manifest) as file:
            return parse_head(file.readline(LINE_LIMIT_BYTES))
    except FileNotFoundError:
        return None


def read_stages(paths: RunPaths) -> Iterator[FrozenStage]:
    """The frozen stages, one at a time. Raises OSError, ValueError."""
    with open_plain(paths.manifest) as file:
        yield from parse_stages(lines_of(file), parse_head(file.readline(LINE_LIMIT_BYTES)).stage_count)
