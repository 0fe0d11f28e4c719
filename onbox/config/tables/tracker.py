"""[tracker]: the run at an experiment tracker that is meant. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.config.keys import Key, Keys, ListKey
from onbox.model.tracker import KINDS, RESUMES, Intent

if TYPE_CHECKING:
    from onbox.config.fields import Table

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def server(value: object) -> str:
    """A server that may be sent a key: over TLS, or on this machine."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - in every command, for a table that few files have

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


class TrackerKeys(Keys):
    """[tracker]."""

    HEADER = "[tracker]"
    HELP = "The run that should be used at an experiment tracker: you get a message at once if anything differs."
    kind = Key(values.one_of(KINDS, "a tracker"), None, "The tracker: " + " or ".join(KINDS) + ".", '"wandb"')
    entity = Key(values.text, None, "Its user or team.", '"lab"')
    project = Key(values.text, None, "Its project.", '"@NAME@"')
    run_id = Key(values.text, None, "The run's id, as in its URL.", '"@NAME@-7"')
    name = Key(values.text, None, "The run's name there.", '"try-7"')
    resume = Key(
        values.one_of(RESUMES, "a way to resume"),
        "allow",
        'A stage\'s later attempts "must" continue the same run, "never" do, or "allow" either.',
        '"must"',
        usual='"allow"',
    )
    stages = ListKey(values.text, "Whose runs are meant.", '["train"]', usual="every stage's")
    key = Key(
        values.secret_reference,
        None,
        'With a key ("env:NAME" or "file:PATH") the local side asks the tracker\'s server, too.',
        '"env:WANDB_API_KEY"',
        usual="the server is not asked",
    )
    api = Key(server, None, "The server.", '"https://api.wandb.ai"', usual="the tracker's own")


def read_tracker(table: Table) -> Intent:
    """What [tracker] says; every error goes into the table's list."""
    return Intent(
        kind=table.get(TrackerKeys.kind),
        entity=table.get(TrackerKeys.entity),
        project=table.get(TrackerKeys.project),
        run_id=table.get(TrackerKeys.run_id),
        name=table.get(TrackerKeys.name),
        resume=table.get(TrackerKeys.resume),
        stages=table.get_list(TrackerKeys.stages),
        api=table.get(TrackerKeys.api),
        key=table.get(TrackerKeys.key),
    )
