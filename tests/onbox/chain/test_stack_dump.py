"""The stacks of what hangs, with a program in py-spy's place that says what it was asked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from subprocess import PIPE
from typing import TYPE_CHECKING

from onbox.chain.observe import stack_dump
from onbox.system.process import has_variable
from onbox.triage.classes import about_stall
from tests.box import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FAKE = "#!/bin/sh\necho \"Thread 0x1 (idle): asked for $*\"\nhead -c 200000 /dev/zero | tr '\\0' x\n"


def test_the_stacks_of_python_processes_are_written_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "py-spy"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert stack_dump.find_program({"PATH": ""}) == str(program)
    monkeypatch.undo()
    stacks = tmp_path / "train.1.stacks"
    environ, who = {"PATH": f"{tmp_path}:/usr/bin:/bin"}, f"WHO={tmp_path}"
    with (
        subprocess.Popen(["sleep", "60"], env={"WHO": str(tmp_path)}) as shell,
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env={"WHO": str(tmp_path)}) as hung,
    ):
        try:
            started = {shell.pid, hung.pid}
            wait_until(lambda: all(has_variable(pid, who.encode()) for pid in started), "their environments to be seen")
            assert stack_dump.start_dump(str(stacks), None, who.encode(), environ)
            wait_until(stacks.exists, "the stacks")
            told = stacks.read_text()
        finally:
            hung.kill()
            shell.kill()
    assert f"== pid {hung.pid}\nThread 0x1 (idle): asked for dump --pid {hung.pid}" in told
    assert str(shell.pid) not in told
    assert len(told) <= stack_dump.LIMIT_BYTES


def test_a_person_is_given_the_command_for_the_process_at_work(tmp_path: Path) -> None:
    sleep, who = shutil.which("sleep"), f"WHO={tmp_path}"
    assert sleep is not None
    shutil.copy(sleep, tmp_path / "solver")
    with subprocess.Popen([tmp_path / "solver", "60"], env={"WHO": str(tmp_path)}) as solver:
        try:
            wait_until(lambda: has_variable(solver.pid, who.encode()), "its environment to be seen")
            assert stack_dump.stack_command(who.encode()) == f"gdb -p {solver.pid} -batch -ex 'thread apply all bt'"
            with subprocess.Popen([sys.executable, "-c", "input()"], env={"WHO": str(tmp_path)}, stdin=PIPE) as hung:
                wait_until(lambda: has_variable(hung.pid, who.encode()), "its environment to be seen")
                assert stack_dump.stack_command(who.encode()) == f"py-spy dump --pid {hung.pid}"
                hung.kill()
        finally:
            solver.kill()
    assert stack_dump.stack_command(who.encode()) is None


def test_nobody_is_asked_to_dump_what_is_dumped() -> None:
    assert "train.1.stacks" in about_stall("/box/logs/train.1.stacks")["remedy"]
    assert "take a stack dump" in about_stall(None)["remedy"]


def test_without_py_spy_there_is_none(tmp_path: Path) -> None:
    assert not stack_dump.start_dump(str(tmp_path / "x"), None, b"WHO=nobody", {"PATH": str(tmp_path)})
