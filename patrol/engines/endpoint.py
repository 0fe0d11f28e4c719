"""Where an engine answers: by the configuration here, never by what another machine says. Pure.

A run's own records name an address and a reference to a token, too. They are believed on this machine only: a box that
somebody else has taken over must not have our token sent to a place of its choice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.backends.cluster import Endpoint, endpoint_of
from onbox.config.fields import Unwanted
from onbox.config.values import http_url, secret_reference
from onbox.model.engines import BY_NAME, CLUSTERS
from onbox.trust import engine_not_accepted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings


def of_cluster(settings: Settings, box: BoxSettings) -> Endpoint | None:
    """Of a box that is a cluster; None where nobody says where its controller is."""
    table: dict[str, Any] = dict(settings.config.backends.get(box.backend) or {})
    if box.address is not None:
        table[BY_NAME[box.backend].address_key] = box.address
    if box.token is not None:
        table["token"] = box.token
    return endpoint_of(box.backend, table)


def of_run(settings: Settings, box: BoxSettings, engine: str, frozen: Mapping[str, str]) -> Endpoint | None:
    """Of a run on `box` that was handed to `engine`. frozen: what its own records say of the engine.

    On this machine the records say it, as `onbox status` reads them, where somebody here handed the run over; elsewhere
    only what the engine's table here names.
    """
    if engine not in CLUSTERS:
        return None
    if box.backend == "local":
        known = checked(engine, frozen)
        if not engine_not_accepted({"name": engine, **known}, settings.config_path, os.environ):
            return endpoint_of(engine, known)
    table = settings.config.backends.get(engine) or {}
    return endpoint_of(engine, table) if BY_NAME[engine].address_key in table else None


def checked(engine: str, frozen: Mapping[str, str]) -> dict[str, str]:
    """The address and the token's reference, where they are such."""
    found = {}
    for key, parse in ((BY_NAME[engine].address_key, http_url), ("token", secret_reference)):
        if key in frozen:
            try:
                found[key] = str(parse(frozen[key]))
            except Unwanted:
                continue
    return found


def how_to_name_it(engine: str) -> str:
    return f"set [{engine}] {BY_NAME[engine].address_key} in the onbox.toml here (a tunnel's end, say)"
