"""A run's end: each stage's last facts, checkpoints that do not count, small results, the word of its tracker. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handbook.facts import PassedFacts, ResultFacts, StageEnd, TrackerFacts
from handbook.words import safe, safe_path
from onbox.contract.json_text import as_number, as_object, as_whole
from onbox.contract.progress import Progress, render_progress
from onbox.contract.readings import Absent, Maybe, Unseen, observed, unplain
from onbox.contract.tracker import describe_identity, identity_from_record
from onbox.outside import safe_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.markers import Marker

LISTED = 20
RESULT_LIMIT = 2048


def progress_words(value: Any) -> Maybe[str]:
    """`~400/400 (100%) loss 0.41` of a progress as plain data."""
    known = unplain(value)
    if isinstance(known, Absent | Unseen):
        return type(known)(safe(known.why, 200))
    if isinstance(known, str):  # what did not fit into the marker
        return Unseen(safe(known, 200))
    if not isinstance(known, dict):
        return Absent("no progress was shown")
    fields = {key: item for key, item in known.items() if key in Progress._fields}
    try:
        return safe(render_progress(Progress(**fields)), 200)
    except (TypeError, ValueError):
        return Unseen("its progress could not be understood")


def stage_end(marker: Marker) -> StageEnd:
    """What a DONE marker says of how its stage ended."""
    data = marker.data
    artifacts = data.get("artifacts")
    listed = [one for one in artifacts if isinstance(one, dict)] if isinstance(artifacts, list) else []
    warnings = data.get("warnings")
    return StageEnd(
        attempt=marker.attempt,
        exit_code=as_whole(data.get("exit_code")),
        took_seconds=as_number(data.get("duration_seconds")),
        progress=progress_words(data.get("progress")),
        step=as_number(as_object(data.get("progress")).get("current")),
        artifacts=tuple((safe_path(one.get("path", "")), as_whole(one.get("bytes"))) for one in listed[:LISTED]),
        artifact_count=as_whole(data.get("artifact_count")) or 0,
        tracker=safe(data.get("tracker") or "", 200),
        warnings=tuple(safe(one, 300) for one in warnings[:LISTED]) if isinstance(warnings, list) else (),
    )


def passed_over(forecast: Mapping[str, Any]) -> tuple[PassedFacts, ...]:
    """The newer checkpoints that a resume, or the end of the run, does not count; highest step first."""
    listed = as_object(forecast.get("checkpoint")).get("passed_over")
    found = []
    for one in listed if isinstance(listed, list) else ():
        step = as_whole(as_object(one).get("step"))
        if step is not None:
            says = safe(one.get("against") or one.get("says") or "", 200)
            found.append(PassedFacts(safe_path(one.get("path", "")), step, _fault(one), says))
    return tuple(sorted(found, key=lambda one: -one.step))


def _fault(one: Mapping[str, Any]) -> str:
    if one.get("against"):
        return "foreign" if one.get("refused") is True else "given up"
    return "unproven" if one.get("unproven") is True else "incomplete"


def results(forecast: Mapping[str, Any]) -> tuple[ResultFacts, ...]:
    listed = forecast.get("results")
    return tuple(
        ResultFacts(
            safe(one.get("stage", ""), 80),
            safe_path(one.get("path", "")),
            safe_text(one.get("text", ""), RESULT_LIMIT),
            one.get("whole") is True,
        )
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict)
    )


def trackers(look: Mapping[str, Any]) -> tuple[TrackerFacts, ...]:
    """The run's runs at experiment trackers, as the patrol saw them last."""
    listed = look.get("trackers")
    return tuple(_tracker(one) for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))


def _tracker(one: Mapping[str, Any]) -> TrackerFacts:
    identity, drift = identity_from_record(as_object(one.get("identity"))), one.get("drift")
    sent = one.get("synced")
    return TrackerFacts(
        stage=safe(one.get("stage") or "", 80),
        says=safe(describe_identity(identity) if identity else "a tracker", 200),
        finished=_finished(unplain(one.get("disk")), unplain(one.get("server"))),
        drift=tuple(safe(text, 200) for text in drift) if isinstance(drift, list) else (),
        sent=sent if isinstance(sent, bool) else None,
    )


def _finished(disk: Any, server: Any) -> Maybe[bool]:
    """Whether it has its end and its last values: by its files, or by the server where these were not seen."""
    for seen in (disk, server):
        run = observed(seen)
        if isinstance(run, dict) and isinstance(run.get("state"), str):
            return run["state"] == "finished" and run.get("has_summary") is not False
    why = next((seen.why for seen in (disk, server) if isinstance(seen, Unseen)), "nobody asked it")
    return Unseen(safe(why, 200))
