"""What the parts of a run directory say: one look as values. What it proves is said by `run_rows.py`. Pure.

The files are those of docs/format.md. Whether somebody lives is the kernel's word (pid with start time and boot id, and
file locks), asked on the box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import parse_events
from onbox.contract.json_text import parse_object
from onbox.contract.markers import Marker, parse_marker
from onbox.contract.runfile import DamagedRunfile, parse_head
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.engine_word import is_overtaken
from onbox.runs.journal import fold
from onbox.runs.room import RunRoom

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.events import Record
    from sentinels.judge.engine_state import EngineWord


class RunFold(NamedTuple):
    """One look. run_id None: there is no run (yet). launch: number of the newest start that the journal's end tells.

    done, ended: CHAIN_DONE and CHAIN_FAILED, if they are of this very run, chain and launch. last: the record of the
    newest end; None while it is open. newest_event, newest_at: of the journal's newest record. failed: the newest
    FAILED marker of a stage. runner, stage: alive, gone, or why it could not be told. left: of a stage without its
    runner: `alone`, its keeper has gone as well, or `cells`, of a sweep some go on; else "". rebooted: the runner
    signed under another boot. engine: the engine that the run was handed to, whose processes are elsewhere; "" for
    none. What is on record of an earlier launch is left out once the run was handed over again. word: what the engine
    said last; None: nothing yet. neighbours: where there is no such run, the names of those that lie in its place.
    room: where it writes; None: not known. orphans: where there is no such run, the pids of processes that were started
    in its place.
    """

    run_id: str | None
    fingerprint: str
    stage_count: int
    launch: int | None
    done: Marker | None
    ended: Marker | None
    last: Record | None
    newest_event: str
    newest_at: str
    failed: Mapping[str, Any]
    status: Mapping[str, Any]
    runner: str
    stage: str
    rebooted: bool
    clock: float
    trouble: str = ""
    engine: str = ""
    word: EngineWord | None = None
    neighbours: tuple[str, ...] = ()
    left: str = ""
    room: RunRoom | None = None
    orphans: tuple[int, ...] = ()


def facts_of(parts: Mapping[str, bytes]) -> RunFold:
    """The facts of the raw parts. Never raises: what cannot be understood is `trouble`, or left out."""
    text = {
        name: parts.get(name, b"").decode("utf-8", "replace") for name in ("runner", "stage", "boot", "now", "unseen")
    }
    alive, _, left = text["stage"].partition(" ")
    stage, left = (alive, left) if alive == "alive" else (text["stage"], "")
    run_id, fingerprint, count, trouble, engine = None, "", 0, text["unseen"], ""
    if parts.get("head"):
        try:
            head = parse_head(parts["head"])
            run_id, fingerprint, count = head.run_id, head.chain_fingerprint, head.stage_count
            engine = _engine(head.data.get("backend"))
        except DamagedRunfile as error:
            trouble = str(error)
    journal = fold(parse_events(parts.get("journal", b"").splitlines(keepends=True)))
    launch, last = journal.launch, journal.end
    if engine and last is not None and is_overtaken(last.get("at"), journal.jobs.of.values()):
        launch, last = None if launch is None else launch + 1, None
    lock = parse_object(parts.get("lock")) or {}
    return RunFold(
        run_id, fingerprint, count, launch,
        _chain_marker(parts.get("done", b""), run_id, fingerprint, launch),
        _chain_marker(parts.get("ended", b""), run_id, fingerprint, launch),
        last,
        journal.newest_event, journal.newest_at,
        parse_object(parts.get("failed")) or {},
        parse_object(parts.get("status")) or {},
        text["runner"], stage,
        rebooted=bool(lock.get("boot_id")) and lock.get("boot_id") != text["boot"],
        clock=_number(text["now"]),
        trouble=trouble,
        engine=engine,
        left=left,
        room=_room(parts.get("room", b"")),
        orphans=tuple(int(pid) for pid in parts.get("orphans", b"").split() if pid.isdigit() and len(pid) < 10),
        neighbours=tuple(filter(None, parts.get("runs", b"").decode("utf-8", "replace").split("\n"))),
    )  # fmt: skip


def _room(told: bytes) -> RunRoom | None:
    """Of its directory, which its reader calls by the run's name."""
    words = told.split()
    if len(words) != 2 or not all(word.isdigit() or word == b"-" for word in words) or words[0] == b"-":
        return None
    return RunRoom("its directory", int(words[0][:19]), None if words[1] == b"-" else int(words[1][:19]))


def _engine(settings: object) -> str:
    return safe_line(settings.get("name") or "", 40) if isinstance(settings, dict) else ""


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _chain_marker(text: bytes, run_id: str | None, fingerprint: str, launch: int | None) -> Marker | None:
    """The marker, if it vouches for this run, this chain and no earlier launch."""
    marker = parse_marker(text)
    if not isinstance(marker, Marker) or marker.run_id != run_id or marker.fingerprint != fingerprint:
        return None
    return None if launch is not None and marker.attempt < launch else marker
