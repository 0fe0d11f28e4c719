"""Ports of loopback that are nobody else's for as long as the tests run."""

from __future__ import annotations

import socket

_held: list[int] = []


def free_port() -> int:
    """A port on which nobody listens. It stays bound, so that no other test and no connection is given it meanwhile;
    a server that sets SO_REUSEADDR, as all do, may listen there nevertheless.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port = int(holder.getsockname()[1])
    _held.append(holder.detach())
    return port
