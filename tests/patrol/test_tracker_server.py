"""W&B's server as a second opinion: a real one on loopback that answers, lies, and hangs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from onbox.contract.events import Event, Record, render_event
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.model.tracker import Intent, TrackerIdentity
from onbox.trackers.reading import TrackerRun
from patrol.memory import run_journal as journal
from patrol.memory.run_memory import BoxMemory, Memories, RunMemory
from patrol.snapshot import NOT_ASKED, TrackerLook
from patrol.tracker_server import Server, is_same_server
from tests.box import BOUND_SECONDS
from tests.patrol.makers import box, run
from tests.wandb_server import KEY, WandbServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def wandb() -> Iterator[WandbServer]:
    made = WandbServer()
    made.add("lab/digits/abc12345", global_step=50, _timestamp=1795232063.5, loss=0.25)
    yield made
    made.close()


def identity(url: str | None) -> TrackerIdentity:
    return TrackerIdentity("wandb", "abc12345", "try-7", "lab", "digits", url, "/p", "train", 1)


def memory(known: TrackerIdentity) -> RunMemory:
    told = {key: value for key, value in known._asdict().items() if value is not None}
    lines: tuple[Record, ...] = (
        {"event": Event.CHAIN_STARTED},
        {"event": Event.ATTEMPT_STARTED, "stage": "train", "attempt": 1},
        {**told, "event": Event.TRACKER_RUN},
    )
    read = journal.take_in(journal.nothing_read(1), 0, (b"".join(map(render_event, lines)),), 0)
    return RunMemory(journal=read)


def asked(
    intent: Intent, folder: Path, known: TrackerIdentity, environ: dict[str, str] | None = None
) -> Maybe[TrackerRun]:
    """What is in the look after the server was asked."""
    server = Server(intent, str(folder), {"WANDB_API_KEY": KEY} if environ is None else environ)
    memories = Memories(BoxMemory(), {"digits": memory(known)})
    server.ask(memories.runs)
    look = box(runs=(run(trackers=(TrackerLook("train", known),)), run(run="other")))
    runs = server.add_to(look, memories)[0].runs
    assert not isinstance(runs, Absent | Unseen)
    assert runs[1] == run(run="other")
    return runs[0].trackers[0].server


def intent_of(wandb: WandbServer, fault: str = "graphql", key: str | None = "env:WANDB_API_KEY") -> Intent:
    return Intent(api=wandb.api(fault), key=key)


def link(wandb: WandbServer) -> str:
    return f"http://127.0.0.1:{wandb.port}/lab/digits/runs/abc12345"


def test_a_run_with_its_newest_values(wandb: WandbServer, tmp_path: Path) -> None:
    found = asked(intent_of(wandb), tmp_path, identity(link(wandb)))
    assert found == TrackerRun("wandb", "abc12345", "try-7", "digits", "running", 50.0, False, 1795232063.5, 0.25, True)
    (request,) = wandb.received
    assert (request.method, request.path) == ("POST", "/graphql")


def test_a_key_in_a_file_beside_the_configuration(wandb: WandbServer, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    assert isinstance(asked(intent_of(wandb, key="file:key"), tmp_path, identity(link(wandb)), {}), TrackerRun)


def test_a_run_that_the_server_does_not_have(wandb: WandbServer, tmp_path: Path) -> None:
    wandb.runs.clear()
    assert isinstance(asked(intent_of(wandb), tmp_path, identity(link(wandb))), Absent)


FAULTS = {
    "hang": "did not answer",
    "hang_in_headers": "",
    "drip_headers": "",
    "drip_body": "",
    "reset": "reset",
    "garbage": "",
    "500": "HTTP 500",
    "503": "HTTP 503",
    "401": "the key is not accepted",
    "redirect_other": "HTTP 307",
    "partial": "not complete",
    "html": "not JSON",
    "huge": "",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_sick_server_is_could_not_look_and_soon(wandb: WandbServer, tmp_path: Path, fault: str) -> None:
    wandb.plan = [fault]
    began = time.monotonic()
    found = asked(intent_of(wandb), tmp_path, identity(link(wandb)))
    assert isinstance(found, Unseen)
    assert FAULTS[fault] in found.why or "no answer" in found.why
    assert KEY not in found.why
    assert time.monotonic() - began < BOUND_SECONDS
    assert len(wandb.received) == 1  # a redirect is not followed with the key


def test_a_wrong_key_is_told(wandb: WandbServer, tmp_path: Path) -> None:
    found = asked(intent_of(wandb), tmp_path, identity(link(wandb)), {"WANDB_API_KEY": "x" * 40})
    assert found == Unseen("HTTP 401: the key is not accepted")


def test_nothing_listens(wandb: WandbServer, tmp_path: Path) -> None:
    intent = intent_of(wandb)
    wandb.close()
    assert asked(intent, tmp_path, identity(link(wandb))) == Unseen("W&B's server: connection refused")


def test_a_key_that_is_not_there(wandb: WandbServer, tmp_path: Path) -> None:
    found = asked(intent_of(wandb), tmp_path, identity(link(wandb)), {})
    assert found == Unseen("[tracker] key: the variable WANDB_API_KEY is not set here")
    assert wandb.received == []


def test_without_a_key_nobody_is_asked(wandb: WandbServer, tmp_path: Path) -> None:
    assert asked(intent_of(wandb, key=None), tmp_path, identity(link(wandb))) == NOT_ASKED
    assert wandb.received == []


def test_a_link_in_a_log_never_says_where_the_key_goes(wandb: WandbServer, tmp_path: Path) -> None:
    evil = WandbServer()
    try:
        found = asked(intent_of(wandb), tmp_path, identity(link(evil)))
        assert isinstance(found, Unseen)
        assert "[tracker] api" in found.why
        assert evil.received == wandb.received == []
    finally:
        evil.close()


@pytest.mark.parametrize(
    ("api", "url", "same"),
    [
        ("https://api.wandb.ai", "https://wandb.ai/lab/digits/runs/a", True),
        ("https://api.wandb.ai", "https://wandb.ai.example.com/lab/digits/runs/a", False),
        ("https://api.wandb.ai", "https://lab.wandb.io/lab/digits/runs/a", False),
        ("https://lab.wandb.io", "https://lab.wandb.io/lab/digits/runs/a", True),
        ("https://lab.wandb.io", "https://lab.wandb.io:444/lab/digits/runs/a", False),
        ("https://lab.wandb.io", "https://[bad/lab", False),
        ("https://lab.wandb.io", None, True),
    ],
)
def test_whose_page_a_link_is(api: str, url: str | None, same: bool) -> None:  # noqa: FBT001
    assert is_same_server(api, url) is same


def test_an_offline_run_is_asked_by_what_is_declared(wandb: WandbServer, tmp_path: Path) -> None:
    bare = identity(None)._replace(entity=None, project=None)
    declared = intent_of(wandb)._replace(entity="lab", project="digits")
    assert isinstance(asked(declared, tmp_path, bare), TrackerRun)
    assert isinstance(asked(intent_of(wandb), tmp_path, bare), Unseen)
