"""What a tick tells elsewhere: relayed notifications, the dead-man's ping, metrics."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
from typing import TYPE_CHECKING

import pytest

from onbox.contract.notices import Notice, notice_to_dict
from onbox.system.clock import utc_text, wall
from tests.box import wait_until
from tests.fault_server import CANARY, FaultServer
from tests.patrolled import TRAIN, Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        yield made


def running(place: Patrolled) -> Box:
    box = place.add_box("gpu1")
    (box.project / "onbox.toml").write_text('[notify.targets.team]\nurl = "env:HOOK_OF_THE_BOX"\n')
    assert box.onbox("chain", "-d", "--launch-check", "0.2", TRAIN).returncode == 0
    box.wait_for_log("step 1/100")
    return box


def strand(box: Box, number: int, age_seconds: float) -> None:
    """A notice that the box has not delivered since."""
    notice = Notice(f"msg_{number}", utc_text(wall()), "stage_done", "done", box.run, "r1", os.fspath(box.project))
    target = {"name": "team", "url": "env:HOOK_OF_THE_BOX", "on": ["stage_done"]}
    data = {"schema": 1, "id": notice.id, "enqueued_at": utc_text(wall() - age_seconds), "target": target}
    folder = box.state / "outbox"
    folder.mkdir(exist_ok=True)
    (folder / f"{number:014d}-team.json").write_text(json.dumps({**data, "notice": notice_to_dict(notice)}) + "\n")


HEAD = '[notify.targets.team]\nurl = "env:HOOK"\n'


def test_stranded_notices_are_told_from_here_once(place: Patrolled, server: FaultServer) -> None:
    place.head = HEAD
    place.env["HOOK"] = server.url()
    box = running(place)
    strand(box, 1, 3600)
    strand(box, 2, 5)
    outbox = sorted(path.name for path in (box.state / "outbox").glob("*-team.json"))
    first = place.patrol("tick")
    assert "notification stage_done for team delivered" in first.stdout, first.stdout + first.stderr
    place.patrol("tick")
    assert [one.id for one in server.acknowledged] == ["msg_1"]
    assert sorted(path.name for path in (box.state / "outbox").glob("*-team.json")) == outbox, "the box's own, still"
    assert CANARY not in first.stdout + place.patrol("history", "--acts").stdout


def test_a_relay_that_fails_is_tried_again_with_the_same_id(place: Patrolled, server: FaultServer) -> None:
    place.head = HEAD
    place.env["HOOK"] = server.url("500")
    strand(running(place), 1, 3600)
    assert "later" in place.patrol("tick").stdout
    place.env["HOOK"] = server.url()
    assert "delivered" in place.patrol("tick").stdout
    assert {one.id for one in server.received} == {"msg_1"}


def test_the_watcher_elsewhere_hears_of_every_tick(place: Patrolled, server: FaultServer) -> None:
    place.head = '[patrol]\nping = "env:PING"\n'
    place.env["PING"] = server.url()
    box = running(place)
    box.end_everything()
    assert place.patrol("tick").stderr == ""
    place.patrol("tick")
    assert place.patrol("tick").returncode == 2, "what is said is bad, the tick worked"
    assert len(server.acknowledged) == 3
    assert b"gpu1/digits" in server.acknowledged[0].body
    place.patrol("tick", "--look-only")
    assert len(server.acknowledged) == 3


@pytest.mark.parametrize("fault", ["500", "hang", "reset"])
def test_a_ping_that_fails_is_trouble_of_the_patrol_only(place: Patrolled, server: FaultServer, fault: str) -> None:
    place.head = '[patrol]\nping = "env:PING"\n'
    place.env["PING"] = server.url(fault)
    running(place)
    done = place.patrol("tick")
    assert "gpu1/digits RUNNING" in done.stdout
    assert done.returncode == 1
    assert "ping" in done.stderr
    assert CANARY not in done.stderr + (place.state / "heartbeat.json").read_text()


def test_metrics_are_whole_and_readable_for_others(place: Patrolled) -> None:
    path = place.folder / "metrics" / "patrol.prom"
    path.parent.mkdir()
    place.head = f'[patrol]\ntextfile = "{path}"\n'
    running(place)
    place.tick()
    text = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [one.name for one in path.parent.iterdir()] == ["patrol.prom"]
    assert 'patrol_box_reached{box="gpu1"} 1.0\n' in text
    assert re.search(r'^patrol_run_info\{box="gpu1",run="digits",state="running",rule="[a-z-]+"\} 1\.0$', text, re.M)
    assert 'patrol_run_severity{box="gpu1",run="digits"} 0.0\n' in text
    assert 'patrol_run_progress{box="gpu1",run="digits"} 1.0\n' in text
    names = re.findall(r"^# TYPE (\S+) gauge$", text, re.MULTILINE)
    assert len(names) == len(set(names))
    place.sshd.stop()
    place.tick()
    place.sshd.start()
    assert 'patrol_box_reached{box="gpu1"} 0.0\n' in path.read_text()
    assert "patrol_run_progress" not in path.read_text(), "an old number is not a number"


def test_the_history_is_one_page(place: Patrolled) -> None:
    pytest.importorskip("jinja2", reason="needs jinja2, of the extra onbox[report]")
    running(place)
    for _ in range(3):
        place.tick()
    page = place.folder / "page.html"
    assert place.patrol("report", "--html", os.fspath(page)).returncode == 0
    text = page.read_text()
    assert "gpu1/digits" in text
    assert "step 1/100 loss 0.5" in text
    assert not re.search(r"\ssrc=|url\(", text)
    data = json.loads(place.patrol("report", "--json").stdout)
    assert len(data["runs"][0]["points"]) >= 1


def test_a_page_that_is_asked_for_is_made_at_each_tick(place: Patrolled) -> None:
    """It cannot be written, then nothing else goes wrong; a file of somebody else stays."""
    pytest.importorskip("jinja2", reason="needs jinja2, of the extra onbox[report]")
    place.head = '[patrol]\nreport = "report.html"\n'
    page = place.local / "report.html"
    running(place)
    page.mkdir()
    done = place.patrol("tick")
    assert done.returncode == 1
    assert f"the report was not written: {page} is not a file" in done.stderr
    assert "gpu1/digits RUNNING" in done.stdout
    page.rmdir()
    page.write_text("<!doctype html>\nmy own page\n")
    assert "something else than a page of a patrol" in place.patrol("tick").stderr
    page.unlink()
    for _ in range(2):
        assert place.patrol("tick").returncode == 0
    assert "data-renewed" in page.read_text()
    assert "2 not seen" not in page.read_text()
    place.sshd.stop()
    place.tick()
    place.sshd.start()
    assert "unreachable</span>" in page.read_text()


def test_a_page_is_made_anew_while_it_is_watched(place: Patrolled) -> None:
    pytest.importorskip("jinja2", reason="needs jinja2, of the extra onbox[report]")
    running(place)
    place.tick()
    page = place.folder / "page.html"
    watching = place.start("report", "--html", os.fspath(page), "--watch")
    try:
        wait_until(page.exists, "the page")
        first = page.read_text()
        place.tick()
        wait_until(lambda: page.read_text() != first, "the page to be made anew")
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 0
    finally:
        watching.kill()
        watching.communicate()


def test_without_its_extra_a_page_is_one_line(place: Patrolled) -> None:
    """Nothing of jinja2 is loaded by a tick that makes no page."""
    hidden = place.folder / "hidden" / "jinja2"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('hidden', name='jinja2')\n")
    place.env["PYTHONPATH"] = f"{hidden.parent}{os.pathsep}{place.env['PYTHONPATH']}"
    running(place)
    assert place.patrol("tick").returncode == 0
    done = place.patrol("report")
    assert done.returncode == 69
    assert done.stderr == "patrol: jinja2 is not installed: in onbox's checkout: pip install '.[report]'\n"
    place.head = '[patrol]\nreport = "report.html"\n'
    place.write()
    done = place.patrol("tick")
    assert done.returncode == 1
    assert "the report could not be written: jinja2 is not installed" in done.stderr


def test_a_timer_tells_once_of_what_nobody_accepted(place: Patrolled, server: FaultServer) -> None:
    place.head = f'{HEAD}[patrol]\nping = "file:somewhere"\n'
    place.env["HOOK"] = server.url()
    place.env.pop("ONBOX_TRUST", None)
    running(place)
    for _ in range(2):
        done = place.patrol("tick", "--unattended")
        assert "patrol.ping: not accepted" in done.stdout + done.stderr
        assert "gpu1/digits RUNNING" in done.stdout
    (told,) = server.acknowledged
    assert b"onbox trust" in told.body
    assert b"patrol.ping" in told.body
    place.head = f'{HEAD}[patrol]\nping = "file:elsewhere"\n'
    place.write()
    place.patrol("tick", "--unattended")
    assert len(server.acknowledged) == 2
