"""`onbox triage`: why a run died, or that it is fine, from its log and what else is known."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from onbox.chain.run_status import look_at_run
from onbox.chain.state.slots import read_marker, read_slot
from onbox.cli.amounts import WholeNumber, duration, size
from onbox.cli.command import command, config_option
from onbox.commands.shared.log_argument import (
    age_seconds,
    log_argument,
    log_to_read,
    name_of,
    opened_log,
    refuse_binary_input,
)
from onbox.commands.shared.log_progress import attempt_of, progress_settings, regex_limit, run_of_log
from onbox.commands.shared.project import load_project_to_read
from onbox.commands.show.status_data import warnings_of
from onbox.contract.events import Event, Unreadable, parse_events
from onbox.contract.exits import Exit
from onbox.contract.json_text import as_object, as_whole
from onbox.contract.markers import Marker
from onbox.contract.states import RunState
from onbox.errors import Trouble
from onbox.logs.large import read_large
from onbox.logs.model.counts import counts_of
from onbox.logs.model.lines import stamp_seconds
from onbox.logs.progress import ProgressSettings
from onbox.logs.tail import TAIL_BYTES, last_line
from onbox.model.units import format_duration
from onbox.outside import safe_line
from onbox.runs.next_step import Standing, next_step
from onbox.runs.signs import Sign
from onbox.system.clock import wall
from onbox.system.journal import read_lines
from onbox.system.kept import places_of
from onbox.system.time_limit import TooLong, time_limit
from onbox.triage.beside_progress import CLAIMS, may_be_done, with_progress
from onbox.triage.classes import GUESSES, NEVER
from onbox.triage.classify import NO_ROOM_RULES, classify
from onbox.triage.evidence import Evidence
from onbox.triage.reading.large import Excerpt
from onbox.triage.rules.rows import UserRow
from onbox.triage.scheduler_states import ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from onbox.chain.run_status import StageView
    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths
    from onbox.system.places import Places
    from onbox.triage.verdict import Diagnosis

EXAMPLES = """\
examples:
  onbox triage                  of the run: the log that `onbox logs` shows
  onbox triage train.log
  onbox triage train.log --exit-code 137 --oom-kill-delta 1
  kubectl logs job/train | onbox triage - --json
