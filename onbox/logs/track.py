"""What has been seen of each counter in a log so far. Small, bounded, and JSON-able at any point."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onbox.logs.again import Again, banner, form
from onbox.logs.counter import Counter
from onbox.logs.joined import ShownBy, begins_anew, begun_with, joined
from onbox.logs.line.displays import bar_kind
from onbox.logs.line.numbers import COUNT, parse_count
from onbox.logs.line.read import read_line
from onbox.logs.line.remarks import AT_ITS_LIMIT, DONE_ONLY, OF_A_FUNCTION, OF_A_LAYER, OF_A_PART, read_eta, turn_of
from onbox.logs.line.rows import read_row
from onbox.logs.line.sights import CounterSight, SeenOnLine
from onbox.logs.line.tables import TableHead, read_header, read_table_row
from onbox.logs.line.words import LONE_UNITS, OF_AN_EVALUATOR
from onbox.logs.measures import NOTHING, read_measures
from onbox.logs.same_display import as_known
from onbox.logs.wrote import line_form, writer
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

COUNTERS_MAX = 64
_NOT_PLAIN = ("counters", "table", "text", "again")  # as JSON has it
HEADING_LETTERS = 120
NAME_LETTERS = 80  # of a line, in which the logger's name stands
NO_COUNT = 1 << 60
IN_STEP = 1  # processes that are so near each other do the same work
_SCHEDULER = lazy(r"(?:slurmstepd\S{0,80}: )?(?:error: )?\*\*\* (?:JOB|STEP) \d")  # Slurm's word on a job: no counter
_COMMIT = lazy(
    r"(?:^\s*|\bHEAD is now at |\b[Cc]ommit:? |^\[[^\s\[\]]{1,80} (?:\(root-commit\) )?)"
    r"(?=[0-9a-f]{0,39}[a-f])(?=[a-f]{0,39}\d)"
    r"[0-9a-f]{7,40}(?:\] | \([^()]{1,80}\) |[: ] ?)(?=\S)|^(?:Applying|Subject): |^\[PATCH[ \d]"
)  # behind it stands what somebody wrote of a change
_SOURCE = lazy(r" {4,60}(?:[\w.,\[\] ]{1,80} ?= ?)?(?:(?:return|raise|await|yield|with|for|if) )?[\w.\[\]]{1,80}\(")
_SHARE_FIRST = lazy(r"\s{0,4}\d{1,3}%\|.{1,200}\]\s{0,4}\S")
_PATIENCE = lazy(r"(?i)(?:patience|early_?stopping(?:_rounds?)?|stopping_rounds)[\"']?\s?[:=]\s?(\d{1,6})(?![\d./])")
_IN_ALL = lazy(r"(?i)(?<![a-z])(?:number of|total) [a-z]{4,12}[ .]{0,40}[:=]")
_OF_AN_OBJECT = lazy(
    r"^\s{4,80}[a-z_]{2,40}=[^\s,=]{1,40}, [a-z_]{2,40}=|(?<![\w.])[A-Z]\w{3,40}\([a-z_]{2,40}=[^,]{1,60}, "
)
_TRACKER = lazy(r"wandb:\s")
TOLD_OFTEN = 3  # times with the maximum: its lines are known
NAMED_ALONE = ("done-any", "labelled-alone")  # once, and with nothing measured: `we need 18500 iterations`
BEGUN_LINES = 8  # from the heading of a stage to its first count


def _is_unnamed(sight: CounterSight) -> bool:
    return sight.kind == "train" and sight.key.startswith(f"bar:{sight.unit}/")


def _works(counter: Counter) -> bool:
    """Whether it counts the work itself: what is saved or evaluated goes on behind an end as well."""
    return counter.kind not in ("aux", "val")


def _counts(seen: SeenOnLine, unit: str) -> bool:
    return any(sight.unit == unit for sight in seen.sights)


class Track:
    """Everything that a log's lines have shown, folded into a few numbers. Lines go in by `look`, in their order."""

    def __init__(self) -> None:
        self.counters: dict[str, Counter] = {}
        self.maxima: dict[str, int] = {}
        self.raised: dict[str, int] = {}  # how often a maximum grew: a count that goes on is none
        self.staged: dict[str, list[int]] = {}  # a maximum told while it was counted, and the line: of the next stage?
        self.line = 0
        self.bar = ""  # key of the newest bar
        self.text = ""  # of the line that is looked at
        self.heading = ""  # the line before, where it showed nothing that counts
        self.again = Again()
        self.started = 0  # number of the last line that starts a run
        self.restarted = False  # something had counted before that line: the log's head is of an earlier run
        self.ended = 0
        self.ended_form = 0  # checksum of the letters of the last line that tells of an end
        self.ended_vaguely = False  # by a word that may speak of a part of the work
        self.ended_surely = False  # by a trainer that names its limit, or behind a bar: it is drawn once more
        self.ended_before = False  # the same was told before, and a counter went on
        self.ended_again = False  # the same was told before
        self.ended_place = 0  # `place` of that line
        self.crashed = 0
        self.patience: int | None = None  # of a training that stops where so many steps brought nothing better
        self.ignoring = False  # what comes next is a traceback that Python ignores
        self.loss: float | str | None = None
        self.loss_line = 0
        self.eta: float | None = None
        self.eta_line = 0
        self.percent: float | None = None
        self.percent_line = 0
        self.table: TableHead | None = None
        self.drawn = False  # the line that is looked at was drawn over another one
        self.place = 0  # number of the line that is looked at, counting those that were passed over for being alike
        self.readings: dict[str, list[Any]] = {}  # name -> value, place, and the name in the log

    def state(self) -> dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if name not in _NOT_PLAIN}
        return {
            **plain,
            "fields": len(Counter._fields),
            "counters": [list(c) for c in self.counters.values()],
            "table": self.table and list(self.table),
            "again": vars(self.again),
        }

    @staticmethod
    def is_state(state: Mapping[str, Any]) -> bool:
        """Whether `from_state` can go on from it: one that another version kept has counters of other fields."""
        return state.get("fields") == len(Counter._fields)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Track:
        track = cls()
        if not cls.is_state(state):
            raise ValueError("a state of another version")
        for name, value in state.items():
            if name not in ("fields", "again"):
                setattr(track, name, value)
        track.counters = {row[0]: Counter(*row) for row in state["counters"]}
        track.maxima, track.raised = dict(state["maxima"]), dict(state.get("raised", {}))
        track.staged = {unit: list(told) for unit, told in state.get("staged", {}).items()}
        track.readings = dict(state.get("readings", {}))
        track.again.take_state(state.get("again", {}))
        track.table = TableHead(*state["table"]) if state["table"] else None
        return track

    def leap(self) -> None:
        """The next line stands further down in the log. That two counters went on between does not tell whether one of
        them is inside the other.
        """
        self.ignoring = False
        self.counters = {key: counter._replace(epoch=None) for key, counter in self.counters.items()}

    def forget(self, line: int, kept: Collection[str]) -> None:
        """Drop what moves and was seen up to `line` only, but for the counters `kept`: it is of long ago. What a run
        declares stays.
        """
        self.counters = {key: c for key, c in self.counters.items() if c.last > line or key in kept}
        if self.percent_line <= line:
            self.percent = None
        if self.loss_line <= line:
            self.loss = None
        if self.eta_line <= line:
            self.eta = None

    def look(self, text: str, percent: float | None) -> None:
        """Take in one line. percent: of a display that shows a percentage only, None on all others."""
        self.line += 1
        self.text = text
        self.again.take(text, self.line)
        has_counted = bool(self._at_work()) or self.percent is not None
        turn = self._turn(text)
        if turn == "started":
            self.restarted = self.restarted or has_counted
            self.started, self.table, self.readings, self.raised = self.line, None, {}, {}
        elif turn == "ended" or (turn == "left" and not self.has_crashed()):
            self._end(text)
        elif turn == "ignored":
            self.ignoring = True
        elif turn == "crashed":
            self._crash(text)
        word = _SCHEDULER.search(text) or _COMMIT.search(text)
        if word:
            text = text[: word.start()]
        if _TRACKER.match(text) and self.has_crashed():
            return  # a tracker uploads and sums up the run that crashed
        if _SOURCE.match(text) and self.has_crashed():
            return  # `fit(x, epoch=20)` in a traceback
        patience = _PATIENCE.search(text)
        if patience:
            self.patience = int(patience[1])
        seen = self._seen(text, begins=turn == "started")
        self.take(seen)
        self.heading = "" if seen.sights else text[:HEADING_LETTERS]
        self._measure(text)
        if not self._at_work() and not self.again.seen:
            self.again.learn(text)
        percent = seen.percent if percent is None else percent
        if percent is not None and not (seen.sights and all(sight.kind == "val" for sight in seen.sights)):
            self.percent, self.percent_line = percent, self.line

    def _turn(self, text: str) -> str | None:
        """As `turn_of`, in this log."""
        turn = turn_of(text) or banner(text) or ("started" if self._runs_again(text) else None)
        if turn == "started" and self._stands_below_a_repetition():
            return None
        if turn != "ended":
            return turn
        if OF_AN_EVALUATOR.search(text, 0, NAME_LETTERS):
            return None  # `evaluator INFO: Engine run finished`
        if OF_A_LAYER.match(text) or (OF_A_FUNCTION.search(text) and self._trains()):
            return None
        if DONE_ONLY.match(text) and self.has_crashed():
            return None  # the shell script around it has come to its end
        return None if (read_eta(text) or 0) > 0 else turn  # `batch 300 training time 3.16 s, eta = 8:48:54`

    def _stands_below_a_repetition(self) -> bool:
        """`Fold 2/5`, and then `Starting training`: that of a part."""
        heads = (one for one in self.counters.values() if one.kind == "outer" and one.maximum is not None)
        return any(one.changed == one.last == self.line - 1 for one in heads)

    def _seen(self, text: str, *, begins: bool) -> SeenOnLine:
        """What the line shows. begins: a run does: a bar in front of that is what the run before it left."""
        seen = self._headed(self._tabled(text) or read_line(text))
        return seen._replace(sights=()) if begins and _SHARE_FIRST.match(text) else seen

    def _measure(self, text: str) -> None:
        measures = read_measures(text)
        if measures is NOTHING:
            return
        self._measured("learning_rate", measures.learning_rate)
        self._measured("grad_norm", measures.grad_norm)
        self._measured("metric", measures.metric, measures.metric_name)

    def _measured(self, name: str, value: float | str | None, called: str | None = None) -> None:
        if value is not None:
            self.readings[name] = [value, self.place, called]

    def _runs_again(self, text: str) -> bool:
        """Whether the program was started once more. After a pause nothing of the run before it is shown any more."""
        if not self.again.knows(text):
            return False
        over = self._is_over()
        complete = any(self._is_complete(counter) for counter in self.counters.values())
        started = self.again.is_started(text, self.line, over=over, complete=complete, counting=bool(self._at_work()))
        if started and self.again.seen == self.line:
            self.counters, self.percent, self.loss, self.eta = {}, None, None, None
        return started

    def _at_work(self) -> list[Counter]:
        """What counts: not a heading alone, which may be one of several."""
        return [counter for counter in self.counters.values() if counter.kind != "heading"]

    def _trains(self) -> bool:
        """Whether something else than an evaluation goes on."""
        return any(counter.kind == "train" and counter.advances for counter in self._at_work())

    def _is_complete(self, counter: Counter) -> bool:
        most = counter.maximum or self.maxima.get(counter.unit)
        return most is not None and counter.current >= most

    def _is_over(self) -> bool:
        """Whether an end or a crash was told, and no counter went on since."""
        last = max(self.ended, self.crashed)
        return last > self.started and all(counter.changed <= last for counter in self._at_work())

    def _crash(self, text: str) -> None:
        """Not so where Python has said before that it ignores the exception."""
        if not self.ignoring:
            self.crashed = self.line
        elif not text.startswith("Traceback"):
            self.ignoring = False

    def has_crashed(self) -> bool:
        """Whether no counter went on since the last word of a crash."""
        return self.crashed > max([self.started, *(counter.changed for counter in self._at_work())])

    def _end(self, text: str) -> None:
        told = form(text)
        again = told == self.ended_form and self.ended > self.started
        passed_over = self.line == self.ended + 1 and self.place > self.ended_place + 1
        self.ended_before = again and (
            self.ended_before
            or (not self._at_work() and (self.ended_again or passed_over))
            or any(_works(counter) and counter.changed > self.ended for counter in self.counters.values())
        )
        self.ended_again = again
        self.ended, self.ended_form, self.ended_place = self.line, told, self.place
        self.ended_vaguely = bool(DONE_ONLY.match(text) or OF_A_PART.search(text))
        self.ended_surely = bool(AT_ITS_LIMIT.search(text) or _SHARE_FIRST.match(text))

    def _headed(self, seen: SeenOnLine) -> SeenOnLine:
        """A bar without a name is about what the line before it says, if that is an evaluation or a preparation."""
        kind = bar_kind(self.heading) if self.heading else "train"
        if kind == "train" or not any(sight.made for sight in seen.sights):
            return seen
        told = [sight.made and _is_unnamed(sight) and sight.key not in self.counters for sight in seen.sights]
        sights = zip(seen.sights, told, strict=True)
        return seen._replace(sights=tuple(sight._replace(kind=kind) if of_it else sight for sight, of_it in sights))

    def _tabled(self, text: str) -> SeenOnLine | None:
        """What a row of a table shows, if the lines before were its head; None for all other lines."""
        header = read_header(text)
        if header is not None:
            self.table = header
            return SeenOnLine()
        return read_table_row(self.table, text) if self.table and not read_row(text) else None

    def take(self, seen: SeenOnLine) -> None:
        told = () if self._shows_an_object() else seen.maxima
        for unit, most in told:
            if most < 1 or self._is_passed(unit, most):
                self.staged[unit] = [most, self.line]
                continue
            if most == 1 < self.maxima.get(unit, 0):
                continue  # that of an evaluation, or of what is said of one
            if most < self.maxima.get(unit, 0) and self._counts_up(unit, most, seen):
                continue
            self.raised[unit] = self.raised.get(unit, 0) + (most > self.maxima.get(unit, most))
            self.maxima[unit] = most
        for unit, most in seen.announced:
            counting = [counter.current for counter in self.counters.values() if counter.unit == unit]
            if not counting:
                self.maxima.setdefault(unit, most)
            elif max(counting) == self.maxima.get(unit, most) and max(counting) < most and not _counts(seen, unit):
                self.maxima[unit] = most  # all of it was done, and now there is more
            elif not _counts(seen, unit):
                self.staged[unit] = [most, self.line]
        for sight in seen.sights:
            moves = self.drawn and sight.kind == "moving"
            self._count(sight._replace(kind="train", rule="drawn") if moves else sight)
        if seen.loss is not None:
            self.loss, self.loss_line = seen.loss, self.line
            self._measured("loss", seen.loss)
        if seen.eta is not None:
            self.eta, self.eta_line = seen.eta, self.line

    def _counts_up(self, unit: str, most: int, seen: SeenOnLine) -> bool:
        """`steps: 24975, episodes: 1000` below `max-episodes 60000`: how many by now, if each line tells more."""
        if unit not in LONE_UNITS or not any(sight.measured and sight.unit != unit for sight in seen.sights):
            return False
        before, told = self.staged.get(unit, (0, 0))
        self.staged[unit] = [most if before < most else NO_COUNT, self.line]  # once it fell, it is a measure
        if told and before < most:
            self._count(CounterSight(unit, unit, "train", most, None, False, "labelled", measured=True))
        return True

    def _shows_an_object(self) -> bool:
        """Whether the line is of an object that is printed while a counter goes on: `  depth=4, n_estimators=9,`."""
        return _OF_AN_OBJECT.search(self.text) is not None and any(one.advances for one in self.counters.values())

    def _is_passed(self, unit: str, most: int) -> bool:
        """Whether the run has gone on beyond it: `training speed: 998 iterations in 3:26`. Or
        whether it stands there, and nobody had told of an end: `Number of iterations: 25` is how many it took.
        """
        known = self.maxima.get(unit, 0)
        took = not known and _IN_ALL.search(self.text) is not None
        now = [
            one
            for one in self.counters.values()
            if one.unit == unit and one.first > self.started and (one.advances or one.rule not in NAMED_ALONE)
        ]
        return any(most < one.current or (took and most == one.current > one.minimum) for one in now)

    def _count(self, sight: CounterSight) -> None:
        if sight.rule == "settings":
            self._declare(sight)
        sight = self._renamed(self._cut_short(sight))
        if sight.key not in self.counters:
            sight = as_known(sight, self.counters.values(), line_form(self.text))
        told = self.counters.get(sight.unit) if sight.rule in ("done-of", "fraction-unit") else None
        said = sight.unit != "step" or "step" in self.text.lower()
        named = told is not None and told.kind == sight.kind and told.maximum in (sight.maximum, None)
        if said and named and sight.key not in self.counters:
            sight = sight._replace(key=sight.unit)  # `epoch 3/4`, then `Trained 4 of 4 epochs`
        old = self.counters.get(sight.key)
        anew = old is not None and sight.current < old.current and (sight.unit == "epoch" or self.again.apart)
        if anew and self._is_new_run():
            self.started, self.restarted, self.raised = self.again.seen, True, {}
        if old is not None and self._begins_after_crash(old, sight):
            self.started, self.restarted, self.raised = self.line, True, {}
        if sight.rule == "boosting" and old and self.line == self.ended + 1 and sight.current < old.current:
            return  # the best round, shown once more
        if old and (self._is_anothers(old, sight) or self._is_mention(old, sight)):
            return
        old = self.counters.pop(sight.key, None)
        if old is not None and (old.last < self.started or self._is_full_behind_a_pause(old, sight)):
            old = None  # of an earlier run
        if old is None and len(self.counters) >= COUNTERS_MAX:
            named_once = (key for key, counter in self.counters.items() if counter.seen == 1)
            del self.counters[next(named_once, next(iter(self.counters)))]
        self.counters[sight.key] = self._joined(old, sight)

    def _is_full_behind_a_pause(self, old: Counter, sight: CounterSight) -> bool:
        """`Downloaded 100/100 files`, and days later `Downloaded 614/614 files`."""
        full = old.current == old.maximum and sight.current == sight.maximum
        return full and old.maximum != sight.maximum and self.again.paused > old.last

    def _begins_after_crash(self, old: Counter, sight: CounterSight) -> bool:
        """Whether all that was counted begins again behind the word of a crash: the program was started once more."""
        back = self.crashed > max(old.last, self.started) and begins_anew(old, sight)
        return back and old.advances > 0 and all(one is old or not one.advances for one in self._at_work())

    def _is_new_run(self) -> bool:
        last = max(counter.last for counter in self.counters.values())
        return self.again.is_behind(self.started, last, self.line)

    def _declare(self, sight: CounterSight) -> None:
        """`steps: 5000` in a configuration is the maximum, unless the same line comes again with another number."""
        old = self.counters.get(sight.key)
        first = old is None and not any(counter.unit == sight.unit for counter in self.counters.values())
        if first and sight.current >= 1:
            self.maxima.setdefault(sight.unit, int(sight.current))
        elif old is not None and self.maxima.get(sight.unit) == old.current != sight.current:
            del self.maxima[sight.unit]

    def _cut_short(self, sight: CounterSight) -> CounterSight:
        """What looks like a setting, where its line begins as those that count do: it was cut before its figures."""
        counter = self.counters.get(sight.unit) if sight.kind == "setting" else None
        if counter is None or sight.current <= counter.current or counter.advances < 2:
            return sight
        alike = counter.last == self.line - 1 and counter.form == line_form(self.text)
        return sight._replace(key=counter.key, kind=counter.kind, rule=counter.rule) if alike else sight

    def _renamed(self, sight: CounterSight) -> CounterSight:
        """A bar that goes on under another description (`warmup`, then `sample`) is the same bar."""
        newest = self.counters.get(self.bar)
        if not sight.made or sight.elapsed is None or sight.maximum is None:
            return sight
        self.bar = sight.key
        known = self.counters.get(sight.key)
        if newest is None or newest.key == sight.key or (known is not None and known.last >= newest.first):
            return sight
        if newest.maximum != sight.maximum or newest.last < self.line - 1:
            return sight
        if sight.current <= newest.current and not 0 == sight.current == newest.current == newest.minimum:
            return sight
        if newest.elapsed is None or sight.elapsed < newest.elapsed or "val" in (newest.kind, sight.kind):
            return sight
        del self.counters[newest.key]
        if known is None:
            self.counters[sight.key] = newest._replace(key=sight.key)
        return sight

    def _is_anothers(self, old: Counter, sight: CounterSight) -> bool:
        """Whether a number is that of another rank, process or host. Ranks go in step, and one is always behind; of
        others, nobody's alone is the run's.
        """
        if not old.writer or sight.current == old.current or not sight.rule.startswith("labelled"):
            return False
        over = old.maximum is not None and old.current >= old.maximum
        if over and sight.current < old.current and self.ended > old.last:
            self.counters[old.key] = old._replace(writer=writer(self.text))  # the next stage: the one before has ended
            return False
        in_step = old.writer.startswith("rank") and sight.current > old.current
        if in_step or writer(self.text) in ("", old.writer):
            return False
        near = old.writer.startswith("rank") or abs(old.current - sight.current) <= IN_STEP
        self.counters[old.key] = old._replace(last=self.line, apart=old.apart + (not near))
        return True

    def _is_mention(self, old: Counter, sight: CounterSight) -> bool:
        """`Best model found at step 1200` after `Step 1600/100000`: a smaller number that another kind of line tells is
        not believed before the next line goes on from there.
        """
        if sight.made or old.made or old.last < self.started or not sight.rule.startswith("labelled"):
            return False
        back = sight.current < old.current
        if not back or line_form(self.text) == old.form or (old.lower is not None and sight.current > old.lower):
            return False
        if (
            old.maximum is not None
            and sight.maximum is None
            and old.seen > TOLD_OFTEN
            and sight.rule == "labelled-alone"
        ):
            return True  # `> working on iteration: 30`, of an evaluation
        from_zero = old.maximum is not None and old.current - sight.current == 1  # `Epoch 1/2` heads `epoch=0/step=9`
        if old.seen == 1 and old.lower == sight.current and not from_zero:
            return False  # told again, and the larger one was not
        self.counters[old.key] = old._replace(lower=sight.current)
        return True

    def _joined(self, old: Counter | None, sight: CounterSight) -> Counter:
        epoch = self.counters.get("epoch")
        now = epoch.current if epoch and epoch.last >= self.started else None
        most = self.maxima.get(sight.unit, 0)
        line = ShownBy(self.text, self.line, self.drawn, now, self.ended, most)
        if old is None:
            return begun_with(sight, line)
        if old.last < self.started:  # it began again as often in the runs before this one
            old = old._replace(begun=0)
        if begins_anew(old, sight):
            self._begin_stage(sight.unit)
        return joined(old, sight, line)

    def _begin_stage(self, unit: str) -> None:
        """`stage: main (30 epochs)`, and the epochs begin again right behind it: so many there are in this one."""
        most, told = self.staged.pop(unit, (0, 0))
        if 0 < most < NO_COUNT and self.line - told <= BEGUN_LINES:
            self.maxima[unit] = most

    def take_own(self, groups: dict[str, str | None]) -> None:
        """A match of the user's own regex: the run's counter, whatever else the log shows."""
        current, most = groups.get("current"), groups.get("max")
        if not current:
            return
        count = parse_count(current) if re.fullmatch(COUNT, current) else None
        if count is None:
            return
        told = parse_count(most) if most and re.fullmatch(COUNT, most) else None
        exact = int(told.value) if told and not told.rounded else None
        self._count(CounterSight("own", "step", "own", count.value, exact, count.rounded, "own"))
