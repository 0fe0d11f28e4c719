"""`python -m patrol`."""

from patrol.cli import entry

if __name__ == "__main__":
    entry()
