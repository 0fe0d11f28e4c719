"""Whether what a file holds can be the key or the address that a configuration takes it for. Pure.

A private key, a password file or a notebook is neither: whoever names one, by mistake or not, must not have it sent.
"""

from __future__ import annotations

KEY_CHARACTERS = 256  # of a tracker's or a webhook's key; the longest known has 86
ADDRESS_CHARACTERS = 4096  # of a URL with a signature in it, and of a token that is a signed document (JWT)


def key_problem(text: str, *, limit: int = KEY_CHARACTERS) -> str | None:
    """Why the text, without blanks around it, is neither; None: it may be one. Never with a piece of it."""
    if len(text.splitlines()) > 1:
        return "has more than one line, so it is not a key"
    if len(text) > limit:
        return f"has more than {limit} characters, so it is not a key"
    if not text.isprintable():
        return "has characters that no key has"
    return None
