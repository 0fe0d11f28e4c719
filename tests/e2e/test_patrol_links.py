"""Links, logins and shells that hang, lie, die or flood: every question ends in time, with the true reason."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from patrol.ssh.client import Answer, Connection, NoAnswer, SshTarget, ask, kill_all, script_with_values
from tests.box import BOUND_SECONDS, wait_until
from tests.ports import free_port
from tests.sshd import (
    MARK,
    QUICK,
    Hole,
    Link,
    Sshd,
    local_clients,
    need_sshd,
    put,
    reason_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    need_sshd()
    server = Sshd(tmp_path_factory.mktemp("sshd"))
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _leaves_nothing_behind() -> Iterator[None]:
    """No client, proxy command or shell of a question lives on after it. (Masters are a case of their own.)"""
    yield
    wait_until(lambda: not local_clients(), "no client to be left")


def needs(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"needs {program}")
    return path


# -- answers


@pytest.mark.parametrize("host", ["gpu1", None])
def test_values_arrive_as_they_are(sshd: Sshd, host: str | None) -> None:
    target = sshd.target() if host else SshTarget("here", None)
    values = ["plain", "a b", "it's", '"', "$(touch hacked)", "`id`", "-n", "line\nline", "ü\\", "*", "!!", ""]
    script = """for each; do printf 'value %s\\n' "$each"; done; echo '<<<end 7f3a>>>'"""
    found = put(target, script, *values, deadline_seconds=60)
    assert isinstance(found, Answer), found
    assert found.output.decode() == "".join(f"value {value}\n" for value in values)
    assert found.exit_code == 0


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh", "fish", "csh", "tcsh", "zsh"])
def test_any_login_shell_runs_the_script(tmp_path: Path, shell: str) -> None:
    need_sshd()
    program, *rest = shell.split()
    words = " ".join([needs(program), *rest, "-c"])
    with closing(Sshd(tmp_path / "ssh", shell=words)) as server:
        found = put(server.target(), QUICK, "it's $HOME", deadline_seconds=60)
    assert isinstance(found, Answer), found
    assert found.output.endswith(b"begin\nvalue it's $HOME\n")


def test_banner_and_motd_do_not_disturb(tmp_path: Path) -> None:
    need_sshd()
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("echo Welcome to your instance; echo Permission denied, as they say >&2\n")
    words = "\nroot@gpu1: Permission denied (publickey).\nHost key verification failed.\n"
    with closing(Sshd(tmp_path / "ssh", home=home, banner=words)) as server:
        found = put(server.target(), QUICK, "x", deadline_seconds=60)
        assert isinstance(found, Answer), found
        assert b"begin\nvalue x\n" in found.output


def test_an_answer_comes_where_there_is_no_pidfd(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    found = put(sshd.target(), f"{QUICK}; exit 7", "x", deadline_seconds=60)
    assert isinstance(found, Answer)
    assert (found.output, found.exit_code) == (b"begin\nvalue x\n", 7)


def test_255_of_the_script_is_not_255_of_ssh(sshd: Sshd) -> None:
    found = put(sshd.target(), f"{QUICK}; exit 255", deadline_seconds=60)
    assert isinstance(found, Answer)
    assert found.exit_code == 255


def test_end_mark_inside_a_line_is_no_end(sshd: Sshd) -> None:
    script = "echo 'log says <<<end 7f3a>>>'; sleep 0.2; echo more; echo '<<<end 7f3a>>> 12'"
    found = put(sshd.target(), script, deadline_seconds=60)
    assert isinstance(found, Answer)
    assert found.output == b"log says <<<end 7f3a>>>\nmore\n"


def test_a_configured_remote_command_does_not_disturb(sshd: Sshd) -> None:
    target = sshd.target(extra="Host gpu1\n  RemoteCommand tmux attach\n  RequestTTY force\n  LogLevel QUIET\n")
    assert reason_of(put(target, deadline_seconds=60)) == "answered"


def test_an_answer_is_not_held_up_by_what_the_script_left(sshd: Sshd) -> None:
    began = time.monotonic()
    found = put(sshd.target(), f"sleep 200 & echo $!; {QUICK}", deadline_seconds=100)
    assert isinstance(found, Answer)
    assert found.exit_code is None
    assert time.monotonic() - began < BOUND_SECONDS
    os.kill(int(found.output.split()[0]), signal.SIGKILL)


# -- no way there


def test_connection_refused(sshd: Sshd) -> None:
    assert reason_of(put(sshd.target(port=free_port()), deadline_seconds=60)) == "refused"


def test_unknown_name(sshd: Sshd) -> None:
    found = put(sshd.target(extra="Host gpu1\n  HostName nowhere.invalid\n"), deadline_seconds=60)
    assert reason_of(found) == "dns"


def test_dropped_packets(sshd: Sshd) -> None:
    with closing(Hole()) as hole:
        assert reason_of(put(sshd.target(port=hole.port))) == "timeout"


def test_dropped_packets_and_the_clients_own_timeout(sshd: Sshd) -> None:
    with closing(Hole()) as hole:
        target = sshd.target(port=hole.port)
        target = target._replace(ssh_command=(*target.ssh_command, "-o", "ConnectTimeout=1"))
        assert reason_of(put(target, deadline_seconds=60)) == "timeout"


@pytest.mark.root
def test_no_network_at_all(sshd: Sshd) -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs root and network namespaces")
    target = sshd.target()
    found = put(target._replace(ssh_command=("unshare", "-n", *target.ssh_command)), deadline_seconds=60)
    assert reason_of(found) == "no_route"


@pytest.fixture
def namespace() -> Iterator[tuple[str, ...]]:
    """Words that run a command in a network of its own, where nothing but loopback is."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs root and network namespaces")
    holder = subprocess.Popen(["unshare", "-n", "sleep", "600"])
    words = ("nsenter", "-t", str(holder.pid), "-n")
    up = [*words, "ip", "link", "set", "lo", "up"]
    here = os.readlink("/proc/self/ns/net")
    wait_until(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != here, "the namespace")
    subprocess.run(up, check=True)
    yield words
    holder.kill()
    holder.wait()


