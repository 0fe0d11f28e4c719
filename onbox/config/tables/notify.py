"""[notify] and [notify.targets.*]: whom to tell, of what, and how patiently. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys, ListKey, OwnKey
from onbox.contract.names import name_problem
from onbox.contract.notify_targets import (
    DEFAULT_NOTIFY_EVENTS,
    FORMATS,
    NOTIFY_EVENTS,
    DeliveryPace,
    Notify,
    NotifyTarget,
    name_of_reference,
)

if TYPE_CHECKING:
    from collections.abc import Collection

ATTACH_LIMIT_BYTES = 64 * 1024
TARGET_LIMIT = 50

_EVENT = values.one_of(NOTIFY_EVENTS, "an event to tell of")
_EVENTS_WANTED = 'a list such as ["stage_failed", "chain_done"]'
_URL_WANTED = 'where the URL is: "env:NAME" or "file:PATH"'
_PACE = DeliveryPace()


def _attachment(value: object) -> int:
    count = values.size(value)
    if count > ATTACH_LIMIT_BYTES:
        raise Unwanted(f'a size up to "{ATTACH_LIMIT_BYTES // 1024}KiB"')
    return count


class NotifyKeys(Keys):
    """[notify]."""

    HEADER = "[notify]"
    HELP = "Who gets messages, and about what. Messages that cannot be delivered are kept and retried."
    urls = ListKey(
        values.secret_reference,
        'Where to: each "env:NAME" or "file:PATH", which holds the URL. The format is recognised by the URL.',
        '["env:ONBOX_WEBHOOK"]',
        usual="nowhere",
        secret=True,
    )
    on = ListKey(
        _EVENT,
        'About which events; "stage_done", "interrupted" and "stopped" can be added.',
        "[" + ", ".join(f'"{event}"' for event in DEFAULT_NOTIFY_EVENTS) + "]",
        wanted=_EVENTS_WANTED,
        usual="these",
    )
    targets = OwnKey("Targets with settings of their own: see below.", "")
    attempt_timeout = Key(
        values.positive_duration,
        _PACE.attempt_seconds,
        "How long one try may take, whatever the other side does.",
        '"20s"',
        usual='"20s"',
    )
    backoff = Key(
        values.positive_duration,
        _PACE.backoff_seconds,
        "How long to wait before the second try; twice as long each time, up to the limit.",
        '"2s"',
        usual='"2s"',
    )
    backoff_limit = Key(values.positive_duration, _PACE.backoff_limit_seconds, "The limit.", '"60s"', usual='"60s"')
    give_up = Key(
        values.positive_duration,
        _PACE.give_up_seconds,
        "A message that could not be delivered for this long is put aside as dead.",
        '"7d"',
        usual='"7d"',
    )


class TargetKeys(Keys):
    """[notify.targets.*]."""

    HEADER = "[notify.targets.team]"
    HELP = "A target with settings of its own, under a name of your choice."
    url = Key(
        values.secret_reference, None, 'Where to: "env:NAME" or "file:PATH".', '"env:TEAM_WEBHOOK"', wanted=_URL_WANTED
    )
    format = Key(
        values.one_of(FORMATS, "a format of messages"),
        None,
        "One of " + ", ".join(FORMATS) + ".",
        '"feishu"',
        usual="known by the URL",
    )
    on = OwnKey("Of which events.", '["stage_failed", "chain_done"]', usual="as in [notify]")
    secret = Key(values.secret_reference, None, "Signs the message.", '"env:TEAM_SECRET"', usual="not signed")
    attach_log = Key(
        _attachment, 0, "Attach this much of the end of the stage's log, without secrets.", '"4KB"', usual="0"
    )


def read_notify(table: Table) -> Notify:
    """What [notify] says; every error goes into the table's list."""
    urls = table.get_list(NotifyKeys.urls)
    on = _read_events(table, DEFAULT_NOTIFY_EVENTS)
    targets: dict[str, NotifyTarget] = {}
    for url in dict.fromkeys(urls):
        name = _free_name(name_of_reference(url), targets)
        targets[name] = NotifyTarget(name, url, on)
    named = Table(table.path_of("targets"), table.values.get("targets", {}), None, table.errors, secret=True)
    for name, value in named.values.items():
        target = _read_target(named, name, value, on)
        if name in targets:
            named.fail(name, name, "a unique name: [notify] urls has one that is called so already")
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


def _read_target(named: Table, name: str, value: object, on: tuple[str, ...]) -> NotifyTarget | None:
    problem = name_problem(name)
    if problem is not None:
        named.fail(name, name, problem)
    table = Table(named.path_of(name), value, TargetKeys, named.errors, secret=True)
    url = table.get(TargetKeys.url)
    target = NotifyTarget(
        name,
        url or "",
        _read_events(table, on),
        table.get(TargetKeys.format),
        table.get(TargetKeys.secret),
        table.get(TargetKeys.attach_log),
    )
    return target if url else None


def _read_pace(table: Table) -> DeliveryPace:
    return DeliveryPace(
        table.get(NotifyKeys.attempt_timeout),
        table.get(NotifyKeys.backoff),
        table.get(NotifyKeys.backoff_limit),
        table.get(NotifyKeys.give_up),
    )
