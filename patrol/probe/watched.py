"""A run that onbox did not start, from what the box told of its log, processes, session and artifacts. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

from onbox.contract.boxes import USUAL_DONE_REGEX
from onbox.contract.readings import Absent, Unseen
from onbox.outside import safe_line
from onbox.triage.evidence import Evidence
from patrol.before import LogPlace
from patrol.probe import log_memory
from patrol.probe.box_logs import parse_log
from patrol.probe.box_watch import parse_artifacts, parse_processes, parse_session
from patrol.probe.excerpt import last_traceback
from patrol.probe.log_fault import fault_of
from patrol.probe.plan import below, cursor_of
from patrol.snapshot import NOT_ASKED, Failure, RunLook

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.contract.boxes import BoxSettings, Watch
    from onbox.contract.readings import Maybe
    from patrol.probe.box_logs import News
    from patrol.probe.box_watch import Found
    from patrol.probe.frames import Frames
    from patrol.snapshot import Artifacts, LogLook

DONE_LINE_LIMIT = 2000
LAST_LINES = 12
DONE_FILE_SLACK_SECONDS = 60.0  # a program may say its last words after it has made the file
QUIET_SECONDS = 120.0
FAILURE_SHAPE = ",".join(Failure._fields)  # what was kept in another shape is judged anew


def look_at(
    box: BoxSettings, watch: Watch, at: int, frames: Frames, place: LogPlace | None, clock: float
) -> tuple[RunLook, LogPlace | None]:
    """The run of the box's watch number `at`, and its place for the next look (None: there is nothing to keep)."""
    path = below(box.project, watch.log) if watch.log is not None else ""
    news = _news(frames, at, place, path) if watch.log is not None else NOT_ASKED
    project = box.project or ""
    alive, found = _alive(watch, at, frames, lambda all_: _own(all_, project, place, quiet=_is_quiet(news, clock)))
    processes = [f"{process.pid}:{process.start_ticks}" for process in found]
    log: Maybe[LogLook]
    if isinstance(news, Absent | Unseen):
        log, place = news, place if isinstance(news, Unseen) or not path else None
    else:
        place = log_memory.follow(place, path, news, new_attempt=_is_new_attempt(place, processes))
        log = log_memory.look(place, news, clock)
    place = _remember(place, processes, at_home=any(works_in(process, project) for process in found))
    look = RunLook(
        run=watch.name,
        managed=False,
        place=path or (watch.process or watch.session or " ".join(watch.artifacts) or watch.done_file or ""),
        runner_alive=Absent("onbox did not start it"),
        stage_alive=alive,
        stall_after_seconds=_given(watch.stall_after_seconds),
        expected_seconds=_given(watch.expected_seconds),
        log=log,
        artifacts=_artifacts(watch, at, frames, clock),
    )
    proofs: list[Maybe[str]] = []
    if watch.done_file is not None:
        proofs.append(_done_file(watch.done_file, at, frames, log, clock))
    if watch.done_count is not None:
        proofs.append(_done_count(watch.done_count, look.artifacts))
    if place is None or isinstance(log, Absent | Unseen):
        unseen = log if isinstance(log, Unseen) else Absent("no log to read it from")
        proofs += [unseen] if watch.done_regex is not None else []
        return look._replace(progress=unseen, failure=unseen, done=_best(proofs)), place
    if watch.done_regex is not None:
        proofs.append(_done_line(watch.done_regex, place, alive))
    elif not proofs:
        proofs.append(_usual_last_words(place, alive, log.written_age_seconds))
    done = _best(proofs)
    shown = log_memory.progress(place)
    return look._replace(
        progress=Absent("no progress shown") if shown.current is None and shown.percent is None else shown,
        done=done,
        failure=_failure(place, alive, log.written_age_seconds, done),
    ), place


def _given(value: float | None) -> Maybe[float]:
    return Absent("not declared") if value is None else value


def _news(frames: Frames, at: int, place: LogPlace | None, path: str) -> Maybe[News]:
    part = frames.part(f"log.{at}")
    if isinstance(part, Unseen):
        return part
    known = cursor_of(place) if place is not None and place.path == path and place.cursor[1] else None
    return parse_log(part.blocks, part.code, known)


def _alive(
    watch: Watch, at: int, frames: Frames, own: Callable[[tuple[Found, ...]], tuple[Found, ...]]
) -> tuple[Maybe[bool], tuple[Found, ...]]:
    """Whether any sign of life was seen; the run's own processes. Unseen if one of the ways to see one could not
    be gone and the others show nothing.
    """
    seen: list[Maybe[bool]] = []
    processes: tuple[Found, ...] = ()
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


def works_in(process: Found, project: str) -> bool:
    """Whether it works in the project's directory or names it. Where home directories lie is not known here."""
    at_home = project.startswith("~")
    inside = (f"/{project.partition('/')[2]}" if at_home else project).rstrip("/") + "/"
    if len(inside) < 2:
        return False
    folder = f"{process.folder}/"
    return inside in process.words or (inside in folder if at_home else folder.startswith(inside))


