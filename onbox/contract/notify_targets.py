"""Whom to tell, and of what: as the configuration says it and as run.json keeps it. References only, never a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

# The words of `[notify] on`, and the journal's events behind each.
EVENTS_OF: dict[str, tuple[str, ...]] = {
    "stage_done": (Event.STAGE_DONE,),
    "stage_failed": (Event.STAGE_FAILED,),
    "stalled": (Event.STAGE_STALLED,),
    "chain_done": (Event.CHAIN_DONE,),
    "chain_failed": (Event.CHAIN_FAILED,),
    "gate_refused": (Event.GATE_REFUSED,),
    "tracker_drift": (Event.TRACKER_DRIFT,),
    "patrol": (Event.PATROL_SILENT, Event.PATROL_BACK),  # and what a patrol tells of: it has no journal
    "detected": (Event.DETECTED, Event.DETECTED_OVER),
    "interrupted": (Event.CHAIN_INTERRUPTED, Event.STAGE_INTERRUPTED),
    "stopped": (Event.CHAIN_STOPPED,),
}
NOTIFY_EVENTS = tuple(EVENTS_OF)
# The end of a chain tells what its stages have done, and who stops a chain or a machine knows it.
DEFAULT_NOTIFY_EVENTS = NOTIFY_EVENTS[1:9]

# Names of the formats; `onbox/notify/table.py` has the code of each. None: found by the URL.
FORMATS = (
    "generic",
    "slack",
    "discord",
    "teams",
    "feishu",
    "lark",
    "dingtalk",
    "wecom",
    "telegram",
    "ntfy",
    "healthchecks",
    "email",
    "apprise",
)


class NotifyTarget(NamedTuple):
    """One place to tell. url, secret: `env:NAME` or `file:PATH`, looked up when it is delivered; secret None: nothing
    is signed. format None: found by the URL. attach_log_bytes: how much of the end of the stage's log goes along.
    """

    name: str
    url: str
    on: tuple[str, ...] = DEFAULT_NOTIFY_EVENTS
    format: str | None = None
    secret: str | None = None
    attach_log_bytes: int = 0


class DeliveryPace(NamedTuple):
    """How delivery goes about it, in seconds. attempt: one try on the wall clock, whatever the other side does.
    backoff: before the second try, twice as long each time up to backoff_limit. give_up: what is older goes to dead/.
    """

    attempt_seconds: float = 20.0
    backoff_seconds: float = 2.0
    backoff_limit_seconds: float = 60.0
    give_up_seconds: float = 7 * 86400.0


class Notify(NamedTuple):
    """`[notify]`: the targets in the order of the file (those of `urls` first), and the pace."""

    targets: tuple[NotifyTarget, ...] = ()
    pace: DeliveryPace = DeliveryPace()

    @property
    def urls(self) -> tuple[str, ...]:
        """Every reference that a delivery will look up."""
        found = [ref for target in self.targets for ref in (target.url, target.secret) if ref is not None]
        return tuple(dict.fromkeys(found))


def name_of_reference(reference: str) -> str:
    """The name of a target that has none: that of the variable, or of the path without what no name may hold."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in reference.partition(":")[2])
    return name.strip("-._")[-60:].lstrip("-._") or "target"


def target_to_dict(target: NotifyTarget) -> dict[str, Any]:
    """As in run.json and in an outbox file: what is at its default is left out."""
    defaults = NotifyTarget(target.name, target.url, on=target.on)._asdict()
    kept = {key: value for key, value in target._asdict().items() if value != defaults[key]}
    return {"name": target.name, "url": target.url, "on": list(target.on), **kept}


def target_from_dict(data: Mapping[str, Any]) -> NotifyTarget:
    """The inverse of `target_to_dict`; unknown fields are ignored. Raises KeyError, ValueError, TypeError."""
    secret, form = data.get("secret"), data.get("format")
    return NotifyTarget(
        str(data["name"]),
        str(data["url"]),
        tuple(map(str, data.get("on", DEFAULT_NOTIFY_EVENTS))),
        None if form is None else str(form),
        None if secret is None else str(secret),
        int(data.get("attach_log_bytes", 0)),
    )


def notify_to_dict(notify: Notify) -> dict[str, Any]:
    """The field `notify` of run.json."""
    return {"targets": [target_to_dict(target) for target in notify.targets], "pace": notify.pace._asdict()}


def notify_from_dict(data: Mapping[str, Any] | None) -> Notify:
    """The inverse of `notify_to_dict`; None (a run frozen before there were notifications): nobody is told."""
    if not data:
        return Notify()
    pace = {key: float(value) for key, value in (data.get("pace") or {}).items() if key in DeliveryPace._fields}
    return Notify(tuple(target_from_dict(one) for one in data.get("targets", ())), DeliveryPace(**pace))
