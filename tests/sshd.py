"""A real sshd on loopback that plays many boxes, and links that play every trouble between here and a box."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from onbox.system.files import replace_file
from onbox.system.process import ProcessEntry, process_table
from patrol.ssh.client import Answer, NoAnswer, SshTarget, ask, script_with_values
from tests.box import BOUND_SECONDS, wait_until
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def need_sshd() -> None:
    """Skip where there is no OpenSSH."""
    if SSHD is None or shutil.which("ssh-keygen") is None or shutil.which("ssh") is None:
        pytest.skip("needs openssh-server and openssh-client")


class Sshd:
    """An sshd of our own, on a free port of the loopback interface, with its own keys.

    Every alias of its ssh_config is a box. options: further lines of sshd_config. shell: a login shell for the account,
    in place of its own (`fish -c`, `csh -c`): the words before the command. home: the account's home, with its start-up
    files; None: an empty one, so that nobody's own start-up files are tested. inside: words before sshd's own, for one
    in another network.
    """

    def __init__(
        self,
        folder: Path,
        *,
        options: Iterable[str] = (),
        shell: str | None = None,
        home: Path | None = None,
        banner: str | None = None,
        inside: tuple[str, ...] = (),
    ) -> None:
        self.folder, self.inside = folder, inside
        folder.mkdir(mode=0o700, exist_ok=True)
        for name in ("host_key", "user_key"):
            if not (folder / name).exists():
                make_key(folder / name)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        self.port = free_port()
        self.known_ports: set[int] = set()
        self.home = home or folder / "home"
        self.home.mkdir(exist_ok=True)
        lines = [
            f"ListenAddress 127.0.0.1:{self.port}",
            f"HostKey {folder}/host_key",
            f"PidFile {folder}/pid",
            f"AuthorizedKeysFile {folder}/authorized_keys",
            "StrictModes no",
            "UsePAM no",
            "KexAlgorithms curve25519-sha256",  # the default resists computers to come, and costs thrice the login
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "UseDNS no",
            "PrintMotd no",
            "PrintLastLog no",
            "LogLevel VERBOSE",
            f"SetEnv HOME={self.home} ENV=",
            *options,
        ]
        if shell is not None:
            lines.append(f'ForceCommand {shell} "$SSH_ORIGINAL_COMMAND"')
        if banner is not None:
            (folder / "banner").write_text(banner)
            lines.append(f"Banner {folder}/banner")
        (folder / "sshd_config").write_text("\n".join(lines) + "\n")
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    # -- the server

    def start(self) -> None:
        """Listen again, on the same port with the same keys."""
        assert SSHD is not None
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        (self.folder / "sshd.log").touch()
        listened = self.log.count("Server listening")
        with (self.folder / "sshd.log").open("ab") as log:
            command = [*self.inside, SSHD, "-D", "-e", "-f", os.fspath(self.folder / "sshd_config")]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
        wait_until(lambda: self.log.count("Server listening") > listened, "sshd to listen")

    def stop(self) -> None:
        """End the server; sessions live on."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait()

    def close(self) -> None:
        """End the server and all its sessions; it is held first, or a client that comes back at once would get in."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        self.kill_sessions()
        self.process.kill()
        self.process.wait()

    @property
    def log(self) -> str:
        return (self.folder / "sshd.log").read_text(errors="replace")

    def logins(self) -> int:
        """How many logins have succeeded so far."""
        return self.log.count("Accepted publickey")

    def sessions(self) -> list[ProcessEntry]:
        """The live processes of every session, the server's own for it included."""
        assert self.process is not None
        return descendants(self.process.pid)

    def kill_sessions(self, number: int = signal.SIGKILL) -> None:
        for entry in self.sessions():
            with suppress(ProcessLookupError):
                os.kill(entry.identity.pid, number)

    # -- the client's side

    def config(self, hosts: Mapping[str, int] | None = None, extra: str = "", name: str = "ssh_config") -> Path:
        """An ssh_config in which every alias leads here, or to the port that `hosts` names for it."""
        path = self.folder / name
        self.known_ports |= {self.port, *(hosts or {}).values()}
        known = "".join(f"[127.0.0.1]:{port} {self.host_key}\n" for port in sorted(self.known_ports))
        replace_file(
            os.fspath(self.folder / "known_hosts"), known.encode(), durable=False
        )  # a client may be reading it
        ports = "".join(f"Host {alias}\n  Port {port}\n" for alias, port in (hosts or {}).items())
        text = (
            f"{extra}\n{ports}Host *\n  HostName 127.0.0.1\n  Port {self.port}\n  User {getpass.getuser()}\n"
            f"  IdentityFile {self.folder}/user_key\n  IdentitiesOnly yes\n  IdentityAgent none\n"
            f"  UserKnownHostsFile {self.folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
            "  StrictHostKeyChecking yes\n"
        )
        replace_file(os.fspath(path), text.encode(), durable=False)
        return path

    @property
    def host_key(self) -> str:
        return " ".join((self.folder / "host_key.pub").read_text().split()[:2])

    def ssh(self, hosts: Mapping[str, int] | None = None, extra: str = "", name: str = "ssh_config") -> tuple[str, ...]:
        """The words of an ssh client that uses `config`."""
        return ("ssh", "-F", os.fspath(self.config(hosts, extra, name)))

    def target(self, alias: str = "gpu1", *, port: int | None = None, extra: str = "") -> SshTarget:
        """A box of this sshd, or behind a link at `port`."""
        hosts = {alias: port} if port is not None else None
        return SshTarget(alias, alias, self.ssh(hosts, extra, f"ssh_config.{alias}"))

    def command(self, remote: str) -> list[str]:
        """The argv of a plain ssh that runs `remote`."""
        return [*self.ssh(), "-o", "BatchMode=yes", "gpu1", remote]


