"""What a patrol works with: the configuration as the local side means it, and where its own memory lies."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from onbox.contract.names import run_name_from
from onbox.contract.paths import DEFAULT_STATE_DIR
from onbox.named_tuple import NamedTuple
from onbox.trust import not_accepted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.config.parse import Config
    from onbox.config.trust_keys import Delicate
    from onbox.model.boxes import BoxSettings, PatrolSettings

SSH_VARIABLE = "ONBOX_SSH_COMMAND"


class Settings(NamedTuple):
    """Everything that a tick needs to know before it looks.

    folder: where onbox.toml lies (or the working directory). config_path: None without a file. state: this patrol's
    own folder: memory, lock, heartbeat. ssh_command: the words of the client. withheld: keys of the file that nobody
    accepted; nothing else of this knows them. silent_seconds: of looks by a timer: after so long without one a box
    shall tell it; None: it is not a look by a timer.
    """

    folder: str
    config_path: str | None
    config: Config
    state: str
    ssh_command: tuple[str, ...]
    withheld: tuple[Delicate, ...] = ()
    silent_seconds: float | None = None

    @property
    def patrol(self) -> PatrolSettings:
        return self.config.patrol

    def not_trusted(self, box: BoxSettings) -> str:
        """Why this box cannot be looked at as the file says; "": nothing that it needs is withheld."""
        if not self.withheld:
            return ""
        own = (f"boxes.{box.name}.address", f"boxes.{box.name}.token")
        ways = tuple(f"{box.backend}.{key}" for key in ("address", "controller", "token"))
        needed = (*own, *ways) if box.is_cluster else () if box.backend == "local" else ("ssh.command",)
        found = [one for one in self.withheld if one.key in needed]
        return not_accepted(self.config_path or self.folder, found) if found else ""

    def state_dir_of(self, box: BoxSettings) -> str:
        """Where the box's runs live, as it is written: below the project unless absolute."""
        return box.state_dir or self.config.state_dir or DEFAULT_STATE_DIR


def state_folder(config_folder: str, environment: Mapping[str, str]) -> str:
    """The patrol's own folder for a project: below $XDG_STATE_HOME, one per configuration.

    Not in the project: that travels to boxes, and two checkouts must not share one memory.
    """
    home = environment.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    place = os.path.realpath(config_folder)
    digest = hashlib.sha256(os.fsencode(place)).hexdigest()[:8]
    return os.path.join(home, "onbox", f"{run_name_from(os.path.basename(place))}-{digest}")
