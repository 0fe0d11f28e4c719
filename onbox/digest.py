"""SHA-256 by who needs one: hashlib loads OpenSSL when it is imported, 3.9 MiB in a runner for weeks."""

from __future__ import annotations


def sha256_hex(data: bytes) -> str:
    """64 hex digits."""
    import hashlib  # noqa: PLC0415 - as above: the runner takes the results from run.json

    return hashlib.sha256(data).hexdigest()
