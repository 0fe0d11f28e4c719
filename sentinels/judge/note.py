"""What is known of a target while it is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentinels.targets import Target


class Noted:
    """A target with its note: one line; "" for nothing worth telling. warns: a person must see it at once, as the wait
    may last longer than expected.
    """

    target: Target
    note = ""
    warns = False

    def tell(self, note: str, *, warn: bool = False) -> None:
        """This is known now, instead of what was."""
        self.note, self.warns = note, warn
