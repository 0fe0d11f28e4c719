"""`python -m onbox`, for when the script is not on PATH."""

from onbox.cli.main import entry

entry()
