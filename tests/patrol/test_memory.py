"""What the patrol remembers survives kill -9, a full disk and a damaged file, and stays bounded."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onbox.logs.cursor import Cursor
from onbox.logs.progress import ProgressReader
from onbox.series.point import Point as SeriesPoint
from onbox.system.files import StateNotWritten
from patrol.memory.history import Before, BoxBefore
from patrol.memory.rows import BoxNote, MemoryTrouble, PatrolAct, RunNote, TickNote, TickPoint
from patrol.memory.run_codec import memories_of, run_to_text
from patrol.memory.run_memory import BoxMemory, LogPlace, Memories, RunMemory, Watched, nothing_remembered
from patrol.memory.sqlite import schema as memory_schema
from patrol.memory.sqlite.memory_file import KEPT_ASIDE
from patrol.memory.store import Memory
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = 1_790_000_000.0
DAY = 86400.0
LOG = LogPlace("/root/digits/a b\n.log", Cursor(7, 8, 9, "ab"), b"step \xff 1\n", b"half \xff line")
RUN = RunMemory(log=LOG, watched=Watched(("1:2",), at_home=True), pids=(1,))
MEMORIES = Memories(BoxMemory("b1", 5.5), {"digits": RUN})
BEFORE = Before(
    last_seen_at=NOW,
    run_id="r1",
    rule="healthy",
    since=NOW - 5,
    steps=((NOW, 3.0), (NOW + 1, 4.0)),
    signatures=(("sig", "1"),),
    restarts=((NOW, "sig"),),
    rules=("healthy",) * 3,
)


def run_note(rule: str = "healthy", *, before: str | None = None, at: float = NOW, run: str = "digits") -> RunNote:
    return RunNote(
        "gpu1",
        run,
        at,
        BEFORE._replace(rule=rule),
        f"line of {rule}",
        "{}",
        "running",
        0,
        rule,
        "says",
        before,
        TickPoint(5.0, 0.5, 71, 62, 8, 96),
    )


def tick_note(*runs: RunNote, at: float = NOW, look: str = '{"box": "gpu1"}') -> TickNote:
    box = BoxNote("gpu1", at, BoxBefore(failures=2, disks=((NOW, "/", 5, None),)), look, MEMORIES)
    return TickNote(at - 1, at, 0, (box,), runs)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(os.fspath(tmp_path / "state"))


def test_what_was_remembered_is_recalled(memory: Memory) -> None:
    memory.remember(tick_note(run_note()))
    past = Memory(os.path.dirname(memory.path)).recall()
    assert past.runs == {("gpu1", "digits"): BEFORE}
    assert past.boxes == {"gpu1": BoxBefore(failures=2, disks=((NOW, "/", 5, None),))}
    assert memories_of(past.memories["gpu1"]) == MEMORIES
    assert memory.notes == []


def test_a_runs_own_points_are_kept_bounded_and_forgotten_with_it(memory: Memory) -> None:
    points = [
        SeriesPoint(NOW + 30 * at, "train", 1, step=float(at), loss="nan" if at == 7 else 0.5) for at in range(4000)
    ]

    def tick(*new: SeriesPoint) -> TickNote:
        note = tick_note(run_note())
        return note._replace(boxes=(note.boxes[0]._replace(series=(("digits", new),)),))

    memory.remember(tick(*points[:10]))
    memory.remember(tick(*points[8:12]))
    assert memory.series("gpu1", "digits") == points[:12]
    assert memory.series("gpu1", "digits", since=points[10].at) == points[11:12]
    assert memory.series("gpu1", "other") == []
    for at in range(0, 4000, 200):
        memory.remember(tick(*points[at : at + 200]))
    kept = memory.series("gpu1", "digits")
    assert len(kept) <= memory_schema.KEPT_POINTS_PER_RUN
    assert (kept[0], kept[-300:]) == (points[0], points[-300:])
    memory.forget("gpu1", "digits")
    assert memory.series("gpu1", "digits") == []


def test_no_colour_hides_a_secret_from_what_is_kept() -> None:
    secret = "0a1b2c3d4e" * 4
    line = f"\x1b[36mapi_key\x1b[0m=\x1b[35m{secret}\x1b[0m \xff"
    again = kept_of(
        LogPlace(
            "log",
            Cursor(1, 2, 3, ""),
            line.encode("latin-1"),
            line.encode(),
            {**ProgressReader().state(), "tail": line},
        )
    )
    assert again.progress is not None
    for text in (again.window.decode("latin-1"), again.progress["tail"], again.held.decode()):
        assert "api_key=***" in text
        assert secret not in text
    plain = LogPlace("log", Cursor(1, 2, 3, ""), b"\x1b[36mstep\x1b[0m 5", b"\x1b[36mhalf a\xff")
    assert kept_of(plain) == plain


def test_no_secret_of_a_log_is_kept(memory: Memory) -> None:
    """The window of lines that triage reads again at the next look."""
    line = "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz01234567\n"
    progress = ProgressReader()
    progress.feed(f"step 1\n{line}".encode())
    window = f"step 1\n{line}".encode()
    log = LOG._replace(window=window, progress=progress.state(), held=b"https://me:hunter22@host/")
    kept = remembered(memory, log)
    assert b"step 1" in kept.window
    assert "abcdefghij" not in str(kept)
    assert b"hunter22" not in kept.held
    more = kept._replace(window=kept.window + b"HF_TOKEN=hf_zyxwvutsrqponmlkjihgfedcba01234567\n")
    for log in (kept, more, more):  # nothing new; a new line; the same line once more, as the log told it
        again = remembered(memory, log)
    assert again.window.count(b"HF_TOKEN=") == 2
    assert b"zyxwvutsrq" not in again.window


def remembered(memory: Memory, log: LogPlace) -> LogPlace:
    """As the store gives it back."""
    note = tick_note(run_note())
    memories = Memories(BoxMemory(), {"digits": RunMemory(log=log)})
    memory.remember(note._replace(boxes=(note.boxes[0]._replace(memories=memories),)))
    found = memories_of(memory.recall().memories["gpu1"]).runs["digits"].log
    assert found is not None
    return found


def kept_of(log: LogPlace) -> LogPlace:
    found = memories_of({"digits": run_to_text(RunMemory(log=log))}).runs["digits"].log
    assert found is not None
    return found


def test_nothing_is_readable_for_others(memory: Memory) -> None:
    memory.remember(tick_note(run_note()))
    assert stat.S_IMODE(os.stat(memory.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(memory.path)).st_mode) == 0o700
    folder = os.path.dirname(memory.path)
    there = os.listdir(folder)
    assert sorted(there) == ["memory.db", "memory.db-journal"]
    assert {stat.S_IMODE(os.stat(os.path.join(os.path.dirname(memory.path), name)).st_mode) for name in there} == {
        0o600
    }


def test_only_a_changed_rule_is_a_change(memory: Memory) -> None:
    memory.remember(tick_note(run_note(before=None)))
    memory.remember(tick_note(run_note(before="healthy"), at=NOW + 1))
    memory.remember(tick_note(run_note("failed", before="healthy", at=NOW + 2), at=NOW + 2))
    assert [(flip.rule_before, flip.rule) for flip in memory.flips(10)] == [("healthy", "failed"), (None, "healthy")]
    assert memory.flips(10, "gpu2") == []
    assert [tick.ended_at for tick in memory.ticks(10)] == [NOW + 2, NOW + 1, NOW]


def test_a_warning_is_told_with_the_rule_that_makes_it_one(memory: Memory) -> None:
    """A run can stay healthy while something beside it changes."""
    memory.remember(tick_note(run_note(before=None)))
    full = run_note(before="healthy", at=NOW + 1)._replace(severity=1, flag="disk-trend", flag_says="/ full in 5h")
    memory.remember(tick_note(full, at=NOW + 1))
    memory.remember(
        tick_note(full._replace(at=NOW + 2, flag_before="disk-trend", flag_says="/ full in 4h"), at=NOW + 2)
    )
    newest, _ = memory.flips(10)
    assert (newest.rule_before, newest.rule, newest.say) == ("healthy", "healthy +disk-trend", "/ full in 5h")


def test_places_of_a_box_that_was_not_reached_stay(memory: Memory) -> None:
    memory.remember(tick_note(run_note()))
    unreached = BoxNote("gpu1", NOW + 1, BoxBefore(failures=1), "{}", None)
    memory.remember(TickNote(NOW, NOW + 1, 3, (unreached,), ()))
    assert memories_of(memory.recall().memories["gpu1"]) == MEMORIES


def test_what_was_said_of_a_box_is_over_when_it_answers(memory: Memory) -> None:
    """Else a box that was away once would be called unreachable beside its own runs for ever."""
    memory.remember(tick_note(run_note("unreachable", run="")))
    assert [word.run for word in memory.last_words()] == [""]
    memory.remember(tick_note(run_note(at=NOW + 60), at=NOW + 60))
    assert [word.run for word in memory.last_words()] == ["digits"]
    assert [flip.rule for flip in memory.flips(10)] == ["healthy", "unreachable"]


def test_points_are_kept_per_run(memory: Memory) -> None:
    memory.remember(tick_note(run_note()))
    memory.remember(tick_note(run_note(at=NOW + 60), run_note(at=NOW + 60, run="other"), at=NOW + 60))
    assert [(at, rule, point.current) for at, rule, _, point in memory.points("gpu1", "digits")] == [
        (int(NOW), "healthy", 5.0),
        (int(NOW) + 60, "healthy", 5.0),
    ]


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000, b"\0" * 4096]
)
def test_a_damaged_file_is_set_aside(memory: Memory, content: bytes) -> None:
    os.mkdir(os.path.dirname(memory.path), 0o700)
    Path(memory.path).write_bytes(content)
    assert memory.recall().runs == {}
    memory.remember(tick_note(run_note()))
    assert len(memory.recall().runs) == 1
    assert len(memory.notes) == 1
    assert "set aside as memory.db.aside-" in memory.notes[0]
    aside = [name for name in os.listdir(os.path.dirname(memory.path)) if "aside" in name]
    assert [Path(memory.path).with_name(name).read_bytes() for name in aside] == [content]


def test_a_file_damaged_in_the_middle_is_set_aside(memory: Memory) -> None:
    for number in range(40):
        memory.remember(tick_note(*(run_note(run=f"run{n}") for n in range(20)), at=NOW + number, look="x" * 5000))
    size = os.path.getsize(memory.path)
    with open(memory.path, "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    memory.remember(tick_note(run_note()))
    assert memory.recall().runs.keys() == {("gpu1", "digits")}
    assert "is damaged" in memory.notes[0]


def test_a_foreign_database_is_set_aside_whole(memory: Memory) -> None:
    os.mkdir(os.path.dirname(memory.path), 0o700)
    with sqlite3.connect(memory.path) as db:
        db.execute("CREATE TABLE photos (name)")
    db.close()
    memory.recall()
    assert "is not a patrol's" in memory.notes[0]


def test_a_file_of_a_newer_patrol_is_set_aside(memory: Memory) -> None:
    memory.recall()
    with sqlite3.connect(memory.path) as db:
        db.execute(f"PRAGMA user_version = {memory_schema.NEWEST + 1}")
    db.close()
    memory.recall()
    assert "newer patrol" in memory.notes[0]


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_what_is_no_file_is_set_aside(memory: Memory, kind: str) -> None:
    os.mkdir(os.path.dirname(memory.path), 0o700)
    os.mkdir(memory.path) if kind == "folder" else os.mkfifo(memory.path)
    assert memory.recall().runs == {}
    assert len(memory.notes) == 1


def test_few_damaged_files_are_kept(memory: Memory) -> None:
    os.mkdir(os.path.dirname(memory.path), 0o700)
    for number in range(KEPT_ASIDE + 3):
        Path(memory.path).write_bytes(b"junk %d" % number * 99)
        memory.recall()
    asides = [name for name in os.listdir(os.path.dirname(memory.path)) if ".aside-" in name]
    assert sum(name.endswith("Z") for name in asides) <= KEPT_ASIDE
    assert len(asides) <= 2 * KEPT_ASIDE, "each with its journal"


def test_a_row_that_nobody_understands_is_left_out(memory: Memory) -> None:
    memory.remember(tick_note(run_note(), run_note(run="other")))
    with sqlite3.connect(memory.path) as db:
        db.execute("UPDATE runs SET before = '[1' WHERE run = 'other'")
        db.execute("""UPDATE places SET place = '{"cursor": 5}'""")
    db.close()
    assert memory.recall().runs.keys() == {("gpu1", "digits")}
    assert memories_of(memory.recall().memories["gpu1"]) == nothing_remembered()


def test_it_stays_bounded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(memory_schema.KEPT_ROWS, "ticks", 5)
    monkeypatch.setattr("patrol.memory.sqlite.write_tick.KEPT_LOOKS_PER_BOX", 3)
    memory.remember(tick_note(run_note(at=NOW - 500 * DAY), at=NOW - 500 * DAY))
    for number in range(9):
        memory.remember(tick_note(run_note(at=NOW + number), at=NOW + number))
    assert len(memory.ticks(100)) == 5
    assert [at for at, *_ in memory.points("gpu1", "digits")] == [int(NOW) + number for number in range(9)]
    with sqlite3.connect(memory.path) as db:
        assert db.execute("SELECT count(*) FROM looks").fetchone() == (3,)
    db.close()


def test_a_year_of_a_hundred_boxes_is_small(memory: Memory) -> None:
    """A row of numbers per run and tick: 17 520 ticks of 100 boxes must stay below 200 MB."""
    memory.remember(tick_note(run_note()))
    with sqlite3.connect(memory.path) as db:
        rows = ((1, int(NOW) + 1800 * n, 1, 0, float(n), 0.123 * n, 71, 62, 8, 96) for n in range(50_000))
        db.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.close()
    assert os.path.getsize(memory.path) / 50_000 * 17_520 * 100 < 200e6


def test_a_persons_word_changes_a_run_that_is_known(memory: Memory) -> None:
    memory.remember(tick_note(run_note()))
    act = PatrolAct(NOW, "gpu1", "digits", "ack", "digits", "done", "")
    assert memory.change_run("gpu1", "digits", lambda before: before._replace(acknowledged="r1"), act)
    assert not memory.change_run("gpu1", "else", lambda before: before, act)
    assert memory.recall().runs["gpu1", "digits"].acknowledged == "r1"
    assert memory.acts(10) == [act]


def test_the_newest_outcome_of_an_act_counts(memory: Memory) -> None:
    for outcome in ("trying", "delivered"):
        memory.note_act(PatrolAct(NOW, "gpu1", "digits", "relay", "msg_1", outcome, ""))
    assert memory.subjects("relay") == {"msg_1": "delivered"}
    assert memory.subjects("resume") == {}


WRITER = """
import sys
from tests.patrol.test_memory import NOW, run_note, tick_note
from patrol.memory.store import Memory
memory = Memory(sys.argv[1])
number = 0
while True:
    number += 1
    at = NOW + number
    memory.remember(tick_note(*(run_note(run=f"run{n}", at=at) for n in range(50)), at=at, look="x" * 20000))
    print(number, flush=True)
