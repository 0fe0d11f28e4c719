"""`python -m sentinels`."""

from sentinels.cli import entry

entry()
