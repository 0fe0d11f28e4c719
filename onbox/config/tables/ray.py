"""Ray's part of a configuration: [ray], and how its jobs are named. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys, OwnKey
from onbox.config.tables.engine_part import EnginePart, GuardedKey, kept

if TYPE_CHECKING:
    from collections.abc import Mapping

_WANTED = "the submission id, as `ray job submit` prints it, such as raysubmit_Xh3hF2"


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise Unwanted("a number of 0 or more")
    return float(value)


def _job_id(value: object) -> str:
    text = values.text(value).strip()
    if not re.fullmatch(r"[A-Za-z0-9_.:@-]{1,200}", text):
        raise Unwanted(_WANTED)
    return text


class RayKeys(Keys):
    """[ray]."""

    HEADER = "[ray]"
    HELP = "Ray's dashboard, and what the chain's job asks for."
    address = Key(values.http_url, None, "Where it answers.", '"http://127.0.0.1:8265"')
    token = Key(
        values.secret_reference,
        None,
        'Its token: "env:NAME" or "file:PATH".',
        '"env:RAY_AUTH_TOKEN"',
        usual="as Ray's own tools find it",
    )
    project = Key(
        values.text,
        None,
        "The project directory there, if the cluster does not see this disk.",
        '"/mnt/shared/@NAME@"',
    )
    onbox = Key(values.text, None, "The onbox command there.", '"onbox"', usual='"onbox"')
    cpus = Key(_amount, None, "CPUs.", "1", usual="as Ray decides")
    gpus = Key(_amount, None, "GPUs.", "0", usual="as Ray decides")
    memory = Key(values.size, None, "Memory.", '"4GB"', usual="as Ray decides")
    resources = OwnKey("Resources of the cluster's own.", "{ accelerator = 1 }", usual="none")


def _read(table: Table) -> Mapping[str, object]:
    resources = Table(table.path_of("resources"), table.values.get("resources", {}), None, table.errors)
    custom = {name: resources.read(name, _amount, None) for name in resources.values}
    found = {key.name: table.get(key) for key in RayKeys.rows() if isinstance(key, Key)}
    return kept({**found, "resources": {name: amount for name, amount in custom.items() if amount is not None} or None})


PART = EnginePart(
    keys=RayKeys,
    read=_read,
    guarded=(
        GuardedKey("address", "is asked about jobs, and shown your token for Ray", address=True),
        GuardedKey("token", "is sent to Ray's address", beside="address"),
        GuardedKey("onbox", "runs on the cluster", usual="onbox"),
    ),
    job_id=_job_id,
    job_wanted=_WANTED,
    job_example="raysubmit_Xh3hF2",
)
