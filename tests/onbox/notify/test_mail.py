"""E-mail over a real socket, and apprise where it is installed."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from onbox.contract.notify_targets import NotifyTarget
from onbox.notify.send.worker import try_once
from onbox.notify.targets import Resolved
from onbox.notify.types import Delivery, TryOutcome, Unusable
from tests.fault_server import CANARY, FaultServer
from tests.onbox.notify.samples import FAILED
from tests.ports import free_port

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

QUERY = "/?from=box@example.com&to=a@example.com,b@example.com"


class MailServer:
    """Speaks enough SMTP for one message per connection. replies: word of the client -> what is answered instead."""

    def __init__(self) -> None:
        self.replies: dict[str, bytes] = {}
        self.mails: list[bytes] = []
        self.words: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                try:
                    self._talk(stream)
                except (OSError, ValueError):
                    continue

    def _talk(self, stream: io.BufferedRWPair) -> None:
        def say(line: bytes) -> None:
            stream.write(line + b"\r\n")
            stream.flush()

        say(b"220 mail.test")
        while line := stream.readline():
            word = line.split()[0].decode().upper()
            self.words.append(line.decode().strip())
            if word == "DATA":
                say(b"354 go on")
                mail = b""
                while (part := stream.readline()) != b".\r\n":
                    mail += part
                self.mails.append(mail)
            default = {"EHLO": b"250-mail.test\r\n250 AUTH PLAIN", "AUTH": b"235 welcome", "QUIT": b"221 bye"}
            say(self.replies.get(word, default.get(word, b"250 ok")))

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor
        self._acceptor.join(10)
        self._listener.close()


@pytest.fixture
def mail() -> Iterator[MailServer]:
    made = MailServer()
    yield made
    made.close()


def attempt(url: str) -> Delivery:
    return try_once(FAILED, Resolved(NotifyTarget("mail", "env:MAIL"), url, None), 5.0)


def test_a_mail_arrives_with_its_id(mail: MailServer) -> None:
    assert attempt(f"smtp://me:{CANARY}@127.0.0.1:{mail.port}{QUERY}").outcome is TryOutcome.DELIVERED
    (text,) = mail.mails
    assert f"Message-ID: <{FAILED.id}@onbox.invalid>".encode() in text
    assert [word.lower() for word in mail.words if word.startswith("rcpt")] == [
        "rcpt to:<a@example.com>",
        "rcpt to:<b@example.com>",
    ]


@pytest.mark.parametrize(
    ("word", "reply", "outcome"),
    [
        ("DATA", b"451 try later", TryOutcome.LATER),
        ("DATA", b"554 looks like spam", TryOutcome.NEVER),
        ("RCPT", b"550 nobody here", TryOutcome.NEVER),
        ("RCPT", b"450 mailbox busy", TryOutcome.LATER),
        ("AUTH", f"535 {CANARY} is wrong".encode(), TryOutcome.NEVER),
        ("MAIL", b"421 closing", TryOutcome.LATER),
    ],
)
def test_the_server_s_word_decides(mail: MailServer, word: str, reply: bytes, outcome: TryOutcome) -> None:
    mail.replies[word] = reply
    verdict = attempt(f"smtp://me:{CANARY}@127.0.0.1:{mail.port}{QUERY}")
    assert verdict.outcome is outcome, verdict.reason
    assert CANARY not in verdict.reason


def test_no_mail_server() -> None:
    assert attempt(f"smtp://127.0.0.1:{free_port()}{QUERY}") == Delivery(TryOutcome.LATER, "connection refused")


def test_apprise_sends_what_has_no_format_here() -> None:
    pytest.importorskip("apprise")
    server = FaultServer()
    url = f"apprise+json://127.0.0.1:{server.port}/200/{CANARY}"
    assert attempt(url).outcome is TryOutcome.DELIVERED
    assert attempt(url.replace("/200/", "/500/")).outcome is TryOutcome.LATER
    server.close()
    with pytest.raises(Unusable):
        attempt("apprise+nothing-like-it://x")
