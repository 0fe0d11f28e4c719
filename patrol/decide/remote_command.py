"""How a person gets to a box: the complete command line for a shell in the project's directory, here. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.model.boxes import BoxSettings


class Untypeable(ValueError):
    """A command that is not offered: something in it is not shown as it is (a control character, a turning letter, a
    secret), so that what is read would not be what is typed. Its text is the command as it may be shown.
    """


class Way(NamedTuple):
    """host: as ssh takes it; None: this machine. project: the directory there; None: not known. rebuilt from the
    configuration by `way_to`; commands are quoted for a POSIX shell on both sides. All of them raise Untypeable.
    """

    box: str
    host: str | None
    project: str | None = None
    ssh_command: tuple[str, ...] = ("ssh",)

    def there(self, *commands: Sequence[str]) -> str:
        """Commands joined with `&&`, run in the project's directory on the box."""
        steps = [("cd", _path(self.project)), *commands] if self.project else list(commands)
        line = " && ".join(" ".join(map(_quoted, words)) for words in steps)
        return _typed(
            line if self.host is None else f"{shlex.join([*self.ssh_command, self.host])} {shlex.quote(line)}"
        )

    def copy(self, local: str, remote: str) -> str:
        """Send what is missing below `remote`; goes on where it was cut off."""
        absolute = remote.startswith("/") or _is_of_home(remote) or not self.project
        target = remote if absolute else f"{(self.project or '').rstrip('/')}/{remote}"
        if _is_of_home(target) and self.host is not None:
            target = target[2:] or "."  # rsync begins at home, and passes a ~ on as it is
        words = ["rsync", "-as", "--partial"]
        if self.host is not None and self.ssh_command != ("ssh",):
            words += ["-e", shlex.join(self.ssh_command)]
        end = _path(target).rstrip("/") + "/"
        words += [_here(local).rstrip("/") + "/", end if self.host is None else f"{self.host}:{end}"]
        return _typed(" ".join(map(_quoted, words)))


def way_to(box: BoxSettings, ssh_command: tuple[str, ...] = ("ssh",)) -> Way:
    """The way to a configured box."""
    return Way(box.name, None if box.backend == "local" or box.is_cluster else box.host, box.project, ssh_command)


def here(*words: str) -> str:
    """A command of this machine. Raises Untypeable."""
    return _typed(shlex.join(words))


def _typed(line: str) -> str:
    shown = safe_line(line)
    if shown != line:
        raise Untypeable(shown)
    return line


def _is_of_home(path: str) -> bool:
    return path == "~" or path.startswith("~/")


def _quoted(word: str) -> str:
    """For a POSIX shell; a path of the home directory is one only with its `~` outside of the quotes."""
    if not _is_of_home(word):
        return shlex.quote(word)
    return word[:2] + (shlex.quote(word[2:]) if word[2:] else "")


def _path(path: str) -> str:
    """A path that no command takes for an option."""
    return f"./{path}" if path.startswith("-") else path


def _here(path: str) -> str:
    """A path of this machine as rsync takes it: one with a colon would be a host's."""
    return path if path.startswith("/") else f"./{path.removeprefix('./')}"
