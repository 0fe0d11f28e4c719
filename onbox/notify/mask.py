"""What may be shown: notices without secrets, URLs without what makes them one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.outside import safe_text

if TYPE_CHECKING:
    from onbox.contract.notices import Notice


def mask_url(url: str) -> str:
    """Scheme and host only: path, query, user and password may each be the secret. `https://hooks.slack.com/…`."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - the runner masks no URLs

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "…"
    if not parts.scheme or not host:
        return "…"
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}/…"


def without_secrets(notice: Notice) -> Notice:
    """The notice with every text redacted and free of control characters (line breaks and tabs stay)."""
    changes: dict[str, Any] = {
        key: safe_text(value)
        for key, value in notice._asdict().items()
        if isinstance(value, str) and key not in ("id", "at", "event", "run_id")
    }
    return notice._replace(**changes)
