"""The way to a box: what its table and `[ssh]` say, as far as it is accepted here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.errors import Trouble
from patrol.ssh.client import SshTarget
from patrol.ssh.control_sockets import control_path

if TYPE_CHECKING:
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings


def target_of(settings: Settings, box: BoxSettings) -> SshTarget:
    """Where a box is. Raises Trouble where the way there is not accepted."""
    if why := settings.not_trusted(box):
        raise Trouble(Exit.CONFIG, why)
    host = None if box.backend == "local" else box.host
    if not settings.patrol.multiplex or not host:
        return SshTarget(box.name, host, settings.ssh_command)
    return SshTarget(box.name, host, settings.ssh_command, control_path(box.name, box.host, settings.ssh_command))