The exit code is 0 whatever the verdict is.
"""
BLOCK_BYTES = 1 << 20
FEW_BYTES = 1 << 14  # that were only searched: what they hold, the lines around them show
MOST_SIGNALS = signal.NSIG - 1
A_ZONE_SECONDS = 26 * 3600  # by no more can two clocks differ that tell different zones
LONG_AGO_SECONDS = 400 * 86400
USER_ROWS_SECONDS = 30  # a regular expression of the user's own may take for ever; the built-in ones do not


def _signal(text: str) -> int:
    name = text.upper().removeprefix("SIG")
    known = {one.name.removeprefix("SIG"): int(one) for one in signal.Signals}
    number = int(name) if name.isdecimal() else known.get(name, 0)
    if not 0 < number <= MOST_SIGNALS:
        raise click.BadParameter(f"{text} is no signal: give 1 to {MOST_SIGNALS} or a name such as TERM")
    return number


def _scheduler_state(text: str) -> str:
    """As it was typed, if it says how a job ended; else that is told, and the rest decides."""
    state = ending(text)
    if state is None:
        print(f"onbox triage: --scheduler-state {safe_line(text)} says nothing of how a run ends", file=sys.stderr)
    return state or text


@command(EXAMPLES, exclusive=[("--exit-code", "--signal")])
@log_argument
@click.option("--exit-code", type=WholeNumber(-MOST_SIGNALS, 255), metavar="N", help="exit code of the run")
@click.option("--signal", type=_signal, metavar="S", help="signal that ended it, such as 9 or TERM")
@click.option("--oom-kill-delta", type=WholeNumber(0), metavar="N", help="OOM kills that its cgroup counted")
@click.option("--disk-free", type=size(), metavar="SIZE", help="free space where it writes, such as 5GB")
@click.option("--inodes-free", type=WholeNumber(0), metavar="N", help="free inodes where it writes")
@click.option(
    "--scheduler-state",
    type=_scheduler_state,
    metavar="S",
    help="what the scheduler says, such as TIMEOUT or PREEMPTED",
)
@click.option(
    "--age", type=duration(), metavar="DURATION", help="age of the log, such as 90s or 2h (default: its file's age)"
)
@click.option("--json", is_flag=True, help="the verdict as one JSON object")
@config_option
def run(args: Options) -> int:
    project = load_project_to_read(args.config)
    log = log_to_read(project, args)
    rows = tuple(_user_row(row) for row in project.config.triage)
    with opened_log(log) as file:
        evidence = _known(args, log, age_seconds(file))
        verdict, places = _verdict(file, name_of(log), evidence, rows)
        refuse_binary_input(log, places)
        newest = places.read(max(0, places.size - TAIL_BYTES), places.size) if verdict.state == "running" else b""
        if not evidence.process_alive and may_be_done(verdict):
            verdict = _with_progress(verdict, places, progress_settings(project, log))
    verdict = _beside_its_run(verdict, log)
    _tell_copy(verdict, newest, evidence.log_age_seconds)
    if args.oom_kill_delta and verdict.failure_class != "host_oom":
        told = "an OOM kill was counted, and nothing shows that the run died of it: it may have hit a process beside it"
        print(f"onbox triage: {told}", file=sys.stderr)
    print(json.dumps(verdict.as_json(), ensure_ascii=False) if args.json else render(verdict))
    return Exit.DONE


def _known(args: Options, log: str, file_age: float | None) -> Evidence:
    """What is known besides the log: what was typed goes before what its run has recorded."""
    recorded = recorded_end(log) if args.exit_code is None and args.signal is None else Evidence()
    given = {
        "exit_code": args.exit_code,
        "signal": args.signal,
        "oom_kill_delta": args.oom_kill_delta,
        "disk_free_bytes": args.disk_free,
        "inodes_free": args.inodes_free,
        "scheduler_state": args.scheduler_state,
        "log_age_seconds": file_age if args.age is None else args.age,
    }
    return recorded._replace(**{name: value for name, value in given.items() if value is not None})


def _verdict(file: BinaryIO, name: str, evidence: Evidence, rows: tuple[UserRow, ...]) -> tuple[Diagnosis, Places]:
    """The verdict, and the log as it can be read again. Of a large log what decides is read; with rows of the user's
    own every line is, as they may match any.
    """
    if not rows:
        excerpt = Excerpt(places_of(file))
        verdict = classify(excerpt.parts(), evidence)
        _tell_unread(name, excerpt, is_healthy=verdict.failure_class == "success_healthy")
        if excerpt.unread_bytes and verdict.failure_class == "success_healthy":
            verdict = verdict._replace(remedy=f"Most of {name} went by unread: save it to a file, and ask again.")
        return verdict, excerpt.log
    try:
        with time_limit(USER_ROWS_SECONDS):
            verdict = classify(iter(lambda: file.read(BLOCK_BYTES), b""), evidence, rows)
    except TooLong as error:
        reason = f"the [[triage]] rows took over {USER_ROWS_SECONDS} s on this log; simplify a regex"
        if not file.seekable():
            raise Trouble(Exit.CONFIG, reason) from error
        print(f"onbox triage: {reason}; they are left out here", file=sys.stderr)
        file.seek(0)
        return _verdict(file, name, evidence, ())
    if file.seekable():
        file.seek(0)
    return verdict, places_of(file)


def _tell_unread(name: str, excerpt: Excerpt, *, is_healthy: bool) -> None:
    """What of the log was not read, where it may matter: who works on has survived what was only searched."""
    if excerpt.unread_bytes:
        told = f"{excerpt.unread_bytes} bytes in the middle of {name} went by unread; a log in a file is searched there"
    elif excerpt.only_searched_bytes > FEW_BYTES and not is_healthy:
        told = (
            f"{excerpt.only_searched_bytes} bytes in the middle of {name} were only searched for the words of common"
            " failures"
        )
    else:
        return
    print(f"onbox triage: {told}", file=sys.stderr)


def _tell_copy(verdict: Diagnosis, newest: bytes, age_seconds: float | None) -> None:
    """Of a log that seems alive, whose last line says that it was written long before the file was. newest: its end."""
    said = stamp_seconds(last_line(newest) or "")
    if verdict.state != "running" or said is None or age_seconds is None:
        return
    since = wall() - said
    if A_ZONE_SECONDS < since - age_seconds < LONG_AGO_SECONDS:  # beyond that, it is rather a simulation's time
        age = format_duration(since)
        told = f"its last line tells a time {age} ago, and its file is newer: if it is a copy, give --age {age}"
        print(f"onbox triage: {told}", file=sys.stderr)


def _with_progress(verdict: Diagnosis, log: Places, settings: ProgressSettings) -> Diagnosis:
    """What goes on, or stands still, for all that the words of the log say may have come to its end: its progress
    tells, as `onbox progress` reads it.
    """
    outer = next(iter(counts_of(verdict.line or "")), None)
    in_the_middle = outer is not None and outer.maximum is not None and not outer.at_end
    if in_the_middle and settings == ProgressSettings() and verdict.rule not in CLAIMS:
        return verdict
    with regex_limit(settings):
        return with_progress(verdict, read_large(log, settings).progress)


def _beside_its_run(verdict: Diagnosis, log: str) -> Diagnosis:
    """Where its run tells more than its log: what to do while nobody watches the live stage, and what was seen of an
    end that was missed.
    """
    paths = run_of_log(log)
    if paths is None or (verdict.rule != "end-missed" and verdict.failure_class != "success_healthy"):
        return verdict
    with suppress(ValueError):  # a damaged run.json
        view = look_at_run(paths)
        if view is None or isinstance(view.head.data.get("backend"), dict):
            return verdict
        if verdict.rule == "end-missed" and view.unseen_end is not None:
            words = view.unseen_end.words
            return verdict._replace(remedy=f"{words[:1].upper()}{words[1:]}. {verdict.remedy}")
        stage, number = attempt_of(log)
        newest = next((one.attempts for one in view.stages if one.name == stage), None)
        is_at_work = view.stage_alive == stage and newest == number
        if is_at_work and view.watch_signs:
            step = next_step(Standing(view.state, view.watch_signs))
            why = "; ".join(sign.value for sign in sorted(view.watch_signs, key=lambda sign: sign.name))
            line = step.act.line(view.head.run)
            return verdict._replace(remedy=f"{why[:1].upper()}{why[1:]}. Next: {line}. Then: {step.then}.")
        other = next((one for one in view.stages if one.name != stage and warnings_of(one)), None)
        if other is not None and not is_at_work:
            return verdict._replace(remedy=_of_another_stage(view.head.run, stage, other))
    return verdict


def _of_another_stage(run: str, stage: str, other: StageView) -> str:
    """What to do where the log is of a stage that is well, and another one has a warning."""
    line = shlex.join(("onbox", "triage", "--run", run, "--stage", other.name))
    said = f"stage {other.name} has a warning: {warnings_of(other)[0]}"
    return f"This is the log of stage {stage} alone; {said}. Look at that: {line}"


def render(verdict: Diagnosis) -> str:
    """The verdict first, then its proof; what to do is the last line."""
    state = "state unknown" if verdict.state == "unknown" else verdict.state
    lines = [f"{verdict.failure_class}: {state} (confidence {verdict.confidence}, rule {verdict.rule})"]
    if verdict.line is not None:
        lines.append(f"  line {verdict.line_number}: {verdict.line}")
    trace = [f"  at {verdict.where}{' (probably a small fix)' if verdict.small_fix else ''}"] if verdict.where else []
    trace += [f"    {line}" for line in verdict.traceback]
    beside = [*_also(verdict)]
    lines += [*beside, *trace] if verdict.failure_class == "success_healthy" else [*trace, *beside]
    if verdict.terminal:
        lines.append(f"  automatic retry: {_retry(verdict)}")
    lines.append(f"  {verdict.remedy}")
    return "\n".join(lines)


def _retry(verdict: Diagnosis) -> str:
    """Whether one may help, and why not; of a class that is no more than a guess, only if it is right."""
    never = NEVER.get(verdict.failure_class)
    if verdict.retry:
        return "may help"
    if not never:
        return "no, its class is a guess from its words" if verdict.rule in GUESSES else "no"
    guessed = verdict.confidence == "low" and verdict.failure_class != "unknown"
    return f"no; if this class is right, {never}" if guessed else f"no, {never}"


def _also(verdict: Diagnosis) -> Iterator[str]:
    """A line for each further line of the log, with all classes that it may prove."""
    classes: dict[tuple[int | None, str | None], list[str]] = {}
    for item in verdict.secondary:
        classes.setdefault((item.line_number, item.line), []).append(item.failure_class)
    for (number, line), names in classes.items():
        if (number, line) == (verdict.line_number, verdict.line):
            yield f"  the same line also fits {', '.join(names)}"
        else:
            yield f"  also {', '.join(names)}, line {number}: {line}"


def recorded_end(log: str) -> Evidence:
    """How the attempt ended whose log this is, if it is a log of a run: by its marker, else by the journal. Nothing if
    it is another log, or if the attempt has not ended.
    """
    paths = run_of_log(log)
    stage, attempt = attempt_of(log)
    if paths is None or not stage:
        return Evidence()
    number = str(attempt)
    for place in (paths.done(stage), paths.failed(stage)):
        marker = read_marker(place)
        if isinstance(marker, Marker) and str(marker.attempt) == number:
            return _evidence_of(marker)
    found, is_newest = _journaled_end(paths, stage, number)
    return _unrecorded_end(paths, stage, number) if is_newest and found == Evidence() else found


def _journaled_end(paths: RunPaths, stage: str, number: str) -> tuple[Evidence, bool]:
    """Of an attempt without a marker: one that was stopped or interrupted, or that a retry followed. Nothing where the
    journal does not tell its end; and whether it is the stage's newest attempt.
    """
    found, is_its = Evidence(), False
    for record in parse_events(read_lines(paths.journal)):
        if isinstance(record, Unreadable):
            continue
        event, of_stage = record["event"], record.get("stage") == stage
        if event == Event.ATTEMPT_STARTED and of_stage:
            if is_its:
                return found._replace(process_alive=False), False
            is_its = str(record.get("attempt")) == number
        elif event == Event.ATTEMPT_ENDED and of_stage and str(record.get("attempt")) == number:
            code, number_of_signal = as_whole(record.get("exit_code")), as_whole(record.get("signal"))
            found = Evidence(exit_code=code, signal=number_of_signal, process_alive=False)
        elif event == Event.CHAIN_STOPPED and is_its and record.get("stopped_at") == stage:
            return found._replace(cause="stopped", process_alive=False), False
    return found, is_its


def _unrecorded_end(paths: RunPaths, stage: str, number: str) -> Evidence:
    """Of an attempt whose end no runner has recorded: what its keeper wrote, else how `onbox status` sees the run. One
    on an engine's node cannot be seen from here.
    """
    try:
        view = look_at_run(paths)
    except ValueError:
        return Evidence()  # its run.json is damaged: nothing is known
    if view is None or isinstance(view.head.data.get("backend"), dict):
        return Evidence()
    if view.stage_alive == stage:
        stalls = view.state is RunState.STALLED
        return Evidence(cause="stalled", process_alive=True) if stalls else Evidence(process_alive=True)
    slot, _, _ = read_slot(paths.slot(stage))
    if slot is not None and str(slot.attempt) == number and slot.exit_code is not None:
        return Evidence(exit_code=slot.exit_code, process_alive=False)
    if view.state is not RunState.INTERRUPTED:
        return Evidence(process_alive=False)
    return Evidence(cause="end_missed" if Sign.END_MISSED in view.stage_signs else "cut_off", process_alive=False)


def _evidence_of(marker: Marker) -> Evidence:
    data = marker.data
    cause = data.get("cause")
    findings = data.get("findings")
    gates = [one.get("gate") for one in findings if isinstance(one, dict)] if isinstance(findings, list) else []
    found, rule = data.get("failure_class"), data.get("rule")
    return Evidence(
        inodes_free=0 if found == "inode_exhausted" else None,  # as it was then, which no look at the disk tells now
        disk_free_bytes=0 if found == "disk_full" and rule in NO_ROOM_RULES else None,
        exit_code=as_whole(data.get("exit_code")),
        signal=as_whole(data.get("signal")),
        cause=cause if isinstance(cause, str) else "exit",
        gates=tuple(str(gate) for gate in gates if gate != "exit_code"),
        oom_kill_delta=as_whole(as_object(data.get("resources")).get("oom_kills")),
        process_alive=False,
    )


def _user_row(row: Mapping[str, object]) -> UserRow:
    remedy = row.get("remedy")
    return UserRow(str(row["regex"]), str(row["class"]), str(remedy) if remedy else None, row.get("retry") is True)
