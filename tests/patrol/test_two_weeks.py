"""Two weeks of ticks: how many messages people get, whatever the boxes do. The clock is a parameter."""

from __future__ import annotations

import time
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from onbox.contract.notices import PATROL_DIGEST, PATROL_DONE, PATROL_RECOVERED, PATROL_TROUBLE
from onbox.model.boxes import DEFAULT_ALERTS_PER_DAY
from onbox.notify import message_text
from patrol.tell.digest import is_due
from patrol.tell.news import daily_news, find_news
from patrol.tell.words import notice_of
from tests.patrol.makers import NOW, TICK, away, box, dead, disk, done, failure, run
from tests.patrol.test_news import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from patrol.snapshot import Snapshot
    from patrol.tell.news import News

DAY_TICKS = 48
DAYS = 14
EIGHT = 8 * 60


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def well(**changes: object) -> Snapshot:
    return box(runs=(run(**changes),))


def killed() -> Snapshot:
    return box(runs=(dead(heartbeat_age_seconds=7200.0),))


def failed() -> Snapshot:
    return box(runs=(dead(failure=failure(), outcome="chain_failed"),))


def full() -> Snapshot:
    return box(runs=(run(),), disks=(disk(97.0),))


class Weeks:
    """One box, a tick each half hour; `None` for a tick that this machine slept through."""

    def __init__(self) -> None:
        self.watch = Watch()
        self.told: list[tuple[float, News]] = []

    def tick(self, snapshot: Snapshot | None) -> None:
        if snapshot is None:
            self.watch.now += TICK
            return
        judged = self.watch.judged(gpu1=snapshot)
        found, self.watch.known = find_news(judged, self.watch.known, self.watch.now, whole=True)
        daily, self.watch.known = daily_news(judged, self.watch.known, self.watch.now, EIGHT)
        self.told += [(self.watch.now, one) for one in (*found, *([daily] if daily else []))]

    def live(self, at: Callable[[int], Snapshot | None]) -> Counter[str]:
        for number in range(DAYS * DAY_TICKS):
            self.tick(at(number))
        return Counter(news.kind for _, news in self.told)


