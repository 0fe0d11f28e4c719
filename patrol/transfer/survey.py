"""What a box tells of a run before its files are listed: where it lies, which tools there are, and its records."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.contract.json_text import as_object, as_whole
from onbox.contract.markers import Marker, parse_marker
from onbox.contract.names import name_problem
from onbox.contract.runfile import DamagedRunfile, RunHead, parse_head, parse_stages
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import parse_utc
from patrol.transfer.stream.scripts import SURVEY
from patrol.transfer.stream.talk import Talk

if TYPE_CHECKING:
    from onbox.model.manifest import Stage
    from patrol.ssh.client import SshTarget

LIMIT_BYTES = 32 << 20
_NO_PROJECT = 20


class RunSurvey(NamedTuple):
    """project, home, run_folder: absolute, as the box tells them; run_folder "": onbox has no run of that name there.
    head: None: likewise, or damaged; damage: then why. promised: files that DONE markers vouch for, by their path as
    the stage knows it, with their bytes. done: whether the run's own CHAIN_DONE lies there. ended_at: when it ended, by
    the box's clock; None: it has not.
    """

    project: str
    home: str
    run_folder: str = ""
    tools: frozenset[str] = frozenset()
    runs: tuple[str, ...] = ()
    head: RunHead | None = None
    stages: tuple[Stage, ...] = ()
    damage: str = ""
    promised: tuple[tuple[Stage, str, int | None], ...] = ()
    done: bool = False
    ended_at: float | None = None

    @property
    def run_id(self) -> str:
        return safe_line(self.head.run_id, 80) if self.head is not None else ""

    @property
    def commit(self) -> str:
        """The git commit that the run was started at; "" where that is not known."""
        git = as_object(self.head.data.get("git")) if self.head is not None else {}
        found = git.get("commit")
        return safe_line(found, 80) if isinstance(found, str) else ""


def survey(target: SshTarget, project: str | None, state_dir: str, run: str) -> RunSurvey:
    """Ask for it. Raises LinkLost, Trouble."""
    with closing(Talk(target, SURVEY, (project or "", state_dir, run))) as talk:
        data, code = talk.until_end(LIMIT_BYTES)
    if code == _NO_PROJECT:
        raise Trouble(Exit.USAGE, f"{target.box}: the project directory {project} is not there, or may not be entered")
    return parse_survey(data)


def parse_survey(data: bytes) -> RunSurvey:
    """Pure. Raises Trouble where the answer is none."""
    fields = data.split(b"\0")
    if len(fields) < 5 or not fields[0].startswith(b"/"):
        raise Trouble(Exit.USAGE, "the box's answer cannot be understood: its shell or its tools are unusual")
    project, home, folder, tools, runs = (part.decode("utf-8", "surrogateescape") for part in fields[:5])
    found = RunSurvey(
        project,
        home,
        folder if folder.startswith("/") else "",
        frozenset(tools.split()),
        tuple(name for name in runs.split() if name_problem(name) is None),
    )
    if not found.run_folder or len(fields) < 7:
        return found
    first, _, rest = fields[5].partition(b"\n")
    try:
        head = parse_head(first)
        stages = tuple(frozen.stage for frozen in parse_stages(rest.split(b"\n"), head.stage_count))
    except DamagedRunfile as damaged:
        return found._replace(damage=safe_line(str(damaged)))
    markers = dict(zip(fields[6::2], fields[7::2], strict=False))
    own = {name: marker for name, text in markers.items() if (marker := _own(text, head)) is not None}
    by_name = {stage.name: stage for stage in stages}
    promised = tuple(
        (by_name[marker.stage], path, size)
        for name, marker in own.items()
        if name.endswith(b"_DONE") and marker.stage in by_name
        for path, size in _artifacts(marker)
    )
    ends = [own[name] for name in (b"markers/CHAIN_DONE", b"markers/CHAIN_FAILED") if name in own]
    ended_at = parse_utc(str(ends[0].data.get("ended_at") or "")) if ends else None
    done = b"markers/CHAIN_DONE" in own
    return found._replace(head=head, stages=stages, promised=promised, done=done, ended_at=ended_at)


def _own(text: bytes, head: RunHead) -> Marker | None:
    marker = parse_marker(text)
    return marker if isinstance(marker, Marker) and marker.run_id == head.run_id else None


def _artifacts(marker: Marker) -> list[tuple[str, int | None]]:
    listed = marker.data.get("artifacts")
    items = [as_object(one) for one in listed] if isinstance(listed, list) else []
    return [(one["path"], as_whole(one.get("bytes"))) for one in items if isinstance(one.get("path"), str)]
