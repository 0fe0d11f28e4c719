"""[tracker]: the run at an experiment tracker that is meant. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.model.tracker import KINDS, RESUMES, Intent

if TYPE_CHECKING:
    from onbox.config.fields import Table

TRACKER_KEYS = ("kind", "entity", "project", "run_id", "name", "resume", "stages", "api", "key")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def read_tracker(table: Table) -> Intent:
    """What [tracker] says; every error goes into the table's list."""
    return Intent(
        kind=table.read("kind", values.one_of(KINDS, "a tracker"), None),
        entity=table.read("entity", values.text, None),
        project=table.read("project", values.text, None),
        run_id=table.read("run_id", values.text, None),
        name=table.read("name", values.text, None),
        resume=table.read("resume", values.one_of(RESUMES, "a way to resume"), "allow"),
        stages=table.read_list("stages", values.text, 'a list such as ["train"]'),
        api=table.read("api", server, None),
        key=table.read("key", values.secret_reference, None),
    )


def server(value: object) -> str:
    """A server that may be sent a key: over TLS, or on this machine."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - 2 ms that only few files need

    found = values.text(value).rstrip("/")
    try:
        parts = urlsplit(found)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    del port
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK) if host else False
    if not safe or parts.username or parts.query:
        raise Unwanted('a server such as "https://api.wandb.ai": https, or http on this machine; no password in it')
    return found
