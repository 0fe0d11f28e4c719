"""[notify] and [notify.targets.*]: whom to tell, of what, and how patiently. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.contract.names import name_problem
from onbox.contract.notify_targets import (
    DEFAULT_NOTIFY_EVENTS,
    FORMATS,
    NOTIFY_EVENTS,
    Notify,
    Pace,
    Target,
    name_of_reference,
)

if TYPE_CHECKING:
    from collections.abc import Collection

NOTIFY_KEYS = ("urls", "on", "targets", "attempt_timeout", "backoff", "backoff_limit", "give_up")
TARGET_KEYS = ("url", "format", "on", "secret", "attach_log")
ATTACH_LIMIT_BYTES = 64 * 1024
TARGET_LIMIT = 50

_EVENT = values.one_of(NOTIFY_EVENTS, "an event to tell of")
_EVENTS_WANTED = 'a list such as ["stage_failed", "chain_done"]'
_URL_WANTED = 'where the URL is: "env:NAME" or "file:PATH"'


def read_notify(table: Table) -> Notify:
    """What [notify] says; every error goes into the table's list."""
    urls = table.read_list("urls", values.secret_reference, 'a list such as ["env:ONBOX_WEBHOOK"]', secret=True)
    on = _read_events(table, DEFAULT_NOTIFY_EVENTS)
    targets: dict[str, Target] = {}
    for url in dict.fromkeys(urls):
        name = _free_name(name_of_reference(url), targets)
        targets[name] = Target(name, url, on)
    named = Table(table.path_of("targets"), table.values.get("targets", {}), None, table.errors, secret=True)
    for name, value in named.values.items():
        target = _read_target(named, name, value, on)
        if name in targets:
            named.fail(name, name, "a name of its own: [notify] urls has one that is called so already")
        elif target is not None:
            targets[name] = target
    if len(targets) > TARGET_LIMIT:
        table.fail("targets", f"{len(targets)} targets", f"at most {TARGET_LIMIT} targets")
    return Notify(tuple(targets.values()), _read_pace(table))


def _free_name(name: str, taken: Collection[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free


def _read_events(table: Table, default: tuple[str, ...]) -> tuple[str, ...]:
    on = table.read_list("on", _EVENT, _EVENTS_WANTED)
    return on if "on" in table else default


def _read_target(named: Table, name: str, value: object, on: tuple[str, ...]) -> Target | None:
    problem = name_problem(name)
    if problem is not None:
        named.fail(name, name, problem)
    table = Table(named.path_of(name), value, TARGET_KEYS, named.errors, secret=True)
    url = table.require("url", values.secret_reference, None, _URL_WANTED)
    target = Target(
        name,
        url or "",
        _read_events(table, on),
        table.read("format", values.one_of(FORMATS, "a format of messages"), None),
        table.read("secret", values.secret_reference, None),
        table.read("attach_log", _attachment, 0),
    )
    return target if url else None


def _attachment(value: object) -> int:
    count = values.size(value)
    if count > ATTACH_LIMIT_BYTES:
        raise Unwanted(f'a size up to "{ATTACH_LIMIT_BYTES // 1024}KiB"')
    return count


def _read_pace(table: Table) -> Pace:
    default = Pace()
    return Pace(
        table.read("attempt_timeout", values.positive_duration, default.attempt_seconds),
        table.read("backoff", values.positive_duration, default.backoff_seconds),
        table.read("backoff_limit", values.positive_duration, default.backoff_limit_seconds),
        table.read("give_up", values.positive_duration, default.give_up_seconds),
    )
