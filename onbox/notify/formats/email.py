"""E-mail: `smtps://user:password@host/?from=a@b&to=c@d,e@f` (TLS), or `smtp://` (STARTTLS, required but on loopback).

Source: RFC 5321 (4.2.1: 2yz done, 4yz try again, 5yz never), RFC 5322 (Message-ID: the same at every try).
"""

from __future__ import annotations

from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import parse_qs, urlsplit

from onbox.notify.message_text import text, title
from onbox.notify.types import Delivery, Format, FormatInput, HttpAnswer, Outgoing, TryOutcome, Unusable

LIMIT_BYTES = 100_000
ID_DOMAIN = "onbox.invalid"


def recipients(url: str) -> tuple[str, list[str]]:
    """Who writes and who is written to. Raises Unusable."""
    query = parse_qs(urlsplit(url).query)
    sender = (query.get("from") or [""])[0]
    readers = [one.strip() for item in query.get("to", ()) for one in item.split(",") if one.strip()]
    for address in (sender, *readers):
        try:
            Address(addr_spec=address)
        except (ValueError, IndexError, MessageError) as error:
            raise Unusable("its query must say from=ADDRESS and to=ADDRESS[,ADDRESS…]") from error
    if not readers:
        raise Unusable("its query says no to=ADDRESS")
    return sender, readers


def build(ask: FormatInput) -> Outgoing:
    sender, readers = recipients(ask.url)
    message = EmailMessage()
    message["Subject"] = title(ask.notice)
    message["From"] = sender
    message["To"] = ", ".join(readers)
    message["Message-ID"] = f"<{ask.notice.id}@{ID_DOMAIN}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office answers
    message.set_content(text(ask.notice, LIMIT_BYTES, with_title=False) + "\n")
    return Outgoing(ask.url, {}, message.as_bytes(policy=SMTP))


def judge(answer: HttpAnswer, _now: float) -> Delivery:
    said = answer.body.decode("utf-8", "replace").strip()[:120]
    reason = f"SMTP {answer.status}" + (f": {said}" if said else "")
    if 200 <= answer.status < 300:
        return Delivery(TryOutcome.DELIVERED, reason, answer.status)
    outcome = TryOutcome.NEVER if 500 <= answer.status < 600 else TryOutcome.LATER
    return Delivery(outcome, reason, answer.status)


FORMAT = Format(
    name="email",
    title="e-mail",
    hosts=(),
    build=build,
    judge=judge,
    rate=None,
    limit="100 kB",
    success="SMTP 250 after the message",
    signing="user and password in the URL; `smtps://`, or STARTTLS",
    source="RFC 5321",
    setup="`smtps://user:password@host/?from=…&to=…`, special characters of the password as %XX",
)
