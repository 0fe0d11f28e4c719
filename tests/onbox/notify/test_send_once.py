"""One try against a receiver that misbehaves: the right word for it, in bounded time, and never the URL's secret."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest

from onbox.contract.notify_targets import NotifyTarget
from onbox.notify.send.http_send import route_of
from onbox.notify.send.send_once import exchange
from onbox.notify.send.worker import try_once
from onbox.notify.shown_url import mask_url
from onbox.notify.targets import Resolved
from onbox.notify.types import Delivery, NoHttpAnswer, Outgoing, TryOutcome, Unusable
from onbox.system.http import NoReply, OpenLine, Request, converse
from tests.box import BOUND_SECONDS
from tests.fault_server import CANARY, FaultServer, self_signed
from tests.onbox.notify.samples import FAILED
from tests.ports import free_port

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_SECONDS = BOUND_SECONDS / 2
DELIVERED, LATER, NEVER, UNCLEAR = TryOutcome


def attempt(url: str, form: str | None = None, seconds: float = LIMIT_SECONDS) -> Delivery:
    return try_once(FAILED, Resolved(NotifyTarget("hook", "env:HOOK", format=form), url, None), seconds)


# A server that says nothing more, or never ends, is given up after so long.
LIMITS_SECONDS = {"hang": 1.0, "hang_in_headers": 1.0, "drip_headers": 1.0, "drip_interim": 1.0, "drip_body": 3.0}
FAULTS: list[tuple[str, str | None, TryOutcome, str]] = [
    ("200", None, DELIVERED, "HTTP 200"),
    ("204", None, DELIVERED, "HTTP 204"),
    ("400", None, NEVER, "HTTP 400"),
    ("401", None, NEVER, "HTTP 401"),
    ("404", None, NEVER, "HTTP 404"),
    ("410", None, NEVER, "gone"),
    ("429", None, LATER, "HTTP 429"),
    ("500", None, LATER, "HTTP 500"),
    ("hang", None, LATER, "within"),
    ("hang_in_headers", None, LATER, "within"),
    ("drip_headers", None, LATER, "within 1 s"),
    ("drip_interim", None, LATER, "within 1 s"),
    ("drip_body", None, DELIVERED, "HTTP 200"),  # the status line has come: it was taken
    ("drip_body", "feishu", UNCLEAR, "no `code`"),
    ("reset", None, LATER, "reset"),
    ("garbage", None, LATER, "not HTTP"),
    ("huge", None, DELIVERED, "HTTP 200"),
    ("huge", "slack", UNCLEAR, "not `ok`"),
    ("redirect_same", None, DELIVERED, "HTTP 200"),
    ("redirect_other", None, NEVER, "another place"),
    ("redirect_302", None, NEVER, "HTTP 405"),
    ("redirect_303", None, NEVER, "HTTP 303"),
    ("redirect_loop", None, NEVER, "more than 3 times"),
    ("feishu_refused", "feishu", NEVER, "code 19021"),
    ("dingtalk_refused", "dingtalk", NEVER, "errcode 310000"),
    ("wecom_refused", "wecom", NEVER, "errcode 93000"),
    ("feishu_ok", "feishu", DELIVERED, "HTTP 200"),
]


@pytest.mark.parametrize(("fault", "form", "outcome", "words"), FAULTS)
def test_each_fault_gets_its_word_in_time(
    server: FaultServer, fault: str, form: str | None, outcome: TryOutcome, words: str
) -> None:
    began = time.monotonic()
    verdict = attempt(server.url(fault), form, LIMITS_SECONDS.get(fault, LIMIT_SECONDS))
    assert (verdict.outcome, words in verdict.reason) == (outcome, True), verdict.reason
    assert CANARY not in verdict.reason
    assert time.monotonic() - began < BOUND_SECONDS


def test_a_redirect_never_becomes_a_get(server: FaultServer) -> None:
    attempt(server.url("redirect_same"))
    attempt(server.url("redirect_302"))
    assert {(one.method, bool(one.body)) for one in server.received} == {("POST", True)}


def test_a_redirect_elsewhere_is_told_nothing(server: FaultServer) -> None:
    attempt(server.url("redirect_other"))
    assert len(server.received) == 1


def test_retry_after_is_heard_in_both_forms(server: FaultServer) -> None:
    assert attempt(server.url("retry_seconds")).retry_after_seconds == 1.0
    asked = attempt(server.url("retry_date")).retry_after_seconds
    assert asked is not None
    assert 0.0 <= asked <= 2.0
    assert attempt(server.url("retry_hour")).retry_after_seconds == 3600.0


def test_an_error_page_that_quotes_the_url_leaks_nothing(server: FaultServer) -> None:
    verdict = attempt(server.url("echo"), "slack")
    assert "no such hook" in verdict.reason
    assert CANARY not in verdict.reason


def test_what_libraries_print_is_dropped(server: FaultServer, capfd: pytest.CaptureFixture[str]) -> None:
    assert attempt(server.url("bad_headers")).outcome is DELIVERED
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_nobody_listens() -> None:
    assert attempt(f"http://127.0.0.1:{free_port()}/{CANARY}") == Delivery(LATER, "connection refused")


def test_a_name_that_is_not_there() -> None:
    verdict = attempt(f"https://no-such-host.invalid/{CANARY}", seconds=20.0)
    assert (verdict.outcome, verdict.reason) == (LATER, "the host's name cannot be resolved")


def test_a_certificate_that_nobody_trusts(tmp_path: Path) -> None:
    pair = self_signed(tmp_path)
    if pair is None:
        pytest.skip("no openssl")
    server = FaultServer(tls=pair)
    verdict = attempt(server.url(), seconds=10.0)
    server.close()
    assert verdict.outcome is LATER
    assert "certificate" in verdict.reason
    assert server.received == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x",
        "http://169.254.169.254/latest",
        "http://127.0.0.1.example.com/x",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "gopher://x",
        "nothing",
        "https://",
        "http://[::1",
    ],
)
def test_only_https_and_this_machine_are_allowed(url: str) -> None:
    with pytest.raises(Unusable):
        exchange(Outgoing(url, {}, b""), 1.0)


def test_a_name_that_claims_to_be_this_machine_must_lead_there() -> None:
    assert route_of("http://localhost:1/x").loopback
    assert route_of("http://[::1]:1/x").loopback


def own_address() -> str | None:
    """An address of this machine that is not loopback; None if it has none. Nothing is sent (UDP)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return None if address.startswith("127.") else address


