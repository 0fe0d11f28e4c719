"""The register of waits: one per target, whoever crashed, whatever lies there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sentinels.register import (
    CONTINUE_SECONDS,
    WaitEntry,
    Waiter,
    WaitRegister,
    can_be_continued,
    claim,
    end_waiter,
    ident_of,
    is_alive,
    let_go,
    parse_entry,
    renew,
    standing_of,
    this_waiter,
)
from tests.box import REPOSITORY, is_running, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def register(tmp_path: Path) -> WaitRegister:
    return WaitRegister(str(tmp_path / "register"))


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """Another process, that ends with the signal that supersedes."""
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as process:
        yield process
        process.kill()


def entry(waiter: Waiter | None = None, **changes: object) -> WaitEntry:
    made = WaitEntry(
        "abc", ("gpu1:digits",), waiter or this_waiter(), "waiting", 100.0, 100.0, 60.0, 100.0, {}, {"0:run": {}}
    )
    return made._replace(**changes)  # type: ignore[arg-type]


def waiter_of(process: subprocess.Popen[bytes]) -> Waiter:
    me = this_waiter()
    with open(f"/proc/{process.pid}/stat", "rb") as file:
        return me._replace(pid=process.pid, start=file.read().rpartition(b") ")[2].split()[19].decode())


def test_the_same_targets_in_any_order_are_the_same_wait() -> None:
    assert ident_of(["a", "b"]) == ident_of(["b", "a"])
    assert ident_of(["a", "b"]) != ident_of(["a"])
    assert ident_of(["ab", "c"]) != ident_of(["a", "bc"])


def test_an_entry_is_read_as_it_was_written(register: WaitRegister) -> None:
    claim(register, entry())
    assert register.read("abc") == entry()
    assert [one.ident for one in register.entries()] == ["abc"]


def test_whoever_waits_already_is_ended_first(register: WaitRegister, other: subprocess.Popen[bytes]) -> None:
    claim(register, entry(waiter_of(other)))
    assert claim(register, entry()) is None
    assert other.wait(60) == -signal.SIGUSR1
    assert register.read("abc") == entry()


def test_a_frozen_waiter_is_ended_by_force(register: WaitRegister, other: subprocess.Popen[bytes]) -> None:
    os.kill(other.pid, signal.SIGSTOP)
    claim(register, entry(waiter_of(other)))
    claim(register, entry())
    other.wait(60)
    assert not is_running(other.pid)


def test_a_process_that_got_the_pid_later_is_left_alone(register: WaitRegister, other: subprocess.Popen[bytes]) -> None:
    claim(register, entry())
    for stranger in (waiter_of(other)._replace(start="1"), waiter_of(other)._replace(boot="another boot")):
        assert not is_alive(stranger)
        register.write(entry(stranger))
        claim(register, entry())
        assert end_waiter(stranger, signal.SIGTERM)
    assert other.poll() is None


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"null", b'{"waiter": 3}', b"\xff\xfe", b'{"waiter": {"pid": "x"}}']
)
def test_a_damaged_entry_is_written_anew(register: WaitRegister, text: bytes) -> None:
    claim(register, entry())
    with open(register.path("abc"), "wb") as file:
        file.write(text)
    assert register.damaged() == ["abc"]
    assert parse_entry("abc", text) is None
    assert claim(register, entry()) is None
    assert register.read("abc") == entry()


@pytest.mark.parametrize(
    "part", [{"memory": {"a:file": 1}}, {"last_contact": {"gpu1": "x"}}, {"armed_at": float("inf")}]
)
def test_an_entry_whose_parts_are_of_another_kind_is_damaged(register: WaitRegister, part: dict[str, object]) -> None:
    claim(register, entry())
    with open(register.path("abc"), encoding="ascii") as file:
        data = json.load(file)
    assert parse_entry("abc", json.dumps({**data, **part}).encode()) is None


def test_the_superseded_leaves_the_new_entry_alone(register: WaitRegister) -> None:
    mine, newer = entry(), entry(Waiter(1, "1", None))  # no process of this boot
    claim(register, mine)
    register.write(newer)
    renew(register, mine)
    let_go(register, mine, park=False)
    assert register.read("abc") == newer


def test_a_wait_that_ran_out_of_time_is_kept_for_the_next_slice(register: WaitRegister) -> None:
    mine = entry()
    claim(register, mine)
    let_go(register, mine, park=True)
    kept = register.read("abc")
    assert kept is not None
    assert kept.state == "parked"
    assert can_be_continued(kept, kept.written_at + CONTINUE_SECONDS - 1)
    assert not can_be_continued(kept, kept.written_at + CONTINUE_SECONDS)
    assert not can_be_continued(kept, kept.written_at - 60)  # the clock was set back
    continued = claim(register, entry())
    assert continued is not None
    assert continued.memory == {"0:run": {}}


def test_any_other_end_leaves_nothing(register: WaitRegister) -> None:
    claim(register, entry())
    let_go(register, entry(), park=False)
    assert os.listdir(register.folder) == []


def test_files_are_private(register: WaitRegister) -> None:
    claim(register, entry())
    assert os.stat(register.folder).st_mode & 0o777 == 0o700
    assert os.stat(register.path("abc")).st_mode & 0o777 == 0o600


def test_standings_tell_the_living_from_the_dead(other: subprocess.Popen[bytes]) -> None:
    alive = waiter_of(other)
    assert standing_of(entry(alive), 120.0).word == "waiting"
    assert standing_of(entry(alive), 1000.0).word == "frozen"
    assert standing_of(entry(alive._replace(start="1")), 120.0).word == "dead"
    assert standing_of(entry(alive, state="parked"), 120.0).word == "parked"
    assert standing_of(entry(alive, state="parked"), 5000.0).word == "over", "it ended in order, and nobody died"
    other.kill()
    other.wait()
    wait_until(lambda: standing_of(entry(alive), 120.0).word == "dead", "the end to be seen")


def test_entries_of_later_versions_are_read(register: WaitRegister) -> None:
    claim(register, entry())
    with open(register.path("abc"), "rb") as file:
        data = json.loads(file.read())
    assert parse_entry("abc", json.dumps({**data, "schema": 2, "more": [1]}).encode()) == entry()


def test_who_reads_the_register_does_not_load_the_wait() -> None:
    look = "import sys, sentinels.register; sys.exit('sentinels.wait' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], cwd=REPOSITORY, check=False, timeout=60).returncode == 0
