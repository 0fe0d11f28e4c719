"""A run that onbox did not start, from what the box told of its log, processes, session and artifacts. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import USUAL_DONE_REGEX
from onbox.outside import safe_line
from onbox.triage.evidence import Evidence
from patrol.memory.run_memory import JudgedText, LogPlace, RunMemory, Watched
from patrol.probe import log_memory
from patrol.probe.box.logs import parse_log
from patrol.probe.box.watch import parse_artifacts, parse_processes, parse_session
from patrol.probe.excerpt import last_traceback
from patrol.probe.log_fault import fault_of
from patrol.probe.plan import below
from patrol.snapshot import NOT_ASKED, Failure, RunLook

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.contract.readings import Maybe
    from onbox.model.boxes import BoxSettings, Watch
    from patrol.probe.box.logs import LogNews
    from patrol.probe.box.watch import FoundProcess
    from patrol.probe.frames import Frames
    from patrol.snapshot import Artifacts, LogLook

DONE_LINE_LIMIT = 2000
LAST_LINES = 12
DONE_FILE_SLACK_SECONDS = 60.0  # a program may say its last words after it has made the file
QUIET_SECONDS = 120.0


def look_at(
    box: BoxSettings, watch: Watch, at: int, frames: Frames, known: RunMemory, clock: float
) -> tuple[RunLook, RunMemory]:
    """The run of the box's watch number `at`, and what to remember of it."""
    kept = RunMemory(log=known.log, watched=known.watched, pids=known.pids, trackers=known.trackers)
    path = below(box.project, watch.log) if watch.log is not None else ""
    news = _news(frames, at, kept.log, path) if watch.log is not None else NOT_ASKED
    project = box.project or ""
    others_elsewhere = kept.watched.at_home and _is_quiet(news, clock)
    alive, found = _alive(watch, at, frames, lambda all_: _own(all_, project, only_inside=others_elsewhere))
    log, kept = _read_log(news, path, kept, found, clock)
    kept = _with_processes(kept, found, at_home=any(works_in(process, project) for process in found))
    look = RunLook(
        run=watch.name,
        managed=False,
        place=path or (watch.process or watch.session or " ".join(watch.artifacts) or watch.done_file or ""),
        runner_alive=Absent("onbox did not start it"),
        stage_alive=alive,
        stall_after_seconds=_given(watch.stall_after_seconds),
        expected_seconds=_given(watch.expected_seconds),
        resume_command=watch.resume or "",
        log=log,
        artifacts=_artifacts(watch, at, frames, clock),
    )
    proofs: list[Maybe[str]] = []
    if watch.done_file is not None:
        proofs.append(_done_file(watch.done_file, at, frames, log, clock))
    if watch.done_count is not None:
        proofs.append(_done_count(watch.done_count, look.artifacts))
    if kept.log is None or isinstance(log, Absent | Unseen):
        unseen = log if isinstance(log, Unseen) else Absent("no log to read it from")
        proofs += [unseen] if watch.done_regex is not None else []
        return look._replace(progress=unseen, failure=unseen, done=_best(proofs)), kept
    return _with_words_of_log(look, watch, proofs, kept, kept.log, log.written_age_seconds)


def _read_log(
    news: Maybe[LogNews], path: str, kept: RunMemory, found: tuple[FoundProcess, ...], clock: float
) -> tuple[Maybe[LogLook], RunMemory]:
    """What is new in its log; nothing of an attempt before is kept."""
    if isinstance(news, Absent | Unseen):
        return news, kept if isinstance(news, Unseen) or not path else RunMemory()
    new_attempt = _is_new_attempt(kept.watched.processes, _words(found))
    if new_attempt or log_memory.is_another(kept.log, path, news):
        kept = kept._replace(watched=kept.watched._replace(done=None))
    place = log_memory.follow(kept.log, path, news, new_attempt=new_attempt)
    return log_memory.look(place, news, clock), kept._replace(log=place)


