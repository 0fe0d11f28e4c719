"""Whether a run may be sealed: one ordered table of what must hold at its end. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from handbook.check.contract_check import NO_TRACKER
from handbook.page.facts import DoneStage
from handbook.page.markdown import prose
from handbook.page.phrases import safe
from handbook.page.render_run import maybe
from onbox.contract.readings import Absent, Maybe, Unseen, observed
from onbox.model.units import counted, format_duration, format_size
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from handbook.page.facts import IdentityFacts, ResumeFacts, RunFacts, StageFacts
    from onbox.config.tables.record import Contract


class RunEnd(NamedTuple):
    """What the checks are made of. damages: of its logbook. waiters: sentinels and transfers here that name it."""

    run: RunFacts
    contract: Contract
    damages: tuple[str, ...]
    waiters: Maybe[tuple[str, ...]]


ARTIFACTS = 5
COMMIT = re.compile(r"[0-9a-f]{7,}\b")  # else it says why there is none


class Check(NamedTuple):
    """One statement. holds: None: it could not be checked; it then stands in the seal as a caveat."""

    name: str
    holds: bool | None
    says: str


def _ended(end: RunEnd) -> Check:
    says = f"{end.run.state}, rule {end.run.rule}"
    return Check("terminal success", None if end.run.state == "unknown" else end.run.state == "done", says)


def _results(end: RunEnd) -> Check:
    known = observed(end.run.resume)
    if known is None:
        return Check("results", None, "its records were not read")
    lost = known.missing[:1]
    return Check("results", not lost, f"{lost[0][1]} of stage {lost[0][0]} is gone" if lost else "all are there")


def _stages(end: RunEnd) -> Check:
    known = end.run.stages
    if isinstance(known, Absent | Unseen):
        return Check("stages", None, known.why)
    open_ones = [stage for stage in known if stage.state != "done"]
    if open_ones:
        return Check("stages", False, f"stage {open_ones[0].name} is {open_ones[0].state}")
    odd = [f"{stage.name}: {stage.note}" for stage in known if stage.note]
    odd += [f"{stage.name}: {text}" for stage in known for text in stage_end(stage).warnings]
    return Check(
        "stages", None if odd else True, "; ".join(odd) or f"{counted(len(known), 'stage')}, each of them done"
    )


def stage_end(stage: StageFacts) -> DoneStage:
    return observed(stage.end) or DoneStage(0, None, None, Absent("not known"))


def _checkpoint(end: RunEnd) -> Check:
    """The final one is the highest step that was seen or promised, not the newest whole one."""
    known = observed(end.run.resume)
    if known is None:
        return Check("final checkpoint", None, "its records were not read")
    newest, wanted = known.newest, end.contract.final_step
    higher = [one for one in known.passed if one.fault != "given up" and one.step > (known.step or -1)]
    proven = known.whole is True  # then one that proves nothing is not finished
    bad = next((one for one in higher if one.fault != "unproven" or proven), None)
    if bad is not None:
        what = "is not of this run" if bad.fault == "foreign" else "is not whole"
        return Check(
            "final checkpoint", False, f"step {bad.step} {what}: {bad.path}: {bad.says}; the newest whole one: {newest}"
        )
    if known.step is None:
        return Check("final checkpoint", None if wanted is None else False, known.checkpoint + _wanted(wanted))
    if wanted is not None and known.step < wanted:
        return Check("final checkpoint", False, newest + _wanted(wanted))
    if higher:
        return Check(
            "final checkpoint", None, f"{newest}; and step {higher[0].step}, {higher[0].path}: {higher[0].says}"
        )
    reached = _reached(end.run, known.path)
    if reached > known.step:
        return Check("final checkpoint", None, f"{newest}; its stage went on to step {reached:g}")
    return Check("final checkpoint", known.whole, newest)


def _wanted(step: int | None) -> str:
    return "" if step is None else f"; promised is step {step}"


_OTHER_UNIT = re.compile(r"(?<![a-z])ep(och)?s?[-_=]?\d", re.IGNORECASE)


def _reached(run: RunFacts, path: str) -> float:
    """Where the counter of the stage stood that wrote the checkpoint; 0: not known, or the number is of epochs."""
    if _OTHER_UNIT.search(path.rpartition("/")[2]):
        return 0
    ends = [stage_end(stage) for stage in observed(run.stages) or ()]
    own = [one for one in ends if any(name == path or name.startswith(f"{path}/") for name, _ in one.artifacts)]
    return max((one.step or 0 for one in own), default=0)


def _tracker(end: RunEnd) -> Check:
    """What the tracker itself said, judged by the same rules as at every look of the patrol."""
    flags = {end.run.rule: end.run.says, **dict(end.run.further)}
    said = next((f"{flags[name]}" for name in ("tracker-unfinished", "tracker-drift") if name in flags), "")
    drift = next((f"{one.says}: {one.drift[0]}" for one in end.run.trackers if one.drift), "")
    if said or drift:
        return Check("tracker", False, said or drift)
    identity = observed(end.run.identity)
    shown, wanted = identity.tracker if identity else "", end.contract.tracker
    wanted = "" if wanted == NO_TRACKER else wanted
    unsure = next((flags[name] for name in ("tracker-unsynced", "tracker-unseen") if name in flags), "")
    if unsure:
        return Check("tracker", None, unsure)
    if end.run.trackers and all(one.finished is True for one in end.run.trackers):
        return Check("tracker", True, "; ".join(f"{one.says}: finished there" for one in end.run.trackers))
    if shown:
        return Check("tracker", None, f"{shown}: look there that it says finished")
    if wanted:
        return Check("tracker", None, f"{wanted} was promised, and no run at a tracker was seen")
    return Check("tracker", True, "none was promised, none was shown")


def _code(end: RunEnd) -> Check:
    identity = observed(end.run.identity)
    if identity is None:
        return Check("code", None, "not recorded")
    return Check("code", True if COMMIT.match(identity.code) else None, identity.code)


def _record(end: RunEnd) -> Check:
    return Check("logbook", not end.damages, end.damages[0] if end.damages else "nothing edited, lost or moved")


def _watchers(end: RunEnd) -> Check:
    if isinstance(end.waiters, Absent | Unseen):
        return Check("watchers here", None, end.waiters.why)
    mine = [one for one in end.waiters if end.run.name.replace("/", ":") in one]
    return Check("watchers here", not mine, f"still there: {mine[0]}" if mine else "none waits for it any more")


ROWS: tuple[Callable[[RunEnd], Check], ...] = (
    _ended, _stages, _results, _checkpoint, _tracker, _code, _record, _watchers,
)  # fmt: skip


def checks(end: RunEnd) -> list[Check]:
    return [row(end) for row in ROWS]


def captured(run: RunFacts, contract: Contract) -> str:
    """The final facts in one line, as the seal's evidence."""
    identity: IdentityFacts | None = observed(run.identity)
    known: ResumeFacts | None = observed(run.resume)
    seen = "; ".join(one.says for one in run.trackers)
    parts = (
        ("run id", run.run_id), ("final checkpoint", known.newest if known else ""),
        ("output root", contract.output_root or run.project), ("code", identity.code if identity else ""),
        ("tracker", seen or (identity.tracker if identity else "") or contract.tracker),
    )  # fmt: skip
    return "; ".join(f"{name} {safe(value, 200)}" for name, value in parts if value)


