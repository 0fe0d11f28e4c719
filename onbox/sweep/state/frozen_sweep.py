"""A sweep's run.json: written when it is launched, read by its runner and by `onbox sweep resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.paths import SWEEP
from onbox.contract.runfile import DamagedRunfile, is_sweep, parse_head, parse_sweep, render_sweep_file
from onbox.model.manifest import Stage
from onbox.model.sweep import Frozen, frozen_from_dict, frozen_to_dict
from onbox.named_tuple import NamedTuple
from onbox.system.files import LINE_LIMIT_BYTES, open_plain, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead


class SweepDefinition(NamedTuple):
    """A sweep as it lies on the disk."""

    head: RunHead
    frozen: Frozen


def write_definition(paths: RunPaths, head: Mapping[str, Any], frozen: Frozen) -> None:
    """Raises StateNotWritten."""
    stage = Stage(SWEEP, ("onbox", "sweep", "resume", str(head["run"])))
    text = render_sweep_file({**head, "sweep": True}, stage, str(head["chain_fingerprint"]), frozen_to_dict(frozen))
    replace_file(paths.manifest, text)


def read_definition(paths: RunPaths) -> SweepDefinition | None:
    """None: there is no run. Raises OSError; Damaged, also where it is a run and no sweep."""
    try:
        file = open_plain(paths.manifest)
    except FileNotFoundError:
        return None
    with file:
        head = parse_head(file.readline(LINE_LIMIT_BYTES))
        if not is_sweep(head):
            raise DamagedRunfile(f"{paths.manifest} is of a chain, not of a sweep")
        try:
            return SweepDefinition(head, frozen_from_dict(parse_sweep(file.readline(LINE_LIMIT_BYTES))))
        except (KeyError, TypeError, AttributeError) as error:
            raise DamagedRunfile(f"run.json: the definition of its cells cannot be understood ({error})") from error
