"""Small text files among what a finished run's stages left: its final metrics, as they lie there."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.checkpoints.select import step_of
from onbox.named_tuple import NamedTuple
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onbox.model.manifest import Stage

ENDINGS = (".json", ".csv", ".tsv", ".txt", ".yaml", ".yml", ".md")
OF_A_STAGE = 2
LIMIT_BYTES = 2048


class ResultText(NamedTuple):
    """One file. whole: there was no more of it."""

    stage: str
    path: str
    text: str
    whole: bool


def read_results(stage: Stage, project: str, marker: Mapping[str, object]) -> Iterator[ResultText]:
    """The small text files that the stage's DONE marker names. What cannot be read is left out: that a file is gone is
    told elsewhere.
    """
    listed = marker.get("artifacts")
    paths = [one.get("path") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    named = [path for path in paths if isinstance(path, str) and path.endswith(ENDINGS) and not _in_checkpoint(path)]
    for path in named[:OF_A_STAGE]:
        with suppress(OSError, UnicodeDecodeError):
            data = read_file(os.path.join(project, stage.cwd, path), LIMIT_BYTES + 1) or b""
            whole = len(data) <= LIMIT_BYTES
            # A letter of several bytes may be cut in the middle.
            text = data.decode() if whole else data[:LIMIT_BYTES].decode("utf-8", "ignore")
            if text and "\0" not in text:
                yield ResultText(stage.name, path, text, whole)


def _in_checkpoint(path: str) -> bool:
    """Whether it lies in a folder with a step: then it is about that checkpoint."""
    return any(step_of(part) is not None for part in os.path.dirname(path).split("/"))
