"""Words in the log of a job that an engine runs, which say that the engine cannot give it what it needs. Pure.

WORDS: which lines a person should see first. SIGNS: those that speak against a job which still runs; a bare
"error" is none of them, as a job prints that word for many reasons and lives.
"""

from __future__ import annotations

import re

from onbox.backends.table import cluster_of
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

# Lines that say how a training does, or why it broke, whatever engine runs it.
WORDS = (
    "loss|error|Error|Traceback|RESOURCE_EXHAUSTED|compiler_base.cc:2587|Program hbm requirement|"
    "Largest program allocations"
)
LINES = 200
SAYS_LIMIT = 160


class LogSign(NamedTuple):
    """regex: without regard to case. source: where the words come from."""

    name: str
    regex: str
    source: str


SIGNS: tuple[LogSign, ...] = (
    LogSign("owner-died", r"\bOwnerDiedError\b", "ray.exceptions: the object's owner has died"),
    LogSign("node-died", r"\bdead node\b|\bnode death\b|\bnode .{0,80}\bmarked dead\b|\bNodeDiedError\b|lost node\b",
         "gcs_node_manager; ray.exceptions.NodeDiedError"),
    LogSign("unsatisfied", r"No available node types can fulfill|cannot be (?:scheduled|satisfied) right now|"
         r"unsatisfied (?:autoscaler demand|resources)|autoscaler.{0,20}unsatisfied", "Ray's and Iris's autoscaler"),
    LogSign("no-accelerator", r"no accelerators? found|No accelerator found", "jax, libtpu"),
    LogSign("precondition", r"\bFAILED_PRECONDITION\b", "libtpu, XLA"),
    LogSign("device-busy", r"device or resource busy", "EBUSY of an accelerator that another process holds"),
)  # fmt: skip
_SIGNS = tuple((sign.name, re.compile(sign.regex, re.IGNORECASE)) for sign in SIGNS)


def signs_in(text: str) -> tuple[str, ...]:
    """The newest line of each sign in the last lines, `name: line`."""
    found: dict[str, str] = {}
    for line in text.splitlines()[-LINES:]:
        for name, regex in _SIGNS:
            if regex.search(line[:2000]):
                found[name] = f"{name}: {safe_line(line.strip(), SAYS_LIMIT)}"
    return tuple(found[name] for name, _ in _SIGNS if name in found)


def line_worth_reading(engine: str, text: str) -> str:
    """The newest of the last lines that a person should see first; "" for none."""
    regex = cluster_of(engine).WORTH_READING
    lines = [line for line in text.splitlines()[-LINES:] if regex.search(line[:2000])]
    return safe_line(lines[-1].strip(), 300) if lines else ""
