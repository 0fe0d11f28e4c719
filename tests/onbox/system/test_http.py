"""The clients of HTTP against faults: could not look, soon, and the token was told to nobody else."""

from __future__ import annotations

import resource
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from onbox.backends.cluster import ClusterLook, Endpoint, NoLook, look
from onbox.contract.notify_targets import NotifyTarget
from onbox.model.tracker import Intent, TrackerIdentity
from onbox.notify.send.worker import try_once
from onbox.notify.targets import Resolved
from onbox.notify.types import TryOutcome
from onbox.system.http import NoReply, OpenLine, Question, Reply, Request, ask, converse
from patrol.tracker_server import Server
from tests.box import BOUND_SECONDS, wait_until
from tests.fault_server import FaultServer, self_signed
from tests.onbox.notify.samples import FAILED
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKEN = "TOKEN-5c1e-of-ours-abcdef"
# A server that says nothing more, or never ends, is given up after so long; any other is given time.
LIMITS_SECONDS = {
    "hang": 0.5, "hang_in_headers": 0.5, "drip_headers": 0.5, "drip_interim": 0.5, "drip_body": 0.5,
    "endless_headers": 0.5,
}  # fmt: skip


def limit_of(url: str, *, taken: bool = False) -> float:
    """taken: the head of the answer is enough, and is to come within the limit on a busy machine, too."""
    if taken and url.endswith("/drip_body"):
        return 12.0
    return LIMITS_SECONDS.get(url.rpartition("/")[2], BOUND_SECONDS / 2)


def ask_once(url: str) -> tuple[bool, str]:
    found = ask(Question("POST", url, {}, (("Authorization", f"Bearer {TOKEN}"),)), limit_of(url))
    if isinstance(found, NoReply):
        return False, found.why
    return 200 <= found.status < 300 and len(found.text) < 1 << 23, f"HTTP {found.status}"


def engine(name: str) -> Callable[[str], tuple[bool, str]]:
    def client(url: str) -> tuple[bool, str]:
        endpoint = Endpoint(name, url, "env:TOKEN")
        found = look(endpoint, ("raysubmit_1",), limit_of(url), environ={"TOKEN": TOKEN})
        if isinstance(found, NoLook):
            return False, found.detail
        assert isinstance(found, ClusterLook)
        return True, str(found)

    return client


def wandb(url: str) -> tuple[bool, str]:
    server = Server(Intent(entity="lab", project="digits", api=url, key="env:KEY"), "/", {"KEY": TOKEN})
    found = server._ask_one(TrackerIdentity("wandb", run_id="abc"), TOKEN)
    return not hasattr(found, "why"), getattr(found, "why", "a run")


def webhook(url: str) -> tuple[bool, str]:
    verdict = try_once(FAILED, Resolved(NotifyTarget("hook", "env:HOOK"), url, None), limit_of(url, taken=True))
    return verdict.outcome is TryOutcome.DELIVERED, verdict.reason


CLIENTS = {"ask": ask_once, "ray": engine("ray"), "iris": engine("iris"), "wandb": wandb, "webhook": webhook}
FAULTS = (
    "hang", "hang_in_headers", "drip_headers", "drip_interim", "drip_body", "reset", "garbage", "huge", "bomb",
    "endless_headers", "500", "401", "redirect_other", "redirect_303", "redirect_metadata", "redirect_file", "refused",
)  # fmt: skip
# The status line of a webhook's answer has come: the message was taken.
TAKEN = {("webhook", fault) for fault in ("drip_body", "huge", "bomb")}


# The clients of `ask` differ in what they do with an answer, not in how they get it.
AT_LEAST = ("hang", "drip_body", "huge", "500", "redirect_other", "refused")
MET = [(client, fault) for client in ("ask", "webhook") for fault in FAULTS] + [
    (client, fault) for client in ("ray", "iris", "wandb") for fault in AT_LEAST
]


@pytest.mark.parametrize(("client", "fault"), MET)
def test_every_client_survives_every_fault(server: FaultServer, client: str, fault: str) -> None:
    port = free_port() if fault == "refused" else server.port
    began = time.monotonic()
    worked, says = CLIENTS[client](f"http://127.0.0.1:{port}/{fault}")
    assert time.monotonic() - began < BOUND_SECONDS
    assert worked is ((client, fault) in TAKEN or (client, fault) == ("ask", "bomb")), says
    assert TOKEN not in says
    assert {one.headers["host"] for one in server.received} <= {f"127.0.0.1:{server.port}"}
    assert all(one.path.startswith(f"/{fault}") for one in server.received), "no redirect was followed"


def test_what_is_packed_is_not_unpacked(server: FaultServer) -> None:
    """300 MB of nothing, in 300 kB: it was not asked for in that form."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = ask(Question("GET", f"http://127.0.0.1:{server.port}/bomb"), BOUND_SECONDS)
    assert isinstance(found, Reply)
    assert len(found.text) < 1 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


@pytest.mark.parametrize(
    "url", ["http://example.com:1/x", "http://169.254.169.254/x", "http://127.0.0.1.example.com/x", "http://10.0.0.7/x"]
)
def test_a_token_goes_in_the_open_to_this_machine_only(url: str) -> None:
    found = ask(Question("GET", url, None, (("Authorization", f"Bearer {TOKEN}"),)), 5.0)
    assert found == NoReply("http:// would show the token to everybody on the way: use https://, or a tunnel", "url")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x", "nothing", "https://", "http://[::1"]
)
def test_only_http_is_spoken(url: str) -> None:
    found = ask(Question("GET", url), 5.0)
    assert isinstance(found, NoReply)
    assert found.kind == "url"


def test_a_token_that_is_no_header_is_told_without_it(server: FaultServer) -> None:
    odd = f"Bearer {TOKEN}\r\nX-Admin: 1"
    found = ask(Question("GET", server.url(), None, (("Authorization", odd),)), 5.0)
    assert found == NoReply("it cannot be put into a header", "url")
    assert server.received == []


def test_a_certificate_that_nobody_trusts_is_refused(tmp_path: Path) -> None:
    pair = self_signed(tmp_path)
    if pair is None:
        pytest.skip("no openssl")
    server = FaultServer(tls=pair)
    found = ask(Question("GET", server.url(), None, (("Authorization", f"Bearer {TOKEN}"),)), BOUND_SECONDS)
    server.close()
    assert isinstance(found, NoReply)
    assert (found.kind, "certificate" in found.why) == ("tls", True)
    assert server.received == []


def test_a_connection_into_a_private_network_is_closed_before_a_byte(server: FaultServer) -> None:
    """As where the name of a receiver in the internet leads into our own network at the second question."""
    found = converse(Request("POST", server.url(), {}, b"x"), 5.0, 100, OpenLine(abroad=True))
    assert isinstance(found, NoReply)
    assert server.received == []


def test_an_exchange_that_is_over_leaves_no_thread_behind() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        before = set(threading.enumerate())
        found = ask(Question("GET", f"http://127.0.0.1:{listener.getsockname()[1]}/"), 0.3)
        assert isinstance(found, NoReply)
        wait_until(lambda: set(threading.enumerate()) <= before, "its thread to end")