def _own(found: tuple[Found, ...], project: str, place: LogPlace | None, *, quiet: bool) -> tuple[Found, ...]:
    """Those of this run, where another project's run has the same command line.

    Those in the project's directory, if there are any. One that works elsewhere counts until one was seen in the
    project; from then on it is another run's, unless the log shows that somebody writes.
    """
    inside = tuple(process for process in found if works_in(process, project))
    if inside or place is None or not place.reader.get("at_home") or not quiet:
        return inside or found
    return tuple(process for process in found if not process.folder)


def _is_quiet(news: Maybe[News], clock: float) -> bool:
    """Whether nobody has just written the log; true where there is none."""
    return isinstance(news, Absent | Unseen) or clock - news.mtime > QUIET_SECONDS


def _is_new_attempt(place: LogPlace | None, processes: list[str]) -> bool:
    """Whether none of the run's processes is one of those that were seen last. Not known while there are none."""
    known = place.reader.get("processes") if place is not None else None
    return bool(processes) and bool(known) and not set(processes) & set(map(str, known or ()))


def _remember(place: LogPlace | None, processes: list[str], *, at_home: bool) -> LogPlace | None:
    """Keep who the run's processes are: to see a new attempt, and to look at their control group next time."""
    if not processes:
        return place
    if place is None:
        place = LogPlace("", (0, 0, 0, ""), {})
    if at_home:
        place.reader["at_home"] = True
    place.reader.update(processes=processes, pids=[int(word.partition(":")[0]) for word in processes[:2]])
    return place


def _artifacts(watch: Watch, at: int, frames: Frames, clock: float) -> Maybe[Artifacts]:
    if not watch.artifacts:
        return NOT_ASKED
    part = frames.part(f"artifacts.{at}")
    return part if isinstance(part, Unseen) else parse_artifacts(part, clock)


def _done_line(regex: str, place: LogPlace, alive: Maybe[bool]) -> Maybe[str]:
    """The line that proves success; once seen it is kept as long as the attempt is the same. A line that still grows
    counts only when nobody is there to go on with it.
    """
    known = place.reader.get("done")
    if isinstance(known, str):
        return known
    text = log_memory.text_of(place.reader) + (place.held if alive is not True else b"")
    pattern = re.compile(regex)
    for raw in reversed(re.split(rb"[\r\n]+", text)):
        line = raw.decode("utf-8", "replace")[:DONE_LINE_LIMIT]
        if line and pattern.search(line):
            place.reader["done"] = safe_line(line.strip(), 300)
            return str(place.reader["done"])
    return Absent("no line matches done_regex")


def _usual_last_words(place: LogPlace, alive: Maybe[bool], age: float) -> Maybe[str]:
    """What a log ends with where nothing is declared: proof only if no process is left and nothing went wrong after it.

    A tracker says goodbye in a few lines after the job's own last words.
    """
    nothing = Absent("nothing is declared that would prove success")
    if alive is True or isinstance(alive, Unseen):
        return nothing
    lines = [line for line in re.split(rb"[\r\n]+", log_memory.text_of(place.reader) + place.held) if line.strip()]
    for raw in reversed(lines[-LAST_LINES:]):
        if raw.startswith(b"Traceback "):
            return nothing
        line = raw.decode("utf-8", "replace")[:DONE_LINE_LIMIT]
        if re.search(USUAL_DONE_REGEX, line):
            failure = _failure(place, alive, age, nothing)
            return nothing if isinstance(failure, Failure) else safe_line(line.strip(), 300)
    return nothing


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


def _failure(place: LogPlace, alive: Maybe[bool], age: float, done: Maybe[str]) -> Maybe[Failure]:
    """What triage reads in the current attempt's lines. A survived exception is none. Lines that were judged before are
    not judged again: it takes 20 ms, and most looks bring nothing new.
    """
    if isinstance(done, str):
        return Absent("it said that it is done")
    text = log_memory.whole_text(place)
    of = [FAILURE_SHAPE, crc32(text), len(text), alive if isinstance(alive, bool) else None]
    kept = place.reader.get("judged")
    if not (isinstance(kept, list) and len(kept) == 2 and kept[0] == of):
        found = _judge(text, alive, age)
        kept = place.reader["judged"] = [of, None if found is None else found._asdict()]
    found_before = kept[1]
    if isinstance(found_before, dict):
        return Failure(**{**found_before, "traceback": tuple(found_before["traceback"])})
    return Absent("no failure in the log")


def _judge(text: bytes, alive: Maybe[bool], age: float) -> Failure | None:
    from onbox.triage.classify import classify  # noqa: PLC0415 - its table takes 70 ms, and many boxes need none

    evidence = Evidence(log_age_seconds=age, process_alive=alive if isinstance(alive, bool) else None)
    verdict = classify(text, evidence)
    found = fault_of(verdict)
    return None if found is None else found._replace(traceback=last_traceback(text))
