"""The command lines of all four programs: what is mistyped, asked for help, or completed by the shell."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

import handbook.cli
import onbox.cli.app
import patrol.cli
import sentinels.cli
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onbox.cli.program import Program

CASES = REPOSITORY / "tests" / "cases"
PROGRAMS = (onbox.cli.app.PROGRAM, patrol.cli.PROGRAM, sentinels.cli.PROGRAM, handbook.cli.PROGRAM)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_every_command_loads_and_says_what_it_is_for(program: Program) -> None:
    for name in program.table:
        done = CliRunner().invoke(program, [name, "--help"])
        assert (done.exit_code, done.output.startswith(f"Usage: {program.name} {name} ")) == (0, True), done.output
        _, has_examples, examples = done.output.partition("\nexample")
        assert not has_examples or f"{program.name} {name}" in examples


def test_help_names_every_command_and_loads_none() -> None:
    """Who asks at TAB, or for help, waits for no module of a command."""
    code = (
        "import sys; from onbox.cli.app import main; main(['--help'])\n"
        "print(*[one for one in sys.modules if one.startswith('onbox.commands')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env(), capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in done.stdout for name in onbox.cli.app.PROGRAM.table)
    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "--jsno"], 'onbox status: no option --jsno; did you mean "--json"?\n  see: onbox status --help\n'),
        (
            ["status", "--run", "night"],
            (
                "onbox status: no option --run; the run is named without it: onbox status NAME\n"
                "  see: onbox status --help\n"
            ),
        ),
        (["stauts"], 'onbox: no command \'stauts\'; did you mean "stats" or "status"?\n  see: onbox --help\n'),
        (["qqq"], "onbox: no command 'qqq'\n  see: onbox --help\n"),
        ([], "onbox: name a command\n  see: onbox --help\n"),
        (["boot"], "onbox boot: name a command: install, uninstall, run\n"),
        (["stages", "--names", "--json"], "onbox stages: --json: not allowed with --names\n"),
        (["chain", "--redo"], "onbox chain: option '--redo' requires an argument\n  see: onbox chain --help\n"),
        (["completion"], "onbox completion: missing argument 'SHELL'; choose one of bash, zsh, fish\n"),
        (["triage", "x", "--signal", "NO"], "onbox triage: invalid value for '--signal': NO is no signal: give 1 to"),
        (
            ["completion", "tcsh"],
            "invalid value for 'SHELL': 'tcsh' is not one of 'bash', 'zsh', 'fish'",
        ),
    ],
)
def test_a_wrong_line_is_told_in_two_lines_with_exit_code_64(words: list[str], said: str) -> None:
    done = CliRunner().invoke(onbox.cli.app.PROGRAM, words)
    assert (done.exit_code, done.stdout) == (64, "")
    assert said in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 100


def numbers_of(command: click.Command) -> Iterator[str]:
    """What its options that take a number call one, and those of its commands."""
    yield from (one.type.name for one in command.params if isinstance(one.type, type(click.INT) | type(click.FLOAT)))
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from numbers_of(below)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_a_number_is_called_one_in_plain_words(program: Program) -> None:
    assert set(numbers_of(program)) <= {"number", "whole number"}


def test_a_trouble_of_a_command_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(onbox.cli.app.PROGRAM, ["status"])
    assert (done.exit_code, done.stderr.count("\n")) == (64, 1)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (">&-", "is closed, so the answer is lost: send it to a file"),
        (">/dev/full", "cannot be written, so the answer is lost: No space left on device"),
    ],
)
@pytest.mark.parametrize("program", ["onbox", "sentinels"])
@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_an_answer_that_nobody_gets_is_a_failure(
    program: str, output: str, said: str, unbuffered: str, tmp_path: Path
) -> None:
    """As with a full disk behind it; unbuffered: whether python keeps nothing of what is printed."""
    words = ["sh", "-c", f"exec {sys.executable} -m {program} --help {output}"]
    around = {**env(), "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(words, env=around, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (74, 1), done.stderr
    assert f": the standard output {said}" in done.stderr


@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_an_error_of_something_else_leaves_the_answer_as_it_is(unbuffered: str, tmp_path: Path) -> None:
    program = """
import errno
from onbox.cli.boundary import run_as_script, within_boundary
def command():
    print("{}")
    raise OSError(errno.EIO, "broken")