def _with_words_of_log(
    look: RunLook, watch: Watch, proofs: list[Maybe[str]], kept: RunMemory, place: LogPlace, age: float
) -> tuple[RunLook, RunMemory]:
    """What its log says of success, failure and progress. proofs: those that are not in the log. age: of the log."""
    watched, alive = kept.watched, look.stage_alive
    if watch.done_regex is not None:
        proof = _done_line(watch.done_regex, watched.done, place, alive)
        watched = watched._replace(done=proof if isinstance(proof, str) else None)
        proofs = [*proofs, proof]
    elif not proofs:
        proof, watched = _usual_last_words(watched, place, alive, age)
        proofs = [proof]
    done = _best(proofs)
    failure: Maybe[Failure] = Absent("it said that it is done")
    if not isinstance(done, str):
        failure, watched = _failure(watched, place, alive, age)
    shown = log_memory.progress(place)
    return look._replace(
        progress=Absent("no progress shown") if shown.current is None and shown.percent is None else shown,
        done=done,
        failure=failure,
    ), kept._replace(watched=watched)


def _given(value: float | None) -> Maybe[float]:
    return Absent("not declared") if value is None else value


def _news(frames: Frames, at: int, place: LogPlace | None, path: str) -> Maybe[LogNews]:
    part = frames.part(f"log.{at}")
    if isinstance(part, Unseen):
        return part
    known = place.cursor if place is not None and place.path == path else None
    return parse_log(part.blocks, part.code, known)


def _alive(
    watch: Watch, at: int, frames: Frames, own: Callable[[tuple[FoundProcess, ...]], tuple[FoundProcess, ...]]
) -> tuple[Maybe[bool], tuple[FoundProcess, ...]]:
    """Whether any sign of life was seen; the run's own processes. Unseen if one of the ways to see one could not
    be gone and the others show nothing.
    """
    seen: list[Maybe[bool]] = []
    processes: tuple[FoundProcess, ...] = ()
    if watch.process is not None:
        part = frames.part(f"processes.{at}")
        found = part if isinstance(part, Unseen) else parse_processes(part)
        if isinstance(found, Absent | Unseen):
            seen.append(found)
        else:
            processes = own(found)
            seen.append(bool(processes))
    if watch.session is not None:
        part = frames.part(f"session.{at}")
        session = part if isinstance(part, Unseen) else parse_session(part, watch.session)
        seen.append(session if isinstance(session, Unseen) else not isinstance(session, Absent) and session.busy)
    if not seen:
        return Absent("no process and no session is named"), processes
    if True in seen:
        return True, processes
    return next((way for way in seen if isinstance(way, Unseen)), False), processes


def works_in(process: FoundProcess, project: str) -> bool:
    """Whether it works in the project's directory or names it. Where home directories lie is not known here."""
    at_home = project.startswith("~")
    inside = (f"/{project.partition('/')[2]}" if at_home else project).rstrip("/") + "/"
    if len(inside) < 2:
        return False
    folder = f"{process.folder}/"
    return inside in process.words or (inside in folder if at_home else folder.startswith(inside))


def _own(found: tuple[FoundProcess, ...], project: str, *, only_inside: bool) -> tuple[FoundProcess, ...]:
    """Those of this run, where another project's run has the same command line.

    Those in the project's directory, if there are any. One that works elsewhere counts until one was seen in the
    project; from then on it is another run's, unless the log shows that somebody writes.
    """
    inside = tuple(process for process in found if works_in(process, project))
    if inside or not only_inside:
        return inside or found
    return tuple(process for process in found if not process.folder)


def _is_quiet(news: Maybe[LogNews], clock: float) -> bool:
    """Whether nobody has just written the log; true where there is none."""
    return isinstance(news, Absent | Unseen) or clock - news.mtime > QUIET_SECONDS


def _is_new_attempt(known: tuple[str, ...], processes: tuple[str, ...]) -> bool:
    """Whether none of the run's processes is one of those that were seen last. Not known while there are none."""
    return bool(processes) and bool(known) and not set(processes) & set(known)


def _with_processes(kept: RunMemory, found: tuple[FoundProcess, ...], *, at_home: bool) -> RunMemory:
    """Keep who the run's processes are: to see a new attempt, and to look at their control group next time."""
    if not found:
        return kept
    watched = kept.watched._replace(processes=_words(found), at_home=kept.watched.at_home or at_home)
    return kept._replace(watched=watched, pids=tuple(process.pid for process in found[:2]))


def _words(found: tuple[FoundProcess, ...]) -> tuple[str, ...]:
    return tuple(f"{process.pid}:{process.start_ticks}" for process in found)


def _artifacts(watch: Watch, at: int, frames: Frames, clock: float) -> Maybe[Artifacts]:
    if not watch.artifacts:
        return NOT_ASKED
    part = frames.part(f"artifacts.{at}")
    return part if isinstance(part, Unseen) else parse_artifacts(part, clock)


