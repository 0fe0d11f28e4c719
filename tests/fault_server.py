"""A receiver on loopback that misbehaves in every way that was seen in the wild. Real sockets, its own port.

The path's first part is the fault: `/200/token`, `/hang/token`. Everything that was received is kept.
"""

from __future__ import annotations

import gzip
import json
import random
import socket
import ssl
import struct
import subprocess
import threading
import time
from contextlib import suppress
from email.utils import formatdate
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CANARY = "CANARY-7d1f-secret"


class Received(NamedTuple):
    """One request. at: monotonic seconds."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def id(self) -> str:
        return self.headers.get("webhook-id", "")

    def json(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.body)
        return data


class FaultServer:
    """Answers one request per connection. `plan`: answers for the requests to come, before the path decides."""

    def __init__(self, *, tls: tuple[Path, Path] | None = None, seed: int = 1) -> None:
        self.received: list[Received] = []
        self.acknowledged: list[Received] = []
        self.plan: list[str] = []
        self.closing = threading.Event()
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._tls: ssl.SSLContext | None = None
        if tls is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*tls)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def url(self, fault: str = "200") -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}/{fault}/{CANARY}"

    def close(self) -> None:
        """The acceptor ends before its descriptor is closed: else it might accept for the next one of that number."""
        self.closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor
        self._acceptor.join(10)
        self._listener.close()

    # -- one connection

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        try:
            plain.settimeout(60)
            connection = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
            with connection:
                request = _read_request(connection)
                if request is None:
                    return
                with self._lock:
                    self.received.append(request)
                    fault = self.plan.pop(0) if self.plan else request.path.split("/")[1]
                self.answer(connection, request, fault)
        except OSError:
            return

    def answer(self, connection: socket.socket, request: Received, fault: str) -> None:
        special: Callable[[socket.socket, Received], None] | None = getattr(self, f"_do_{fault}", None)
        if special is not None:
            special(connection, request)
            return
        status, headers, body = ANSWERS[fault] if fault in ANSWERS else (int(fault), {}, b"")
        if 200 <= status < 300 and not fault.endswith("_refused"):
            self.acknowledged.append(request)
        connection.sendall(render(status, headers, body))

    def _do_random(self, connection: socket.socket, request: Received) -> None:
        """Mostly trouble: some before the message is taken, some after."""
        with self._lock:
            kind = self._random.choice(("200", "200", "500", "429", "reset", "taken_then_reset"))
        if kind == "taken_then_reset":
            self.acknowledged.append(request)
            kind = "reset"
        self.answer(connection, request, kind)

    def _do_hang(self, connection: socket.socket, request: Received) -> None:
        self.closing.wait(60)

    def _do_hang_in_headers(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")
        self.closing.wait(60)

    def _do_drip_headers(self, connection: socket.socket, request: Received) -> None:
        self._drip(connection, b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 2000)

    def _do_drip_interim(self, connection: socket.socket, request: Received) -> None:
        while not self.closing.wait(0.05):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _do_drip_body(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        self._drip(connection, b"x" * 100000)

    def _drip(self, connection: socket.socket, data: bytes) -> None:
        for byte in data:
            if self.closing.wait(0.05):
                return
            connection.sendall(bytes([byte]))

    def _do_reset(self, connection: socket.socket, request: Received) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def _do_garbage(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(b"\x00\xff<<<not http at all>>>\r\n\r\n" * 50)

    def _do_huge(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        block = b"x" * 65536
        while not self.closing.is_set():
            connection.sendall(block)

    def _do_bomb(self, connection: socket.socket, request: Received) -> None:
        """300 MB of zeros, packed, from somebody who was not asked for that."""
        body = gzip.compress(bytes(1 << 20)) * 300
        connection.sendall(render(200, {"Content-Encoding": "gzip"}, body))

    def _do_endless_headers(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not self.closing.is_set():
            connection.sendall(b"X-More: 1\r\n" * 1000)

    def _do_slow(self, connection: socket.socket, request: Received) -> None:
        """Takes it, and says so later."""
        self.closing.wait(1.5)
        self.answer(connection, request, "200")

    def _do_retry_date(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(429, {"Retry-After": formatdate(time.time() + 2, usegmt=True)}, b""))

    def _do_redirect_same(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(307, {"Location": f"/200/{CANARY}"}, b""))

    def _do_redirect_metadata(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(307, {"Location": "http://169.254.169.254/latest/meta-data"}, b""))

    def _do_redirect_file(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(302, {"Location": "file:///etc/passwd"}, b""))

    def _do_redirect_302(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(302, {"Location": f"/get_only/{CANARY}"}, b""))

    def _do_redirect_loop(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(307, {"Location": request.path}, b""))

    def _do_redirect_other(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(307, {"Location": f"http://localhost:{self.port}/200/{CANARY}"}, b""))

    def _do_get_only(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(200 if request.method == "GET" else 405, {}, b""))

    def _do_bad_headers(self, connection: socket.socket, request: Received) -> None:
        """urllib3 logs the whole URL of such an answer (to nobody, unless somebody listens)."""
        connection.sendall(BAD_HEADERS)

    def _do_echo(self, connection: socket.socket, request: Received) -> None:
        """An error page that quotes the URL, as some do."""
        connection.sendall(render(404, {}, f"no such hook: {request.path}".encode()))


BAD_HEADERS = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nno colon here\r\nConnection: close\r\n\r\n"
ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "retry_seconds": (429, {"Retry-After": "1"}, b""),
    "retry_hour": (429, {"Retry-After": "3600"}, b""),
    "redirect_303": (303, {"Location": f"/200/{CANARY}"}, b""),
    "429": (429, {"Retry-After": "0"}, b""),
    "feishu_refused": (200, {}, b'{"code":19021,"msg":"sign match fail"}'),
    "feishu_ok": (200, {}, b'{"code":0,"msg":"success"}'),
    "dingtalk_refused": (200, {}, b'{"errcode":310000,"errmsg":"keywords not in content"}'),
    "dingtalk_ok": (200, {}, b'{"errcode":0,"errmsg":"ok"}'),
    "wecom_refused": (200, {}, b'{"errcode":93000,"errmsg":"invalid webhook url"}'),
    "wecom_ok": (200, {}, b'{"errcode":0,"errmsg":"ok"}'),
    "slack_ok": (200, {}, b"ok"),
}


def render(status: int, headers: dict[str, str], body: bytes) -> bytes:
    """A whole answer; the connection ends with it."""
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
    lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("ascii") + body


def _read_request(connection: socket.socket) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", 0))
    while len(body) < length:
        part = connection.recv(65536)
        if not part:
            return None
        body += part
    method, path, _ = first.split(" ", 2)
    return Received(method, path, headers, body, time.monotonic())


def self_signed(folder: Path) -> tuple[Path, Path] | None:
    """A certificate that nobody trusts; None without openssl."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=wrong.example"]
    try:
        subprocess.run([*words, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return cert, key
