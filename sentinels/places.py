"""Where targets lie: from words and the configuration to a host and a full path there. Reads no file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from patrol import ssh
from sentinels.channel import LOCAL
from sentinels.targets import BadTarget, Kind, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.boxes import BoxSettings
    from patrol.settings import Settings


class UnknownBox(ValueError):
    """The configuration does not say what is needed to find the target."""


class Place(NamedTuple):
    """One target where it lies. key: tells the target from every other one, for the register."""

    target: Target
    box: ssh.Target
    path: str

    @property
    def key(self) -> str:
        fields = (self.box.host or "", self.target.kind.value, self.path, self.target.regex, str(self.target.fails))
        return "\0".join(fields)


def find_place(target: Target, settings: Settings, folder: str) -> Place:
    """The target's host and path. folder: where relative paths here begin. Raises UnknownBox, BadTarget."""
    boxes, words = settings.config.boxes, settings.ssh_command
    if target.box is None:
        _refuse_lookalike(target, boxes, folder)
        return Place(target, ssh.Target(LOCAL, None), _local_path(target, folder))
    box = next((one for one in boxes if one.name == target.box), None)
    if box is None:
        return Place(target, ssh.Target(target.box, target.box, words), _path_of_host(target, boxes))
    if box.backend not in ("ssh", "local"):
        raise UnknownBox(f"[boxes.{box.name}] backend = {box.backend!r}: only boxes of ssh or local can be waited on")
    host = None if box.backend == "local" else box.host
    return Place(target, ssh.Target(box.name, host, words), _path_on_box(target, box, settings.state_dir_of(box)))


def _refuse_lookalike(target: Target, boxes: Sequence[BoxSettings], folder: str) -> None:
    """`gpu1/digits` is how the patrol shows a run; as a path here it would be waited for in vain."""
    box, slash, run = target.path.partition("/")
    if slash and box in {one.name for one in boxes} and not os.path.isdir(os.path.join(folder, box)):
        raise BadTarget(f"{target.text!r}: there is no folder {box!r} here; for the run on the box: {box}:{run}")


def note_of(place: Place, boxes: Sequence[BoxSettings]) -> str:
    """A word alone is a file here, and was perhaps meant to be a run: which path is looked at. "" where nothing is
    doubtful.
    """
    target = place.target
    plain = (
        target.kind is Kind.MARKER and target.box is None and target.path.replace("-", "").replace("_", "").isalnum()
    )
    if not (plain and boxes) or os.path.lexists(place.path):
        return ""
    return f"waits for the file {place.path}; for a run on a box: {boxes[0].name}:{target.path}"


def _local_path(target: Target, folder: str) -> str:
    if target.kind is Kind.PROCESS:
        return target.path
    return os.path.join(folder, os.path.expanduser(target.path))


def _path_of_host(target: Target, boxes: Sequence[BoxSettings]) -> str:
    """On a host that the configuration does not name: a full path is needed, and enough."""
    if target.kind is Kind.RUN:
        known = ", ".join(box.name for box in boxes) or "none"
        raise UnknownBox(
            f"{target.text}: no [boxes.{target.box}] says where its runs lie (boxes: {known}); "
            f"add it to onbox.toml, or give a path: {target.box}:/PATH/MARKER"
        )
    return target.path


def _path_on_box(target: Target, box: BoxSettings, state_dir: str) -> str:
    if target.kind is Kind.PROCESS or target.path.startswith(("/", "~/")):
        return target.path
    path = f"{state_dir}/{target.path}" if target.kind is Kind.RUN else target.path
    if path.startswith(("/", "~/")):
        return path
    if box.project is None:
        raise BadTarget(f"{target.text}: [boxes.{box.name}] has no `project` below which {path!r} could lie")
    return f"{box.project.rstrip('/')}/{path}"
