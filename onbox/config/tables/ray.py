"""Ray's part of a configuration: [ray], and how its jobs are named. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.tables.engine_part import Guarded, Part, kept

if TYPE_CHECKING:
    from collections.abc import Mapping

_WANTED = "the submission id, as `ray job submit` prints it, such as raysubmit_Xh3hF2"


def _read(table: Table) -> Mapping[str, object]:
    resources = Table(table.path_of("resources"), table.values.get("resources", {}), None, table.errors)
    custom = {name: resources.read(name, _amount, None) for name in resources.values}
    return kept(
        {
            "address": table.read("address", values.http_url, None),
            "token": table.read("token", values.secret_reference, None),
            "project": table.read("project", values.text, None),
            "onbox": table.read("onbox", values.text, None),
            "cpus": table.read("cpus", _amount, None),
            "gpus": table.read("gpus", _amount, None),
            "memory": table.read("memory", values.size, None),
            "resources": {name: amount for name, amount in custom.items() if amount is not None} or None,
        }
    )


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise Unwanted("a number of 0 or more")
    return float(value)


def _job_id(value: object) -> str:
    text = values.text(value).strip()
    if not re.fullmatch(r"[A-Za-z0-9_.:@-]{1,200}", text):
        raise Unwanted(_WANTED)
    return text


PART = Part(
    keys=("address", "token", "project", "onbox", "cpus", "gpus", "memory", "resources"),
    read=_read,
    template="""\
# Ray's dashboard; token: "env:NAME" or "file:PATH" (default: as Ray's own tools find it). project, onbox: the
# project directory and the onbox command there, where the cluster does not see this disk. What the command asks for.
#[ray]
#address = "http://127.0.0.1:8265"
#token = "env:RAY_AUTH_TOKEN"
#project = "/mnt/shared/@NAME@"
#onbox = "onbox"
#cpus = 1
#gpus = 0
#memory = "4GB"
#resources = { accelerator = 1 }
""",
    guarded=(
        Guarded("address", "is asked about jobs, and shown your token for Ray", address=True),
        Guarded("token", "is sent to Ray's address", beside="address"),
        Guarded("onbox", "runs on the cluster", usual="onbox"),
    ),
    job_id=_job_id,
    job_wanted=_WANTED,
    job_example="raysubmit_Xh3hF2",
)
