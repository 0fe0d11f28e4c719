"""Which colour says what, on every screen: by state, by how full something is. Names of rich's styles. Pure."""

from __future__ import annotations

OK, MOVES, WARNING, CRITICAL, UNKNOWN, FAINT, STRONG = (
    "green",
    "cyan",
    "yellow",
    "bold red",
    "magenta",
    "bright_black",
    "bold",
)
FULL_PERCENT, NEARLY_FULL_PERCENT = 95.0, 85.0

# words of RunState and StageState
OF_STATE = {
    "done": OK,
    "running": MOVES,
    "waiting": MOVES,
    "pending": FAINT,
    "stopped": WARNING,
    "interrupted": WARNING,
    "degraded": WARNING,
    "stalled": CRITICAL,
    "failed": CRITICAL,
    "unknown": UNKNOWN,
}


def of_state(state: str) -> str:
    return OF_STATE.get(state, UNKNOWN)


def of_share(percent: float | None) -> str:
    """Of something that must not become full."""
    if percent is None:
        return FAINT
    if percent >= FULL_PERCENT:
        return CRITICAL
    return WARNING if percent >= NEARLY_FULL_PERCENT else OK
