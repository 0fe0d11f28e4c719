"""Whether a run may be sealed: one ordered table of what must hold at its end. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from handbook.promises import NO_TRACKER
from handbook.render_run import maybe
from handbook.words import safe
from onbox.contract.readings import Absent, Maybe, Unseen, observed

if TYPE_CHECKING:
    from collections.abc import Callable

    from handbook.facts import IdentityFacts, ResumeFacts, RunFacts
    from onbox.contract.config_record import Contract


class End(NamedTuple):
    """What the checks are made of. damages: of its logbook. waiters: sentinels and transfers here that name it."""

    run: RunFacts
    contract: Contract
    damages: tuple[str, ...]
    waiters: Maybe[tuple[str, ...]]


COMMIT = re.compile(r"[0-9a-f]{7,}\b")  # else it says why there is none


class Check(NamedTuple):
    """One statement. holds: None: it could not be checked; it then stands in the seal as a caveat."""

    name: str
    holds: bool | None
    says: str


def _ended(end: End) -> Check:
    says = f"{end.run.state}, rule {end.run.rule}"
    return Check("terminal success", None if end.run.state == "unknown" else end.run.state == "done", says)


def _results(end: End) -> Check:
    known = observed(end.run.resume)
    if known is None:
        return Check("results", None, "its records were not read")
    lost = known.missing[:1]
    return Check("results", not lost, f"{lost[0][1]} of stage {lost[0][0]} is gone" if lost else "all are there")


def _checkpoint(end: End) -> Check:
    known = observed(end.run.resume)
    if known is None:
        return Check("final checkpoint", None, "its records were not read")
    wanted = end.contract.final_step
    if known.step is None:
        return Check("final checkpoint", None if wanted is None else False, known.checkpoint)
    short = wanted is not None and known.step < wanted
    holds = False if short or known.whole is False else known.whole
    return Check("final checkpoint", holds, f"{known.checkpoint}" + (f"; wanted step {wanted}" if short else ""))


def _tracker(end: End) -> Check:
    identity = observed(end.run.identity)
    shown, wanted = identity.tracker if identity else "", end.contract.tracker
    wanted = "" if wanted == NO_TRACKER else wanted
    if not wanted and not shown:
        return Check("tracker", True, "none was promised, none was shown")
    return Check("tracker", None, f"{shown or wanted}: look there that it says finished")


def _code(end: End) -> Check:
    identity = observed(end.run.identity)
    if identity is None:
        return Check("code", None, "not recorded")
    return Check("code", True if COMMIT.match(identity.code) else None, identity.code)


def _record(end: End) -> Check:
    return Check("logbook", not end.damages, end.damages[0] if end.damages else "nothing edited, lost or moved")


def _watchers(end: End) -> Check:
    if isinstance(end.waiters, Absent | Unseen):
        return Check("watchers here", None, end.waiters.why)
    mine = [one for one in end.waiters if end.run.name.replace("/", ":") in one]
    return Check("watchers here", not mine, f"still there: {mine[0]}" if mine else "none waits for it any more")


ROWS: tuple[Callable[[End], Check], ...] = (_ended, _results, _checkpoint, _tracker, _code, _record, _watchers)


def checks(end: End) -> list[Check]:
    return [row(end) for row in ROWS]


def captured(run: RunFacts, contract: Contract) -> str:
    """The final facts, as the seal's evidence."""
    identity: IdentityFacts | None = observed(run.identity)
    known: ResumeFacts | None = observed(run.resume)
    parts = (
        ("run id", run.run_id), ("progress", maybe(run.progress)), ("checkpoint", known.checkpoint if known else ""),
        ("output root", contract.output_root or run.project), ("code", identity.code if identity else ""),
        ("tracker", (identity.tracker if identity else "") or contract.tracker),
    )  # fmt: skip
    return "; ".join(f"{name} {safe(value, 200)}" for name, value in parts if value)
