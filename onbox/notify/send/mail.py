"""One message over SMTP, in the process that calls it (see `exchange.py`)."""

from __future__ import annotations

import smtplib
import ssl
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from onbox.notify.formats.email import recipients
from onbox.notify.types import HttpAnswer, NoHttpAnswer, Unusable
from onbox.system.http import explain, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.notify.types import Outgoing

PORTS = {"smtps": 465, "smtp": 587}


def send_mail(
    outgoing: Outgoing, seconds: float, _heard: Callable[[int, str | None], None]
) -> HttpAnswer | NoHttpAnswer:
    """Hand it to the server of the URL. Nothing is sent without TLS but to this machine. Raises Unusable."""
    parts = urlsplit(outgoing.url)
    if not parts.hostname:
        raise Unusable("it names no mail server")
    sender, readers = recipients(outgoing.url)
    try:
        with _connect(parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme], seconds) as server:
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
            refused = server.sendmail(sender, readers, outgoing.body)
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        return HttpAnswer(min(codes, default=550), b"every recipient was refused")
    except smtplib.SMTPResponseException as error:
        return HttpAnswer(error.smtp_code, b"sign-in" if isinstance(error, smtplib.SMTPAuthenticationError) else b"")
    except (smtplib.SMTPException, OSError) as error:
        return NoHttpAnswer(explain(error, seconds).why)
    return HttpAnswer(
        250, f"{len(refused)} of {len(readers)} recipients were refused".encode() if refused else b"accepted"
    )


def _connect(scheme: str, host: str, port: int, seconds: float) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=seconds, context=context)
    server = smtplib.SMTP(host, port, timeout=seconds)
    try:
        if server.sock is None or not is_loopback(server.sock.getpeername()[0]):
            server.starttls(context=context)
    except BaseException:
        server.close()
        raise
    return server
