"""What an observation means for one target: new or old, of this run or another, proved or only suspected."""

from __future__ import annotations

import json

import pytest

from onbox.contract.states import RunState
from patrol.look_now import RunNow
from patrol.verdict import Finding, Severity, Verdict
from sentinels.box.wire import (
    ArtifactSeen,
    CouldNotLook,
    FileSeen,
    LineSeen,
    Message,
    NotThere,
    PidSeen,
    ProcessesSeen,
    Quiet,
    Remember,
    RunSeen,
)
from sentinels.judge.conditions.base import Arming, WaitCondition
from sentinels.judge.conditions.program import ProgramCondition, WatchedProgram
from sentinels.judge.conditions.table import make_conditions, with_processes
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.judge.watched import WatchedCondition
from sentinels.report import warnings
from sentinels.targets import parse_artifact, parse_fail_marker, parse_logs, parse_process, parse_target

ARMED = 1000.0
NEW_ONLY = Arming(new_only=True)
HEAD = b'{"run": "digits", "run_id": "R2", "chain_fingerprint": "cccc", "stages": [\n'
LINE = b'{"name": "train", "fingerprint": "ffff"},\n'


def one(text: str, arming: Arming = NEW_ONLY, *, fails: bool = False) -> WaitCondition:
    target = parse_fail_marker(text) if fails else parse_target(text)
    return make_conditions(target, target.path, arming)[0]


def hear(condition: WaitCondition, *messages: Message, clock: float = ARMED + 5) -> WaitFinding | None:
    found = None
    for message in messages:
        found = condition.hear(message, clock, ARMED)
    return found


def seen(changed_at: float, content: bytes = b"", contract: bytes = b"", inode: int = 2) -> FileSeen:
    return FileSeen("0", f"1:{inode}:{int(changed_at * 1e9)}:4:5", content, contract)


def marker(**fields: object) -> bytes:
    known = {"schema": 1, "run_id": "R2", "stage": "train", "attempt": 1, "fingerprint": "ffff"}
    return json.dumps({**known, **fields}).encode()


@pytest.mark.parametrize(
    ("changed_at", "lands"), [(ARMED + 1, True), (ARMED, True), (ARMED - 1, False), (ARMED + 3600, False)]
)
def test_where_only_new_ones_count_a_marker_must_be_younger_than_the_wait(changed_at: float, *, lands: bool) -> None:
    condition = one("/x/DONE")
    assert (hear(condition, seen(changed_at)) is not None) == lands
    assert ("there was one before" in condition.note) == (not lands)


def test_once_it_was_absent_any_marker_counts() -> None:
    """Also one that keeps an old time, as a copy with `cp -p` onto another file system does."""
    found = hear(one("/x/DONE"), NotThere("0"), seen(ARMED - 500))
    assert found is not None
    assert found.outcome is Outcome.LANDED


def test_another_file_in_the_old_ones_place_counts() -> None:
    condition = one("/x/DONE")
    assert hear(condition, seen(ARMED - 500)) is None
    assert hear(condition, seen(ARMED - 500)) is None
    assert hear(condition, seen(ARMED - 400, inode=3)) is not None


@pytest.mark.parametrize("content", [b"", b"touched by hand", marker()])
def test_a_marker_that_is_there_already_counts(content: bytes) -> None:
    found = hear(one("/x/markers/train_DONE", Arming()), seen(ARMED - 500, content, HEAD + LINE if content else b""))
    assert found is not None
    assert found.since == ARMED - 500


def test_what_is_older_than_the_process_that_lives_is_of_an_older_run() -> None:
    """A marker, a line and a file: each is told at once, and a new one is waited for."""
    targets = [
        parse_target("/x/DONE"),
        *parse_logs(["log"], ["DONE"], []),
        parse_artifact("*.pt", None, None),
        parse_process("4711"),
    ]
    made = with_processes([(at, make_conditions(one, one.path, Arming())[0]) for at, one in enumerate(targets)])
    kinds = {condition.kind: condition for _, condition in made}
    assert next(iter(kinds)) == "pid"
    began = ARMED - 100
    hear(kinds["pid"], PidSeen("0", "9:boot", ARMED + 5 - began))
    for kind, said in (
        ("file", seen),
        ("log", lambda at: LineSeen("0", "DONE", failed=False, written_at=at)),
        ("artifact", lambda at: ArtifactSeen("0", ready=True, path="/x/a.pt", size=9, changed_at=at)),
    ):
        assert hear(kinds[kind], said(began - 60)) is None
        assert "older than process 4711" in " ".join(warnings([kinds[kind]]))
        assert hear(kinds[kind], said(began + 60)) is not None


