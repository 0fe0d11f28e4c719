"""Bring a run's files home: survey, list, fetch, look again, place, enter. Each step but the last can be cut off
anywhere; the next call finds what came and goes on.
"""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.units import counted, format_size
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.regex import lazy
from onbox.system.clock import utc_text, wall
from patrol.memory.transfers import Transfer
from patrol.transfer.fetch import FetchSource, fetch, settle_doubt
from patrol.transfer.listing import list_files, look_again
from patrol.transfer.manifest import Head, ManifestEntry, render
from patrol.transfer.names import MANIFEST, link_stays_inside
from patrol.transfer.survey import survey
from patrol.transfer.wanted import PATH, Want, promised_files, roots_of, wants_of, words_of_watched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.model.boxes import BoxSettings
    from patrol.ssh.client import SshTarget
    from patrol.transfer.listing import File, Listing
    from patrol.transfer.meter import Meter
    from patrol.transfer.staging import Staging
    from patrol.transfer.survey import RunSurvey

LINK_ROUNDS = 3  # a link may lead to a link
CHANGE_ROUNDS = 3  # a file that changed is fetched again so often
KEPT_FREE_BYTES = 64 << 20  # on the local disk
# Of a run's own records those that only ever grow: their beginning is whole at any time.
GROWING = lazy(r"events\.jsonl|samples\.jsonl|series\.jsonl|runner\.log|logs/.*")


class PullJob(NamedTuple):
    """What is to be brought. rsync: the local program's words, or (). limit: bytes per second, or None.

    done, ended_at: of a run that onbox did not start, whose own records would tell it: what the patrol's table says.
    """

    target: SshTarget
    box: BoxSettings
    state_dir: str
    run: str
    limit: float | None = None
    rsync: tuple[str, ...] = ()
    done: bool = False
    ended_at: float | None = None


class FoundFiles(NamedTuple):
    """What there is on the box. missing: what a DONE marker vouches for and is not there, in words."""

    survey: RunSurvey
    source: FetchSource
    listing: Listing
    missing: tuple[str, ...]

    @property
    def files(self) -> Mapping[str, File]:
        return self.listing.files


class Pulled(NamedTuple):
    """What came of it. came_bytes: over the link, this time. notes: for people, what else was seen. results: how many
    of the files are more than the run's log and its records.
    """

    head: Head
    came_bytes: int
    notes: tuple[str, ...]
    results: int


def find(job: PullJob) -> FoundFiles:
    """Ask the box for all that belongs to the run. Raises LinkLost, Refused, Trouble."""
    known = survey(job.target, job.box.project, job.state_dir, job.run)
    is_watched = any(watch.name == job.run for watch in job.box.watches)
    if not known.run_folder and not is_watched:
        there = ", ".join(known.runs) or "none"
        raise Trouble(Exit.USAGE, f"{job.box.name} has no run {job.run!r}; the runs there: {there}")
    if not known.run_folder:
        known = known._replace(done=job.done, ended_at=job.ended_at)
    roots = roots_of(known, job.run)
    wants = wants_of(known, roots, job.box, job.run)
    source = FetchSource(job.target, roots, known.tools)
    listing = list_files(job.target, roots, wants)
    for _ in range(LINK_ROUNDS):
        further = _behind_links(listing)
        if not further:
            break
        more = list_files(job.target, roots, further)
        listing = listing._replace(files={**listing.files, **more.files}, links={**listing.links, **more.links})
        if not more.files and not more.links:
            break
    return FoundFiles(known, source, listing, _missing(known, source, listing))


def _behind_links(listing: Listing) -> list[Want]:
    """What links of the same root lead to, and was not listed yet: an artifact may be `best.pt -> step_900.pt`."""
    below = {above for name in listing.files for above in _folders_above(name)}
    found = []
    for link in listing.links.values():
        end = posixpath.normpath(posixpath.join(posixpath.dirname(link.name), link.target))
        local = posixpath.normpath(posixpath.join(posixpath.dirname(link.local), link.target))
        is_inside = not link.target.startswith("/") and end != "." and not end.startswith("..")
        if is_inside and local not in listing.files and local not in below and local not in listing.links:
            found.append(Want(link.root, PATH, f"./{end}", f"{link.name} leads there"))
    return list(dict.fromkeys(found))