@pytest.mark.root
@pytest.mark.long
def test_packets_are_dropped_in_the_middle(namespace: tuple[str, ...], tmp_path: Path) -> None:
    """A real half-open link: the way is taken away under a session that has begun to answer."""
    need_sshd()
    with closing(Sshd(tmp_path / "ssh", inside=namespace)) as server:
        target = server.target()
        target = target._replace(ssh_command=(*namespace, *target.ssh_command))
        assert reason_of(put(target, deadline_seconds=60)) == "answered"
        script = "echo begin; sleep 3; ip link set lo down; echo lost; sleep 60"  # what was said has time to arrive
        found = put(target, script, deadline_seconds=12)
        assert isinstance(found, NoAnswer)
        assert (found.reason, found.output.startswith(b"begin")) == ("late", True)
        assert reason_of(put(target)) in {"no_route", "timeout"}


# -- accepts, and then


def test_accepts_and_never_speaks(sshd: Sshd) -> None:
    with closing(Link(None, "silent")) as link:
        assert reason_of(put(sshd.target(port=link.port))) == "banner"


def test_accepts_and_never_speaks_and_the_clients_own_timeout(sshd: Sshd) -> None:
    with closing(Link(None, "silent")) as link:
        target = sshd.target(port=link.port)
        target = target._replace(ssh_command=(*target.ssh_command, "-o", "ConnectTimeout=1"))
        assert reason_of(put(target, deadline_seconds=60)) == "banner"


def test_closes_at_once(sshd: Sshd) -> None:
    with closing(Link(None, "closing")) as link:
        assert reason_of(put(sshd.target(port=link.port), deadline_seconds=60)) == "closed"


def test_speaks_and_freezes(sshd: Sshd) -> None:
    with closing(Link(None, "greeting", greeting=b"SSH-2.0-OpenSSH_9.2\r\n")) as link:
        assert reason_of(put(sshd.target(port=link.port))) == "late_login"


def test_is_no_ssh_server(sshd: Sshd) -> None:
    with closing(Link(None, "greeting", greeting=b"HTTP/1.1 400 Bad Request\r\n" * 2000)) as link:
        assert reason_of(put(sshd.target(port=link.port))) in {"closed", "banner"}


@pytest.mark.parametrize("pieces", [0, 2, 5, 8, 11])
def test_link_freezes_after_some_pieces(sshd: Sshd, pieces: int) -> None:
    with closing(Link(sshd.port, "freeze", pieces=pieces)) as link:
        found = put(sshd.target(port=link.port), f"{QUICK}; sleep 9")
        expected = {0: {"banner"}, 2: {"late_login"}}
        assert reason_of(found) in expected.get(pieces, {"late_login", "late", "answered"})


@pytest.mark.parametrize("pieces", [1, 3, 6, 11])
def test_link_is_cut_after_some_pieces(sshd: Sshd, pieces: int) -> None:
    with closing(Link(sshd.port, "cut", pieces=pieces)) as link:
        # An answer that goes on for as long as it takes: on a busy machine a link carries a login in fewer pieces.
        found = put(sshd.target(port=link.port), "while echo begin; do sleep 0.2; done", deadline_seconds=60)
        assert reason_of(found) in {"closed", "cut"}


