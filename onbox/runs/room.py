"""Whether there is room for the next records of a run: one criterion for everybody who advises a resume. Pure."""

from __future__ import annotations

from onbox.model.units import counted, format_size
from onbox.named_tuple import NamedTuple

LEAST_BYTES = 1 << 16  # the records of a resume, and the first words of its stage
LEAST_INODES = 16  # slot, log, status and their temporary files


class RunRoom(NamedTuple):
    """What is free where a run writes. inodes_free: None where the file system does not count them."""

    path: str
    bytes_free: int
    inodes_free: int | None = None

    @property
    def short_of(self) -> str:
        """`bytes`, `inodes`, or "" where there is room."""
        if self.bytes_free < LEAST_BYTES:
            return "bytes"
        return "inodes" if self.inodes_free is not None and self.inodes_free < LEAST_INODES else ""

    @property
    def words(self) -> str:
        """What is missing, with the evidence."""
        if self.short_of == "inodes":
            return f"{self.path}: its disk has only {counted(self.inodes_free or 0, 'free inode')} now"
        return f"{self.path}: its disk has only {format_size(self.bytes_free)} free now"


def shortest(rooms: list[RunRoom]) -> RunRoom | None:
    """The first without room; None: there is room in all that were seen."""
    return next((room for room in rooms if room.short_of), None)
