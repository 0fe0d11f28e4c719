"""Tables of `df` in a log: a filesystem with room for bytes and none for files has no inodes left. Pure."""

from __future__ import annotations

from onbox.triage.reading import signs
from onbox.triage.reading.record import SeenLine

_BELOW_HEADER = 8  # lines that a table has


class MountTables:
    """Takes lines, and says where one shows that no inodes are left."""

    def __init__(self) -> None:
        self.header = -100
        self.with_room: set[tuple[str, str]] = set()
        self.without: dict[tuple[str, str], SeenLine] = {}

    def take(self, number: int, text: str, said: str) -> SeenLine | None:
        """said: the line without its prefixes."""
        if signs.INODE_HEADER.search(text):
            self.header = number
        found = SeenLine(number, text) if signs.INODES_FULL.search(text) else None
        row = signs.DF_ROW.match(said) or signs.DF_OUTPUT_ROW.match(said)
        if not row:
            return found
        mount = (row[1], row[row.lastindex or 1])
        if float(row[2].rstrip(".") or 0) > 0:
            self.with_room.add(mount)
        elif row[3] == "100":
            self.without[mount] = SeenLine(number, text)
            if number - self.header <= _BELOW_HEADER:
                found = self.without[mount]
        if mount in self.with_room and mount in self.without:  # two tables: the other one counts bytes
            found = self.without[mount]
        return found
