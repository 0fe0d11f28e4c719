"""What a stage asks for and leaves, as words of a page. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.page.phrases import safe
from onbox.model.units import format_duration, format_size

if TYPE_CHECKING:
    from onbox.model.manifest import Amount, Artifact, Gates, Stage


def gate_words(gates: Gates) -> tuple[str, ...]:
    """What must be free before the stage starts."""
    words = [
        f"{name.replace('_', ' ')} {_amount(value, as_size=name != 'inodes_free')}"
        for name in ("disk_free", "inodes_free", "memory_free")
        if (value := getattr(gates, name)) is not None
    ]
    if gates.gpu is not None:
        used = "" if gates.gpu.max_used_mib is None else f" with at most {gates.gpu.max_used_mib} MiB in use"
        words.append(f"gpu {gates.gpu.number}{used}")
    if gates.checkpoints is not None:
        one = gates.checkpoints
        words.append(f"room for {one.keep} checkpoints of {format_size(one.size_bytes)} in {safe(one.path, 80)}")
    return tuple(words)


def _amount(amount: Amount, *, as_size: bool) -> str:
    if amount.percent is not None:
        return f"{amount.percent:g}%"
    number = amount.number or 0
    return format_size(number) if as_size else str(number)


def condition_words(stage: Stage) -> tuple[str, ...]:
    """What else must hold for it."""
    words = [] if stage.cwd == "." else [f"in {safe(stage.cwd, 120)}"]
    limits = (
        ("timeout", stage.timeout_seconds),
        ("stall after", stage.stall_after_seconds),
        ("at least", stage.min_duration_seconds),
        ("expected", stage.expected_seconds),
    )
    words += [f"{name} {format_duration(seconds)}" for name, seconds in limits if seconds is not None]
    if stage.wait_for is not None:
        one = stage.wait_for
        words.append(f"waits for {safe(one, 120)}, at most {format_duration(one.timeout_seconds)}")
    if stage.retry.max:
        words.append(f"retries {stage.retry.max} for {', '.join(stage.retry.classes)}")
    if stage.done_if_log:
        words.append(f"log must hold {safe(stage.done_if_log, 120)}")
    if stage.env:
        words.append("sets " + ", ".join(safe(name, 60) for name, _ in stage.env))
    return tuple(words)


def artifact_words(one: Artifact) -> str:
    """What it must leave."""
    return one.pattern + (f" (at least {one.min_count})" if one.min_count > 1 else "")
