"""A run that onbox started, from the texts that the box sent: a `RunLook`, and what to keep of it. Pure.

What is hostile, half-written or huge is Unseen for the fields that it would have told; nothing here raises for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, as_object, as_whole, parse_object
from onbox.contract.markers import Marker, parse_marker
from onbox.contract.names import stage_name_problem
from onbox.contract.paths import SWEEP
from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen, observed
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line, safe_words
from onbox.runs.onbox_call import onbox_call
from onbox.series.point import parse_points
from onbox.system.clock import parse_utc
from onbox.triage.classes import may_repeat
from patrol.memory import run_journal as journal
from patrol.memory.run_manifest import NOT_READ, DeclaredStage, Manifest, parse
from patrol.memory.run_memory import LogPlace, RunMemory, SeriesPlace
from patrol.probe import log_memory
from patrol.probe.box.logs import Span, parse_log
from patrol.probe.excerpt import last_traceback
from patrol.snapshot import NOT_ASKED, Artifacts, Cells, Detected, Failure, Finished, LogLook, RunLook

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.readings import Maybe
    from onbox.runs.journal import JournalFacts
    from onbox.series.point import Point
    from patrol.memory.run_journal import JournalPlace
    from patrol.probe.box.runs import RawRun
    from patrol.snapshot import BoxIdentity

TEXT_LIMIT = 300
POINTS_LIMIT, DETECTED_LIMIT = 200, 20
CELLS_LIMIT, CELL_LIMIT = 50, 120
FRESH_HEARTBEATS = 3
OWN_RULE = "own"


class Box(NamedTuple):
    """Who sent it, as far as ages and liveness need it."""

    identity: BoxIdentity
    state_dir: str
    onbox_on_path: bool = True


def look_at(raw: RawRun, known: RunMemory, box: Box) -> tuple[RunLook, RunMemory]:
    """The run as it is, and what to remember of it."""
    manifest = _manifest(raw, known.manifest)
    if known.manifest is None or known.manifest.run_id != manifest.run_id:
        known = RunMemory()  # another run of the same name
    told = _journal(raw, known.journal)
    facts = told.facts
    log, place = _log(raw, known.log, box)
    pids = (raw.runner.pid,) if raw.runner else ()
    kept = RunMemory(
        place,
        manifest,
        told,
        known.handed,
        pids=pids,
        trackers=known.trackers,
        marks=raw.marks or known.marks,
        series=_series_place(raw),
        results_of=known.results_of,
    )
    status = _json(raw.files, "status.json")
    clock = box.identity.clock_seconds
    fields: dict[str, Any] = status if isinstance(status, dict) else {}
    if fields.get("run_id") != manifest.run_id and manifest.run_id:
        fields = {}  # of the run before
    stage = fields.get("stage") or facts.stage or raw.stage or None
    cells = _cells(fields.get("sweep"))
    stage_facts = manifest.stages.get(stage) if isinstance(stage, str) else None
    declared = stage_facts or DeclaredStage()
    stall_after = declared.stall_after_seconds or as_number(fields.get("stall_limit_seconds"))
    is_known = stage_facts is not None or manifest.is_whole
    undeclared = Absent("not declared") if is_known else Unseen("run.json was not read whole")
    look = RunLook(
        run=raw.name,
        managed=True,
        place=f"{box.state_dir.rstrip('/')}/{raw.name}",
        run_id=manifest.run_id or Unseen(manifest.why),
        stage=_stage(stage),
        attempt=_first_int(raw.attempt, fields.get("attempt"), facts.attempt),
        stages_done=cells.done if cells else raw.done_count,
        stages_total=cells.total if cells else manifest.stage_count,
        claimed_state=_text(fields.get("state"), "no state") if fields else _why(status),
        runner_alive=_runner_alive(raw, box.identity),
        stage_alive=_stage_alive(raw, fields, box.identity),
        **_end(raw, facts, manifest, clock),
        heartbeat_age_seconds=_age(fields.get("at"), clock) if fields else _why(status),
        heartbeat_every_seconds=manifest.every_seconds,
        stage_began_age_seconds=_age(fields.get("attempt_began_at") or facts.attempt_began_at, clock, "no attempt"),
        stall_after_seconds=undeclared if stall_after is None else stall_after,
        expected_seconds=undeclared if declared.expected_seconds is None else declared.expected_seconds,
        whole_expected_seconds=undeclared if manifest.expected_seconds is None else manifest.expected_seconds,
        stage_first_began_age_seconds=_age(facts.stage_began_at, clock, "no attempt"),
        finished=_finished(facts, manifest),
        timeout_seconds=undeclared if declared.timeout_seconds is None else declared.timeout_seconds,
        began_age_seconds=_age(facts.began_at, clock, "not launched"),
        launches=facts.launches,
        stage_results=tuple(facts.results.values()),
        waiting_for=_text(fields.get("waiting_for"), "waits for nothing"),
        retries=facts.retries,
        ends=facts.bad_ends,
        same_step=manifest.same_step,
        failure=_failure(raw, manifest, place),
        keeps_checkpoints=stage_facts.has_artifacts if stage_facts is not None else NOT_ASKED,
        python=manifest.python or Absent("not recorded"),
        onbox=onbox_call(manifest.python, on_path=box.onbox_on_path),
        log=log,
        undelivered=raw.waiting_count,
        given_up=raw.dead_count,
        notify_trouble=safe_line(fields.get("notify_trouble") or facts.notices_held, TEXT_LIMIT),
        cells=cells or Absent("it is not a sweep"),
    )
    by_runner = _told_by_status(look, fields)
    return look._replace(
        progress=_progress(by_runner, status, place, log),
        steps_per_second=Absent("no pace told") if by_runner is None else by_runner.pace,
        artifacts=_artifacts(look, fields, clock),
        detected=_detected(look, fields),
    ), kept


def new_points(raw: RawRun) -> tuple[Point, ...]:
    """The points of its series that this look brought; of more than fit, the oldest and the newest of them."""
    pieces, _, _ = Span.of(raw.series_blocks).behind(raw.series[1])
    found = [point for piece in pieces for point in parse_points(piece.splitlines(keepends=True))]
    return tuple(found[-POINTS_LIMIT:])


def _series_place(raw: RawRun) -> SeriesPlace:
    """Behind the last whole line that came."""
    inode, start = raw.series
    pieces, end, _ = Span.of(raw.series_blocks).behind(start)
    torn = len(pieces[-1]) - (pieces[-1].rfind(b"\n") + 1) if pieces else 0
    return SeriesPlace(inode, max(start, end - torn) if pieces else start)


# -- what lies there


def _json(files: Mapping[str, bytes], name: str) -> Maybe[dict[str, Any]]:
    text = files.get(name)
    if text is None:
        return Absent(f"no {name}")
    data = parse_object(text)
    return Unseen(f"{name} is damaged or too long") if data is None else data


def _why(status: Maybe[dict[str, Any]]) -> Absent | Unseen:
    return status if isinstance(status, Absent | Unseen) else Unseen("status.json is of another run")


def _manifest(raw: RawRun, known: Manifest | None) -> Manifest:
    """As this look brought it, or as it is known: the file is sent only when it has changed."""
    text = raw.files.get("run.json")
    if text is None:
        return known or Manifest(why="run.json could not be read")
    stat = raw.stats.get("run.json")
    return parse(text, NOT_READ if stat is None else stat.identity)


def _stage(name: object) -> Maybe[str]:
    """A stage's name becomes a word of commands: only one that onbox itself would give."""
    if not isinstance(name, str) or not name:
        return Absent("no stage")
    return Unseen(f"not a stage's name: {safe_words(name, 40)!r}") if stage_name_problem(name) else name


