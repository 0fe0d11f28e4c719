"""A stage as a Slurm job: the options of its sbatch that follow from others, its output, its requeue. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.backends.base import Order
    from onbox.model.manifest import Stage

Options = tuple[tuple[str, str | None], ...]

MARGIN_SECONDS = 60.0  # beyond the grace: to put the end on record. Slurm may give the signal up to 60 s early, too
SHORT_LIMIT_SECONDS = 600.0  # a job with less time is not warned: its warning could come when it begins
_LIMIT = r"(?:(?P<days>\d+)-)?(?P<first>\d+)(?::(?P<second>\d+))?(?::(?P<third>\d+))?"


def limit_seconds(text: str) -> float | None:
    """The time limit of `--time` in seconds, as sbatch(1) reads it; None for none, or one that cannot be read.

    `M`, `M:S`, `H:M:S`, `D-H`, `D-H:M`, `D-H:M:S`.
    """
    match = re.fullmatch(_LIMIT, text.strip())
    if match is None:
        return None
    numbers = [int(match[name]) for name in ("first", "second", "third") if match[name] is not None]
    if match["days"] is not None:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
        total = ((int(match["days"]) * 24 + hours) * 60 + minutes) * 60 + seconds
    elif len(numbers) == 3:
        total = (numbers[0] * 60 + numbers[1]) * 60 + numbers[2]
    else:
        minutes, seconds = [*numbers, 0][:2]
        total = minutes * 60 + seconds
    return float(total) or None


def with_warning(options: Options, *, lead_seconds: float | None, grace_seconds: float) -> Options:
    """The options with `--signal`, so that onbox hears of the time limit early enough to end its stage in order.

    lead_seconds: None: the grace and a margin, unless the limit is short; 0: never.
    """
    limit = limit_seconds(dict(options).get("time") or "")
    lead = lead_seconds
    if lead is None:
        short = limit is not None and limit < max(SHORT_LIMIT_SECONDS, 4 * (grace_seconds + MARGIN_SECONDS))
        lead = 0.0 if short else grace_seconds + MARGIN_SECONDS
    return options if not lead else (*options, ("signal", f"B:USR1@{max(1, round(lead))}"))


def fit(order: Order, stage: Stage, jobs: str, settings: Mapping[str, Any], grace_seconds: float) -> Order:
    """The order for a stage, with what only sbatch knows. jobs: the run's folder for jobs."""
    options = with_warning(stage.sbatch, lead_seconds=settings.get("lead"), grace_seconds=grace_seconds)
    return order._replace(output=f"{_literal(jobs)}/{_literal(stage.name)}-%j.out", options=options)


def _literal(path: str) -> str:
    """A path as part of a file name pattern of sbatch."""
    return path.replace("%", "%%")


def requeue_argv(job_id: str, stage: Stage) -> list[str] | None:
    """Put a job back into the queue under the same id: what depends on it goes on waiting. None: the user does not want
    that of a stage which ran into its time limit.
    """
    return ["scontrol", "requeue", job_id] if ("requeue", None) in stage.sbatch else None
