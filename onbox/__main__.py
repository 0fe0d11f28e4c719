"""`python -m onbox`, for when the script is not on PATH."""

from onbox.cli import entry

entry()
