"""Many boxes: bounded, few through one gate, and the sick delay nobody. No ssh here: the work is a function."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pytest

from patrol.ssh.run_parallel import Limits, gate_of, visit_all


class Watcher:
    """Work that counts how many of it run at once, in all and by gate."""

    def __init__(self, seconds: float = 0.03) -> None:
        self.seconds, self.lock = seconds, threading.Lock()
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    def __call__(self, item: str) -> str:
        names = ("all", item.partition("/")[0])
        with self.lock:
            for name in names:
                self.now[name] += 1
                self.most[name] = max(self.most[name], self.now[name])
        time.sleep(self.seconds)
        with self.lock:
            for name in names:
                self.now[name] -= 1
        return item.upper()


def test_every_box_is_visited_once() -> None:
    items = [f"box/{number}" for number in range(100)]
    visits = list(visit_all(items, str.upper, Limits(16, 6)))
    assert sorted(visit.result or "" for visit in visits) == sorted(item.upper() for item in items)


def test_no_more_at_once_than_allowed() -> None:
    watcher = Watcher()
    list(visit_all([f"box/{number}" for number in range(30)], watcher, Limits(4, 6)))
    assert 2 <= watcher.most["all"] <= 4


def test_few_go_through_one_gate_and_others_pass_them() -> None:
    watcher = Watcher()
    items = [*(f"shared/{number}" for number in range(20)), *(f"own{number}/0" for number in range(5))]
    gates = {item: "jump" for item in items if item.startswith("shared")}
    list(visit_all(items, watcher, Limits(16, 3), gates=gates))
    assert watcher.most["shared"] <= 3
    assert watcher.most["all"] > 3


def test_quick_ones_come_first() -> None:
    slow = threading.Event()
    visits = visit_all(["slow", "quick"], lambda item: item if item == "quick" else slow.wait(30), Limits(2, 6))
    assert next(visits).item == "quick"
    slow.set()
    assert [visit.item for visit in visits] == ["slow"]


def test_sick_boxes_give_their_places_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there are places hang; the others are done before any of these ends."""
    monkeypatch.setattr("patrol.ssh.run_parallel.WORKING_SECONDS", 0.2)
    release = threading.Event()

    def work(item: str) -> bool:
        return item.startswith("well") or release.wait(30)

    items = [*(f"sick{number}" for number in range(4)), *(f"well{number}" for number in range(20))]
    visits = visit_all(items, work, Limits(4, 6))
    first = [next(visits).item for _ in range(20)]
    release.set()
    assert all(item.startswith("well") for item in first)
    assert len(list(visits)) == 4


def test_box_that_never_comes_back_is_overdue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("patrol.ssh.run_parallel.SLACK_SECONDS", 0.1)
    release = threading.Event()
    limits = Limits(2, 6, deadline_seconds=5.0)
    visits = list(visit_all(["stuck", "well"], lambda item: item == "well" or release.wait(60), limits))
    release.set()
    assert [(visit.item, visit.overdue) for visit in visits] == [("well", False), ("stuck", True)]


def test_a_defect_at_one_box_is_told_and_stops_no_other() -> None:
    visits = {visit.item: visit for visit in visit_all(["0", "x", "2"], int, Limits())}
    assert isinstance(visits["x"].error, ValueError)
    assert (visits["0"].result, visits["2"].result) == (0, 2)


def test_no_boxes() -> None:
    assert list(visit_all([], str, Limits())) == []


@pytest.mark.parametrize(
    ("configuration", "gate"),
    [
        ("host gpu1\nhostname 192.0.2.7\nport 22\n", "192.0.2.7:22"),
        ("hostname 192.0.2.7\nport 40022\nproxyjump none\n", "192.0.2.7:40022"),
        ("hostname gpu1.local\nport 22\nproxyjump me@gate:2222,inner\n", "jump me@gate:2222"),
        ("hostname gpu1.local\nport 22\nproxycommand nc gate 1080 gpu1.local 22\n", "proxy nc gate 1080 %h 22"),
        ("", ""),
    ],
)
def test_gate_is_what_logins_share(configuration: str, gate: str) -> None:
    assert gate_of(configuration) == gate
