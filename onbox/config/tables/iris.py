"""Iris's part of a configuration: [iris], and how its jobs are named. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys, ListKey
from onbox.config.tables.engine_part import EnginePart, GuardedKey, kept

if TYPE_CHECKING:
    from collections.abc import Mapping

# Iris names a job by all of its path; the controller takes nothing shorter, and a prefix finds other jobs, too.
_JOB_ID = r"/[^/\s]+/[^\s]+"
_WANTED = "the whole id, /USER/JOB, as `iris job run` prints it"


def _word(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise Unwanted("a text without NUL characters")
    if value in ("--job-name", "--no-wait") or value.startswith("--job-name="):
        raise Unwanted("allowed here: onbox names its jobs itself and never waits for them there")
    return value


def _job_id(value: object) -> str:
    """A canonical id. A short name is refused: it names no job, and as a prefix it would name others."""
    text = values.text(value).strip()
    if not re.fullmatch(_JOB_ID, text) or text.endswith("/"):
        raise Unwanted(_WANTED)
    return text


class IrisKeys(Keys):
    """[iris]."""

    HEADER = "[iris]"
    HELP = "Iris. cluster or config, and args, are for `iris job run`."
    controller = Key(
        values.http_url, None, "The controller's URL, for everything that reads or stops.", '"http://127.0.0.1:10000"'
    )
    token = Key(
        values.secret_reference, None, 'Its token: "env:NAME" or "file:PATH".', '"env:IRIS_TOKEN"', usual="none"
    )
    cluster = Key(values.text, None, "The cluster, by its name.", '"marin"')
    config = Key(values.text, None, "The cluster, by its file.", '"iris.yaml"')
    command = Key(values.text, None, "The iris command here.", '"iris"', usual='"iris"')
    onbox = Key(values.text, None, "The onbox command on the cluster.", '"onbox"', usual='"onbox"')
    args = ListKey(
        _word,
        "What a job asks for.",
        '["--cpu", "4", "--memory", "16GB"]',
        wanted='a list of words, such as ["--cpu", "4", "--memory", "16GB"]',
        usual="none",
    )


def _read(table: Table) -> Mapping[str, object]:
    found = {key.name: table.get(key) for key in IrisKeys.rows() if isinstance(key, Key)}
    return kept({**found, "args": table.get_list(IrisKeys.args)})


PART = EnginePart(
    keys=IrisKeys,
    read=_read,
    guarded=(
        GuardedKey("controller", "is asked about jobs, and told which to run", address=True),
        GuardedKey("token", "is sent to the controller", beside="controller"),
        GuardedKey("command", "runs here when a chain is handed to Iris", usual="iris", files=True),
        GuardedKey("config", "tells the iris command what to do", files=True),
        GuardedKey("onbox", "runs on the cluster", usual="onbox"),
    ),
    job_id=_job_id,
    job_wanted=_WANTED,
    job_example="/ada/llm-7b",
    box_template="""\
#backend = "iris"
# Where its controller or dashboard answers, and its token. Default: as in the engine's own table
#address = "http://127.0.0.1:10000"
#token = "env:IRIS_TOKEN"
#[boxes.cluster.watch]
#job = "/ada/llm-7b"
# Only for recover = "resume": the command, run here, that submits it anew, and does not wait
#resubmit = "iris --cluster marin job run --no-wait -- python train.py"
""",
)
