"""What a patrol tells by itself, and what not: looks of a month against the number of messages."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from onbox.config.parse import Config, Notify
from onbox.contract.notices import PATROL_DONE, PATROL_RECOVERED, PATROL_TROUBLE
from onbox.contract.notify_targets import NotifyTarget
from onbox.contract.progress import Progress
from onbox.model.boxes import BoxSettings, PatrolSettings
from onbox.notify import message_text as words
from patrol.config.settings import Settings
from patrol.decide.policy import Policy
from patrol.judge import BoxJudged, Frame, judge
from patrol.memory.rows import Past
from patrol.memory.run_manifest import Manifest
from patrol.memory.run_memory import BoxMemory, Memories, RunMemory
from patrol.snapshot import Detected
from patrol.tell import messages as speaking
from patrol.tell.book import KNOWN_FILE
from patrol.tell.news import Known, News, find_news, for_target
from patrol.tell.words import notice_of
from tests.patrol.makers import NOW, TICK, away, box, dead, disk, failure, run
from tests.patrol.makers import done as done_run

if TYPE_CHECKING:
    from pathlib import Path

    from patrol.snapshot import Snapshot

TEAM = NotifyTarget("team", "env:HOOK")


class Watch:
    """Ticks over one or more boxes, with what is remembered of each."""

    def __init__(self, *names: str) -> None:
        self.boxes = {name: BoxSettings(name, host=name, project="/root/digits") for name in names or ("gpu1",)}
        self.past, self.known, self.now = Past({}, {}, {}), Known(), NOW
        self.policy = Policy()

    def judged(self, **snapshots: Snapshot) -> list[BoxJudged]:
        self.now += TICK
        frame = Frame(self.past, self.policy, (), self.now)
        boxes = [judge(self.boxes[name], snapshot, None, frame) for name, snapshot in snapshots.items()]
        for one in boxes:
            self.past.boxes[one.box.name] = one.after
            for each in one.runs:
                self.past.runs[one.box.name, each.verdict.run] = each.after
        return boxes

    def tick(self, **snapshots: Snapshot) -> list[News]:
        found, self.known = find_news(self.judged(**snapshots), self.known, self.now, whole=True)
        return found

    def kinds(self, **snapshots: Snapshot) -> list[tuple[str, str, int]]:
        return [(one.kind, one.cause, len(one.runs)) for one in self.tick(**snapshots)]


def runs(*names: str, name: str = "gpu1", maker: object = run) -> Snapshot:
    return box(box=name, runs=tuple(maker(run=each) for each in names))  # type: ignore[operator]


def failed(**changes: object) -> object:
    return dead(failure=failure(), outcome="chain_failed", **changes)


def test_each_change_for_the_worse_is_told_once_and_its_end_once() -> None:
    watch = Watch()
    assert watch.kinds(gpu1=runs("a")) == []
    assert watch.kinds(gpu1=runs("a", maker=failed)) == [(PATROL_TROUBLE, "failed", 1)]
    for _ in range(50):
        assert watch.kinds(gpu1=runs("a", maker=failed)) == []
    assert watch.kinds(gpu1=runs("a")) == [(PATROL_RECOVERED, "failed", 1)]
    assert watch.kinds(gpu1=runs("a")) == []


def test_twenty_runs_of_a_box_that_is_away_are_one_message_at_the_second_look() -> None:
    watch = Watch()
    names = [f"run{number}" for number in range(20)]
    watch.tick(gpu1=runs(*names))
    assert watch.kinds(gpu1=away("refused")) == []
    assert watch.kinds(gpu1=away("refused")) == [(PATROL_TROUBLE, "unreachable", 20)]
    assert watch.kinds(gpu1=away("timeout")) == []
    assert watch.kinds(gpu1=runs(*names)) == [(PATROL_RECOVERED, "unreachable", 20)]


def test_a_box_that_is_away_for_longer_than_its_runs_are_remembered_is_still_one_message() -> None:
    watch = Watch()
    watch.tick(gpu1=runs("a"))
    told = [one for _ in range(48 * 31) for one in watch.kinds(gpu1=away("timeout"))]
    assert told == [(PATROL_TROUBLE, "unreachable", 1)]
    assert watch.kinds(gpu1=runs("a")) == [(PATROL_RECOVERED, "unreachable", 1)]


def test_many_boxes_that_are_away_at_once_are_one_message() -> None:
    names = [f"gpu{number}" for number in range(12)]
    watch = Watch(*names)
    watch.tick(**{name: runs("a", name=name) for name in names})
    watch.tick(**{name: away("no_route")._replace(box=name) for name in names})
    assert watch.kinds(**{name: away("no_route")._replace(box=name) for name in names}) == [
        (PATROL_TROUBLE, "unreachable", 12)
    ]
    assert watch.kinds(**{name: runs("a", name=name) for name in names}) == [(PATROL_RECOVERED, "unreachable", 12)]


def test_a_box_of_which_no_run_is_known_is_told_of_too() -> None:
    watch = Watch()
    watch.tick(gpu1=away("refused"))
    assert watch.kinds(gpu1=away("refused")) == [(PATROL_TROUBLE, "unreachable", 1)]
    assert watch.kinds(gpu1=runs("a")) == [(PATROL_RECOVERED, "unreachable", 1)]


@pytest.mark.parametrize(
    ("words", "detected", "told"),
    [
        (("detected",), (Detected("loss-not-finite", "loss is nan at step 9"),), False),
        (("chain_done",), (Detected("loss-not-finite", "loss is nan at step 9"),), True),
        (("detected",), (), True),
    ],
    ids=["the box told it", "the box tells this target other things only", "the box has not seen it yet"],
)
def test_what_the_boxs_detectors_tell_is_not_told_again(
    words: tuple[str, ...], detected: tuple[Detected, ...], *, told: bool
) -> None:
    seen = run(progress=Progress(current=9, loss="nan"), detected=detected, undelivered=0, given_up=0)
    (judged,) = Watch().judged(gpu1=box(runs=(seen,)))
    memory = RunMemory(manifest=Manifest(run_id="r1", news={"team": words}))
    judged = judged._replace(memories=Memories(BoxMemory(), {"digits": memory}))
    assert judged.runs[0].verdict.finding.rule == "loss-lost"
    news = News(PATROL_TROUBLE, "loss-lost", ((judged, judged.runs[0]),))
    assert (for_target(news, "team") is not None) == told


def test_a_person_s_word_is_silence() -> None:
    watch = Watch()
    watch.tick(gpu1=runs("a"))
    (acked,) = watch.judged(gpu1=runs("a", maker=failed))
    (one,) = acked.runs
    for quiet in ({"acknowledged": True}, {"silenced_until": watch.now + 1}):
        silent = acked._replace(runs=(one._replace(verdict=one.verdict._replace(**quiet)),))
        assert find_news([silent], watch.known, watch.now, whole=True)[0] == []


def test_a_warning_is_told_when_two_looks_saw_it() -> None:
    watch = Watch()
    watch.tick(gpu1=runs("a"))
    warned = box(runs=(run(run="a"),), disks=(disk(91.0),))
    assert watch.kinds(gpu1=warned) == []
    assert watch.kinds(gpu1=runs("a")) == [], "what was seen once was never told"
    watch.tick(gpu1=warned)
    assert watch.kinds(gpu1=warned) == [(PATROL_TROUBLE, "disk-pressure", 1)]


def test_all_done_is_told_once_and_not_before() -> None:
    watch = Watch()
    both = box(runs=(done_run(run="a"), run(run="b")))
    assert watch.kinds(gpu1=both) == []
    assert watch.kinds(gpu1=runs("a", "b", maker=done_run)) == [(PATROL_DONE, "done", 2)]
    assert watch.kinds(gpu1=runs("a", "b", maker=done_run)) == []


def test_a_tick_of_one_box_forgets_nothing_of_the_others() -> None:
    watch = Watch("gpu1", "gpu2")
    watch.tick(gpu1=runs("a", maker=failed), gpu2=runs("a", name="gpu2"))
    found, watch.known = find_news(watch.judged(gpu2=runs("a", name="gpu2")), watch.known, watch.now, whole=False)
    assert found == []
    assert watch.kinds(gpu1=runs("a", maker=failed), gpu2=runs("a", name="gpu2")) == []


def test_the_message_says_what_the_proof_and_what_to_type() -> None:
    watch = Watch()
    watch.tick(gpu1=runs("a"))
    (news,) = watch.tick(gpu1=runs("a", maker=failed))
    notice = notice_of(news, "msg_1", folder="/home/me/digits", host="laptop", now=watch.now)
    text = words.text(notice, 4000)
    assert words.title(notice).startswith("! gpu1/a FAILED: ")
    assert "No space left on device" in text
    assert f"next: {notice.next_command}" in text
    assert "the patrol on laptop" in text


def test_a_message_of_several_runs_names_them() -> None:
    watch = Watch()
    watch.tick(gpu1=runs("a", "b"))
    (news,) = watch.tick(gpu1=runs("a", "b", maker=failed))
    text = words.text(notice_of(news, "msg_1", folder="/home/me/digits", host="laptop", now=watch.now), 4000)
    assert text.startswith("! gpu1 (2 runs) FAILED: ")
    assert "\ngpu1/a, gpu1/b\n" in text


# -- on its way


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(speaking, "start_deliverer", lambda *_: 0)
    monkeypatch.setattr(speaking, "WAIT_OF_PERSON_SECONDS", 0.0)
    config = Config("digits", notify=Notify((TEAM,)), patrol=PatrolSettings())
    return Settings(os.fspath(tmp_path), None, config, os.fspath(tmp_path / "state"), ())


def files(place: Settings) -> list[str]:
    folder = speaking.paths_of(place).outbox
    return sorted(name for name in os.listdir(folder) if name.endswith("-team.json"))


def test_a_tick_killed_between_decision_and_outbox_loses_and_doubles_nothing(place: Settings) -> None:
    watch = Watch()
    os.makedirs(place.state)
    judged = watch.judged(gpu1=runs("a", maker=failed))
    speaking.speak(place, judged, {}, watch.now, unattended=False)
    (first,) = files(place)
    outbox = speaking.paths_of(place).outbox
    with open(os.path.join(outbox, first), "rb") as file:
        before = json.load(file)
    os.unlink(os.path.join(outbox, first))  # as if the tick had died before it was there
    for _ in range(2):
        speaking.speak(place, watch.judged(gpu1=runs("a", maker=failed)), {}, watch.now, unattended=False)
        with open(os.path.join(outbox, first), "rb") as file:
            assert json.load(file)["id"] == before["id"]
        assert files(place) == [first]
    os.rename(os.path.join(outbox, first), os.path.join(speaking.paths_of(place).sent, first))
    speaking.speak(place, watch.judged(gpu1=runs("a", maker=failed)), {}, watch.now, unattended=False)
    assert files(place) == [], "what was delivered is not put in again"


def test_a_damaged_book_is_said_and_numbers_go_on(place: Settings) -> None:
    watch = Watch()
    os.makedirs(place.state)
    speaking.speak(place, watch.judged(gpu1=runs("a", maker=failed)), {}, watch.now, unattended=False)
    with open(os.path.join(speaking.paths_of(place).root, KNOWN_FILE), "w") as file:
        file.write('{"told": [1]}')
    said = speaking.speak(place, watch.judged(gpu1=runs("a", maker=failed)), {}, watch.now, unattended=False)
    assert any("may be told again" in line for line in said), said
    assert len(files(place)) == 2
