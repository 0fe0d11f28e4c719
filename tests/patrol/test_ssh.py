"""The argv of a connection, what goes over stdin, and where an answer ends. Shells are real."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

import pytest

from patrol.ssh.client import SshTarget, find_mark, script_with_values, ssh_argv
from patrol.ssh.control_sockets import PATH_BYTES, control_path

HOSTILE = [
    "",
    "a b",
    "it's",
    '"',
    "$(id)",
    "`id`",
    "-n",
    "--",
    "line\nline",
    "\\",
    "*",
    "~",
    "!!",
    "ü",
    "\x1b[2J",
    "&;|<>#",
]
SHELLS = ["sh", "dash", "bash", "busybox sh", "zsh"]


def options_of(target: SshTarget) -> list[str]:
    argv = ssh_argv(target)
    return [argv[at + 1] for at, word in enumerate(argv) if word == "-o"]


def test_remote_command_is_the_same_for_every_script() -> None:
    argv = ssh_argv(SshTarget("gpu1", "root@gpu1"))
    assert argv[0] == "ssh"
    assert argv[-3:] == ["--", "root@gpu1", "exec sh -s"]


def test_users_words_come_before_ours() -> None:
    """Of two values ssh takes the first."""
    argv = ssh_argv(SshTarget("gpu1", "gpu1", ("ssh", "-F", "conf", "-o", "ConnectTimeout=3")))
    assert argv.index("ConnectTimeout=3") < argv.index("ConnectTimeout=15")


def test_never_asks_and_never_weakens() -> None:
    options = options_of(SshTarget("gpu1", "gpu1"))
    assert "BatchMode=yes" in options
    assert not [option for option in options if "HostKey" in option or "KnownHosts" in option]


def test_local_box_needs_no_ssh() -> None:
    assert ssh_argv(SshTarget("here", None)) == ["sh", "-s"]


def test_master_is_only_opened_where_a_socket_is_named() -> None:
    assert "ControlMaster=no" in options_of(SshTarget("gpu1", "gpu1"))
    assert 'ControlPath="/tmp/100%%/s"' in options_of(SshTarget("gpu1", "gpu1", control_path="/tmp/100%/s"))
    assert "ControlPath=none" in options_of(SshTarget("gpu1", "gpu1", control_path="none"))


@pytest.mark.parametrize("shell", SHELLS)
def test_values_arrive_in_any_shell(shell: str) -> None:
    words = shell.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"needs {words[0]}")
    stdin = script_with_values('for value do printf "%s\\0" "$value"; done', HOSTILE)
    done = subprocess.run([*words, "-s"], input=stdin, capture_output=True, timeout=60, check=True)
    assert done.stdout.decode().split("\0")[:-1] == HOSTILE


def test_value_with_nul_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        script_with_values("true", ["a\0b"])


def test_script_that_arrives_in_part_does_nothing() -> None:
    stdin = script_with_values("echo one\necho two", ["a"])
    for length in range(len(stdin) - len(b"} </dev/null\n")):
        done = subprocess.run(["sh", "-s"], input=stdin[:length], capture_output=True, timeout=60, check=False)
        assert done.stdout == b""


def test_script_cannot_eat_what_follows_it() -> None:
    stdin = script_with_values("cat; echo end", [])
    assert subprocess.run(["sh", "-s"], input=stdin, capture_output=True, timeout=60, check=True).stdout == b"end\n"


@pytest.mark.parametrize(
    ("output", "at"),
    [
        (b"END", 0),
        (b"END 5\n", 0),
        (b"a\nEND", 2),
        (b"log says END\nb", None),
        (b"log says END\nEND", 13),
        (b"\nEN", None),
        (b"", None),
    ],
)
def test_end_mark_counts_at_the_start_of_a_line(output: bytes, at: int | None) -> None:
    assert find_mark(output, b"END") == at


def test_end_mark_is_found_when_it_comes_in_pieces() -> None:
    whole = b"first\nEND 0\n"
    came, found = b"", None
    for byte in whole:
        seen = len(came)
        came += bytes([byte])
        found = found or find_mark(came, b"END", seen)
    assert found == 6


def test_control_path_is_short_private_and_ones_own(tmp_path: object) -> None:
    paths = [control_path(box, "gpu1", ("ssh",), "/tmp") for box in ("a", "b", "a")]
    assert paths[0] == paths[2] != paths[1]
    assert paths[0] is not None
    assert len(paths[0]) <= PATH_BYTES
    assert control_path("a", "gpu1", ("ssh",), f"{tmp_path}/{'x' * 100}") is None


def test_folder_that_others_can_write_to_gives_no_master() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # a short path
        assert control_path("a", "gpu1", ("ssh",), place) is not None
        os.chmod(f"{place}/onbox-{os.getuid()}", 0o777)
        assert control_path("a", "gpu1", ("ssh",), place) is None
