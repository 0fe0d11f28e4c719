"""A target's URL as people may see it. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit


def mask_url(url: str) -> str:
    """Scheme and host only: path, query, user and password may each be the secret. `https://hooks.slack.com/…`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "…"
    if not parts.scheme or not host:
        return "…"
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}/…"
