"""The projects that somebody looked after from this account: for who types a command in another directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.paths import CONFIG_FILE
from patrol.decide.remote_command import Untypeable, here
from patrol.timer.heartbeat import read_heartbeat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from patrol.config.settings import Settings

SHOWN = 5


def known_configs(settings: Settings) -> list[str]:
    """Configurations of patrols of this account that are still there, the one that was looked after last first."""
    above = os.path.dirname(settings.state)
    try:
        ids = os.listdir(above)
    except OSError:
        return []
    beats = [beat for id_ in ids if (beat := read_heartbeat(os.path.join(above, id_))) is not None and beat.config]
    paths = dict.fromkeys(beat.config for beat in sorted(beats, key=lambda beat: -beat.began_at))
    return [path for path in paths if path != settings.config_path and os.path.isfile(path)]


def commands_there(settings: Settings, *words: str) -> list[str]:
    """The same command in each of these projects, complete; at most so many as one wants to read."""
    return list(_commands(known_configs(settings), words))[:SHOWN]


def _commands(paths: list[str], words: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        folder, name = os.path.split(path)
        try:
            there = here("cd", folder) + " && " + here(*words) if name == CONFIG_FILE else here(*words, "-c", path)
        except Untypeable:
            continue
        yield there
