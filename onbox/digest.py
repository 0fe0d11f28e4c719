"""SHA-256 by who needs one, as the standard library's own `random` gets it: hashlib loads OpenSSL, which takes 3 ms of
every start and 3.9 MiB in a runner for weeks.
"""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore] # Python 3.12
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore] # before
    except ImportError:  # an interpreter that was built without its own
        from hashlib import sha256


def sha256_hex(data: bytes) -> str:
    """64 hex digits."""
    digits: str = sha256(data).hexdigest()
    return digits