def hour(number: int) -> int:
    return int((NOW + (number + 1) * TICK) // 3600) % 24


def one_night(number: int) -> Snapshot | None:
    return away("refused") if 10 * DAY_TICKS <= number < 10 * DAY_TICKS + 12 else well()


SCRIPTS: dict[str, tuple[Callable[[int], Snapshot | None], dict[str, int]]] = {
    "all is well": (lambda number: well(), {}),
    "a run is killed on the third day and resumed two hours later": (
        lambda number: killed() if 100 <= number < 104 else well(),
        {PATROL_TROUBLE: 1, PATROL_RECOVERED: 1},
    ),
    "a failure that nobody looks at": (
        lambda number: failed() if number >= 100 else well(),
        {PATROL_TROUBLE: 1},
    ),
    "a box is off for one night": (one_night, {PATROL_TROUBLE: 1, PATROL_RECOVERED: 1}),
    "a box that answers every second time only": (
        lambda number: away("timeout") if number % 2 else well(),
        {},
    ),
    "a disk that is full for a day": (
        lambda number: full() if 200 <= number < 248 else well(),
        {PATROL_TROUBLE: 1, PATROL_RECOVERED: 1},
    ),
    "a run that is killed while its box is away, and found so": (
        lambda number: away("refused") if 100 <= number < 110 else killed() if 110 <= number < 120 else well(),
        {PATROL_TROUBLE: 2, PATROL_RECOVERED: 1},
    ),
    "this machine sleeps every night from midnight to seven": (
        lambda number: None if hour(number) < 7 else well(),
        {},
    ),
    "it is done on the tenth day": (
        lambda number: box(runs=(done(),)) if number >= 480 else well(),
        {PATROL_DONE: 1},
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_two_weeks_make_exactly_these_messages_and_one_a_day(script: str) -> None:
    at, expected = SCRIPTS[script]
    assert Weeks().live(at) == Counter({**expected, PATROL_DIGEST: DAYS})


def test_a_machine_that_slept_at_the_time_says_it_is_alive_when_it_wakes() -> None:
    weeks = Weeks()
    counts = weeks.live(lambda number: None if 7 <= hour(number) < 11 else well())
    assert counts == Counter({PATROL_DIGEST: DAYS})
    assert {time.localtime(at).tm_hour for at, _ in weeks.told} == {11}


def test_a_run_that_flaps_all_the_time_is_told_six_times_a_day_and_says_so() -> None:
    weeks = Weeks()
    counts = weeks.live(lambda number: failed() if number % 2 else well())
    assert counts[PATROL_TROUBLE] <= (DAYS + 1) * DEFAULT_ALERTS_PER_DAY
    assert counts[PATROL_RECOVERED] <= counts[PATROL_TROUBLE]
    first_day = [news for at, news in weeks.told[: 2 * DEFAULT_ALERTS_PER_DAY] if news.kind == PATROL_TROUBLE]
    assert [news.quiet_until > 0 for news in first_day] == [False] * 5 + [True]
    last = notice_of(first_day[-1], "msg_1", folder="/home/me/digits", host="laptop", now=weeks.told[10][0])
    assert "it is not told again for" in (last.reason or "")


def test_what_was_told_too_often_is_told_once_the_day_allows_it_if_it_lasts() -> None:
    weeks = Weeks()
    weeks.live(lambda number: failed() if number % 2 or number > 60 else well())
    troubles = [at for at, news in weeks.told if news.kind == PATROL_TROUBLE]
    assert len(troubles) >= DEFAULT_ALERTS_PER_DAY + 1
    assert max(troubles) <= NOW + (60 + DAY_TICKS + 2) * TICK, "told within a day, and then no more"


def test_another_trouble_is_told_though_the_first_was_told_too_often() -> None:
    weeks = Weeks()
    for number in range(30):
        weeks.tick(failed() if number % 2 else well())
    weeks.told.clear()
    for _ in range(3):
        weeks.tick(killed())
    assert [news.cause for _, news in weeks.told] == ["interrupted"]


KINDS: tuple[Callable[[], Snapshot | None], ...] = (
    well, well, well, killed, failed, full, lambda: away("refused"), lambda: away("auth"), lambda: None,
)  # fmt: skip


@pytest.mark.parametrize("seed", [4, 7])
def test_whatever_happens_each_trouble_is_told_a_few_times_a_day_and_ends_at_most_once(seed: int) -> None:
    random, weeks, kind = Random(seed), Weeks(), KINDS[0]
    for _ in range(DAYS * DAY_TICKS):
        if random.random() < random.choice((0.02, 0.3)):
            kind = random.choice(KINDS)
        weeks.tick(kind())
    by_day: Counter[tuple[str, int]] = Counter()
    open_troubles = 0
    for at, news in weeks.told:
        if news.kind == PATROL_TROUBLE:
            by_day[news.cause, int(at // 86400)] += 1
            open_troubles += 1
        if news.kind == PATROL_RECOVERED:
            assert open_troubles > 0, "nothing recovers that was not told"
            open_troubles -= 1
    assert max(by_day.values()) <= 2 * DEFAULT_ALERTS_PER_DAY, "a sliding day has two ends in days of the calendar"
    for cause in {cause for cause, _ in by_day}:
        assert sum(count for (name, _), count in by_day.items() if name == cause) <= (DAYS + 1) * DEFAULT_ALERTS_PER_DAY
    digests = sum(news.kind == PATROL_DIGEST for _, news in weeks.told)
    assert DAYS - 3 <= digests <= DAYS
    for _ in range(DAY_TICKS + 3):
        weeks.tick(killed())
    assert weeks.watch.known.told["gpu1", "digits"].severity == 2, "a death that lasts is told within a day"


# -- the daily message itself


def test_it_is_due_once_a_day_at_its_time() -> None:
    begin = NOW
    last, times = begin, []
    for minute in range(0, 5 * 24 * 60, 30):
        now = begin + 60.0 * minute
        if is_due(last, now, EIGHT):
            last = now
            times.append(time.strftime("%d %H:%M", time.localtime(now)))
    assert len(times) == 5
    assert {one[3:5] for one in times} == {"08"}


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"])
def test_summer_time_neither_loses_nor_doubles_it(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    for minute_of_day in (EIGHT, 2 * 60 + 30):
        last = now = NOW
        days = []
        while now < NOW + 370 * 86400:
            now += 1800
            if is_due(last, now, minute_of_day):
                last = now
                days.append(time.strftime("%Y-%m-%d", time.localtime(now)))
        assert len(days) == len(set(days)) == 370, zone


def test_it_says_what_needs_somebody_first() -> None:
    watch = Watch("gpu1", "gpu2")
    snapshots = {
        "gpu1": box(runs=(run(run="a"), run(run="b"), done(run="c"))),
        "gpu2": box(box="gpu2", runs=(dead(run="d", failure=failure(), outcome="chain_failed"),)),
    }
    judged = watch.judged(**snapshots)
    _, known = daily_news(judged, watch.known, watch.now, EIGHT)
    news, _ = daily_news(judged, known, watch.now + 86400, EIGHT)
    assert news is not None
    notice = notice_of(news, "msg_1", folder="/home/me/digits", host="laptop", now=watch.now)
    assert message_text.title(notice) == "· digits still watched: 1 FAILED, 2 running, 1 done"
    lines = message_text.lines(notice)
    assert lines[0].startswith("gpu2/d FAILED for ")
    assert "No space left on device" in lines[0]
    assert lines[1].startswith("gpu1/a running train ~4600/5155")
    assert "next: patrol tick" in lines
