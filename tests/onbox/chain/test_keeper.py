"""The words that run a stage's command, and what the keeper puts on record of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.chain.command.keeper import (
    GO,
    GO_FD,
    KEEPER_ARGV,
    LIFE_FD,
    RESUME_WORDS,
    SCRIPT_FD,
    SLOT_FD,
    command_argv,
    find_program,
    keeper_text,
)
from onbox.chain.state.slots import read_slot, reserve_slot
from onbox.contract.paths import RunPaths
from onbox.system.process import Files, high_pipe, nameless_file, start_detached

if TYPE_CHECKING:
    from pathlib import Path

    from onbox.contract.markers import Slot

NOT_RESUMED = ["/bin/false", *"12345678"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["python", "train.py"], "python train.py"),
        (["python", "train.py", "--lr=0.1", "-v"], "  python  train.py --lr=0.1   -v "),
        (["./run.sh", "a,b", "x:y", "50%", "u@h", "+1", "a_b"], "./run.sh a,b x:y 50% u@h +1 a_b"),
        (["/usr/bin/env", "SEED=7", "python", "train.py"], "/usr/bin/env SEED=7 python train.py"),
        (["nvidia-smi"], "nvidia-smi"),
    ],
)
def test_a_plain_line_is_split_at_its_blanks(words: list[str], line: str) -> None:
    assert words == command_argv(line, lambda _: "/bin/bash")
    assert words == command_argv(line, lambda _: None)


NEEDS_A_SHELL = """\
python train.py 'two words'
python "train.py"
python train.py | tee log
prepare; train
prepare && train
train || true
train &
train > log
train < data
train 2>&1
SEED=7 python train.py
python $SCRIPT
python `which train.py`
python *.py
python train?.py
python [ab].py
python {a,b}.py
python ~/train.py
python train\\ it.py
# nothing
!true
(train)
exit 3
cd src
[ -e x ]
. ./env.sh
source env.sh
export A
exec train
ulimit -c 0
true
kill 1
trap x
echo done
wait
set -e
resume
run_stage
trainé
""".splitlines()


@pytest.mark.parametrize("line", [*NEEDS_A_SHELL, "prepare\ntrain", "python\ttrain.py", "", "\n"])
def test_any_other_line_is_for_a_strict_shell(line: str) -> None:
    assert ["/opt/bash", "--norc", "-eo", "pipefail", "-c", line] == command_argv(line, lambda name: f"/opt/{name}")
    assert ["/bin/sh", "-e", "-c", line] == command_argv(line, lambda _: None)


@pytest.mark.parametrize("cmd", [("python", "a b", "", "$x"), ("train",), ("-x",)])
def test_a_list_runs_as_it_is(cmd: tuple[str, ...]) -> None:
    assert list(cmd) == command_argv(cmd, lambda _: "/bin/bash")


def test_programs_are_found_on_the_path() -> None:
    found = find_program("sh")
    assert found is not None
    assert os.access(found, os.X_OK)
    assert find_program("no-such-program-anywhere") is None


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    (tmp_path / "markers").mkdir()
    return RunPaths(str(tmp_path))


def run_keeper(
    paths: RunPaths,
    command: list[str],
    *,
    folder: str | None = None,
    go: bytes = GO,
    resume: list[str] = NOT_RESUMED,
    runner_lives: bool = True,
) -> tuple[int, Slot | None]:
    """Run a keeper to its end: its exit status, and what its slot then says."""
    slot_fd = reserve_slot(paths, "r", "train", 1)
    (waiting_fd, go_fd), (heard_fd, life_fd) = high_pipe(), high_pipe()
    script_fd = nameless_file(keeper_text(folder or paths.root, resume, command))
    inherited = ((slot_fd, SLOT_FD), (waiting_fd, GO_FD), (life_fd, LIFE_FD), (script_fd, SCRIPT_FD))
    pid = start_detached(KEEPER_ARGV, os.environ, Files(output=paths.runner_log, inherited=inherited))
    for fd in (script_fd, waiting_fd, slot_fd, life_fd, *(() if runner_lives else (heard_fd,))):
        os.close(fd)
    os.write(go_fd, go)
    os.close(go_fd)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if runner_lives:
        os.close(heard_fd)
    slot, exists, locked = read_slot(paths.slot("train"))
    assert (exists, locked) == (True, False)
    assert slot is None or slot.keeper_pid in (None, pid)
    return status, slot


@pytest.mark.parametrize(
    ("code", "cmd"),
    [
        (0, "true"),
        (3, "exit 3"),
        (1, "false | cat"),
        (1, "false; true"),
        (143, "kill -TERM $$"),
        (137, "kill -KILL $$"),
        (127, "no-such-program-anywhere"),
        (4, ("/bin/sh", "-c", 'exit "$1"', "sh", "4")),
    ],
)
def test_the_keeper_records_how_its_command_ended(paths: RunPaths, code: int, cmd: str | tuple[str, ...]) -> None:
    status, slot = run_keeper(paths, command_argv(cmd, find_program))
    assert slot is not None
    assert (code, code) == (status, slot.exit_code)


def test_the_command_runs_in_its_folder(paths: RunPaths, tmp_path: Path) -> None:
    (tmp_path / "two words").mkdir()
    run_keeper(paths, ["/bin/sh", "-c", "echo hello > here"], folder=f"{paths.root}/two words")
    assert (tmp_path / "two words" / "here").read_text() == "hello\n"


def test_a_missing_folder_is_recorded_as_exit_66(paths: RunPaths) -> None:
    status, slot = run_keeper(paths, ["/bin/true"], folder=f"{paths.root}/gone")
    assert slot is not None
    assert (status, slot.exit_code) == (66, 66)


def test_without_the_word_nothing_runs(paths: RunPaths, tmp_path: Path) -> None:
    status, slot = run_keeper(paths, ["touch", "ran"], go=b"")
    assert slot is not None
    assert (status, slot.keeper_pid, slot.exit_code) == (0, None, None)
    assert not (tmp_path / "ran").exists()


def test_the_chain_is_resumed_only_when_the_runner_is_gone(paths: RunPaths, tmp_path: Path) -> None:
    resume = ["/bin/sh", "-c", 'echo "$@" > resumed', "sh", *"12345"]
    assert len(resume) == RESUME_WORDS
    run_keeper(paths, ["sh", "-c", "exit 5"], resume=resume)
    assert not (tmp_path / "resumed").exists()
    slot = run_keeper(paths, ["sh", "-c", "exit 5"], resume=resume, runner_lives=False)[1]
    assert slot is not None
    assert (slot.exit_code, (tmp_path / "resumed").read_text()) == (5, "1 2 3 4 5\n")


@pytest.mark.parametrize("cmd", [("exit", "3"), ("exec", "/bin/true"), ("resume",)])
def test_a_list_of_a_shell_word_does_not_end_the_keeper(paths: RunPaths, cmd: tuple[str, ...]) -> None:
    slot = run_keeper(paths, command_argv(cmd, find_program))[1]
    assert slot is not None
    assert slot.exit_code is not None


def test_the_command_does_not_stand_in_the_keepers_own_command_line(paths: RunPaths) -> None:
    """`pgrep -f train.py` is what a person types; it must meet the training, not what keeps it."""
    show = "tr '\\0' ' ' </proc/$PPID/cmdline; true train.py"
    assert run_keeper(paths, ["/bin/sh", "-c", show])[0] == 0
    with open(paths.runner_log, encoding="utf-8") as file:
        assert file.read() == "/bin/sh /proc/self/fd/6 onbox-keeper "


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["/bin/sh", "-c", "echo step 5; kill -KILL $$"], "step 5\n"),
        (["no-such-program"], "onbox: no-such-program: command not found\n"),
    ],
)
def test_the_shell_itself_adds_no_word_to_the_log(paths: RunPaths, command: list[str], said: str) -> None:
    run_keeper(paths, command)
    with open(paths.runner_log, encoding="utf-8") as file:
        assert file.read() == said
