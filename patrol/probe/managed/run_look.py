"""A run that onbox started, from the texts that the box sent: a `RunLook`, and what to keep of it. Pure.

What is hostile, half-written or huge is Unseen for the fields that it would have told; nothing here raises for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.json_text import as_number
from onbox.contract.markers import Slot
from onbox.contract.readings import Absent, Unseen, observed
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.onbox_call import onbox_call
from onbox.runs.signs import signs_of_stage
from onbox.runs.unseen_end import UnseenEnd, says_done
from onbox.series.point import parse_points
from onbox.system.clock import parse_utc
from patrol.memory import run_journal as journal
from patrol.memory.run_manifest import NOT_READ, DeclaredStage, Manifest, parse
from patrol.memory.run_memory import LogPlace, RunMemory, SeriesPlace
from patrol.probe import log_memory
from patrol.probe.box.logs import Span, parse_log
from patrol.probe.managed.end import end_of, failure_of, finished_stages, results_of
from patrol.probe.managed.liveness import runner_alive, stage_alive
from patrol.probe.managed.progress import artifacts_of, cells_of, detected_by, progress_of, told_by_status
from patrol.probe.managed.values import TEXT_LIMIT, age_of, first_int, json_of, stage_of, text_of
from patrol.snapshot import NOT_ASKED, LogLook, RunLook

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from onbox.runs.room import RunRoom
    from onbox.series.point import Point
    from patrol.memory.run_journal import JournalPlace
    from patrol.probe.box.runs import RawRun
    from patrol.snapshot import BoxIdentity

POINTS_LIMIT = 200


class Box(NamedTuple):
    """Who sent it, as far as ages and liveness need it. short_room: where its runs write, and there is no room."""

    identity: BoxIdentity
    state_dir: str
    onbox_on_path: bool = True
    short_room: RunRoom | None = None


class ReadRun(NamedTuple):
    """What the texts say, one by one. status: of this run, or why there is none; fields: what it tells, {} for none."""

    raw: RawRun
    manifest: Manifest
    journal: JournalPlace
    log: Maybe[LogLook]
    place: LogPlace | None
    status: Maybe[dict[str, Any]]
    fields: dict[str, Any]


def look_at(raw: RawRun, known: RunMemory, box: Box) -> tuple[RunLook, RunMemory]:
    """The run as it is, and what to remember of it."""
    manifest = _manifest(raw, known.manifest)
    if known.manifest is None or known.manifest.run_id != manifest.run_id:
        known = RunMemory()  # another run of the same name
    log, place = _log(raw, known.log, box)
    read = ReadRun(raw, manifest, _journal(raw, known.journal), log, place, *_status(raw, manifest))
    kept = RunMemory(
        place,
        manifest,
        read.journal,
        known.handed,
        pids=(raw.runner.pid,) if raw.runner else (),
        trackers=known.trackers,
        marks=raw.marks or known.marks,
        series=_series_place(raw),
        results_of=known.results_of,
    )
    look = _with_times(_with_state(read, box), read, box.identity.clock_seconds)
    look = _with_missed_end(look, read, box.identity)
    by_runner = told_by_status(look, read.fields)
    return look._replace(
        progress=progress_of(by_runner, read.status, place, log),
        steps_per_second=Absent("no pace told") if by_runner is None else by_runner.pace,
        artifacts=artifacts_of(look, read.fields, box.identity.clock_seconds),
        detected=detected_by(look, read.fields),
    ), kept


def _status(raw: RawRun, manifest: Manifest) -> tuple[Maybe[dict[str, Any]], dict[str, Any]]:
    status = json_of(raw.files, "status.json")
    fields = status if isinstance(status, dict) else {}
    if fields.get("run_id") != manifest.run_id and manifest.run_id:
        fields = {}  # of the run before
    return status, fields


def _with_state(read: ReadRun, box: Box) -> RunLook:
    """How it stands and how it ended."""
    raw, manifest, facts, fields = read.raw, read.manifest, read.journal.facts, read.fields
    cells = cells_of(fields.get("sweep"))
    declared = _declared(read)
    return RunLook(
        run=raw.name,
        managed=True,
        place=f"{box.state_dir.rstrip('/')}/{raw.name}",
        run_id=manifest.run_id or Unseen(manifest.why),
        stage=stage_of(_stage_named(read)),
        attempt=first_int(raw.attempt, fields.get("attempt"), facts.attempt),
        stages_done=cells.done if cells else raw.done_count,
        stages_total=cells.total if cells else manifest.stage_count,
        claimed_state=text_of(fields.get("state"), "no state") if fields else _why(read.status),
        runner_alive=runner_alive(raw, box.identity),
        stage_alive=stage_alive(raw, fields, box.identity),
        **end_of(raw, facts, manifest, box.identity.clock_seconds),
        launches=facts.launches,
        stage_results=results_of(facts, manifest),
        waiting_for=text_of(fields.get("waiting_for"), "waits for nothing"),
        retries=facts.retries,
        rolled_back_to=facts.rolled_back_to,
        ends=facts.bad_ends,
        same_step=manifest.same_step,
        failure=failure_of(raw, manifest, read.place),
        keeps_checkpoints=NOT_ASKED if declared is None else declared.has_artifacts,
        python=manifest.python or Absent("not recorded"),
        onbox=onbox_call(manifest.python, on_path=box.onbox_on_path),
        log=read.log,
        undelivered=raw.waiting_count,
        given_up=raw.dead_count,
        notify_trouble=safe_line(fields.get("notify_trouble") or facts.notices_held, TEXT_LIMIT),
        cells=cells or Absent("it is not a sweep"),
        failed_were_skipped=facts.failed_left == 0,
        room=box.short_room,
    )


def _with_missed_end(look: RunLook, read: ReadRun, identity: BoxIdentity) -> RunLook:
    """With what a resume finds of its stage, and what was seen of an end that nobody recorded."""
    if observed(look.cells) is not None:
        return look
    unseen = None if look.runner_alive is not False or look.stage_alive is not False else _unseen_end(read, identity)
    was_missed = unseen is not None and unseen.was_missed
    return look._replace(
        stage_signs=_stage_signs(read, unseen), unseen_end=unseen.words if unseen is not None and was_missed else ""
    )


def _unseen_end(read: ReadRun, identity: BoxIdentity) -> UnseenEnd | None:
    facts, log = read.journal.facts, observed(read.log)
    if not facts.is_open or facts.stage_event != Event.ATTEMPT_STARTED or log is None:
        return None
    boot = observed(identity.boot_id)
    finished = log_memory.progress(read.place).finished
    return UnseenEnd(
        parse_utc(str(read.fields.get("at") or "")[:40]),
        identity.clock_seconds - log.written_age_seconds,
        read.manifest.every_seconds,
        says_done(log_memory.whole_text(read.place), loop_is_over=finished),
        None not in (facts.boot_id, boot) and facts.boot_id != boot,
    )


def _stage_signs(read: ReadRun, unseen: UnseenEnd | None) -> tuple[str, ...]:
    raw = read.raw
    slot = None
    if raw.stage and raw.attempt is not None:
        slot = Slot(read.manifest.run_id or "", raw.stage, raw.attempt, raw.keeper_pid, raw.exit_code)
    return tuple(sorted(sign.name for sign in signs_of_stage(read.journal.facts, slot, unseen)))


def _without(rested_seconds: float, age: Maybe[float]) -> Maybe[float]:
    return max(0.0, age - rested_seconds) if isinstance(age, float) else age


def _with_times(look: RunLook, read: ReadRun, clock: float) -> RunLook:
    """When things happened, how long they may take."""
    manifest, facts, fields = read.manifest, read.journal.facts, read.fields
    found = _declared(read)
    is_known = found is not None or manifest.is_whole
    undeclared = Absent("not declared") if is_known else Unseen("run.json was not read whole")
    declared = found or DeclaredStage()
    stall_after = declared.stall_after_seconds or as_number(fields.get("stall_limit_seconds"))

    def limit(seconds: float | None) -> Maybe[float]:
        return undeclared if seconds is None else seconds

    return look._replace(
        heartbeat_age_seconds=age_of(fields.get("at"), clock) if fields else _why(read.status),
        heartbeat_every_seconds=manifest.every_seconds,
        stage_began_age_seconds=age_of(fields.get("attempt_began_at") or facts.attempt_began_at, clock, "no attempt"),
        stage_first_began_age_seconds=age_of(facts.stage_began_at, clock, "no attempt"),
        began_age_seconds=_without(facts.rested_seconds, age_of(facts.began_at, clock, "not launched")),
        finished=finished_stages(facts, manifest),
        stall_after_seconds=limit(stall_after),
        expected_seconds=limit(declared.expected_seconds),
        whole_expected_seconds=limit(manifest.expected_seconds),
        timeout_seconds=limit(declared.timeout_seconds),
    )


def _stage_named(read: ReadRun) -> str | None:
    named = (read.fields.get("stage"), read.journal.facts.stage, read.raw.stage)
    return next((one for one in named if isinstance(one, str) and one and read.manifest.has(one)), None)


def _declared(read: ReadRun) -> DeclaredStage | None:
    """Its stage of now as run.json has it; None where it has no such stage, or was not read whole."""
    return read.manifest.stages.get(_stage_named(read) or "")


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


def _why(status: Maybe[dict[str, Any]]) -> Absent | Unseen:
    return status if isinstance(status, Absent | Unseen) else Unseen("status.json is of another run")


def _manifest(raw: RawRun, known: Manifest | None) -> Manifest:
    """As this look brought it, or as it is known: the file is sent only when it has changed."""
    text = raw.files.get("run.json")
    if text is None:
        return known or Manifest(why="run.json could not be read")
    stat = raw.stats.get("run.json")
    return parse(text, NOT_READ if stat is None else stat.identity)


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