def _journal(raw: RawRun, place: JournalPlace | None) -> JournalPlace:
    inode, offset, _ = raw.journal
    if place is None or place.inode != inode or offset == 0:
        place = journal.nothing_read(inode)
    pieces, _, skipped = Span.of(raw.journal_blocks).behind(offset)
    return journal.take_in(place, offset, pieces, skipped)


def _log(raw: RawRun, place: LogPlace | None, box: Box) -> tuple[Maybe[LogLook], LogPlace | None]:
    if not raw.log_path:
        return Absent("no log yet"), place
    known = place if place is not None and place.path == raw.log_path else None
    news = parse_log(raw.log_blocks, raw.log_code, None if known is None else known.cursor)
    if isinstance(news, Absent | Unseen):
        return news, place
    place = log_memory.follow(known, raw.log_path, news)
    look = log_memory.look(place, news, box.identity.clock_seconds)
    return look._replace(path=f"{box.state_dir.rstrip('/')}/{raw.name}/{raw.log_path}"), place


# -- what of it lives


def _runner_alive(raw: RawRun, identity: BoxIdentity) -> Maybe[bool]:
    """The lock is the kernel's word; a process with pid, start time and boot of the lock's text is as good."""
    lock = raw.stats.get("lock")
    if lock is not None and lock.held:
        return True
    holder = _json(raw.files, "lock")
    if not isinstance(holder, dict):
        return False if lock is None or lock.held is False or lock.size == 0 else Unseen("the lock's text is damaged")
    same_boot = holder.get("boot_id") in (None, identity.boot_id)
    alive = raw.runner
    if same_boot and alive is not None and alive.start_ticks == holder.get("start_ticks") and alive.state not in "ZX":
        return True
    if lock is not None and lock.held is False:
        return False
    if holder.get("host") not in (None, identity.hostname):
        return Unseen(f"its runner is on another host, {safe_line(holder.get('host'), 80)}")
    return False


