"""One run, from its last look, its last verdict and its records, as `RunFacts`. Pure; nothing here raises for what a
box sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from handbook.box.end_facts import passed_over, progress_words, results, stage_end, tracker_facts
from handbook.box.stage_words import artifact_words, condition_words, gate_words
from handbook.page.facts import FailureFacts, IdentityFacts, LaunchFacts, MarkerFacts, ResumeFacts, RunFacts, StageFacts
from handbook.page.phrases import as_typed, safe, safe_path
from onbox.contract.differences import command_text, commit_text
from onbox.contract.events import ROLLBACKS, Event
from onbox.contract.json_text import as_number, as_object
from onbox.contract.markers import Invalid, Marker
from onbox.contract.paths import CHAIN, RunPaths
from onbox.contract.readings import Absent, Maybe, Unseen, observed, unplain
from onbox.contract.runfile import NOT_LOOKED_YET
from onbox.contract.states import RunState
from onbox.model.tracker import describe_identity, identity_from_record
from onbox.named_tuple import NamedTuple
from patrol.decide.phrases import counts_of_cells
from patrol.decide.standing import ELSEWHERE, disk_to_look_at
from patrol.snapshot import RunLook
from patrol.verdict import Finding, Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handbook.box.records import RunRecord
    from onbox.contract.runfile import FrozenStage
    from patrol.decide.remote_command import Way
    from patrol.snapshot import Failure, LogLook

STAGES_DESCRIBED = 200

T = TypeVar("T")


class PatrolKept(NamedTuple):
    """What the patrol keeps of one run. look: the last one that saw it; None: none did. verdict: the newest; None: what
    was kept is none.
    """

    box: str
    run: str
    look: RunLook | None
    verdict: Verdict | None
    seen_at: float | None


NO_VERDICT = Verdict("", "", RunState.UNKNOWN, Finding("no rule", Severity.UNKNOWN, ""))


def describe(told: PatrolKept, way: Way, record: RunRecord | None, records_at: float | None) -> RunFacts:
    """Everything that is known of one run."""
    look = told.look or RunLook(told.run, managed=bool(told.run), place="", undelivered=Absent("not looked at"))
    verdict = told.verdict or NO_VERDICT
    failure = observed(look.failure)
    facts = RunFacts(
        box=told.box,
        run=told.run,
        managed=look.managed,
        state=verdict.state.value,
        rule=safe(verdict.finding.rule, 60),
        says=safe(verdict.finding.say),
        severity=verdict.severity.name.lower(),
        since=verdict.since if told.verdict else None,
        seen_at=told.seen_at,
        remedy=safe(verdict.finding.remedy),
        look=as_typed(verdict.look),
        way=way,
        place=safe_path(look.place),
        onbox=tuple(as_typed(word) for word in look.onbox) or ("onbox",),
        signs=verdict.signs,
        last_known=safe(verdict.last_known),
        run_id=safe(observed(look.run_id) or "", 80),
        project=way.project or "",
        stage=_text(look.stage),
        attempt=_known(look.attempt),
        stages_done=look.stages_done,
        stages_total=look.stages_total,
        progress=_progress(look, verdict.state),
        further=tuple((safe(one.rule, 60), safe(one.say)) for one in verdict.further if one.rule != ELSEWHERE),
        acknowledged=verdict.acknowledged,
        failure=_failure(look.failure),
        log=_log(look.log),
        waiting=_known(look.undelivered),
        trackers=tuple(map(tracker_facts, look.trackers)),
        disk=as_typed(disk_to_look_at(look.room, "" if failure is None else failure.proof)),
    )
    return facts if record is None else _with_record(facts, record, look, records_at)


def _progress(look: RunLook, state: RunState) -> Maybe[str]:
    """Of a sweep that is done, its cells: with skipped ones a share of them would read as not done."""
    cells = observed(look.cells)
    if cells is not None and state is RunState.DONE:
        return safe(counts_of_cells(cells), 200)
    return progress_words(look.progress)


def _with_record(facts: RunFacts, record: RunRecord, look: RunLook, records_at: float | None) -> RunFacts:
    head = record.head
    if head is None:
        why = Unseen(record.trouble)
        return facts._replace(stages=why, identity=why, resume=why, notify=why, records_at=records_at)
    place = facts.place or head.run
    progress = observed(look.progress)
    tracker = progress.tracker_run if progress is not None else None
    stages = tuple(_stage(one, record, facts) for one in record.stages[:STAGES_DESCRIBED])
    return facts._replace(
        project=safe_path(head.project),
        stages=stages,
        markers=_markers(place, record),
        launches=_launches(record),
        rollback=_rollback(record),
        identity=_identity(record, safe(_tracker(record) or tracker or "", 200)),
        resume=_resume(record),
        notify=_notify(head.data.get("notify")),
        records_at=records_at,
        stages_total=facts.stages_total or len(record.stages),
    )


# -- the chain


def _stage(frozen: FrozenStage, record: RunRecord, facts: RunFacts) -> StageFacts:
    stage = frozen.stage
    done, failed = record.markers.get(f"{stage.name}_DONE"), record.markers.get(f"{stage.name}_FAILED")
    note = ""
    if isinstance(done, Marker):
        state = "done"
        note = "" if done.fingerprint == frozen.fingerprint else "its DONE is of another command"
    elif isinstance(done, Invalid):
        state, note = "unknown", f"its DONE file is not a marker: {done.reason}"
    elif observed(facts.stage) == stage.name and facts.state != "done":
        state = facts.state  # "unknown" where the run could not be looked at: nothing is filled in
    else:
        state = "failed" if failed is not None else "pending"
    return StageFacts(
        name=safe(stage.name, 80),
        command=safe(command_text(stage.cmd), 1000),
        state=state,
        gates=gate_words(stage.gates),
        conditions=condition_words(stage),
        artifacts=tuple(safe(artifact_words(one), 200) for one in stage.artifacts),
        fingerprint=safe(frozen.fingerprint, 40),
        note=safe(note, 160),
        end=stage_end(done) if isinstance(done, Marker) else Absent("it is not done"),
    )


# -- markers, launches, identity


def _markers(place: str, record: RunRecord) -> tuple[MarkerFacts, ...]:
    paths = RunPaths(place)
    found = [
        _marker(paths.done(CHAIN), "every stage passed its success gate", record),
        _marker(paths.failed(CHAIN), "the chain ended without success; nothing downstream was started", record),
    ]
    for frozen in record.stages[:STAGES_DESCRIBED]:
        name = frozen.stage.name
        found.append(_marker(paths.done(name), f"stage {name} passed its success gate", record))
        found.append(_marker(paths.failed(name), f"stage {name} ended without success; why is in it", record))
    return tuple(found)


def _marker(path: str, means: str, record: RunRecord) -> MarkerFacts:
    marker = record.markers.get(path.rpartition("/")[2])
    note = ""
    if isinstance(marker, Invalid):
        note = f"no marker: {marker.reason}"
    elif marker is not None and record.head is not None and marker.run_id != record.head.run_id:
        note = "of another run"
    return MarkerFacts(safe_path(path), safe(means, 160), marker is not None, safe(note, 160))


def _launches(record: RunRecord) -> tuple[LaunchFacts, ...]:
    """Every launch. A first one is recorded before its code was looked at: then it had the code that the launch after
    it compared itself with, and without one that of run.json.
    """
    assert record.head is not None
    code = _code(record.head.data.get("git"))
    found: list[LaunchFacts] = []
    for one in reversed(record.launches):
        looked = one.get("git") != NOT_LOOKED_YET
        code = _code(one.get("git")) if looked else code
        found.append(_launch(one, code))
        before = [before for what, before, _ in _changes(one) if what == "commit"]
        code = safe(before[0], 80) if before else code if looked else "not recorded"
    return tuple(reversed(found))


def _code(git: Any) -> str:
    return safe(commit_text(git), 80) if isinstance(git, dict) else "not recorded"


def _changes(record: Mapping[str, Any]) -> list[list[str]]:
    changed = _sequence(record.get("changed"))
    return [[str(text) for text in one] for one in changed if isinstance(one, list) and len(one) == 3]


def _rollback(record: RunRecord) -> str:
    """The newest rollback that holds, in words; "" for none."""
    told = [one for one in record.events if one["event"] in ROLLBACKS]
    undone = {one.get("number") for one in told if one["event"] == Event.ROLLBACK_UNDONE}
    held = [one for one in told if one["event"] != Event.ROLLBACK_UNDONE and one.get("number") not in undone]
    if not held:
        return ""
    last = held[-1]
    cut_off = "" if last["event"] == Event.ROLLBACK_DONE else " (NOT finished: onbox rollback --finish, or --undo)"
    says = f"{last.get('reason')}{cut_off}"
    return safe(f"rolled back to step {last.get('step')} at {last.get('at')} by {last.get('by')}: {says}", 400)


def _launch(record: Mapping[str, Any], code: str) -> LaunchFacts:
    return LaunchFacts(
        number=int(as_number(record.get("launch")) or 0),
        at=safe(record.get("at", ""), 40),
        host=safe(record.get("host", "not recorded"), 120),
        code=code,
        differences=tuple(difference_line(*one) for one in _changes(record)),
    )


def difference_line(what: str, before: str, after: str) -> str:
    """`train cmd: a → b`, `environment: names`."""
    if what == "environment" or what.endswith(" env"):
        return safe(f"{what}: {after}", 300)
    return safe(f"{what}: {before or '(none)'} → {after or '(none)'}", 300)


def _tracker(record: RunRecord) -> str:
    """The newest run at an experiment tracker that the journal tells of; "" for none."""
    runs = [one for one in record.events if one["event"] == Event.TRACKER_RUN]
    found = identity_from_record(runs[-1]) if runs else None
    return describe_identity(found) if found is not None else ""


def _identity(record: RunRecord, tracker: str) -> IdentityFacts:
    assert record.head is not None
    data = record.head.data
    git = data.get("git")
    names = set(as_object(data.get("environment"))) | {name for one in record.stages for name, _ in one.stage.env}
    return IdentityFacts(
        code=safe(commit_text(git), 200) if isinstance(git, dict) else "not recorded",
        chain_fingerprint=safe(record.head.chain_fingerprint, 40),
        config=safe_path(data.get("config") or "no onbox.toml: the command line"),
        host=safe(data.get("host", "not recorded"), 120),
        onbox=safe(data.get("onbox", "not recorded"), 40),
        environment=tuple(sorted(safe(name, 60) for name in names)),
        tracker=tracker,
    )


def _resume(record: RunRecord) -> Maybe[ResumeFacts]:
    data = record.forecast
    if not data:
        return Unseen(record.trouble or "not foretold")
    checkpoint = data.get("checkpoint")
    chosen = as_object(as_object(checkpoint).get("chosen"))
    missing = _list(data.get("missing"))
    return ResumeFacts(
        would=safe(data.get("would", ""), 20),
        says=safe(data.get("says", "")),
        stage=safe(data.get("stage") or "", 80),
        checkpoint=safe(_checkpoint(checkpoint)),
        step=chosen["step"] if isinstance(chosen.get("step"), int) else None,
        path=safe_path(chosen.get("path") or ""),
        newest=safe(_newest(chosen)),
        passed=passed_over(data),
        results=results(data),
        whole=chosen.get("whole") if isinstance(chosen.get("whole"), bool) else None,
        missing=tuple((safe(one.get("stage", ""), 80), safe_path(one.get("path", ""))) for one in missing),
        changed=tuple(safe(one, 300) for one in _sequence(data.get("config_changed")) if isinstance(one, str)),
        refused=tuple(safe_path(one) for one in _sequence(data.get("refused_checkpoints")) if isinstance(one, str)),
    )


def _checkpoint(data: Any) -> str:
    known = unplain(data)
    if isinstance(known, Absent):
        return known.why
    if isinstance(known, Unseen):
        return f"could not look: {known.why}"
    parts = [_newest(as_object(as_object(data).get("chosen")))]
    passed = _list(as_object(data).get("passed_over"))
    parts += [
        f"newer, but {_wrong(one)}: {one.get('path')} ({one.get('against') or one.get('says')})" for one in passed
    ]
    return "; ".join(parts)


def _newest(chosen: Mapping[str, Any]) -> str:
    """The checkpoint to go on from, or the final one."""
    if not chosen:
        return "none that is whole"
    whole = chosen.get("whole")
    words = "whole" if whole is True else "INCOMPLETE" if whole is False else "whole or not is not known"
    return f"step {chosen.get('step')}, {chosen.get('path')}: {words} ({chosen.get('says')})"


def _wrong(one: Mapping[str, Any]) -> str:
    return "incomplete" if not one.get("against") else "NOT OF THIS RUN" if one.get("refused") else "given up"


def _notify(data: Any) -> Maybe[str]:
    targets = [safe(one.get("name", "?"), 60) for one in _list(as_object(data).get("targets"))]
    if not targets:
        return Absent("the run itself sends no messages")
    events = [str(one) for one in _sequence(as_object(data).get("on"))]
    return ", ".join(targets) + (f" on {', '.join(events)}" if events else "")


# -- plain values out of untrusted data


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in _sequence(value) if isinstance(one, dict)]


# -- readings, with their reasons as they may be shown


def _known(value: Maybe[T]) -> Maybe[T]:
    return type(value)(safe(value.why, 200)) if isinstance(value, Absent | Unseen) else value


def _text(value: Maybe[str]) -> Maybe[str]:
    known = _known(value)
    return safe(known, 200) if isinstance(known, str) else known


def _failure(value: Maybe[Failure]) -> Maybe[FailureFacts]:
    known = _known(value)
    if isinstance(known, Absent | Unseen):
        return known
    return FailureFacts(
        stage=safe(known.stage, 80),
        failure_class=safe(known.failure_class, 60),
        proof=safe(known.proof, 300),
        remedy=safe(known.remedy, 300),
        where=safe(known.where, 200),
        retry_allowed=known.retry_allowed,
    )


def _log(value: Maybe[LogLook]) -> Maybe[str]:
    known = _known(value)
    if isinstance(known, Absent | Unseen):
        return known
    return safe_path(known.path) if known.path else Absent("no log yet")
