"""A run that onbox did not start, from what the box told of its log, processes, session and artifacts. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.redact import one_line, redact
from onbox.triage.evidence import Evidence
from patrol.before import LogPlace
from patrol.probe import log_memory
from patrol.probe.box_logs import parse_log
from patrol.probe.box_watch import parse_artifacts, parse_processes, parse_session
from patrol.probe.plan import below, cursor_of
from patrol.snapshot import NOT_ASKED, Failure, RunLook

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.boxes import BoxSettings, Watch
    from onbox.contract.readings import Maybe
    from patrol.probe.box_logs import News
    from patrol.probe.box_watch import Found
    from patrol.probe.frames import Frames
    from patrol.snapshot import Artifacts, LogLook

DONE_LINE_LIMIT = 2000
QUIET_SECONDS = 120.0
NO_FAULT_RULES = frozenset({"unproven", "silent-log"})  # what they say is told by process and log age, not by the log


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
        place=path or (watch.process or watch.session or " ".join(watch.artifacts)),
        runner_alive=Absent("onbox did not start it"),
        stage_alive=alive,
        stall_after_seconds=_given(watch.stall_after_seconds),
        expected_seconds=_given(watch.expected_seconds),
        log=log,
        artifacts=_artifacts(watch, at, frames, clock),
    )
    if place is None or isinstance(log, Absent | Unseen):
        unseen = log if isinstance(log, Unseen) else Absent("no log to read it from")
        return look._replace(progress=unseen, failure=unseen, done=unseen), place
    done = _done(watch, place, alive)
    if isinstance(done, str):
        place.reader["done"] = done
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


def _done(watch: Watch, place: LogPlace, alive: Maybe[bool]) -> Maybe[str]:
    """The line that proves success. A line that still grows counts only when nobody is there to go on with it."""
    if watch.done_regex is None:
        return Absent("no done_regex is given")
    known = place.reader.get("done")
    if isinstance(known, str):
        return known
    text = log_memory.text_of(place.reader) + (place.held if alive is not True else b"")
    pattern = re.compile(watch.done_regex)
    for raw in reversed(re.split(rb"[\r\n]+", text)):
        line = raw.decode("utf-8", "replace")[:DONE_LINE_LIMIT]
        if line and pattern.search(line):
            return one_line(redact(line.strip()))[:300]
    return Absent("no line matches done_regex")


def _failure(place: LogPlace, alive: Maybe[bool], age: float, done: Maybe[str]) -> Maybe[Failure]:
    """What triage reads in the current attempt's lines. A survived exception is none."""
    if isinstance(done, str):
        return Absent("it said that it is done")
    from onbox.triage.classify import classify  # noqa: PLC0415 - its table takes 70 ms, and many boxes need none

    evidence = Evidence(log_age_seconds=age, process_alive=alive if isinstance(alive, bool) else None)
    verdict = classify(log_memory.whole_text(place), evidence)
    if not verdict.terminal or verdict.rule in NO_FAULT_RULES:
        return Absent("no failure in the log")
    return Failure(
        failure_class=verdict.failure_class,
        remedy=verdict.remedy,
        retry_allowed=verdict.retry,
        signature=verdict.signature,
        proof=one_line(verdict.line or "")[:300],
        where=one_line(verdict.where or "")[:300],
        source="log",
        confidence=verdict.confidence,
    )