run_as_script(lambda _: within_boundary("onbox", command, lambda _: None, interrupted=(1, "")))
"""
    around = {**env(), "PYTHONUNBUFFERED": unbuffered}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=around, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (74, "{}\n", "onbox: the system: broken\n")


def env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def complete(program: str, folder: Path, *words: str) -> list[str]:
    """What the program offers at TAB after these words."""
    asked = {f"_{program.upper()}_COMPLETE": "bash_complete", "COMP_WORDS": " ".join([program, *words])}
    package = {"sentinel": "sentinels"}.get(program, program)
    done = subprocess.run(
        [sys.executable, "-m", package],
        env={**env(), **asked, "COMP_CWORD": str(len(words))},
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line.partition(",")[2] or line for line in done.stdout.splitlines()]


def test_each_program_completes_its_commands_and_options(tmp_path: Path) -> None:
    assert complete("onbox", tmp_path, "res") == ["resume"]
    assert complete("patrol", tmp_path, "unin") == ["uninstall"]
    assert complete("sentinel", tmp_path, "wait", "--stall") == ["--stall-after"]
    assert complete("handbook", tmp_path, "agent", "--host", "cod") == ["codex"]
    assert complete("onbox", tmp_path, "boot", "") == ["install", "uninstall", "run"]


def test_names_are_completed_from_the_project(tmp_path: Path) -> None:
    (tmp_path / "onbox.toml").write_text('[stages.pretrain]\ncmd = "true"\n[stages.eval]\ncmd = "true"\n')
    (tmp_path / ".onbox" / "digits").mkdir(parents=True)
    (tmp_path / ".onbox" / "digits" / "run.json").write_text("{}")
    assert complete("onbox", tmp_path, "status", "") == ["digits"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_one_script_completes_all_four(shell: str) -> None:
    script = CliRunner().invoke(onbox.cli.app.PROGRAM, ["completion", shell]).stdout
    for name in ("onbox", "patrol", "sentinel", "handbook"):
        assert f"_{name.upper()}_COMPLETE={shell}_complete" in script
    assert script.count("#compdef") == (shell == "zsh")


def test_bash_asks_the_program(tmp_path: Path) -> None:
    program = tmp_path / "onbox"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m onbox "$@"\n')
    program.chmod(0o755)
    ask = (
        'eval "$(onbox completion bash)"; COMP_WORDS=(onbox stat); COMP_CWORD=1\n'
        '_onbox_completion onbox; echo "${COMPREPLY[*]}"'
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", ask], env={**env(), "PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["status", "stats"]


def found_command(line: str) -> click.Command:
    """The command of `patrol boxes add`."""
    first, *words = line.split()
    command: click.Command = next(one for one in PROGRAMS if one.name == first)
    for word in words:
        assert isinstance(command, click.Group)
        below = command.get_command(click.Context(command), word)
        assert below is not None, line
        command = below
    return command


def kind_of(param: click.Parameter) -> str:
    if isinstance(param, click.Argument):
        if param.nargs < 0:
            return "some" if param.required else "any"
        return "one" if param.required else "optional"
    assert isinstance(param, click.Option)
    return "flag" if param.is_flag else "each" if param.multiple else "two" if param.nargs == 2 else "one"


def test_the_first_release_s_command_lines_are_still_taken() -> None:
    """Each line of the file: a command, and its arguments and options with how many values each takes."""
    for line in (CASES / "command_lines.txt").read_text().splitlines():
        words, _, wanted = line.partition(": ")
        params = found_command(words).params
        taken = {
            name: kind_of(one)
            for one in params
            for name in ([one.name] if isinstance(one, click.Argument) else one.opts)
        }
        for item in wanted.split():
            names, kind = item.rsplit(":", 1)
            for name in names.split("|"):
                assert taken.get(name) in ({kind, "optional"} if kind == "one" else {kind}), f"{words} {name}"


def help_pages(program: Program) -> Iterator[str]:
    """Of a program and of every command below it, on a terminal of 80 columns."""

    def pages(command: click.Command, ctx: click.Context) -> Iterator[str]:
        yield command.get_help(ctx)
        if not isinstance(command, click.Group):
            return
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from pages(found, click.Context(found, parent=ctx, info_name=name, terminal_width=80))

    return pages(program, click.Context(program, info_name=program.name, terminal_width=80))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_no_line_of_a_help_is_wider_than_80_columns_but_what_is_typed(program: Program) -> None:
    wide = [line for page in help_pages(program) for line in page.splitlines() if len(line) > 80]
    names = tuple(f"  {one.name} " for one in PROGRAMS)
    assert [line for line in wide if not line.startswith(names) or "   " in line.strip()] == []


@pytest.mark.parametrize(
    ("program", "command"),
    [(onbox.cli.app.PROGRAM, "progress"), (onbox.cli.app.PROGRAM, "status"), (patrol.cli.PROGRAM, "status")],
)
def test_who_meets_a_sign_before_a_number_finds_it_in_the_help(program: Program, command: str) -> None:
    text = " ".join(CliRunner().invoke(program, [command, "--help"]).output.split())
    assert "`~` stands before" in text
    assert "read from" in text