def test_link_is_cut_in_the_middle_of_the_answer(sshd: Sshd) -> None:
    stdin = script_with_values("echo begin; sleep 60", [])
    with closing(Link(sshd.port)) as link, closing(Connection(sshd.target(port=link.port), stdin)) as talk:
        assert read_until(talk, b"begin") is not None
        link.cut()
        assert read_until(talk, b"never") is None
        end = talk.end()
    assert isinstance(end, NoAnswer)
    assert end.reason == "cut"


def read_until(talk: Connection, words: bytes) -> bytes | None:
    came, deadline = b"", time.monotonic() + BOUND_SECONDS
    while words not in came:
        assert time.monotonic() < deadline
        part = talk.read()
        if part is None:
            return None
        came += part
        if not part:
            talk.wait(1.0)
    return came


def test_session_is_killed_on_the_box(sshd: Sshd) -> None:
    found = put(sshd.target(), "echo begin; kill -9 $$; sleep 99", deadline_seconds=60)
    assert reason_of(found) == "cut"
    found = put(sshd.target(), "echo begin; kill -9 $PPID; sleep 99", deadline_seconds=60)
    assert reason_of(found) == "cut"


# -- logins


def test_key_is_not_accepted(sshd: Sshd, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "other"], check=True)
    found = put(sshd.target(extra=f"IdentityFile {tmp_path}/other\nIdentitiesOnly yes\n"), deadline_seconds=60)
    assert isinstance(found, Answer)  # the right key follows in the configuration
    (sshd.folder / "authorized_keys").rename(sshd.folder / "away")
    try:
        found = put(sshd.target(), deadline_seconds=60)
    finally:
        (sshd.folder / "away").rename(sshd.folder / "authorized_keys")
    assert reason_of(found) == "auth"


def test_key_with_a_passphrase_is_never_asked_for(sshd: Sshd, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", tmp_path / "locked"], check=True)
    config = tmp_path / "config"
    text = sshd.config().read_text().replace(f"{sshd.folder}/user_key", f"{tmp_path}/locked")
    config.write_text(text)
    assert reason_of(put(SshTarget("gpu1", "gpu1", ("ssh", "-F", str(config))), deadline_seconds=60)) == "auth"


def test_host_key_has_changed(sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "other"], check=True)
    key = (tmp_path / "other.pub").read_text().split()
    known.write_text(f"[127.0.0.1]:{sshd.port} {key[0]} {key[1]}\n")
    found = put(sshd.target(extra=f"UserKnownHostsFile {known}"), deadline_seconds=60)
    assert reason_of(found) == "host_key"
    assert isinstance(found, NoAnswer)
    _, _, remove = found.detail.partition("the old one goes with: ")
    subprocess.run(["sh", "-c", remove], check=True)
    assert f"[127.0.0.1]:{sshd.port}" not in known.read_text(), "the command that is named removes the old key"


def test_unknown_host_key_is_not_taken(sshd: Sshd, tmp_path: Path) -> None:
    target = sshd.target(extra=f"UserKnownHostsFile {tmp_path}/none\nStrictHostKeyChecking ask")
    assert reason_of(put(target, deadline_seconds=60)) == "host_new"
    assert not (tmp_path / "none").exists()


def test_account_without_a_shell(tmp_path: Path) -> None:
    need_sshd()
    with closing(Sshd(tmp_path / "ssh", options=["ForceCommand echo This account is not available; exit 1"])) as server:
        found = put(server.target(), deadline_seconds=60)
    assert isinstance(found, NoAnswer)
    assert (found.reason, "not available" in found.detail) == ("shell", True)


def test_start_up_file_that_hangs(tmp_path: Path) -> None:
    need_sshd()
    with closing(Sshd(tmp_path / "ssh", options=["ForceCommand exec sleep 60"])) as server:
        found = put(server.target(), deadline_seconds=9)
        assert isinstance(found, NoAnswer)
        assert (found.reason, found.output) == ("late", b"")
        assert "start-up files" in found.detail


# -- answers that do not end well


def test_disk_that_hangs_in_the_middle(sshd: Sshd) -> None:
    found = put(sshd.target(), "echo begin; sleep 60", deadline_seconds=9)
    assert isinstance(found, NoAnswer)
    assert (found.reason, found.output) == ("late", b"begin\n")


def test_flood_is_ended(sshd: Sshd) -> None:
    stdin = script_with_values("yes", [])
    found = ask(sshd.target(), stdin, end_mark=MARK, deadline_seconds=60, limit_bytes=1 << 20)
    assert isinstance(found, NoAnswer)
    assert (found.reason, len(found.output)) == ("cut", 1 << 20)
    assert "more than" in found.detail


def test_flood_on_stderr_is_drained(sshd: Sshd) -> None:
    found = put(sshd.target(), f"head -c 3000000 /dev/zero | tr '\\0' x >&2; {QUICK}", deadline_seconds=60)
    assert reason_of(found) == "answered"


