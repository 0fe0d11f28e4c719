"""`python -m handbook`."""

from __future__ import annotations

from handbook.cli import entry

if __name__ == "__main__":
    entry()