@pytest.mark.parametrize(
    ("content", "lands"),
    [
        (marker(), True),
        (marker(run_id="R1"), False),
        (marker(fingerprint="eeee"), False),
        (b"touched by hand", True),
    ],
)
def test_a_runs_marker_must_be_of_that_run_and_command(content: bytes, *, lands: bool) -> None:
    condition = one("/x/markers/train_DONE")
    assert (hear(condition, NotThere("0"), seen(ARMED + 1, content, HEAD + LINE)) is not None) == lands
    assert lands or "of an" in condition.note


def test_the_chains_marker_is_compared_with_the_chain() -> None:
    for print_, lands in (("cccc", True), ("ffff", False)):
        content = marker(stage="CHAIN", fingerprint=print_)
        found = hear(one("/x/markers/CHAIN_DONE"), NotThere("0"), seen(ARMED + 1, content, HEAD))
        assert (found is not None) == lands


def test_a_fail_marker_tells_what_it_holds() -> None:
    content = marker(failure_class="oom", remedy="use less", proof="CUDA out of memory")
    found = hear(one("/x/FAILED", fails=True), NotThere("0"), seen(ARMED + 1, content))
    assert found is not None
    assert found.outcome is Outcome.FAILED
    assert (found.detail["failure_class"], found.detail["remedy"]) == ("oom", "use less")


def test_text_from_a_box_cannot_forge_lines_or_colours() -> None:
    found = hear(one("/x/FAILED", fails=True), NotThere("0"), seen(ARMED + 1, b"\x1b[2Jlanded\rgpu1\nlanded x"))
    assert found is not None
    assert "\n" not in found.say
    assert "\x1b" not in found.say


def test_what_could_not_be_looked_at_is_no_absence() -> None:
    condition = one("/x/DONE")
    hear(condition, CouldNotLook("0", "Permission denied"))
    assert "cannot be looked at" in condition.note
    assert hear(condition, seen(ARMED - 5)) is None  # still taken for one from before, where only new ones count


def test_a_process_must_be_gone_for_a_while() -> None:
    target = parse_process("4711")
    condition = make_conditions(target, "4711", Arming())[0]
    assert condition.hear(PidSeen("0", "9:boot"), 1001.0, ARMED) is None
    assert condition.hear(PidSeen("0", None), 1002.0, ARMED) is None
    found = condition.hear(PidSeen("0", None), 1003.6, ARMED)
    assert found is not None
    assert found.outcome is Outcome.GONE


@pytest.mark.parametrize(
    ("has_begun", "arming", "gone"), [(True, Arming(), True), (False, Arming(), False), (True, NEW_ONLY, False)]
)
def test_a_watched_job_that_the_patrol_knows_has_ended_is_not_waited_for(
    *, has_begun: bool, arming: Arming, gone: bool
) -> None:
    """Its log was written just now, so that the wait alone cannot tell an end from a job that is yet to begin."""
    (log,) = parse_logs(["a.log"], ["Training completed"], [])
    conditions = make_conditions(log, "a.log", arming, WatchedProgram("train.py", "/p"))
    proof, program = conditions
    assert isinstance(program, ProgramCondition)
    say = "no process, and its log shows an end of its own"
    verdict = Verdict("gpu1", "job", RunState.UNKNOWN, Finding("ended-unproven", Severity.WARNING, say))
    found = RunNow(seen=True, verdict=verdict, has_begun=has_begun)
    watched = WatchedCondition(log, proof, program, lambda: found)
    hear(proof, Remember("0", "1:0"), Quiet("0", 5.0))
    none_there = ProcessesSeen("0", 0, b"")
    assert program.hear(none_there, 1001.0, ARMED) is None
    question = watched.wants()
    if question is not None:
        assert watched.hear(question, found) is None
    ended = program.hear(none_there, 1010.0, ARMED)
    assert (ended is not None and ended.outcome is Outcome.GONE and say in ended.say) is gone