_keys: dict[str, tuple[bytes, bytes]] = {}


def make_key(path: Path) -> None:
    """A pair of keys, the same for every server of a test run: made once, then copied."""
    public = path.with_name(f"{path.name}.pub")
    if path.name not in _keys:
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", os.fspath(path)]
        subprocess.run(command, check=True)
        _keys[path.name] = path.read_bytes(), public.read_bytes()
        return
    path.touch(mode=0o600)
    for one, content in zip((path, public), _keys[path.name], strict=True):
        one.write_bytes(content)


def descendants(pid: int) -> list[ProcessEntry]:
    """The live processes that come from `pid`, without it."""
    table = [entry for entry in process_table() if not entry.is_zombie]
    family, grew = {pid}, True
    while grew:
        born = {entry.identity.pid for entry in table if entry.parent in family} - family
        family |= born
        grew = bool(born)
    return [entry for entry in table if entry.identity.pid in family and entry.identity.pid != pid]


class Link:
    """A TCP link in front of a server that has a trouble of its own. `port` is its near end; `close` it.

    to: the server's port; None: the link answers by itself. trouble: "none"; "silent" (accepts, never speaks);
    "closing" (accepts, closes at once); "greeting" (sends `greeting`, then nothing); "freeze" (forwards `pieces` pieces
    of the server, then nothing more, both ends stay open); "cut" (forwards `pieces` pieces, then closes both ends).
    """

    def __init__(self, to: int | None, trouble: str = "none", *, pieces: int = 0, greeting: bytes = b"") -> None:
        self.to, self.trouble, self.pieces, self.greeting = to, trouble, pieces, greeting
        self.connections = 0
        self.frozen = threading.Event()  # set: nothing is forwarded any more, in no direction
        self.swallowed = threading.Event()  # something that the server said was dropped, and so will be all the rest
        self._open: list[socket.socket] = []
        self._servers: set[socket.socket] = set()  # the ends that lead to the server
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        for each in (self._listener, *self._open):
            _end(each)

    def cut(self) -> None:
        """End every connection that is open now; new ones are taken."""
        for each in self._open:
            _end(each)

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(near)
            if self.trouble == "closing":
                near.close()
            elif self.trouble == "greeting":
                near.sendall(self.greeting)
            elif self.trouble != "silent":
                self._join(near)

    def _join(self, near: socket.socket) -> None:
        assert self.to is not None
        try:
            far = socket.create_connection(("127.0.0.1", self.to))
        except OSError:
            near.close()
            return
        for each in (near, far):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.append(far)
        self._servers.add(far)
        pieces = self.pieces if self.trouble in {"freeze", "cut"} else None
        threading.Thread(target=self._forward, args=(near, far, None), daemon=True).start()
        threading.Thread(target=self._forward, args=(far, near, pieces), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, pieces: int | None) -> None:
        with suppress(OSError):
            while True:
                if pieces == 0:
                    if self.trouble == "freeze":
                        self.frozen.set()
                        return
                    break
                data = source.recv(65536)
                if self.frozen.is_set():
                    if source in self._servers:
                        self.swallowed.set()
                    return
                if not data:
                    break
                sink.sendall(data)
                pieces = None if pieces is None else pieces - 1
        for each in (source, sink):
            _end(each)


def _end(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()


class Hole:
    """A port that drops every packet of a new connection: its queue is full, and the kernel answers no more."""

    def __init__(self) -> None:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        self.port = int(self._listener.getsockname()[1])
        self._fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", self.port))
            self._fillers.append(filler)

    def close(self) -> None:
        for each in (*self._fillers, self._listener):
            each.close()


# -- questions to a box

MARK = b"<<<end 7f3a>>>"
QUICK = "printf 'begin\\nvalue %s\\n' \"$1\"; echo '<<<end 7f3a>>>'"
DEADLINE_SECONDS = 6.0  # what hangs is waited for so long; a login has to be through by then


def local_clients() -> list[str]:
    return [entry.name for entry in descendants(os.getpid()) if entry.name in {"ssh", "sh", "sleep"}]


def put(
    target: SshTarget, script: str = QUICK, *values: str, deadline_seconds: float = DEADLINE_SECONDS
) -> Answer | NoAnswer:
    """Ask, and see that it ended."""
    began = time.monotonic()
    found = ask(target, script_with_values(script, values), end_mark=MARK, deadline_seconds=deadline_seconds)
    assert time.monotonic() - began < deadline_seconds + BOUND_SECONDS
    return found


def reason_of(found: Answer | NoAnswer) -> str:
    return found.reason if isinstance(found, NoAnswer) else "answered"