def _done_line(regex: str, known: str | None, place: LogPlace, alive: Maybe[bool]) -> Maybe[str]:
    """The line that proves success; once seen it is kept as long as the attempt is the same. A line that still grows
    counts only when nobody is there to go on with it.
    """
    if known is not None:
        return known
    text = place.window + (place.held if alive is not True else b"")
    pattern = re.compile(regex)
    for raw in reversed(re.split(rb"[\r\n]+", text)):
        line = raw.decode("utf-8", "replace")[:DONE_LINE_LIMIT]
        if line and pattern.search(line):
            return safe_line(line.strip(), 300)
    return Absent("no line matches done_regex")


def _usual_last_words(watched: Watched, place: LogPlace, alive: Maybe[bool], age: float) -> tuple[Maybe[str], Watched]:
    """What a log ends with where nothing is declared: proof only if no process is left and nothing went wrong after it.

    A tracker says goodbye in a few lines after the job's own last words.
    """
    nothing = Absent("nothing is declared that would prove success")
    if alive is True or isinstance(alive, Unseen):
        return nothing, watched
    lines = [line for line in re.split(rb"[\r\n]+", log_memory.whole_text(place)) if line.strip()]
    for raw in reversed(lines[-LAST_LINES:]):
        if raw.startswith(b"Traceback "):
            return nothing, watched
        line = raw.decode("utf-8", "replace")[:DONE_LINE_LIMIT]
        if re.search(USUAL_DONE_REGEX, line):
            failure, watched = _failure(watched, place, alive, age)
            return nothing if isinstance(failure, Failure) else safe_line(line.strip(), 300), watched
    return nothing, watched


def _done_file(path: str, at: int, frames: Frames, log: Maybe[LogLook], clock: float) -> Maybe[str]:
    """The file that proves success. One that is older than the log's last words is of an earlier run."""
    part = frames.part(f"artifacts.{at}.done")
    found = part if isinstance(part, Unseen) else parse_artifacts(part, clock)
    if isinstance(found, Absent | Unseen):
        return found
    age = found.newest_age_seconds
    if isinstance(age, Absent | Unseen):
        return Absent(f"there is no {path}") if isinstance(age, Absent) else age
    if not isinstance(log, Absent | Unseen) and age > log.written_age_seconds + DONE_FILE_SLACK_SECONDS:
        return Absent(f"{path} is older than the log's last words: it is of an earlier run")
    return safe_line(path, 300)


def _done_count(wanted: int, artifacts: Maybe[Artifacts]) -> Maybe[str]:
    """As many files as were declared. Their age says nothing: a sweep may go on with what an earlier one left."""
    if isinstance(artifacts, Absent | Unseen):
        return artifacts
    text = f"{artifacts.files} of {wanted} files"
    return text if artifacts.files >= wanted else Absent(f"{text} are there")


def _best(proofs: Sequence[Maybe[str]]) -> Maybe[str]:
    """One proof is enough; where none was found, not having looked outweighs having found nothing."""
    for kind in (str, Unseen, Absent):
        for proof in proofs:
            if isinstance(proof, kind):
                return proof
    return Absent("nothing is declared that would prove success")


def _failure(watched: Watched, place: LogPlace, alive: Maybe[bool], age: float) -> tuple[Maybe[Failure], Watched]:
    """What triage reads in the current attempt's lines. A survived exception is none. Lines that were judged before are
    not judged again: it takes 20 ms, and most looks bring nothing new.
    """
    text = log_memory.whole_text(place)
    of = (crc32(text), len(text), alive if isinstance(alive, bool) else None)
    judged = watched.judged
    if judged is None or (judged.crc, judged.length, judged.alive) != of:
        judged = JudgedText(*of, _judge(text, alive, age))
    found = Absent("no failure in the log") if judged.failure is None else judged.failure
    return found, watched._replace(judged=judged)


def _judge(text: bytes, alive: Maybe[bool], age: float) -> Failure | None:
    from onbox.triage.classify import classify  # noqa: PLC0415 - its table takes 70 ms, and many boxes need none

    evidence = Evidence(log_age_seconds=age, process_alive=alive if isinstance(alive, bool) else None)
    verdict = classify(text, evidence)
    found = fault_of(verdict)
    return None if found is None else found._replace(traceback=last_traceback(text) or verdict.traceback)
