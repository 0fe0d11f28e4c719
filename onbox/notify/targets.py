"""Targets at the moment of delivery: their secrets looked up, and what is known of how each one does.

What is looked up never leaves this process; what is written down is the masked URL.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from onbox.config.key_text import ADDRESS_CHARACTERS, KEY_CHARACTERS, key_problem
from onbox.contract.notify_targets import notify_from_dict
from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten, read_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.notify_targets import NotifyTarget
    from onbox.contract.paths import RunPaths

SECRET_LIMIT_BYTES = 8192


class NotSet(Exception):
    """A reference that points to nothing here. Its messages wait: it may be set where the next deliverer starts."""


class Resolved(NamedTuple):
    """A target with what its references hold. secret: None if it has none. Never printed, never written."""

    target: NotifyTarget
    url: str
    secret: str | None

    def __repr__(self) -> str:
        return f"Resolved({self.target.name!r})"


def look_up_reference(
    reference: str, environ: Mapping[str, str], folder: str, *, limit: int = ADDRESS_CHARACTERS
) -> str:
    """What `env:NAME` or `file:PATH` (relative to `folder`) holds, without blanks around it. limit: of the characters
    that a file may hold. Raises NotSet.
    """
    kind, _, rest = reference.partition(":")
    if kind == "env":
        value = environ.get(rest, "").strip()
        if not value:
            raise NotSet(f"the variable {rest} is not set here")
        return value
    path = os.path.join(folder, os.path.expanduser(rest))
    try:
        text = read_file(path, SECRET_LIMIT_BYTES)
    except OSError as error:
        raise NotSet(f"the file {path} cannot be read here ({error.strerror})") from error
    if text is None:
        raise NotSet(f"there is no file {path} here")
    value = os.fsdecode(text).strip()
    if not value:
        raise NotSet(f"the file {path} is empty")
    if problem := key_problem(value, limit=limit):
        raise NotSet(f"the file {path} {problem}")
    return value


def resolve_target(target: NotifyTarget, environ: Mapping[str, str], folder: str) -> Resolved:
    """Look up a target's references. Raises NotSet."""
    url = look_up_reference(target.url, environ, folder)
    secret = None if target.secret is None else look_up_reference(target.secret, environ, folder, limit=KEY_CHARACTERS)
    return Resolved(target, url, secret)


class TargetStanding(NamedTuple):
    """How a target does: only a help for the schedule, except `group`, which says what a try that is under way stands
    for. Times are seconds since the epoch.

    not_before: no try sooner. tries: of the message at the head, in vain so far. reason: of the last one. group: the
    file names that one message stands for since its first try. last_key, last_sent, repeats: the key of the message
    that was sent last, when, and how often in a row. recent: when the last ones were sent, for rate limits.
    """

    not_before: float = 0.0
    tries: int = 0
    reason: str | None = None
    status: int | None = None
    shown_url: str | None = None
    format: str | None = None
    group: tuple[str, ...] = ()
    last_key: tuple[str | None, ...] = ()
    last_sent: float = 0.0
    repeats: int = 0
    recent: tuple[float, ...] = ()


def _standing_path(paths: RunPaths, target: str) -> str:
    return f"{paths.outbox}/.target-{target}"


def read_standing(paths: RunPaths, target: str) -> TargetStanding:
    """How a target did; a fresh one if nobody wrote it down or it cannot be read."""
    try:
        data = json.loads(read_file(_standing_path(paths, target), 1 << 18) or b"{}")
        known = {key: value for key, value in data.items() if key in TargetStanding._fields}
        for key in ("group", "last_key", "recent"):
            known[key] = tuple(known.get(key, ()))
        return TargetStanding(**known)
    except (OSError, ValueError, TypeError, AttributeError):
        return TargetStanding()


def write_standing(paths: RunPaths, target: str, standing: TargetStanding, *, durable: bool = False) -> None:
    """Raises StateNotWritten if durable; else it is only a help, and the next start does without."""
    text = json.dumps({"schema": 1, **standing._asdict()}).encode("ascii")
    try:
        replace_file(_standing_path(paths, target), text, durable=durable)
    except StateNotWritten:
        if durable:
            raise


# -- when a deliverer is next worth starting


def next_due(paths: RunPaths) -> float | None:
    """When the last deliverer said that something is due again, in seconds since the epoch; None: it did not say."""
    try:
        return float(read_file(f"{paths.outbox}/.due", 64) or b"")
    except (OSError, ValueError):
        return None


def write_next_due(paths: RunPaths, due: float) -> None:
    try:
        replace_file(f"{paths.outbox}/.due", f"{due:.3f}\n".encode("ascii"), durable=False)
    except StateNotWritten:
        return  # then the next heartbeat starts one


def frozen_targets(head_data: Mapping[str, Any]) -> dict[str, NotifyTarget]:
    """The targets of a run's frozen definition, by name."""
    return {target.name: target for target in notify_from_dict(head_data.get("notify")).targets}
