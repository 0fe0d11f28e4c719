"""SHA-256, for what also runs where OpenSSL must not be loaded for weeks: hashlib takes 3.4 MiB when it is imported."""

from __future__ import annotations


def sha256_hex(data: bytes) -> str:
    """64 hex digits."""
    import hashlib  # noqa: PLC0415 - the runner, which holds this module, takes the results from run.json

    return hashlib.sha256(data).hexdigest()
