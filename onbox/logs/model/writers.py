"""Who wrote a line: a rank, a process, a host, or nobody in particular. Pure.

Ranks of one job go in step: when one of them has died, what another prints a moment later is no sign of life. Workers,
pods and trials do not: the death of one of them ends the run only if nobody else goes on.
"""

from __future__ import annotations

import re

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

# (kind, what launchers put before a line)
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("rank", lazy(r"^\[?\s?(?:default|[Rr]ank[\s_:-]?)(\d{1,6})\b")),  # torchrun, DeepSpeed
    ("rank", lazy(r"^\[(\d{1,6}(?:,\d{1,6})?)\]")),  # MPI, pdsh
    ("rank", lazy(r"^(\d{1,5}): ")),  # srun --label
    ("rank", lazy(r"\[(?:gpu|cuda|device|node)[-_:]? ?(\d{1,5})\]", re.IGNORECASE)),
    ("process", lazy(r"\[(?:worker|process|proc)[-_:]? ?(\d{1,5})\]", re.IGNORECASE)),
    ("process", lazy(r"\bpid=(\d{1,9})")),  # Ray
    ("host", lazy(r"^([\w.-]{1,60})(?:: |\s*\| )")),  # a launcher over ssh, docker compose
)


class Writer(NamedTuple):
    """kind: "rank", "process", "host", or "" where nothing names the writer. name: unique within the kind."""

    kind: str
    name: str

    @property
    def in_step(self) -> bool:
        """Whether the others cannot go on without it."""
        return self.kind == "rank"


NOBODY = Writer("", "")


def writer_of(source: str) -> Writer:
    """Of the part of a line that names its source (see `lines.Message`)."""
    if not source:
        return NOBODY
    for kind, pattern in _KINDS:
        found = pattern.search(source)
        if found:
            return Writer(kind, found[1])
    return Writer("host", source.strip())