def _stage_alive(raw: RawRun, status: dict[str, Any], identity: BoxIdentity) -> Maybe[bool]:
    """Whether the newest slot is held, by its keeper or by the command that inherited it."""
    slot = raw.slot
    if slot is None:
        return False
    if raw.keeper_holds or slot.held:
        return raw.exit_code is None
    if slot.held is False:
        return False
    keeper = status.get("keeper")
    started = keeper.get("start_ticks") if isinstance(keeper, dict) and keeper.get("pid") == raw.keeper_pid else None
    alive = raw.keeper
    if alive is not None and alive.state not in "ZX" and started in (None, alive.start_ticks):
        return raw.exit_code is None
    runner = status.get("runner")
    host = runner.get("host") if isinstance(runner, dict) else None
    return Unseen("its stage is on another host") if host not in (None, identity.hostname) else False


# -- of a sweep


def _cells(data: object) -> Cells | None:
    """How the cells stand, as its runner's status tells; None: it is not a sweep."""
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        return None
    rows = data.get("rows")
    told = [row for row in rows[:CELLS_LIMIT] if isinstance(row, list)] if isinstance(rows, list) else []
    counts = [as_whole(data.get(key)) or 0 for key in ("done", "total")]
    words = tuple(tuple(safe_line(one, CELL_LIMIT) for one in row[:3] if isinstance(one, str)) for row in told)
    return Cells(safe_line(data["text"], TEXT_LIMIT), max(0, counts[0]), max(0, counts[1]), words)


# -- how it ended


def _finished(facts: JournalFacts, manifest: Manifest) -> tuple[Finished, ...]:
    """Its stages that are done, of which is known how long they took."""
    return tuple(
        Finished(one.stage, one.spent_seconds, manifest.stages.get(one.stage, DeclaredStage()).expected_seconds)
        for one in facts.results.values()
        if one.spent_seconds is not None
    )


def _end(raw: RawRun, facts: JournalFacts, manifest: Manifest, clock: float) -> dict[str, Any]:
    end = facts.end
    fields: dict[str, Any] = {}
    if end is not None:
        fields["outcome"] = end["event"]
        fields["reason"] = safe_line(end.get("reason") or "", TEXT_LIMIT)
        fields["ended_age_seconds"] = _age(end.get("ended_at") or end.get("at"), clock, "not ended")
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
        fields["done"] = f"CHAIN_DONE of {safe_line(marker.run_id)}"
        fields.setdefault("outcome", "chain_done")
        fields.setdefault("ended_age_seconds", _age(marker.data.get("ended_at"), clock, "not ended"))
    return fields


def _failure(raw: RawRun, manifest: Manifest, place: LogPlace | None) -> Maybe[Failure]:
    names = [name for name in raw.files if name.endswith("_FAILED") and name != "markers/CHAIN_FAILED"]
    if not names:
        return Absent("no FAILED marker")
    marker = parse_marker(raw.files[names[0]])
    if not isinstance(marker, Marker):
        return Unseen(f"{safe_line(names[0])}: {marker.reason}")
    if marker.run_id != manifest.run_id:
        return Absent("the FAILED marker is of another run")
    data = marker.data

    def said(key: str) -> str:
        value = data.get(key)
        return safe_line(value, TEXT_LIMIT) if isinstance(value, str) else ""

    failure_class = said("failure_class") or "unknown"
    return Failure(
        failure_class=failure_class,
        remedy=said("remedy"),
        retry_allowed=marker.stage != SWEEP and may_repeat(failure_class),  # a sweep runs no failed cell by itself
        signature=said("signature"),
        proof=said("proof") or said("reason"),
        where=said("where"),
        source="marker",
        stage=observed(_stage(marker.stage)) or "",
        confidence=said("confidence"),
        signal=as_whole(data.get("signal")),
        oom_kills=as_whole(as_object(data.get("resources")).get("oom_kills")),
        rule=said("rule"),
        traceback=last_traceback(log_memory.whole_text(place)) if _is_log_of(place, marker) else (),
    )


def _is_log_of(place: LogPlace | None, marker: Marker) -> bool:
    """Whether the log that was read is that of the attempt that failed."""
    return place is not None and place.path == f"logs/{marker.stage}.{marker.attempt}.log"


# -- how far it is


def _is_fresh(look: RunLook) -> bool:
    """Whether the runner lives and has said lately how it is."""
    age = look.heartbeat_age_seconds
    fresh = isinstance(age, float) and age < FRESH_HEARTBEATS * look.heartbeat_every_seconds
    return fresh and look.runner_alive is not False


