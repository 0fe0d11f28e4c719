"""A folder here against its copy on a box: names and bytes, not the number of files alone. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.units import format_size
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NAMED = 5


class Compared(NamedTuple):
    """Names below the folder. missing: not on the box. short: there, with fewer bytes. differs: with more bytes, or
    with another checksum. extra: only on the box. sizes: here and there, in bytes.
    """

    here: Mapping[str, int]
    there: Mapping[str, int]
    missing: tuple[str, ...]
    short: tuple[str, ...]
    differs: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        return not (self.missing or self.short or self.differs)

    @property
    def wanted(self) -> list[str]:
        """What has to be sent, in the order of its names."""
        return sorted({*self.missing, *self.short, *self.differs})


def compare(here: Mapping[str, int], there: Mapping[str, int], unlike: Iterable[str] = ()) -> Compared:
    """unlike: names of equal size whose checksums differ."""
    both = here.keys() & there.keys()
    return Compared(
        here,
        there,
        missing=tuple(sorted(here.keys() - there.keys())),
        short=tuple(sorted(name for name in both if there[name] < here[name])),
        differs=tuple(sorted({name for name in both if there[name] > here[name]} | set(unlike))),
        extra=tuple(sorted(there.keys() - here.keys())),
    )


def compared_line(label: str, found: Compared) -> str:
    """`data: 7 of 10 files, 3.1 GB of 4.4 GB; missing f8 f9 f10; short f7 (0 B of 2.0 MB)`."""
    whole = [name for name in found.here if name not in {*found.missing, *found.short, *found.differs}]
    there = sum(min(found.there.get(name, 0), size) for name, size in found.here.items())
    words = [
        f"{len(whole)} of {len(found.here)} files, {format_size(there)} of {format_size(sum(found.here.values()))}"
    ]
    words += [f"missing {_some(found.missing)}"] if found.missing else []
    short = [f"{name} ({format_size(found.there[name])} of {format_size(found.here[name])})" for name in found.short]
    words += [f"short {_some(short)}"] if short else []
    words += [f"different {_some(found.differs)}"] if found.differs else []
    words += [f"{len(found.extra)} extra on the box: {_some(found.extra)}"] if found.extra else []
    return f"{safe_line(label, 80)}: " + "; ".join(words)


def _some(names: Sequence[str]) -> str:
    shown = " ".join(safe_line(name, 80) for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
