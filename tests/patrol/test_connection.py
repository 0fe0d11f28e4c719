"""One running client: what it is sent, what is heard, and that nothing of it stays. It is this machine's shell."""

from __future__ import annotations

import os

import pytest

from onbox.system.process import find_tree
from patrol.ssh.client import Connection, NoAnswer, SshTarget, kill_all, script_with_values
from patrol.ssh.connection import STDERR_KEPT_BYTES
from tests.box import BOUND_SECONDS, wait_until

HERE = SshTarget("here", None)
TAG = "ONBOX_TEST_CONNECTION"


@pytest.fixture
def tag(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """By which everything that a connection of this test starts is found."""
    value = f"{os.getpid()}-{os.urandom(4).hex()}"
    monkeypatch.setenv(TAG, value)
    return f"{TAG}={value}".encode()


def others(tag: bytes) -> list[int]:
    return [entry.identity.pid for entry in find_tree(None, tag) if entry.identity.pid != os.getpid()]


def heard(connection: Connection, until: bytes | None = None) -> bytes:
    """What it says, to its end or until these words."""
    said: list[bytes] = []

    def over() -> bool:
        connection.wait(BOUND_SECONDS)
        part = connection.read()
        said.append(part or b"")
        return part is None or (until is not None and until in b"".join(said))

    wait_until(over, "its words")
    return b"".join(said)


def test_the_answer_and_the_exit_code_are_the_remote_commands(tag: bytes) -> None:
    connection = Connection(HERE, b"echo hello; exit 3\n")
    assert heard(connection) == b"hello\n"
    assert connection.end() == 3
    assert others(tag) == []


def test_a_long_script_and_a_long_answer_do_not_wait_for_each_other() -> None:
    lines = b"".join(b"echo %06d%s\n" % (number, b"x" * 200) for number in range(3000))
    connection = Connection(HERE, lines)
    assert heard(connection).count(b"\n") == 3000
    assert connection.end() == 0


def test_on_a_line_more_is_said_and_its_end_is_heard_there() -> None:
    script = "echo ready; read a <&3; echo got $a; cat <&3; echo over"
    connection = Connection(HERE, script_with_values(script, (), line=True), line=True)
    heard(connection, b"ready\n")
    connection.say(b"word\n")
    assert heard(connection, b"\n") == b"got word\n"
    connection.say_last(iter([b"one", b"", b"two"]))
    assert heard(connection) == b"onetwoover\n"
    assert connection.end() == 0


def test_of_a_flood_beside_the_answer_the_beginning_and_the_end_are_kept() -> None:
    connection = Connection(HERE, b"{ echo first; yes middle | head -c 1000000; echo last; } >&2\n")
    heard(connection)
    connection.end()
    said = connection.stderr()
    assert (said.startswith("first"), said.endswith("last\n")) == (True, True)
    assert len(said) <= 2 * STDERR_KEPT_BYTES


def test_closed_it_ends_all_that_it_started_also_what_ignores_to_be_ended(tag: bytes) -> None:
    connection = Connection(HERE, b"trap '' TERM; sleep 600 & echo up; sleep 600; sleep 600\n")
    heard(connection, b"up\n")
    assert len(others(tag)) > 1
    connection.close()
    wait_until(lambda: not others(tag), "all of it to end")
    connection.close()


def test_a_client_that_was_killed_is_no_answer(tag: bytes) -> None:
    connection = Connection(HERE, b"echo up; kill -9 $$\n")
    heard(connection)
    end = connection.end()
    assert isinstance(end, NoAnswer)
    assert others(tag) == []


def test_who_is_told_to_end_ends_every_client_that_talks(tag: bytes) -> None:
    connection = Connection(HERE, b"echo up; exec sleep 600\n")
    heard(connection, b"up\n")
    kill_all()
    assert heard(connection) == b""
    assert isinstance(connection.end(), NoAnswer)
    assert others(tag) == []
    kill_all()


def test_a_client_that_cannot_be_started_leaves_no_descriptor() -> None:
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        Connection(SshTarget("gpu1", "gpu1", ("/nowhere/ssh",)), b"")
    assert set(os.listdir("/proc/self/fd")) <= before


def test_the_clients_own_failure_is_told_by_its_words() -> None:
    fails = SshTarget("gpu1", "gpu1", ("sh", "-c", "echo 'Permission denied (publickey).' >&2; exit 255", "ssh"))
    connection = Connection(fails, b"echo hello\n")
    heard(connection)
    end = connection.end()
    assert isinstance(end, NoAnswer)
    assert "Permission denied" in end.detail
