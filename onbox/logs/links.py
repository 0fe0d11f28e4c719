"""Where an experiment tracker keeps a run, as the tracker's own lines in the log tell. Pure."""

from __future__ import annotations

import re
from typing import Any

_URL = r"https?://[^\s\"'<>)\]]+"
_FIELDS = ("tracker", "run_id", "run_url", "project_url", "run_name", "offline_dir")
_WANDB_RUN = re.compile(r"(https?://[^\s\"'<>]+?/([\w.-]+)/([\w.-]+))/runs/([\w-]+)")


class Links:
    """The tracker's run in force after the lines that `look` was given. Every field is None until a line tells it.

    tracker: `wandb`, `mlflow`, ... run_id, run_url, project_url, run_name: of the run. offline_dir: where a run that was
    not sent is kept.
    """

    def __init__(self) -> None:
        self.tracker: str | None = None
        self.run_id: str | None = None
        self.run_url: str | None = None
        self.project_url: str | None = None
        self.run_name: str | None = None
        self.offline_dir: str | None = None

    def state(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Links:
        links = cls()
        for name in _FIELDS:
            setattr(links, name, state.get(name))
        return links

    def look(self, text: str) -> None:
        """Take in one line."""


def read_links(data: bytes) -> Links:
    """The tracker's run that a whole log tells of."""
    links = Links()
    for line in data.decode("utf-8", "replace").splitlines():
        links.look(line)
    return links
