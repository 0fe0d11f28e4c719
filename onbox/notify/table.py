"""Every format by name, and which one a URL is of."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from onbox.notify.formats import (
    dingtalk,
    discord,
    email,
    exotic,
    feishu,
    generic,
    healthchecks,
    ntfy,
    slack,
    teams,
    telegram,
    wecom,
)

if TYPE_CHECKING:
    from onbox.notify.types import Format

FORMATS: tuple[Format, ...] = (
    generic.FORMAT,
    slack.FORMAT,
    discord.FORMAT,
    teams.FORMAT,
    feishu.FORMAT,
    feishu.LARK,
    dingtalk.FORMAT,
    wecom.FORMAT,
    telegram.FORMAT,
    ntfy.FORMAT,
    healthchecks.FORMAT,
    email.FORMAT,
    exotic.FORMAT,
)
BY_NAME: dict[str, Format] = {one.name: one for one in FORMATS}
_SCHEMES = {"smtp": "email", "smtps": "email"}
APPRISE = "apprise+"


def format_of(url: str, wished: str | None) -> Format:
    """The format of a target: the configured one, or what its URL says, or generic JSON."""
    if wished is not None:
        return BY_NAME[wished]
    if url.lower().startswith(APPRISE):
        return BY_NAME["apprise"]
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return BY_NAME["generic"]
    if parts.scheme.lower() in _SCHEMES:
        return BY_NAME[_SCHEMES[parts.scheme.lower()]]
    return next((one for one in FORMATS if any(_is_of(host, name) for name in one.hosts)), BY_NAME["generic"])


def _is_of(host: str, name: str) -> bool:
    return host.endswith(name) if name.startswith(".") else host == name
