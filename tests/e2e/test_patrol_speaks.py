"""What a patrol tells people by itself: real runs behind a real sshd, real ticks, a real receiver."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX, wait_until
from tests.fakes.crontab import fake_crontab
from tests.fault_server import CANARY, FaultServer
from tests.patrolled import TRAIN, Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

HEAD = '[notify]\nurls = ["file:url"]\n'


@pytest.fixture
def place(tmp_path: Path, server: FaultServer) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        made.head = HEAD
        (made.local / "url").write_text(server.url())
        made.env.pop("HOOK", None)
        yield made


def running(box: Box) -> Box:
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "--run", box.run, TRAIN).returncode in (0, 1)
    box.wait_for_log("step 1/100")
    return box


def look(place: Patrolled) -> str:
    done = place.patrol("tick", "--unattended")
    assert "people could not be told" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def told(server: FaultServer) -> list[tuple[str, str]]:
    """Kind and run of each message, once per id."""
    by_id = {one.id: one.json()["data"] for one in server.acknowledged}
    return [(data["event"], data["run"]) for data in by_id.values()]


def test_a_killed_run_is_told_once_and_its_recovery_once(place: Patrolled, server: FaultServer) -> None:
    killed, other = running(place.add_box("gpu1")), running(place.add_box("gpu2"))
    look(place)
    assert told(server) == []
    killed.end_everything()
    for _ in range(4):
        look(place)
    assert told(server) == [("patrol_trouble", "gpu1/digits")]
    data = server.acknowledged[0].json()
    assert "gpu1/digits INTERRUPTED: " in data["text"]
    assert "onbox" in data["data"]["next_command"]
    assert CANARY not in str(data)
    assert killed.onbox("resume", "-d", "--launch-check", "0.2").returncode in (0, 1)
    for _ in range(3):
        look(place)
    assert told(server)[1:] == [("patrol_recovered", "gpu1/digits")]
    for box in (killed, other):
        (box.project / "go").touch()
        box.wait_for_marker("CHAIN_DONE")
    for _ in range(2):
        look(place)
    assert told(server)[2:] == [("patrol_done", "2 runs on 2 boxes")]
    assert len(server.acknowledged) == 3, "each was sent once"


def test_a_box_that_is_away_is_one_message_after_the_second_look(place: Patrolled, server: FaultServer) -> None:
    for name in ("a", "b", "c"):
        box = place.add_box("gpu1", run=name) if name == "a" else place.boxes["gpu1"]
        assert box.onbox("chain", "-d", "--launch-check", "0.2", "--run", name, TRAIN).returncode in (0, 1)
    look(place)
    place.sshd.stop()
    look(place)
    assert told(server) == [], "one look proves nothing"
    for _ in range(3):
        assert "not tried" not in look(place)
    assert told(server) == [("patrol_trouble", "gpu1 (3 runs)")]
    assert "UNREACHABLE" in server.acknowledged[0].json()["text"]
    place.sshd.start()
    for _ in range(2):
        look(place)
    assert told(server)[1:] == [("patrol_recovered", "gpu1 (3 runs)")]


def test_what_the_box_tells_by_itself_is_not_told_again(place: Patrolled, server: FaultServer) -> None:
    box = place.add_box("gpu1")
    (box.project / "onbox.toml").write_text(HEAD)
    (box.project / "url").write_text(server.url())
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "train=exit 7").returncode in (0, 1)
    box.wait_for_marker("CHAIN_FAILED")
    wait_until(lambda: not list((box.state / "outbox").glob("*.json")), "the box to have told it")
    before = len(server.acknowledged)
    look(place)
    assert len(server.acknowledged) == before > 0


def test_a_stage_that_is_over_far_too_soon_is_told_once_while_the_chain_goes_on(
    place: Patrolled, server: FaultServer
) -> None:
    box = place.add_box("gpu1")
    (box.project / "url").write_text(server.url())
    stages = (
        "[stages.train]\ncmd = 'true'\nexpected = '14h'\n[stages.eval]\ncmd = 'until test -e go; do sleep 0.1; done'\n"
    )
    (box.project / "onbox.toml").write_text(stages + HEAD)
    assert box.onbox("chain", "-d", "--launch-check", "0.2").returncode in (0, 1)
    box.wait_for_log("", "eval")
    said = [look(place) for _ in range(3)]
    assert "stage train took 0s where 14h00m was expected" in said[0]
    assert told(server) == [("patrol_trouble", "gpu1/digits")]
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    wait_until(lambda: not list((box.state / "outbox").glob("*.json")), "the box to have told it")
    for _ in range(3):
        look(place)
    assert told(server)[1:] == [("chain_done", "digits")], "with its warning; the patrol adds nothing"
    assert "where 14h00m was expected" in server.acknowledged[1].json()["data"]["warning"]


def test_a_failure_that_the_box_tells_nobody_is_told_here_and_silent_once_acknowledged(
    place: Patrolled, server: FaultServer
) -> None:
    first, second = place.add_box("gpu1"), place.add_box("gpu2")
    for box in (first, second):
        assert box.onbox("chain", "-d", "--launch-check", "0.2", "train=exit 7").returncode in (0, 1)
        box.wait_for_marker("CHAIN_FAILED")
    assert place.patrol("tick", "--look-only").returncode == 2
    place.head = ""
    place.write()
    look(place)
    assert place.patrol("ack", "gpu2/digits").returncode == 0
    place.head = HEAD
    place.write()
    for _ in range(2):
        look(place)
    assert told(server) == [("patrol_trouble", "gpu1/digits")]


def test_what_cannot_be_delivered_is_said_and_delivered_later_once(place: Patrolled, server: FaultServer) -> None:
    box = place.add_box("gpu1")
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "train=exit 7").returncode in (0, 1)
    box.wait_for_marker("CHAIN_FAILED")
    (place.local / "url").unlink()
    said = look(place)
    assert "url is not told yet of 1 message(s)" in said, said
    assert server.received == []
    (place.local / "url").write_text(server.url())
    look(place)
    wait_until(lambda: told(server), "the message")
    look(place)
    assert told(server) == [("patrol_trouble", "gpu1/digits")]
    assert len(server.received) == 1


def test_a_receiver_that_fails_and_then_takes_it_gets_each_message_once(place: Patrolled, server: FaultServer) -> None:
    box = place.add_box("gpu1")
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "train=exit 7").returncode in (0, 1)
    box.wait_for_marker("CHAIN_FAILED")
    server.plan += ["500", "500"]
    look(place)
    wait_until(lambda: told(server), "the message")
    look(place)
    assert len(server.received) == 3, "tried again by itself"
    assert len({one.id for one in server.received}) == 1
    assert told(server) == [("patrol_trouble", "gpu1/digits")]


def test_a_day_without_news_is_one_message_that_all_is_watched(place: Patrolled, server: FaultServer) -> None:
    running(place.add_box("gpu1"))
    look(place)
    assert told(server) == [], "the first one comes at its time"
    book = place.state / "notices" / "known.json"
    data = json.loads(book.read_text())
    book.write_text(json.dumps({**data, "digest_at": data["digest_at"] - 86400}))
    assert place.patrol("tick").returncode == 0
    assert told(server) == [], "a person who looks needs none"
    for _ in range(2):
        look(place)
    assert told(server) == [("patrol_digest", "local")]
    text = server.acknowledged[0].json()["text"]
    assert text.startswith("· local still watched: 1 running\ngpu1/digits running train ")


def test_a_machine_that_patrols_and_falls_asleep_is_told_by_the_box_once(place: Patrolled, server: FaultServer) -> None:
    box = place.add_box("gpu1")
    (box.project / "onbox.toml").write_text(f'[run]\nsample_every = "200ms"\n{HEAD}')
    (box.project / "url").write_text(server.url())
    running(box)
    trace = box.state.parent / ".patrolled"
    assert place.patrol("tick").returncode == 0
    assert not trace.exists(), "a person who looks promises no second look"
    look(place)
    seconds = float(trace.read_text())
    assert seconds == 2 * 1800 + 30
    asleep = time.time() - seconds - 600
    os.utime(trace, (asleep, asleep))
    wait_until(lambda: told(server) == [("patrol_silent", "digits")], "the box to tell it")
    text = server.acknowledged[0].json()["text"]
    assert "NOT WATCHED" in text
    assert "no patrol has looked at this machine for 7" in text
    look(place)
    wait_until(lambda: told(server)[1:] == [("patrol_back", "digits")], "the box to tell that it is over")
    look(place)
    assert len(server.acknowledged) == 2


def test_install_says_when_nobody_will_be_told(place: Patrolled) -> None:
    fake_crontab(place.folder / "cron-bin", place.env)
    place.add_box("gpu1")
    assert "a test message to every target: onbox notify test" in install(place)
    place.head = '[notify]\nurls = ["env:HOOK"]\n'
    place.env["HOOK"] = "http://127.0.0.1:9/x"
    said = install(place)
    assert "HOOK will not be told by cron: the variable HOOK is not set" in said
    assert "so no message will be sent" in said
    place.head = ""
    said = install(place)
    assert "no message can be sent: [notify] in " in said
    assert "onbox notify test" in said


def test_install_sends_a_test_message_as_cron_would_send_it(place: Patrolled, server: FaultServer) -> None:
    fake_crontab(place.folder / "cron-bin", place.env)
    place.add_box("gpu1")
    place.env.pop("ONBOX_TRUST", None)  # cron has no such variable

    def accept() -> None:
        subprocess.run([*ONBOX, "trust", "--yes"], cwd=place.local, env=place.env, check=True, capture_output=True)

    accept()
    done = place.patrol("install", "--untried", "--yes", "--test-message")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [event for event, _ in told(server)] == ["test"]
    place.head = '[notify]\nurls = ["env:HOOK"]\n'
    place.env["HOOK"] = server.url()
    place.write()
    accept()
    done = place.patrol("install", "--untried", "--yes", "--test-message")
    assert done.returncode == 1
    assert "waits: the variable HOOK is not set here" in done.stdout, "a shell has it, cron has not"


def install(place: Patrolled) -> str:
    place.write()
    done = place.patrol("install", "--untried")
    assert done.returncode in (0, 64), done.stderr
    return done.stdout


def test_targets_that_nobody_accepted_are_not_used(place: Patrolled, server: FaultServer) -> None:
    place.env.pop("ONBOX_TRUST", None)
    place.head = f'[notify]\nurls = ["file:{os.fspath(place.folder / "elsewhere")}"]\n'
    (place.folder / "elsewhere").write_text(server.url())
    box = place.add_box("gpu1")
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "train=exit 7").returncode in (0, 1)
    box.wait_for_marker("CHAIN_FAILED")
    said = look(place)
    assert "not accepted" in said
    assert server.received == []


def test_what_the_box_could_not_tell_for_good_is_told_here(place: Patrolled, server: FaultServer) -> None:
    box = place.add_box("gpu1")
    (box.project / "onbox.toml").write_text(HEAD)
    (box.project / "url").write_text(server.url("404"))
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "train=exit 7").returncode in (0, 1)
    box.wait_for_marker("CHAIN_FAILED")
    wait_until(lambda: len(list((box.state / "dead").glob("*.json"))) == 1, "the box to have given up")
    look(place)
    assert told(server) == [("patrol_trouble", "gpu1/digits")]
