"""The run that a stage logs to against the one that is meant: one ordered table of ways to differ. Pure.

A run that resumes into the wrong place spoils the history of another one, so this is told at once, and nothing else is
made of it: the stage itself may be well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from onbox.model.tracker import TEXT_LIMIT, Intent, TrackerIdentity
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_WANDB_PAGE = re.compile(r"https?://[^/\s]+/(?P<entity>[^/\s]+)/(?P<project>[^/\s?]+)")
_WANDB_FOLDER = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-(?P<run_id>[\w.-]{1,128})$")


class Case(NamedTuple):
    """earlier: what earlier attempts of the same stage logged to, oldest first. log_id: the id that the log's own link
    names, where the files on the disk tell another one.
    """

    intent: Intent
    found: TrackerIdentity
    earlier: tuple[TrackerIdentity, ...] = ()
    log_id: str | None = None

    @property
    def last(self) -> TrackerIdentity | None:
        """What the attempt before logged to, at the same tracker."""
        same = [one for one in self.earlier if one.tracker == self.found.tracker and one.attempt != self.found.attempt]
        return same[-1] if same else None


class DriftRow(NamedTuple):
    """One way to differ. text: what is so; None: it is not."""

    kind: str
    text: Callable[[Case], str | None]


def _differs(field: str, word: str) -> Callable[[Case], str | None]:
    def text(case: Case) -> str | None:
        wanted, found = getattr(case.intent, field), getattr(case.found, field)
        if wanted is None or found is None or wanted == found:
            return None
        return f"the {word} is {found}, meant is {wanted}"

    return text


def _other_tracker(case: Case) -> str | None:
    kind = case.intent.kind
    return None if kind in (None, case.found.tracker) else f"it logs to {case.found.tracker}, meant is {kind}"


def _resume(case: Case) -> str | None:
    last, found = case.last, case.found
    if last is None or None in (last.run_id, found.run_id):
        return None
    if case.intent.resume == "must" and last.run_id != found.run_id:
        return f'a new run {found.run_id}, where resume = "must" asks for {last.run_id} of attempt {last.attempt}'
    if case.intent.resume == "never" and last.run_id == found.run_id:
        return f'it goes on in {found.run_id} of attempt {last.attempt}, where resume = "never" asks for a new run'
    return None


def _name_reused(case: Case) -> str | None:
    found = case.found
    if found.name is None or found.run_id is None or case.intent.resume == "never":
        return None
    others = [one for one in case.earlier if one.name == found.name and one.run_id not in (None, found.run_id)]
    if not others or others[-1].tracker != found.tracker:
        return None
    return f'the name "{found.name}" is that of run {others[-1].run_id}, too: two runs look like one'


def _stale_link(case: Case) -> str | None:
    if case.log_id is None or case.log_id == case.found.run_id:
        return None
    return f"the log's link is of run {case.log_id}, the files on the disk are of {case.found.run_id}"


TABLE: tuple[DriftRow, ...] = (
    DriftRow("other-tracker", _other_tracker),
    DriftRow("other-id", _differs("run_id", "run id")),
    DriftRow("other-entity", _differs("entity", "entity")),
    DriftRow("other-project", _differs("project", "project")),
    DriftRow("other-name", _differs("name", "name")),
    DriftRow("wrong-resume", _resume),
    DriftRow("name-reused", _name_reused),
    DriftRow("stale-link", _stale_link),
)


def find_drift(case: Case) -> tuple[str, ...]:
    """Every way in which the run is not the one that is meant, in words; () for none."""
    about = case.found.stage is None or case.intent.is_about(case.found.stage)
    judged = case if about else case._replace(intent=Intent())
    return tuple(text for row in TABLE if (text := row.text(judged)) is not None)


def identity_of(links: Mapping[str, Any]) -> TrackerIdentity | None:
    """The run that the state of `onbox.logs.links.Links` tells of; None where it names none."""
    told = {key: _safe(value) for key, value in links.items() if isinstance(value, str)}
    tracker = told.get("tracker")
    if not tracker or not (told.get("run_id") or told.get("run_name") or told.get("run_url")):
        return None
    entity, project = None, told.get("project")
    place = told.get("offline_dir") or told.get("local_dir")
    page = _WANDB_PAGE.match(told.get("run_url") or told.get("project_url") or "") if tracker == "wandb" else None
    if page is not None:
        entity, project = unquote(page["entity"]), unquote(page["project"])
    if tracker == "trackio" and place and project:
        place = f"{place.rstrip('/')}/{trackio_file(project)}"
    url = told.get("run_url") or told.get("project_url")
    return TrackerIdentity(tracker, told.get("run_id"), told.get("run_name"), entity, project, url, place)


def identity_of_folder(path: str) -> TrackerIdentity | None:
    """The W&B run that a directory of its name holds; None: it is not named like one."""
    found = _WANDB_FOLDER.search(path.rstrip("/"))
    return None if found is None else TrackerIdentity("wandb", found["run_id"], place=_safe(path))


def merge(told: TrackerIdentity | None, on_disk: TrackerIdentity | None) -> tuple[TrackerIdentity | None, str | None]:
    """The log's word and the disk's as one identity, and the log's id where they are of different runs: then the files
    are believed, because they are what is being written.
    """
    if told is None or on_disk is None:
        return told or on_disk, None
    if told.tracker != on_disk.tracker:
        return told, None
    if told.run_id not in (None, on_disk.run_id):
        return on_disk, told.run_id
    return told._replace(run_id=on_disk.run_id, place=told.place or on_disk.place), None


def trackio_file(project: str) -> str:
    """The name of a project's database, as trackio makes it (0.43)."""
    kept = "".join(c for c in project if c.isalnum() or c in "-_").rstrip()
    return f"{kept or 'default'}.db"


def is_settled(identity: TrackerIdentity, before: TrackerIdentity | None) -> bool:
    """Whether its start has been told in full: a tracker says what a run is in several lines. Two looks alike, too."""
    return bool(identity.url and identity.run_id and identity.place) or identity == before


def known_before(earlier: Sequence[TrackerIdentity], found: TrackerIdentity) -> bool:
    """Whether this attempt's record of this run stands in the journal already."""
    return any(one.key == found.key and (one.stage, one.attempt) == (found.stage, found.attempt) for one in earlier)


def _safe(text: str) -> str:
    """One printable line without secrets, bounded."""
    return safe_line(text, TEXT_LIMIT)
