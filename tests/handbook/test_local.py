"""Which local processes are told of: sentinels and transfers, by their words, never by a name somewhere in a path."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from handbook.local import find_waiters, parse_ps
from tests.box import wait_until

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """\
    1 /sbin/init
   71 /usr/bin/python3 /home/ann/.venv/bin/sentinel wait gpu1:digits --timeout 3h
   72 /usr/bin/python3 -m sentinels wait gpu2:digits
   73 rsync -as --partial ckpt/ gpu1:ckpt/
   74 sh -c rsync -a x y
   75 vim sentinel wait.py
   76 scp --token=abcdef0123456789 a b
   77 /usr/bin/python3 /home/ann/.venv/bin/sentinel list
garbage
"""


def test_sentinels_and_transfers_are_found() -> None:
    found = parse_ps(TABLE, own_pid=1)
    assert [(one.kind, one.pid) for one in found] == [
        ("sentinel", 71),
        ("sentinel", 72),
        ("transfer", 73),
        ("transfer", 76),
    ]
    assert "abcdef0123456789" not in found[-1].words


def test_a_real_one_is_seen_while_it_lives(tmp_path: Path) -> None:
    program = tmp_path / "rsync"
    program.symlink_to("/bin/sleep")
    transfer = subprocess.Popen([program, "60"])
    try:
        wait_until(lambda: any(f"pid {transfer.pid}:" in one for one in find_waiters()), "it to be seen")
    finally:
        transfer.kill()
        transfer.wait()
    assert not any(f"pid {transfer.pid}:" in one for one in find_waiters())