def test_a_run_has_gone_since_it_was_first_seen_so() -> None:
    """What it wrote last may be hours old: that is not a time of death."""
    condition = one("gpu1:digits")
    head = b'{"run": "digits", "run_id": "R1", "project": "/p", "chain_fingerprint": "c", "stage_count": 1, "stages": ['
    status = b'{"stage": "train", "at": "1970-01-01T00:00:10.000Z"}'
    alive = {"head": head, "status": status, "runner": b"alive", "stage": b"-", "now": b"1001", "boot": b"B"}
    gone = {**alive, "runner": b"gone", "stage": b"gone"}
    assert condition.hear(RunSeen("0", alive), 1001.0, ARMED) is None
    assert condition.hear(RunSeen("0", gone), 1002.0, ARMED) is None
    found = condition.hear(RunSeen("0", gone), 1004.0, ARMED)
    assert found is not None
    assert (found.outcome, found.since) == (Outcome.GONE, 1002.0)


def test_a_run_that_is_silent_without_a_limit_is_told_as_that() -> None:
    """What a wait that ran out of its time has to say of a run that hangs."""
    condition = one("gpu1:digits")
    head = b'{"run": "digits", "run_id": "R1", "project": "/p", "chain_fingerprint": "c", "stage_count": 1, "stages": ['
    parts = {"head": head, "runner": b"alive", "stage": b"-", "now": b"1001", "boot": b"B"}
    for seconds, told in ((60.0, False), (2400.0, True)):
        assert hear(condition, RunSeen("0", parts), Quiet("0", seconds)) is None
        assert ("nothing was written for 40m00s" in condition.note) is told


def test_a_log_is_quiet_only_when_asked_for() -> None:
    target = next(iter(parse_logs(["log"], ["DONE"], [])))
    patient, watchful = (make_conditions(target, "log", Arming(stall_after_seconds=limit))[0] for limit in (None, 60.0))
    assert hear(patient, Quiet("0", 9e6)) is None
    assert hear(watchful, Quiet("0", 59.0)) is None
    stalled = hear(watchful, Quiet("0", 61.0))
    assert stalled is not None
    assert stalled.outcome is Outcome.STALLED


def test_lines_that_came_before_the_first_look_are_not_passed_over_in_silence() -> None:
    target = next(iter(parse_logs(["log"], ["DONE"], [])))
    late, in_time, later = (make_conditions(target, "log", NEW_ONLY)[0] for _ in range(3))
    later.recall({"cursor": "1:2:3:4:5"})
    for condition, clock, told in ((late, ARMED + 60, True), (in_time, ARMED + 1, False), (later, ARMED + 60, False)):
        hear(condition, Quiet("0", 0.5), clock=clock)
        assert bool(warnings([condition])) == told
        hear(condition, Quiet("0", 0.5), clock=ARMED + 64)
        assert not warnings([condition])


def test_a_later_slice_goes_on_where_the_earlier_one_ended() -> None:
    target = next(iter(parse_logs(["log"], ["DONE"], [])))
    first, second = (make_conditions(target, "log", Arming())[0] for _ in range(2))
    hear(first, Remember("0", "1:2:3:4:5"))
    second.recall(json.loads(json.dumps(first.memory())))
    assert second.words(None)[2] == "1:2:3:4:5"
    assert hear(second, LineSeen("0", "DONE", failed=False)) is not None
    old, new = one("/x/DONE"), one("/x/DONE")  # of which only new ones count
    hear(old, seen(ARMED - 5))
    new.recall(old.memory())
    assert hear(new, seen(ARMED - 5)) is None
    assert hear(new, seen(ARMED - 4, inode=7)) is not None


def test_a_stages_marker_brings_its_run_along() -> None:
    kinds = [
        c.kind for c in make_conditions(parse_target("gpu1:/r/markers/train_DONE"), "/r/markers/train_DONE", Arming())
    ]
    assert kinds == ["file", "run"]
    assert len(make_conditions(parse_target("gpu1:/r/DONE"), "/r/DONE", Arming())) == 1


def test_what_a_person_must_see_at_once_is_no_matter_of_its_wording() -> None:
    target = next(iter(parse_logs(["log"], ["DONE"], [])))
    condition = make_conditions(target, "log", Arming())[0]
    condition.tell("in words that nobody has used before", warn=True)
    assert warnings([condition]) == ["log: in words that nobody has used before"]
    condition.tell("cannot be looked at: only an example")
    assert warnings([condition]) == []
