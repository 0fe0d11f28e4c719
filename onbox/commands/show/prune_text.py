"""What `onbox prune` shows, as lines for people of at most 80 columns. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.screen import WIDTH, clip, labelled
from onbox.model.units import counted, format_duration, format_size
from onbox.outside import safe_line

if TYPE_CHECKING:
    from onbox.retention.plan import PruneItem, PrunePlan
    from onbox.retention.record import Begun
    from onbox.retention.removal import Removed

SHOWN = 50
SHOWN_NAMES = 3


def plan_lines(run: str, plan: PrunePlan, now: float) -> list[str]:
    """The list, what stays for another reason than the rules, and the command that removes exactly this."""
    lines = [_title(run, plan)]
    lines += [clip(_line(item, now), WIDTH) for item in plan.items[:SHOWN]]
    if len(plan.items) > SHOWN:
        lines.append(f"  … and {len(plan.items) - SHOWN} more: onbox prune --json")
    lines += [line for text in _guarded(plan) for line in labelled("stays", safe_line(text))]
    if plan.items:
        lines += ["nothing was removed; to remove exactly these:", f"  {_command(run, plan)} --yes {plan.word}"]
    elif plan.found and not plan.guarded:
        lines.append(f"  fewer   onbox prune {run} --keep N, N at least 2")
    return lines


def _guarded(plan: PrunePlan) -> list[str]:
    """One text for each reason."""
    names: dict[str, list[str]] = {}
    for one in plan.guarded:
        names.setdefault(one.why, []).append(one.name)
    return [f"{_some(of)}: {why}" for why, of in names.items()]


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= SHOWN_NAMES else f"{names[0]} … {names[-1]} ({len(names)})"


def _title(run: str, plan: PrunePlan) -> str:
    by = f"keep {plan.retention.keep}"
    by += f", milestones {plan.retention.milestones}" if plan.retention.milestones else ""
    if not plan.items:
        if not plan.found:
            return f"{run}: it has no checkpoints"
        return f"{run}: nothing may go of {counted(plan.found, 'checkpoint')} ({by})"
    return f"{run}: {len(plan.items)} of {counted(plan.found, 'checkpoint')} may go: {format_size(plan.bytes)} ({by})"


def _command(run: str, plan: PrunePlan) -> str:
    milestones = f" --milestones {plan.retention.milestones}" if plan.retention.milestones else ""
    return f"onbox prune {run} --keep {plan.retention.keep}{milestones}"


def _line(item: PruneItem, now: float) -> str:
    age = format_duration(max(0.0, now - item.newest_at))
    return f"  {item.step:>9}  {format_size(item.bytes):>8}  {age:>6}  {safe_line(item.name)}"


def begun_lines(run: str, begun: Begun) -> list[str]:
    """What was agreed and cut off. Pure."""
    who = f"{begun.by} agreed at {begun.at}" if begun.by else "somebody agreed"
    many = counted(len(begun.moves), "checkpoint")
    says = f"{who} to remove {many} (word {begun.word}), and that was cut off; to finish it:"
    return [*labelled("begun", safe_line(says)), f"  onbox prune {run} --yes {begun.word}"]


def done_line(done: Removed) -> str:
    """`removed 5 checkpoints, 41.5 GB`."""
    return f"removed {counted(len(done.removed), 'checkpoint')}, {format_size(done.bytes)}"
