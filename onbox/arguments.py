"""The command line of every program of this project: argparse, with its exit code and its layout of help texts."""

from __future__ import annotations

import argparse
from typing import NoReturn

from onbox.contract.exits import Exit


class Parser(argparse.ArgumentParser):
    """argparse with this tool's exit code for a wrong command line, and help texts laid out as written."""

    def __init__(self, **settings: object) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        self.exit(int(Exit.USAGE), f"{self.prog}: {message}\n  see: {self.prog} --help\n")
