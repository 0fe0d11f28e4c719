"""Where targets lie: from words and the configuration to a host and a full path there. Reads no file."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from onbox.contract.paths import DEFAULT_STATE_DIR
from patrol import ssh
from patrol.settings import SSH_VARIABLE
from sentinels.channel import LOCAL
from sentinels.targets import BadTarget, Kind, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.boxes import BoxSettings
    from onbox.contract.config import Config


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


def ssh_words(config: Config, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The words of the ssh client: ONBOX_SSH_COMMAND goes before the configuration. Raises UnknownBox."""
    given = environment.get(SSH_VARIABLE)
    if not given:
        return config.ssh_command
    try:
        return tuple(shlex.split(given))
    except ValueError as error:
        raise UnknownBox(f"{SSH_VARIABLE}: its quotes are not closed ({error})") from error


def find_place(target: Target, config: Config, words: tuple[str, ...], folder: str) -> Place:
    """The target's host and path. folder: where relative paths here begin. Raises UnknownBox, BadTarget."""
    if target.box is None:
        return Place(target, ssh.Target(LOCAL, None), _local_path(target, folder))
    box = next((one for one in config.boxes if one.name == target.box), None)
    if box is None:
        return Place(target, ssh.Target(target.box, target.box, words), _path_of_host(target, config))
    if box.backend not in ("ssh", "local"):
        raise UnknownBox(f"[boxes.{box.name}] backend = {box.backend!r}: only boxes of ssh or local can be waited on")
    host = None if box.backend == "local" else box.host
    return Place(target, ssh.Target(box.name, host, words), _path_on_box(target, box, config))


def _local_path(target: Target, folder: str) -> str:
    if target.kind is Kind.PROCESS:
        return target.path
    return os.path.join(folder, os.path.expanduser(target.path))


def _path_of_host(target: Target, config: Config) -> str:
    """On a host that the configuration does not name: a full path is needed, and enough."""
    if target.kind is Kind.RUN:
        known = ", ".join(box.name for box in config.boxes) or "none"
        raise UnknownBox(
            f"{target.text}: no [boxes.{target.box}] says where its runs lie (boxes: {known}); "
            f"add it to onbox.toml, or give a path: {target.box}:/PATH/MARKER"
        )
    return target.path


def _path_on_box(target: Target, box: BoxSettings, config: Config) -> str:
    if target.kind is Kind.PROCESS or target.path.startswith(("/", "~/")):
        return target.path
    state_dir = box.state_dir or config.state_dir or DEFAULT_STATE_DIR
    path = f"{state_dir}/{target.path}" if target.kind is Kind.RUN else target.path
    if path.startswith(("/", "~/")):
        return path
    if box.project is None:
        raise BadTarget(f"{target.text}: [boxes.{box.name}] has no `project` below which {path!r} could lie")
    return f"{box.project.rstrip('/')}/{path}"
