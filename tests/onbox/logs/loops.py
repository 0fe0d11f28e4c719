"""Logs of loops, written down, and what is read of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.progress import read_progress

if TYPE_CHECKING:
    from onbox.contract.progress import Progress


def read(log: str) -> Progress:
    """The progress that a log shows."""
    return read_progress(log.encode())


def lines(form: str, *numbers: int) -> str:
    """A line for each number, which stands where `form` has `#`."""
    return "".join(form.replace("#", str(at)) + "\n" for at in numbers)
