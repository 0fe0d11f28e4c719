"""A run's end: each stage's last facts, checkpoints that do not count, small results, the word of its tracker. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handbook.page.facts import DoneStage, PassedFacts, ResultFacts, TrackerFacts
from handbook.page.phrases import safe, safe_path
from onbox.contract.json_text import as_number, as_object, as_whole
from onbox.contract.progress import render_progress
from onbox.contract.readings import Absent, Maybe, Unseen, observed
from onbox.model.tracker import describe_identity
from onbox.outside import safe_text
from patrol.memory.codec import progress_from_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.markers import Marker
    from onbox.contract.progress import Progress
    from onbox.trackers.reading import TrackerRun
    from patrol.snapshot import TrackerLook

LISTED = 20
RESULT_LIMIT = 2048


def progress_words(value: Maybe[Progress]) -> Maybe[str]:
    """`~400/400 (100%) loss 0.41`"""
    if isinstance(value, Absent | Unseen):
        return type(value)(safe(value.why, 200))
    return safe(render_progress(value), 200)


def _progress_of_marker(value: object) -> Maybe[Progress]:
    if isinstance(value, str):  # what did not fit into the marker
        return Unseen(safe(value, 200))
    if value is None:
        return Absent("no progress was shown")
    return progress_from_data(value) or Unseen("its progress could not be understood")


def stage_end(marker: Marker) -> DoneStage:
    """What a DONE marker says of how its stage ended."""
    data = marker.data
    artifacts = data.get("artifacts")
    listed = [one for one in artifacts if isinstance(one, dict)] if isinstance(artifacts, list) else []
    warnings = data.get("warnings")
    return DoneStage(
        attempt=marker.attempt,
        exit_code=as_whole(data.get("exit_code")),
        took_seconds=as_number(data.get("duration_seconds")),
        progress=progress_words(_progress_of_marker(data.get("progress"))),
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


def tracker_facts(one: TrackerLook) -> TrackerFacts:
    """The run of a stage at an experiment tracker, as the patrol saw it last."""
    return TrackerFacts(
        stage=safe(one.stage, 80),
        says=safe(describe_identity(one.identity), 200),
        finished=_finished(one.disk, one.server),
        drift=tuple(safe(text, 200) for text in one.drift),
        sent=one.synced,
    )


def _finished(disk: Maybe[TrackerRun], server: Maybe[TrackerRun]) -> Maybe[bool]:
    """Whether it has its end and its last values: by its files, or by the server where these were not seen."""
    run = observed(disk) or observed(server)
    if run is not None and run.state is not None:
        return run.state == "finished" and run.has_summary is not False
    why = next((seen.why for seen in (disk, server) if isinstance(seen, Unseen)), "it was not asked")
    return Unseen(safe(why, 200))