def test_box_that_does_not_read(tmp_path: Path) -> None:
    need_sshd()
    with closing(Sshd(tmp_path / "ssh", options=["ForceCommand exec sleep 60"])) as server:
        assert reason_of(put(server.target(), "echo", "x" * (16 << 20), deadline_seconds=9)) == "late"


# -- clients


def test_client_that_is_not_there() -> None:
    assert reason_of(put(SshTarget("gpu1", "gpu1", ("no-such-ssh",)), deadline_seconds=60)) == "client"
    assert reason_of(put(SshTarget("gpu1", "gpu1", ("env", "no-such-ssh")), deadline_seconds=60)) == "client"


def test_configuration_that_is_wrong(sshd: Sshd) -> None:
    assert reason_of(put(sshd.target(extra="NoSuchOption yes"), deadline_seconds=60)) == "client"
    assert reason_of(put(SshTarget("gpu1", "gpu1", ("ssh", "-F", "/nowhere/config")), deadline_seconds=60)) == "client"


@pytest.mark.parametrize("pidfd", [True, False])
def test_client_that_ignores_sigterm_is_ended(monkeypatch: pytest.MonkeyPatch, pidfd: bool) -> None:  # noqa: FBT001
    if not pidfd:
        monkeypatch.delattr(os, "pidfd_open")
    words = ("sh", "-c", "trap '' TERM HUP INT; while :; do sleep 60; done", "fake")
    assert reason_of(put(SshTarget("gpu1", "gpu1", words), deadline_seconds=1.0)) == "timeout"


@pytest.mark.parametrize("pidfd", [True, False])
def test_client_whose_child_keeps_the_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pidfd: bool) -> None:  # noqa: FBT001
    """It ends; its child, in a session of its own as a master's, keeps stdout and stderr open."""
    if not pidfd:  # macOS has none
        monkeypatch.delattr(os, "pidfd_open")
    words = ("sh", "-c", f"setsid sleep 200 & echo $! >{tmp_path}/child; exit 255", "fake")
    began = time.monotonic()
    assert reason_of(put(SshTarget("gpu1", "gpu1", words), deadline_seconds=100)) == "unknown"
    assert time.monotonic() - began < BOUND_SECONDS
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


def test_all_clients_are_killed_when_the_patrol_is_told_to_end(sshd: Sshd, tmp_path: Path) -> None:
    script = ': >"$1"; sleep 200'
    begun = [tmp_path / f"begun-{at}" for at in "123"]
    with ThreadPoolExecutor() as pool:
        asked = [
            pool.submit(put, sshd.target(f"gpu{at}"), script, str(mark), deadline_seconds=100)
            for at, mark in zip("123", begun, strict=True)
        ]
        wait_until(lambda: all(mark.exists() for mark in begun), "three clients that talk")
        kill_all()
        assert [reason_of(each.result()) for each in asked] == ["cut"] * 3


def test_many_are_watched_with_one_selector(sshd: Sshd) -> None:
    stdin = script_with_values("sleep $1; echo done", ["0.2"])
    talks = {talk.fd: talk for talk in (Connection(sshd.target(f"gpu{at}"), stdin) for at in range(4))}
    came = dict.fromkeys(talks, b"")
    deadline = time.monotonic() + BOUND_SECONDS
    with selectors.DefaultSelector() as selector:
        for fd in talks:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < deadline:
            for key, _ in selector.select(1.0):
                part = talks[key.fd].read()
                if part is None:
                    selector.unregister(key.fd)
                came[key.fd] += part or b""
    assert [talk.end() for talk in talks.values()] == [0] * 4
    assert set(came.values()) == {b"done\n"}


# -- jump hosts


def test_through_a_jump_host(sshd: Sshd) -> None:
    assert reason_of(put(sshd.target("inner", extra=jump_words(sshd)), deadline_seconds=60)) == "answered"


def jump_words(sshd: Sshd, port: int | None = None) -> str:
    jump = f"ssh -F {sshd.config({'jump': port or sshd.port}, name='ssh_config.jump')} -W %h:%p jump"
    return f"Host inner\n  ProxyCommand {jump}\n"


def test_jump_host_that_refuses(sshd: Sshd) -> None:
    found = put(sshd.target("inner", extra=jump_words(sshd, free_port())), deadline_seconds=60)
    assert isinstance(found, NoAnswer)
    assert (found.reason, "refused" in found.detail) == ("jump", True)


def test_jump_host_that_never_speaks(sshd: Sshd) -> None:
    with closing(Link(None, "silent")) as link:
        assert reason_of(put(sshd.target("inner", extra=jump_words(sshd, link.port)))) == "jump"


def test_box_behind_a_jump_host_refuses(sshd: Sshd) -> None:
    found = put(sshd.target("inner", port=free_port(), extra=jump_words(sshd)), deadline_seconds=60)
    assert reason_of(found) == "refused"