def test_the_address_that_is_connected_to_counts() -> None:
    address = own_address()
    if address is None:
        pytest.skip("no address but loopback")
    with socket.create_server((address, 0)) as listener:
        found = converse(
            Request("POST", f"http://{address}:{listener.getsockname()[1]}/x", {}, b"secret"),
            5.0,
            100,
            OpenLine(here=True),
        )
        assert isinstance(found, NoReply)
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(100) == b"", "not a byte was sent"


def test_proxies_are_not_asked_for_this_machine(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert attempt(server.url()).outcome is DELIVERED


def test_what_a_child_raises_is_told_by_type_only(server: FaultServer) -> None:
    answer = exchange(Outgoing(server.url(), {"X-Bad": f"a\nb{CANARY}"}, b""), 1.0)
    assert isinstance(answer, NoHttpAnswer)
    assert CANARY not in answer.why


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hooks.slack.com/services/T/B/x", "https://hooks.slack.com/…"),
        ("https://user:pw@host.example:8443/x?key=y", "https://host.example:8443/…"),
        ("smtps://me:pw@mail.example/?to=a", "smtps://mail.example/…"),
        ("secret-without-a-scheme", "…"),
        ("https://[bad", "…"),
    ],
)
def test_urls_are_shown_without_what_makes_them_secret(url: str, shown: str) -> None:
    assert mask_url(url) == shown