def final_facts(run: RunFacts) -> str:
    """The end of every stage, and the small files of results as they lie there: the seal's text."""
    lines = [_stage_line(stage) for stage in observed(run.stages) or ()]
    known = observed(run.resume)
    for one in known.results if known else ():
        more = "" if one.whole else " (its beginning)"
        lines += ["", prose(f"{one.path} of stage {one.stage}{more}:"), ""]
        lines += [f"    {line}" for line in one.text.splitlines()]  # as code: nothing in it is Markdown
    return "\n".join(lines)


def _stage_line(stage: StageFacts) -> str:
    """`- train: exit 0, took 5h12m, attempt 2, ~400/400 (100%) loss 0.41; 4 artifacts: ckpt/step-400 1.2 GB, …`"""
    end = observed(stage.end)
    if end is None:
        return prose(f"- {stage.name}: {stage.state}; no end is on record")
    took = "" if end.took_seconds is None else f", took {format_duration(end.took_seconds)}"
    code = "not told" if end.exit_code is None else str(end.exit_code)
    parts = [f"exit {code}{took}, attempt {end.attempt}, {maybe(end.progress)}"]
    if end.artifacts:
        named = [path + ("" if size is None else f" {format_size(size)}") for path, size in end.artifacts[:ARTIFACTS]]
        more = ", …" if end.artifact_count > len(named) else ""
        parts.append(f"{counted(end.artifact_count, 'artifact')}: {', '.join(named)}{more}")
    parts += [f"tracker {end.tracker}"] if end.tracker else []
    parts += [f"WARNING: {text}" for text in end.warnings]
    return prose(f"- {stage.name}: {'; '.join(parts)}")
