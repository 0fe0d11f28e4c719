"""What a loader says of a file. Pure."""

from __future__ import annotations


class Broken(ValueError):
    """The file cannot be loaded; the text says what is wrong."""


class LoadTooLong(ValueError):
    """It is longer than what this loader reads into memory; the text says how long it may be."""
