"""Notices without secrets. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.outside import safe_text

if TYPE_CHECKING:
    from onbox.contract.notices import Notice


def without_secrets(notice: Notice) -> Notice:
    """The notice with every text redacted and free of control characters (line breaks and tabs stay)."""
    changes: dict[str, Any] = {
        key: safe_text(value)
        for key, value in notice._asdict().items()
        if isinstance(value, str) and key not in ("id", "at", "event", "run_id")
    }
    return notice._replace(**changes)
