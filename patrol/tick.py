"""One tick: lock, look, decide, report, remember.

1. Take the lock, or leave at once. The kernel frees it whenever this process ends, however that happens.
2. Say in the heartbeat that a tick began. 3. Recall. 4. Look at all boxes at once; print each as it comes.
5. Resume where it is allowed. 6. Remember, in one transaction: a tick that is killed before it has not been, one that
is killed after it has. 7. Relay, page, metrics, ping, heartbeat.

A defect that is met at one box is that box's: it could not be looked at, and the tick goes on with the others.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.config.fields import ConfigErrors
from onbox.contract.exits import Exit
from onbox.cron.schedule import BadSchedule, cadence_seconds, parse_schedule
from onbox.errors import Trouble
from onbox.local.locks import take
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line, safe_text
from onbox.project import error_lines
from onbox.system.clock import wall
from onbox.system.files import StateNotWritten
from onbox.system.ownership import make_own_folder
from onbox.trust import not_accepted
from patrol.collect import look_at_all, seen_defect
from patrol.decide.policy import read_policy
from patrol.defects import note_defect
from patrol.judge import Frame, box_note, judge, may_act, run_note, undelivered
from patrol.memory.rows import MemoryTrouble, Past, TickNote, must_be_text
from patrol.memory.store import Memory
from patrol.memory.transfers import Register
from patrol.page.write import renew_page
from patrol.tell.publish import ping_watcher, write_metrics
from patrol.timer.claims import claim_or_tell
from patrol.timer.heartbeat import CADENCES, Heartbeat, read_heartbeat, stand, write_heartbeat
from patrol.verdict import Severity, worst_severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onbox.model.boxes import BoxSettings
    from patrol.collect import SeenBox
    from patrol.config.settings import Settings
    from patrol.decide.policy import Policy
    from patrol.judge import BoxJudged
    from patrol.memory.rows import BoxNote, RunNote

LOCK = "tick.lock"


class TickWishes(NamedTuple):
    """How this tick was asked for. unattended: by a timer. act: whether resume, relay, messages and ping
    may be done. resume: whether that may be, too.
    """

    boxes: tuple[BoxSettings, ...]
    unattended: bool = False
    act: bool = True
    resume: bool = True


class Ticked(NamedTuple):
    """What came of a tick. judged: one per box, in the order of the configuration. notes: what was done. troubles: of
    the tick itself; they make the severity at least a warning.
    """

    judged: tuple[BoxJudged, ...]
    severity: Severity
    notes: tuple[str, ...]
    troubles: tuple[str, ...]
    now: float


class Busy(Exception):
    """Another tick is at work."""


def policy_of(settings: Settings) -> Policy:
    """Raises Trouble with every error of `[patrol]`."""
    try:
        parse_schedule(settings.patrol.schedule)
        return read_policy(settings.patrol)
    except BadSchedule as error:
        raise Trouble(Exit.CONFIG, f"{settings.config_path}: patrol.schedule: {error}") from error
    except ConfigErrors as errors:
        lines = "\n".join(error_lines(settings.config_path or "", errors))
        raise Trouble(
            Exit.CONFIG, f"{settings.config_path}: errors in [patrol]; no box was looked at\n{lines}"
        ) from None


def tick(
    settings: Settings,
    wishes: TickWishes,
    environ: Mapping[str, str],
    show: Callable[[BoxJudged], None],
) -> Ticked:
    """Do one tick. show: called for each box as soon as it is judged. Raises Busy, Trouble."""
    if settings.patrol.rules or settings.patrol.thresholds:
        policy_of(settings)  # errors are told before any box is looked at
    began = wall()
    lock = None
    try:
        make_own_folder(settings.state)
        lock = take(os.path.join(settings.state, LOCK))
        if lock is not None and wishes.act and settings.config.notify.targets:
            _make_ready_to_tell(settings)
    except StateNotWritten as error:
        if lock is not None:
            lock.release()
        return _tick_elsewhere(settings, wishes, environ, show, error)
    if lock is None:
        raise Busy
    earlier = read_heartbeat(settings.state)
    timer_at = began if wishes.unattended else (earlier.timer_at if earlier else None)
    about = settings.config_path or ""
    beat = Heartbeat(began, os.getpid(), boxes=len(wishes.boxes), timer_at=timer_at, config=about)
    try:
        unsaid = _begin_heartbeat(settings, beat)
        settings = _with_word_for_boxes(settings, wishes, began)
        work = _Tick(settings, wishes, environ, show)
        work.troubles += unsaid + _not_accepted(settings)
        if wishes.unattended:
            work.troubles += [*_missed(settings, earlier, began), *_patrolled_twice(settings, began)]
        ticked = work.run(began)
    except BaseException as error:
        _end_heartbeat(settings, beat, int(Severity.UNKNOWN), f"{type(error).__name__}: {error}")
        raise
    finally:
        lock.release()
    trouble = "; ".join(ticked.troubles)
    runs = sum(len(box.runs) for box in ticked.judged)
    _end_heartbeat(settings, beat._replace(runs=runs), int(ticked.severity), trouble)
    return ticked


def _make_ready_to_tell(settings: Settings) -> None:
    """Raises StateNotWritten, Busy."""
    from patrol.tell import stand_in  # noqa: PLC0415 - only where somebody is to be told

    stand_in.take_room(settings.state)
    if not stand_in.come_home(settings.state):
        raise Busy


def _tick_elsewhere(
    settings: Settings,
    wishes: TickWishes,
    environ: Mapping[str, str],
    show: Callable[[BoxJudged], None],
    error: StateNotWritten,
) -> Ticked:
    """A full disk or a wrong mode here is not a reason not to look and to tell; but what is done to a box is done only
    with all that is remembered.
    """
    from patrol.tell import stand_in  # noqa: PLC0415 - hardly ever

    settings = _with_word_for_boxes(settings, wishes, wall())
    tells = wishes.act and bool(settings.config.notify.targets)
    wishes = wishes._replace(act=False)
    why = f"the patrol's own folder cannot be used, so nothing was done but to look: {error}; {error.way_on}"
    try:
        folder, lock = stand_in.begin(settings.state)
    except StateNotWritten as second:
        work = _Tick(settings, wishes, environ, show, tells=False)
        nobody = f"; nobody was told, for what was told could be remembered nowhere: {second}" if tells else ""
        work.troubles.append(why + nobody)
        return work.run(wall())
    if lock is None:
        raise Busy
    try:
        work = _Tick(settings._replace(state=folder), wishes, environ, show, tells=tells)
        work.troubles.append(f"{why}; until then it remembers in {folder}")
        return work.run(wall())
    finally:
        lock.release()


def _with_word_for_boxes(settings: Settings, wishes: TickWishes, now: float) -> Settings:
    """A tick by a timer tells each box for how long it may be without the next one."""
    if not (wishes.unattended and wishes.act):
        return settings
    cadence = cadence_seconds(parse_schedule(settings.patrol.schedule), now)
    return settings._replace(silent_seconds=CADENCES * cadence + settings.patrol.deadline_seconds)


def _begin_heartbeat(settings: Settings, beat: Heartbeat) -> list[str]:
    """Trouble, if there was any: `patrol status` will then not know of this tick."""
    try:
        write_heartbeat(settings.state, beat)
    except StateNotWritten as error:
        return [f"{error}; {error.way_on}" if error.way_on else str(error)]
    return []


def _end_heartbeat(settings: Settings, beat: Heartbeat, exit_code: int, trouble: str) -> None:
    beat = beat._replace(ended_at=wall(), exit_code=exit_code, trouble=safe_line(trouble, 500))
    with suppress(StateNotWritten):  # nothing is left to tell it to but the output, which has told it
        write_heartbeat(settings.state, beat)


def _not_accepted(settings: Settings) -> list[str]:
    """What the file asks for and was not used. A timer asks nobody, so it says it each time."""
    if not settings.withheld:
        return []
    return [not_accepted(settings.config_path or settings.folder, settings.withheld)]


def _missed(settings: Settings, earlier: Heartbeat | None, now: float) -> list[str]:
    standing = stand(earlier, parse_schedule(settings.patrol.schedule), now)
    if not standing.missed or earlier is None or earlier.timer_at is None:
        return []
    hours = (now - earlier.timer_at) / 3600
    why = "this machine slept or was off, or cron did not run"
    return [f"{standing.missed} tick(s) were missed in the {hours:.1f} h before this one: {why}"]


def _patrolled_twice(settings: Settings, now: float) -> list[str]:
    cadence = cadence_seconds(parse_schedule(settings.patrol.schedule), now)
    return claim_or_tell(settings, now, cadence)


class _Tick:
    """The work under the lock."""

    def __init__(
        self,
        settings: Settings,
        wishes: TickWishes,
        environ: Mapping[str, str],
        show: Callable[[BoxJudged], None],
        *,
        tells: bool | None = None,
    ) -> None:
        self.settings, self.wishes, self.environ, self.show = settings, wishes, environ, show
        self.tells = wishes.act if tells is None else tells
        self.memory = Memory(settings.state)
        self.notes: list[str] = []
        self.troubles: list[str] = []

    def run(self, began: float) -> Ticked:
        past = self._recall()
        judged = self._look(past)
        now = wall()
        severity = worst_severity((run.verdict for box in judged for run in box.runs), now)
        self._remember(judged, began, now, severity)
        if self.wishes.act:
            self.notes += self._relay(judged)
            self._tell(judged, began, now, severity)
        if self.tells:
            self._speak(judged, now)
        self.troubles += self.memory.notes
        if self.troubles and severity.rank < Severity.WARNING.rank:
            severity = Severity.WARNING
        return Ticked(tuple(judged), severity, tuple(self.notes), tuple(self.troubles), now)

    def _recall(self) -> Past:
        try:
            return self.memory.recall()
        except (MemoryTrouble, StateNotWritten) as error:
            self.troubles.append(f"the memory could not be read, so nothing is known of earlier ticks: {error}")
            return Past({}, {}, {})

    def _look(self, past: Past) -> list[BoxJudged]:
        """Every box, shown as it comes, those at which something may be done after that; in the order of the
        configuration.
        """
        seen_boxes = look_at_all(self.settings, self.wishes.boxes, past)
        found: dict[str, BoxJudged] = {}
        policy: Policy | None = None
        for seen in seen_boxes:
            policy = policy or policy_of(self.settings)
            one = self._judged(
                seen, Frame(past, policy, self.settings.ssh_command, wall(), Register(self.settings.state).homes())
            )
            found[seen.box.name] = one
            if not (self._may_act(one)):
                self.show(one)
        return [self._finished(found[box.name], past, policy) for box in self.wishes.boxes]

    def _may_act(self, one: BoxJudged) -> bool:
        return self.wishes.act and self.wishes.resume and may_act(one)

    def _judged(self, seen: SeenBox, frame: Frame) -> BoxJudged:
        try:
            one = judge(seen.box, seen.snapshot, seen.memories, frame)
        except Exception as error:  # noqa: BLE001 - a defect met at one box must not end the tick of the others
            seen = seen_defect(seen.box, error, self.settings.state)
            one = judge(seen.box, seen.snapshot, None, frame)
        return one

    def _finished(self, one: BoxJudged, past: Past, policy: Policy | None) -> BoxJudged:
        """A box after what may be done there."""
        if policy is None or not (self._may_act(one)):
            return one
        from patrol.act.perform import resume_dead  # noqa: PLC0415 - most ticks have nothing to do

        try:
            one = resume_dead(self.settings, one, past, self.memory, policy)
        except Exception as error:  # noqa: BLE001 - as in _judged
            words = note_defect(self.settings.state, one.box.name, error)
            self.troubles.append(f"{one.box.name}: nothing was resumed: {words}")
        self.show(one)
        return one

    def _relay(self, judged: list[BoxJudged]) -> list[str]:
        if not any(undelivered(box) for box in judged):
            return []
        from patrol.act.perform import relay_waiting  # noqa: PLC0415 - what sends is loaded only here

        return relay_waiting(self.settings, judged, self.memory, self.environ)

    def _remember(self, judged: Sequence[BoxJudged], began: float, now: float, severity: Severity) -> None:
        kept = [self._notes(one, now) for one in judged]
        boxes, runs = tuple(box for box, _ in kept), tuple(run for _, its_runs in kept for run in its_runs)
        note = TickNote(began, wall(), int(severity), boxes, runs, "; ".join(self.troubles))
        try:
            self.memory.remember(note)
        except (MemoryTrouble, StateNotWritten) as error:
            self.troubles.append(f"this tick could not be remembered, so the next one will not know it: {error}")

    def _notes(self, judged: BoxJudged, now: float) -> tuple[BoxNote, list[RunNote]]:
        """What is kept of one box, in texts that any store takes."""
        try:
            box, runs = box_note(judged), [run_note(run, judged.snapshot, now) for run in judged.runs]
            must_be_text(runs)
            return box, runs
        except Exception as error:  # noqa: BLE001 - as above: the tick of the others is remembered
            seen = seen_defect(judged.box, error, self.settings.state)
        past = Past({}, {judged.box.name: judged.before}, {})
        instead = judge(seen.box, seen.snapshot, None, Frame(past, policy_of(self.settings), (), now))
        return box_note(instead), [run_note(run, seen.snapshot, now) for run in instead.runs]

    def _tell(self, judged: Sequence[BoxJudged], began: float, now: float, severity: Severity) -> None:
        if self.settings.patrol.report is not None:
            heartbeat = read_heartbeat(self.settings.state)
            by_timer = heartbeat is not None and heartbeat.timer_at is not None
            self.troubles += renew_page(self.settings, timed=by_timer or None)
        if self.settings.patrol.textfile is None and self.settings.patrol.ping is None:
            return

        if self.settings.patrol.textfile is not None:
            self.troubles += write_metrics(self.settings, judged, began, now)
        if self.settings.patrol.ping is not None:
            self.troubles += ping_watcher(self.settings, judged, severity, self.environ)

    def _speak(self, judged: Sequence[BoxJudged], now: float) -> None:
        if not self.settings.config.notify.targets:
            return
        from patrol.tell.messages import speak  # noqa: PLC0415 - only where somebody is to be told

        try:
            self.troubles += speak(self.settings, judged, self.environ, now, unattended=self.wishes.unattended)
        except Exception as error:  # noqa: BLE001 - the tick is remembered and said all the same
            self.troubles.append(f"people could not be told: {note_defect(self.settings.state, 'notices', error)}")


def warn(text: str) -> None:
    """One line about the patrol itself. Where it cannot be written, a log on a full disk say, the work goes on."""
    with suppress(OSError):
        print(f"patrol: {safe_text(text)}", file=sys.stderr, flush=True)
