"""What a loader says of a file. Pure."""

from __future__ import annotations


class Broken(ValueError):
    """The file cannot be loaded; the text says what is wrong."""


class NotLoaded(ValueError):
    """The loader does not read it, and it may be whole: too long to be read into memory, or another program's format.
    The text says which.
    """
