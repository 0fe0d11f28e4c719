"""The token for an engine: looked up when it is needed, kept nowhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.config.key_text import ADDRESS_CHARACTERS, key_problem
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN_LIMIT_BYTES = 65536


class NoToken(ValueError):
    """The configured reference leads nowhere. The text names the reference, never a value."""


def find_token(reference: str | None, environ: Mapping[str, str]) -> str | None:
    """What `env:NAME` or `file:PATH` holds; None without a reference. Raises NoToken."""
    if reference is None:
        return None
    kind, _, name = reference.partition(":")
    if kind == "env":
        if not environ.get(name):
            raise NoToken(f"the variable {name}, which holds its token, is not set")
        return environ[name].strip()
    found = _read(name)
    if found is None:
        raise NoToken(f"the file {name}, which holds its token, cannot be read")
    if problem := key_problem(found, limit=ADDRESS_CHARACTERS):
        raise NoToken(f"the file {name}, which holds its token, {problem}")
    return found


def read_token_file(path: str) -> str | None:
    """The token in a file; None if it cannot be read, is empty, or holds something else."""
    found = _read(path)
    return None if found is None or key_problem(found, limit=ADDRESS_CHARACTERS) else found


def _read(path: str) -> str | None:
    try:
        text = read_file(os.path.expanduser(path), TOKEN_LIMIT_BYTES)
    except OSError:
        return None
    return (text or b"").decode("utf-8", "replace").strip() or None


def bearer(token: str | None) -> tuple[tuple[str, str], ...]:
    """The header that shows a token; none without one."""
    return () if token is None else (("Authorization", f"Bearer {token}"),)