"""


def test_a_kill_at_any_instant_leaves_whole_ticks(memory: Memory) -> None:
    folder = os.path.dirname(memory.path)
    last = 0
    for delay in range(12):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, folder],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.fspath(REPOSITORY)},
        )
        assert writer.stdout is not None
        for _ in range(1 + delay % 3):
            last = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        ticks = memory.ticks(100_000)
        assert len(memory.recall().runs) == 50
        assert len({word.at for word in memory.last_words()}) == 1, "half a tick"
        assert memory.last_words()[0].at == ticks[0].ended_at
    assert last > 0
    assert memory.notes == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    place = tmp_path / "disk"
    place.mkdir()
    options = ["-t", "tmpfs", "-o", "size=256k", "none", os.fspath(place)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("no mounts here")
    yield place
    subprocess.run(["umount", "-l", os.fspath(place)], check=True)


def fill(place: Path) -> Path:
    filler = place / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    return filler


@pytest.mark.root
def test_a_full_disk_keeps_the_last_whole_tick(small_disk: Path) -> None:
    memory = Memory(os.fspath(small_disk / "state"))
    memory.remember(tick_note(run_note("first")))
    filler = fill(small_disk)
    big = tick_note(*(run_note("second", run=f"run{n}") for n in range(99)), look=os.urandom(90000).hex())
    with pytest.raises((MemoryTrouble, StateNotWritten)):
        memory.remember(big)
    assert memory.recall().runs["gpu1", "digits"].rule == "first"
    assert len(memory.ticks(9)) == 1
    filler.unlink()
    memory.remember(tick_note(run_note("third")))
    assert memory.recall().runs["gpu1", "digits"].rule == "third"
    assert memory.notes == []


@pytest.mark.root
def test_ticks_are_remembered_on_a_full_disk(tmp_path: Path, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=4m", os.fspath(small_disk)], check=True)
    memory = Memory(os.fspath(small_disk / "state"))
    memory.remember(tick_note(run_note("first")))
    fill(small_disk)
    for number in range(20):
        at = NOW + 1800 * number
        memory.remember(tick_note(*(run_note(f"rule{number}", run=f"run{n}", at=at) for n in range(4)), at=at))
    assert memory.recall().runs["gpu1", "run3"].rule == "rule19"
    assert len(memory.ticks(99)) == 21
