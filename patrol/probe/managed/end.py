"""How a run ended, by its journal and its markers: done, or which failure. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, as_object, as_whole
from onbox.contract.markers import Marker, parse_marker
from onbox.contract.paths import SWEEP
from onbox.contract.readings import Absent, Unseen, observed
from onbox.outside import safe_line
from onbox.runs.journal import rechecked_words
from onbox.triage.classes import may_repeat
from patrol.memory.run_manifest import DeclaredStage, Manifest
from patrol.probe import log_memory
from patrol.probe.excerpt import LINES_LIMIT, last_traceback
from patrol.probe.managed.values import TEXT_LIMIT, age_of, stage_of
from patrol.snapshot import Failure, FinishedStage

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from onbox.runs.journal import JournalFacts, StageResult
    from patrol.memory.run_memory import LogPlace
    from patrol.probe.box.runs import RawRun


def results_of(facts: JournalFacts, manifest: Manifest) -> tuple[StageResult, ...]:
    """Of its stages that are done. The journal also tells of those of an earlier chain of the same name."""
    return tuple(one for one in facts.results.values() if manifest.has(one.stage))


def finished_stages(facts: JournalFacts, manifest: Manifest) -> tuple[FinishedStage, ...]:
    """Its stages that are done, of which is known how long they took."""
    return tuple(
        FinishedStage(one.stage, one.spent_seconds, manifest.stages.get(one.stage, DeclaredStage()).expected_seconds)
        for one in results_of(facts, manifest)
        if one.spent_seconds is not None
    )


def end_of(raw: RawRun, facts: JournalFacts, manifest: Manifest, clock: float) -> dict[str, Any]:
    end = facts.end
    fields: dict[str, Any] = {}
    if end is not None:
        fields["outcome"] = end["event"]
        reason = rechecked_words(facts.rechecked) if facts.rechecked else end.get("reason")
        fields |= {"reason": safe_line(reason or "", TEXT_LIMIT), "rechecked": bool(facts.rechecked)}
        fields["ended_age_seconds"] = age_of(end.get("ended_at") or end.get("at"), clock, "not ended")
        fields["told_seconds"] = as_number(end.get("duration_seconds"))
    elif not raw.journal[2]:
        fields["outcome"] = Unseen("the journal could not be read") if raw.done_count else Absent("the run is open")
    marker = parse_marker(raw.files["markers/CHAIN_DONE"]) if "markers/CHAIN_DONE" in raw.files else None
    if marker is None:
        fields["done"] = Absent("no CHAIN_DONE")
    elif not isinstance(marker, Marker):
        fields["done"] = Unseen(f"CHAIN_DONE does not count: {marker.reason}")
    elif marker.run_id != manifest.run_id:
        fields["done"] = Absent("CHAIN_DONE is of another run")
    else:
        proof = f"{SWEEP}_DONE" if SWEEP in manifest.stages else "CHAIN_DONE"  # a sweep's own lands right before
        fields["done"] = f"{proof} of {safe_line(marker.run_id)}"
        fields.setdefault("outcome", "chain_done")
        fields.setdefault("ended_age_seconds", age_of(marker.data.get("ended_at"), clock, "not ended"))
    return fields


def failure_of(raw: RawRun, manifest: Manifest, place: LogPlace | None) -> Maybe[Failure]:
    names = [name for name in raw.files if name.endswith("_FAILED") and name != "markers/CHAIN_FAILED"]
    if not names:
        return Absent("no FAILED marker")
    marker = parse_marker(raw.files[names[0]])
    if not isinstance(marker, Marker):
        return Unseen(f"{safe_line(names[0])}: {marker.reason}")
    if marker.run_id != manifest.run_id:
        return Absent("the FAILED marker is of another run")
    if not manifest.has(marker.stage):
        return Absent("the FAILED marker is of a stage that the chain does not have any more")
    data = marker.data

    def said(key: str) -> str:
        value = data.get(key)
        return safe_line(value, TEXT_LIMIT) if isinstance(value, str) else ""

    failure_class = said("failure_class") or "unknown"
    traceback = last_traceback(log_memory.whole_text(place)) if _is_log_of(place, marker) else ()
    return Failure(
        failure_class=failure_class,
        remedy=said("remedy"),
        # A sweep runs no failed cell by itself.
        retry_allowed=marker.stage != SWEEP and may_repeat(failure_class, rule=said("rule")),
        signature=said("signature"),
        proof=said("proof") or said("reason"),
        where=said("where"),
        source="marker",
        stage=observed(stage_of(marker.stage)) or "",
        confidence=said("confidence"),
        signal=as_whole(data.get("signal")),
        oom_kills=as_whole(as_object(data.get("resources")).get("oom_kills")),
        rule=said("rule"),
        traceback=traceback or _told_stack(data.get("traceback")),
    )


def _told_stack(value: object) -> tuple[str, ...]:
    """The stack that the marker tells: of another language than Python, or of a log that was not read."""
    return tuple(safe_line(line, TEXT_LIMIT) for line in value[:LINES_LIMIT]) if isinstance(value, list) else ()


def _is_log_of(place: LogPlace | None, marker: Marker) -> bool:
    """Whether the log that was read is that of the attempt that failed."""
    return place is not None and place.path == f"logs/{marker.stage}.{marker.attempt}.log"