def _artifacts(look: RunLook, fields: dict[str, Any], clock: float) -> Maybe[Artifacts]:
    """What the runner has seen of them at its last look; an old word says nothing of those that came since."""
    told = fields.get("artifacts")
    if not isinstance(told, dict) or not _is_fresh(look):
        return NOT_ASKED
    count, size = as_whole(told.get("count")), as_whole(told.get("bytes"))
    if count is None or size is None:
        return NOT_ASKED
    return Artifacts(count, size, _age(told.get("newest_at"), clock, "none yet"))


def _detected(look: RunLook, fields: dict[str, Any]) -> Maybe[tuple[Detected, ...]]:
    """What its detectors found at their last look, of the attempt that runs."""
    told = fields.get("detected")
    if not isinstance(told, list) or not _is_fresh(look):
        return NOT_ASKED
    found = [one for one in told[:DETECTED_LIMIT] if isinstance(one, dict) and isinstance(one.get("detector"), str)]
    return tuple(Detected(*(safe_line(one.get(key) or "", TEXT_LIMIT) for key in Detected._fields)) for one in found)


class ManagedTold(NamedTuple):
    """The runner's own reading. is_fresh: its heartbeat is young, and its runner was not seen to be gone."""

    progress: Progress
    pace: Maybe[float]
    is_fresh: bool


def _told_by_status(look: RunLook, fields: dict[str, Any]) -> ManagedTold | None:
    """None where it tells none, or that of an attempt before: its counter is another one."""
    data = fields.get("progress")
    progress = _told_progress(data)
    if progress is None or not isinstance(data, dict):
        return None
    if (observed(look.stage), observed(look.attempt)) != (fields.get("stage"), fields.get("attempt")):
        return None
    pace, fresh = as_number(data.get("steps_per_second")), _is_fresh(look)
    return ManagedTold(progress, pace if fresh and pace else Absent("no pace told"), fresh)


def _progress(
    told: ManagedTold | None, status: Maybe[dict[str, Any]], place: LogPlace | None, log: Maybe[LogLook]
) -> Maybe[Progress]:
    """What the log shows in this very look; the runner's reading where the log was not read or shows nothing, and where
    it alone knows how: by a pattern of the user's own, which is not run here.
    """
    shown = log_memory.progress(place)
    is_shown = shown.current is not None or shown.percent is not None
    own_way = told is not None and told.is_fresh and told.progress.rule == OWN_RULE
    if is_shown and not own_way and isinstance(log, LogLook):
        return shown if told is None or shown.exact_max is not None else _with_maximum(shown, told.progress)
    if told is not None:
        return told.progress
    if is_shown:
        return shown
    return status if isinstance(status, Unseen) else Absent("no progress shown")


def _with_maximum(shown: Progress, told: Progress) -> Progress:
    """The maximum that is set in the configuration, for the same counter."""
    return shown._replace(exact_max=told.exact_max) if told.exact_max and told.unit == shown.unit else shown


def _told_progress(data: object) -> Progress | None:
    """The progress of status.json: each field that has its own type, the others as not told."""
    if not isinstance(data, dict):
        return None
    told: dict[str, Any] = {}
    for key in ("current", "epoch_current", "eta_seconds", "percent", "inner_current"):
        told[key] = as_number(data.get(key))
    for key in ("exact_max", "epoch_max", "inner_max"):
        told[key] = value if isinstance(value := data.get(key), int) and not isinstance(value, bool) else None
    for key in ("unit", "inner_unit", "rule", "tracker_run"):
        told[key] = safe_line(value, 200) if isinstance(value := data.get(key), str) else None
    loss, finished = data.get("loss"), data.get("finished")
    told["loss"] = safe_line(loss, 20) if isinstance(loss, str) else as_number(loss)
    told["finished"] = finished if isinstance(finished, bool) else None
    return Progress(**told, current_rounded=data.get("current_rounded") is True)


# -- plain values out of untrusted JSON


def _text(value: object, why: str) -> Maybe[str]:
    return safe_line(value, TEXT_LIMIT) if isinstance(value, str) and value else Absent(why)


def _first_int(*values: object) -> Maybe[int]:
    found = next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)
    return Absent("no attempt") if found is None else found


def _age(at: object, clock: float, why: str = "no time") -> Maybe[float]:
    """Seconds since a time of the box's own clock. The clock was read as whole seconds."""
    if not isinstance(at, str) or not at:
        return Absent(why)
    seconds = parse_utc(at[:40])
    return Unseen("its time cannot be understood") if seconds is None else max(0.0, clock - seconds)
