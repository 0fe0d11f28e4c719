"""Expected trouble, as one clear line each: what, where, what was seen, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onbox.contract.exits import Exit


class Trouble(Exception):
    """Something a user can put right. `exit` is the code that the command ends with; the text may have many lines."""

    def __init__(self, exit_code: Exit, text: str) -> None:
        self.exit_code = exit_code
        super().__init__(text)
