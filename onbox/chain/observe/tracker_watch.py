"""The run at an experiment tracker that an attempt logs to: put on record once, as soon as it is known in full.

It is told by the tracker's own lines in the log; where they say nothing (a quiet console), by the directory that W&B
makes. Looking costs one lstat a beat; nothing is loaded for a stage that logs to no tracker.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.collectors.mounts import locate, read_mounts
from onbox.contract.events import Event
from onbox.contract.readings import observed
from onbox.model.tracker import identity_from_record, intent_from_dict
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onbox.contract.events import Record
    from onbox.model.tracker import TrackerIdentity

RUNS_LIMIT = 50  # of one attempt: a sweep begins a run after the other


class WatchedAttempt(NamedTuple):
    """Whose tracker it is. folder: where the stage works. wandb_dir: its WANDB_DIR. began: wall clock."""

    stage: str
    number: int
    folder: str
    wandb_dir: str | None
    began: float


class TrackerWatch:
    """One attempt at a time: `begin`, then `look` at every beat, then `conclude`. intent: `tracker` of run.json."""

    def __init__(self, intent: object) -> None:
        self._intent = intent
        self._attempt: WatchedAttempt | None = None
        self._note: Callable[..., None] | None = None
        self._recorded: list[Record] = []
        self._count = 0
        self._last: tuple[TrackerIdentity | None, str | None] = (None, None)
        self._places: tuple[str, ...] | None = None

    def begin(self, attempt: WatchedAttempt, recorded: Sequence[Record], note: Callable[..., None]) -> None:
        """recorded: `tracker_run` records of the journal, oldest first. note: journals records."""
        self._attempt, self._note = attempt, note
        self._recorded, self._count, self._last = list(recorded), 0, (None, None)
        self._places = None

    def look(self, links: Mapping[str, Any]) -> None:
        """Take in what the log has told so far. Raises StateNotWritten."""
        self._look(links, is_over=False)

    def conclude(self, links: Mapping[str, Any]) -> None:
        """The attempt is over: nothing more will be told. Raises StateNotWritten."""
        self._look(links, is_over=True)

    @property
    def link(self) -> str | None:
        """The link of the attempt's newest run at a tracker, its id or its name; None where it has none."""
        attempt = self._attempt
        own = [one for one in self._recorded if attempt and one.get("attempt") == attempt.number]
        newest = next((one for one in reversed(own) if attempt and one.get("stage") == attempt.stage), {})
        found = newest.get("url") or newest.get("run_id") or newest.get("name")
        return str(found) if found else None

    def _look(self, links: Mapping[str, Any], *, is_over: bool) -> None:
        attempt = self._attempt
        if attempt is None or self._count >= RUNS_LIMIT:
            return
        if self._places is None:
            self._places = _places(attempt)
        folder = _wandb_folder(self._places, attempt.began)
        if folder is None and not links.get("tracker"):
            return
        from onbox.trackers.identity import is_settled  # noqa: PLC0415 - loaded with the first sign of a tracker

        found, log_id = _seen(attempt, links, folder)
        before, self._last = self._last, (found, log_id)
        if found is None:
            return
        settled = is_settled(found, before[0]) if log_id is None else before == self._last
        if is_over or settled:
            self._record(found, log_id)

    def _record(self, found: TrackerIdentity, log_id: str | None) -> None:
        from onbox.trackers.identity import Case, find_drift, known_before  # noqa: PLC0415

        earlier = [one for record in self._recorded if (one := identity_from_record(record)) is not None]
        if known_before(earlier, found) or self._note is None:
            return
        same_stage = tuple(one for one in earlier if one.stage == found.stage)
        drift = find_drift(Case(intent_from_dict(self._intent), found, same_stage, log_id))
        told = {key: value for key, value in found._asdict().items() if value is not None}
        record: Record = {"event": Event.TRACKER_RUN, **told, "drift": list(drift)}
        if any(one.key == found.key for one in same_stage):
            record["again"] = True
        records = [record]
        if drift:
            about = {"stage": found.stage, "attempt": found.attempt, "reason": "; ".join(drift)}
            records.append({"event": Event.TRACKER_DRIFT, **about, "tracker": found.url or found.run_id or found.name})
        self._note(*records)
        self._recorded.append(record)
        self._count += 1


def _seen(
    attempt: WatchedAttempt, links: Mapping[str, Any], folder: str | None
) -> tuple[TrackerIdentity | None, str | None]:
    from onbox.trackers.identity import identity_of, identity_of_folder, merge  # noqa: PLC0415 - as above

    found, log_id = merge(identity_of(links), identity_of_folder(folder) if folder else None)
    if found is None:
        return None, None
    place = os.path.normpath(os.path.join(attempt.folder, found.place)) if found.place else None
    return found._replace(stage=attempt.stage, attempt=attempt.number, place=place), log_id


def _places(attempt: WatchedAttempt) -> tuple[str, ...]:
    """Where W&B may keep its runs, as far as the runner can look there: a network mount could hang it."""
    mounts = observed(read_mounts()) or []
    base = os.path.normpath(os.path.join(attempt.folder, attempt.wandb_dir or ""))
    ways = (os.path.join(base, name) for name in ("wandb", ".wandb"))
    return tuple(way for way in ways if (mount := locate(way, mounts)) is not None and mount.is_local)


def _wandb_folder(places: Sequence[str], began: float) -> str | None:
    """The directory of the newest W&B run that was begun since the attempt began; None where there is none."""
    for place in places:
        link = os.path.join(place, "latest-run")
        try:
            if os.lstat(link).st_mtime >= began - 1.0:
                return os.path.join(place, os.readlink(link))
        except OSError:
            continue
    return None
