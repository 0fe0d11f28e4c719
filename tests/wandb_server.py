"""W&B's server as far as one question goes: a real socket that answers a run, or misbehaves."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from tests.fault_server import FaultServer, Received, render

if TYPE_CHECKING:
    import socket

KEY = "0123456789abcdef0123456789abcdef01234567"


class WandbServer(FaultServer):
    """`api(fault)` is its address. runs: by `entity/project/id`, as the server's own API tells them (wandb 0.31)."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, Any]] = {}
        super().__init__()

    def api(self, fault: str = "graphql") -> str:
        return f"http://127.0.0.1:{self.port}" + ("" if fault == "graphql" else f"/{fault}")

    def add(self, path: str, state: str = "running", name: str = "try-7", **summary: Any) -> None:
        run_id = path.rpartition("/")[2]
        self.runs[path] = {
            "name": run_id, "displayName": name, "state": state, "heartbeatAt": "2026-11-21T03:34:23",
            "summaryMetrics": json.dumps(summary), "historyLineCount": 50,
        }  # fmt: skip

    def _do_graphql(self, connection: socket.socket, request: Received) -> None:
        if request.headers.get("authorization") != "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode():
            connection.sendall(render(401, {}, b'{"errors":[{"message":"permission denied"}]}'))
            return
        asked = request.json()["variables"]
        run = self.runs.get(f"{asked['entity']}/{asked['project']}/{asked['name']}")
        connection.sendall(render(200, {}, json.dumps({"data": {"project": {"run": run}}}).encode()))

    def _do_partial(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(200, {}, b'{"data": {"project": {"run": {"name": "abc'))

    def _do_html(self, connection: socket.socket, request: Received) -> None:
        connection.sendall(render(200, {}, b"<html>captive portal</html>"))
