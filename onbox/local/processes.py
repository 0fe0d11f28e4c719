"""The process table of this machine, Linux or macOS, with psutil: for commands and the local side."""

from __future__ import annotations

import psutil

from onbox.named_tuple import NamedTuple


class Running(NamedTuple):
    """A process. words: its command line; () where it may not be seen, or has none."""

    pid: int
    name: str
    words: tuple[str, ...] = ()


def running_names() -> dict[int, str]:
    """Every process that can be seen, by its pid. Raises OSError where no table can be read."""
    return {one.pid: one.info["name"] or "" for one in _table(["name"])}


def running_of_user(uid: int) -> list[Running]:
    """The processes of one user, in order of their pids. Raises OSError where no table can be read."""
    return [
        Running(one.pid, one.info["name"] or "", tuple(one.info["cmdline"] or ()))
        for one in _table(["name", "cmdline", "uids"])
        if one.info["uids"] is not None and one.info["uids"].effective == uid
    ]


def _table(fields: list[str]) -> list[psutil.Process]:
    try:
        return sorted(psutil.process_iter(fields), key=lambda one: one.pid)
    except psutil.Error as error:
        raise OSError(str(error)) from error


def start_of(pid: int) -> float | None:
    """When it began, in seconds since the epoch; None: it does not live."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None