def _folders_above(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _missing(known: RunSurvey, source: FetchSource, listing: Listing) -> tuple[str, ...]:
    """A promised path is there as a file, a link, or a folder with files."""
    there = {(file.root, file.name) for file in listing.files.values()}
    there |= {(link.root, link.name) for link in listing.links.values()}
    there |= {(file.root, above) for file in listing.files.values() for above in _folders_above(file.name)}
    return tuple(
        f"{name} ({'' if size is None else f'{format_size(size)}, '}stage {stage} is DONE with it)"
        for root, name, size, stage in promised_files(known, source.roots)
        if (root, name) not in there and size
    )


def bring(job: PullJob, found: FoundFiles, staging: Staging, meter: Meter) -> Pulled:
    """Fetch what is not here yet, put it in its place, and write the manifest. Raises LinkLost, Odd, Refused, OSError,
    StateNotWritten; what came until then stays.
    """
    files = dict(found.files)
    notes: list[str] = []
    changed: dict[str, File] = {}
    unread: dict[str, File] = {}
    growing: set[str] = set()
    for _ in range(CHANGE_ROUNDS):
        todo = [file for file in files.values() if not staging.has(file)]
        if not todo:
            break
        _need_room(staging, todo)
        doubt = fetch(found.source, staging, todo, meter)
        unread |= {file.local: file for file in doubt.unread}
        wrong = settle_doubt(found.source, staging, doubt.files, notes.append)
        changed = _look_at_changes(found, staging, todo, growing)
        again = {**changed, **{file.local: file for file in wrong}}
        files = {local: file for local, file in {**files, **again}.items() if local not in unread}
        if not again:
            break
    staging.flush()
    gone = {local for local in changed if local in files and not staging.has(files[local])}  # else it is in `unread`
    placed, troubles = _place(staging, [file for local, file in files.items() if local not in gone])
    unread_names = [*unread, *troubles, *found.listing.unlisted]
    links = _place_links(staging, found.listing, {entry.path for entry in placed})
    notes += links.notes
    head = _head(job, found, placed, changed=sorted(gone), unread=unread_names, links=links.made)
    entries = [entry._replace(growing=entry.path in growing) for entry in placed]
    os.sync()  # the manifest vouches for files: they go to the disk before it
    staging.write_beside(MANIFEST, render(head, entries))
    if head.is_complete:
        staging.clean()
    return Pulled(head, meter.done_bytes, (*notes, *_notes(found.listing)), _results(job, found, files, placed))


def _results(job: PullJob, found: FoundFiles, files: Mapping[str, File], placed: Sequence[ManifestEntry]) -> int:
    """How many of the files are what the run was run for, as far as anybody has named such files."""
    said = words_of_watched(found.survey, found.source.roots, job.box, job.run)
    came = (files[entry.path] for entry in placed)
    return sum(not file.is_record and (file.root, file.name) not in said for file in came)


def _look_at_changes(found: FoundFiles, staging: Staging, todo: Sequence[File], growing: set[str]) -> dict[str, File]:
    """Those of the fetched that are another file on the box by now, as they are now; they are not taken as
    they came.
    """
    now = look_again(found.source.target, found.source.roots, todo)
    changed = {}
    for file in todo:
        seen = now.get(file.local)
        if seen == file:
            continue
        if file.is_record and seen is not None and seen.size >= file.size and GROWING.fullmatch(file.name):
            growing.add(file.local)
            continue
        staging.forget(file)
        changed[file.local] = seen if seen is not None else file
    return changed


def _need_room(staging: Staging, todo: Sequence[File]) -> None:
    wanted = sum(file.size - staging.partial_bytes(file) for file in todo)
    free = staging.free_bytes()
    if wanted > 0 and wanted + min(KEPT_FREE_BYTES, wanted) > free:
        text = f"{staging.destination}: {format_size(wanted)} are to come, and {format_size(free)} are free there"
        raise Trouble(Exit.STATE_NOT_WRITTEN, f"{text}; make room, or name another folder: nothing was begun")


def _place(staging: Staging, files: Sequence[File]) -> tuple[list[ManifestEntry], dict[str, str]]:
    """Entries of those that lie in their place now, and why others do not."""
    placed, troubles = [], {}
    for file in sorted(files, key=lambda one: one.local):
        if not staging.has(file):
            troubles[file.local] = "it did not come"
            continue
        try:
            staging.place(file)
        except OSError as error:
            troubles[file.local] = error.strerror or str(error)
            continue
        placed.append(ManifestEntry(file.local, file.size, staging.whole[file.local].sha256))
    return placed, {f"{local}: {why}": why for local, why in troubles.items()}


class _Links(NamedTuple):
    made: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def _place_links(staging: Staging, listing: Listing, here: set[str]) -> _Links:
    """Links that stay inside and lead to what came are made here too; others are told."""
    folders = {above for name in here for above in _folders_above(name)}
    made, left = [], []
    for local, link in sorted(listing.links.items()):
        end = posixpath.normpath(posixpath.join(posixpath.dirname(local), link.target))
        if not link_stays_inside(local, link.target) or (end not in here and end not in folders):
            left.append(f"{local} → {safe_line(link.target, 100)}")
            continue
        try:
            staging.place_link(local, link.target)
        except OSError as error:
            left.append(f"{local}: {error.strerror}")
            continue
        made.append((local, link.target))
    notes = [f"{counted(len(left), 'symbolic link')} not followed: {_some(left)}"] if left else []
    return _Links(tuple(made), tuple(notes))


def _head(
    job: PullJob,
    found: FoundFiles,
    placed: Sequence[ManifestEntry],
    *,
    changed: Sequence[str],
    unread: Sequence[str],
    links: tuple[tuple[str, str], ...],
) -> Head:
    known = found.survey
    return Head(
        box=job.box.name,
        run=job.run,
        run_id=known.run_id,
        commit=known.commit,
        source=source_text(job, known),
        at=utc_text(wall()),
        done=known.done,
        files=len(placed),
        bytes_total=sum(entry.size for entry in placed),
        missing=found.missing,
        changed=tuple(changed),
        unread=tuple(unread),
        links=links,
    )


def source_text(job: PullJob, known: RunSurvey) -> str:
    return safe_line(f"{job.target.host or 'this machine'}:{known.project}", 300)


def _notes(listing: Listing) -> list[str]:
    notes = []
    if listing.odd:
        notes.append(f"{counted(len(listing.odd), 'FIFO, socket or device')} left out: {_some(listing.odd)}")
    return notes


def _some(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(safe_line(name, 120) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def begun(job: PullJob, found: FoundFiles, destination: str, command: str, now: float) -> Transfer:
    """The transfer as it begins."""
    return Transfer(
        "pull",
        job.box.name,
        job.run,
        source_text(job, found.survey),
        destination,
        now,
        command,
        bytes_total=sum(file.size for file in found.files.values()),
        files_total=len(found.files),
        run_id=found.survey.run_id,
        ended_at=found.survey.ended_at,
    )
