"""A head or controller on loopback that answers as it was captured, or misbehaves as real ones do."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from tests.box import REPOSITORY
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = REPOSITORY / "tests" / "cases" / "backends"
VERSION = (200, (CASES / "ray_api_version.json").read_text())
HEALTH = (200, '{"status":"ok"}')


def case(name: str) -> str:
    return (CASES / name).read_text()


class FakeCluster:
    """answers: path (or the last word of an RPC's path) to (status, body), or to a function of the request's body.

    token: wanted in the header, as Ray wants it; None: anything goes. asked: the paths, in their order.
    """

    def __init__(self, answers: dict[str, tuple[int, str] | Callable[[bytes], tuple[int, str]]]) -> None:
        self.answers, self.asked = answers, []
        self.token: str | None = None
        self.hangs = threading.Event()  # while it is set, nothing is answered
        self._end = threading.Event()
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                cluster._answer(self)

            do_POST = do_GET  # noqa: N815 - the base class's name

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Silence."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket.settimeout(1.0)  # a connection may be gone again before it is taken
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    asked: list[str]

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        path = request.path.partition("?")[0]
        self.asked.append(path)
        if self.hangs.is_set():
            self._end.wait(30)
            return
        if self.token is not None and request.headers.get("Authorization") != f"Bearer {self.token}":
            known = request.headers.get("Authorization") is not None
            words = "Forbidden: Invalid authentication token" if known else "Unauthorized: Missing authentication token"
            status, text = (403 if known else 401), words
        else:
            found = self.answers.get(path) or self.answers.get(path.rpartition("/")[2]) or (404, "does not exist")
            status, text = found(body) if callable(found) else found
        data = text.encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def close(self) -> None:
        self._end.set()
        self.server.shutdown()
        self.server.server_close()


def fake_ray(**jobs: str) -> FakeCluster:
    """jobs: id to the name of its captured answer; `ID_logs` to that of its log."""
    answers: dict[str, tuple[int, str] | Callable[[bytes], tuple[int, str]]] = {"/api/version": VERSION}
    for name, file in jobs.items():
        job, _, logs = name.partition("_")
        answers[f"/api/jobs/{job}{'/logs' if logs else ''}"] = (200, case(file))
    return FakeCluster(answers)


def fake_iris(files: dict[str, str]) -> FakeCluster:
    """files: canonical id to the name of its captured status."""

    def status(body: bytes) -> tuple[int, str]:
        job = json.loads(body)["jobId"]
        return (200, case(files[job])) if job in files else (404, json.dumps({"code": "not_found", "message": job}))

    return FakeCluster({"/health": HEALTH, "GetJobStatus": status, "ListTasks": (200, "{}"), "FetchLogs": (200, "{}")})


def taking_ray() -> FakeCluster:
    """A head that takes every job, and tells of it as of one that runs; the ids it took are in `asked`'s bodies."""
    head = fake_ray()

    def take(body: bytes) -> tuple[int, str]:
        data = json.loads(body or b"{}")
        job = data.get("submission_id", "")
        head.answers[f"/api/jobs/{job}"] = (200, json.dumps({**json.loads(case(RUNNING)), "submission_id": job}))
        return 200, json.dumps({"job_id": job, "submission_id": job})

    head.answers["/api/jobs/"] = take
    return head


RUNNING = "ray_api_job_steps2.json"


class DeadTunnel:
    """A tunnel whose far end is down: it accepts, and closes without a word, as `ssh -L` does."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            try:
                self.socket.accept()[0].close()
            except OSError:
                return

    def close(self) -> None:
        """The acceptor ends before its descriptor is closed: else it might accept for the next one of that number."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self._acceptor.join(10)
        self.socket.close()


def free_address() -> str:
    """Where nothing listens."""
    return f"http://127.0.0.1:{free_port()}"
