"""What an engine's own module says of its part of a configuration: `NAME.py` beside this holds one `EnginePart` as `PART`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onbox.config.fields import Table
    from onbox.config.keys import Keys

Options = tuple[tuple[str, str | None], ...]


class GuardedKey(NamedTuple):
    """A key of the table that is used only where somebody accepted it, as a `TrustedKey` of `trust_keys.py`.

    usual: the value that nobody is asked about. address: nobody is asked about one of this machine. beside: the key
    that says where it goes.
    """

    key: str
    does: str
    usual: str | None = None
    address: bool = False
    beside: str = ""
    files: bool = False


class EnginePart(NamedTuple):
    """keys: the engine's table. read: what it means. guarded: see there. job_id, job_wanted, job_example: of a job that
    somebody else submitted, where the engine is asked over HTTP. box_template: such a box, as the template writes it.
    read_options: of the keys `sbatch`, here and in every stage.
    """

    keys: type[Keys]
    read: Callable[[Table], Mapping[str, object]]
    guarded: tuple[GuardedKey, ...] = ()
    job_id: Callable[[object], str] | None = None
    job_wanted: str = ""
    job_example: str = ""
    box_template: str = ""
    read_options: Callable[[Table], Options] | None = None


def kept(found: Mapping[str, object]) -> Mapping[str, object]:
    """Only what is set."""
    return MappingProxyType({key: value for key, value in found.items() if value not in (None, ())})
