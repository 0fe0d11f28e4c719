"""What a command gets from the command line; apart from the parser, for who runs a command without one."""

from __future__ import annotations

from types import SimpleNamespace


class Options(SimpleNamespace):
    """What was typed: one attribute for each argument and option; of what may be given several times, a list."""
