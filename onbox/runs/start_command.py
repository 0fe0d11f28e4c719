"""The command that starts a run or continues it, whole, so that a person can paste what is told to them."""

from __future__ import annotations

import shlex

from onbox.named_tuple import NamedTuple


class StartCommand(NamedTuple):
    """stages: as typed, a name or NAME=COMMAND. options: those typed that must be typed again. resumes: `onbox resume`
    was typed, which takes the stages as they are frozen.
    """

    run: str
    stages: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    config: str | None = None
    resumes: bool = False

    def again(self, *more: str) -> str:
        """The same command once more, with these words too."""
        if self.resumes:
            return self.resume(*self.options, *more)
        return shlex.join(("onbox", "chain", *self._config, "--run", self.run, *self.options, *more, *self.stages))

    def resume(self, *more: str) -> str:
        """The run as it is frozen: this needs neither its stages nor what was said of them."""
        return shlex.join(("onbox", "resume", *self._config, *more, self.run))

    @property
    def _config(self) -> tuple[str, ...]:
        return ("-c", self.config) if self.config else ()
