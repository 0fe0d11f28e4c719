"""Many boxes at once: bounded, gentle to what they share, and none waits for another's trouble."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections import Counter
from typing import TYPE_CHECKING, Generic, TypeVar

from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic
from patrol.ssh.client import SshTarget, probe_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

WORKING_SECONDS = 3.0  # a box that is not done by then mostly waits, and leaves its place to the next one
WAITING_PER_PLACE = 8  # but no more than so many wait for each place
SLACK_SECONDS = 5.0  # beyond its deadline; then its thread is left behind
JITTER_SECONDS = 0.02  # between two starts: no two clients of one tick knock in the same instant
CONFIGURATION_SECONDS = 2.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class Limits(NamedTuple):
    """at_once: boxes that work at the same time. per_gate: boxes in flight through one gate (host and port, or jump
    host), so that sshd's MaxStartups (10:30:100) drops nobody. deadline_seconds: of one box, from its own start.
    """

    at_once: int = 16
    per_gate: int = 6
    deadline_seconds: float = 30.0


class Visit(Generic[Item, Result]):
    """How one box went. error: what the work raised; overdue: it did not come back; then result is None too.

    A plain class: a generic NamedTuple needs a newer Python, and `dataclasses` 5 ms before the first login.
    """

    __slots__ = ("error", "item", "overdue", "result", "seconds")

    def __init__(
        self, item: Item, result: Result | None, error: Exception | None, seconds: float, *, overdue: bool = False
    ) -> None:
        self.item, self.result, self.error, self.overdue, self.seconds = item, result, error, overdue, seconds


class _InFlight(NamedTuple):
    began: float
    deadline: float


def visit_all(
    items: Sequence[Item],
    work: Callable[[Item], Result],
    limits: Limits,
    *,
    gates: Mapping[Item, str] | None = None,
    deadline_of: Callable[[Item], float] | None = None,
) -> Iterator[Visit[Item, Result]]:
    """Do `work` for each item in a thread of its own and yield each as it ends, the quick ones first.

    The work is expected to end within its deadline by itself; one that does not is reported as overdue and left behind.
    gates: what an item goes through; items without one share nothing. Items are hashable and differ.
    """
    waiting = list(items)
    in_flight: dict[Item, _InFlight] = {}
    done: queue.SimpleQueue[Visit[Item, Result]] = queue.SimpleQueue()
    gates = gates or {}
    while waiting or in_flight:
        now = monotonic()
        for item in _startable(waiting, in_flight, gates, limits, now):
            waiting.remove(item)
            seconds = deadline_of(item) if deadline_of is not None else limits.deadline_seconds
            in_flight[item] = _InFlight(monotonic(), monotonic() + seconds + SLACK_SECONDS)
            _start(item, work, done, jitter_seconds=_jitter() if len(items) > 1 else 0.0)
        try:
            visit = done.get(timeout=max(0.0, _next_event(in_flight, monotonic())))
        except queue.Empty:
            for item in [item for item, flight in in_flight.items() if flight.deadline <= monotonic()]:
                yield Visit(item, None, None, monotonic() - in_flight.pop(item).began, overdue=True)
            continue
        if in_flight.pop(visit.item, None) is not None:  # one that was overdue may come back after all
            yield visit


def _jitter() -> float:
    return int.from_bytes(os.urandom(2), "big") / 65536 * JITTER_SECONDS


def _startable(
    waiting: Sequence[Item],
    in_flight: Mapping[Item, _InFlight],
    gates: Mapping[Item, str],
    limits: Limits,
    now: float,
) -> list[Item]:
    """Which may start now, in their order. Pure."""
    working = sum(now - flight.began < WORKING_SECONDS for flight in in_flight.values())
    room = min(limits.at_once - working, limits.at_once * WAITING_PER_PLACE - len(in_flight))
    through = Counter(gates[item] for item in in_flight if item in gates)
    chosen: list[Item] = []
    for item in waiting:
        if len(chosen) >= room:
            break
        gate = gates.get(item)
        if gate is not None and through[gate] >= limits.per_gate:
            continue
        if gate is not None:
            through[gate] += 1
        chosen.append(item)
    return chosen


def _next_event(in_flight: Mapping[Item, _InFlight], now: float) -> float:
    """Seconds until a box is overdue, or leaves its place."""
    times = [flight.deadline for flight in in_flight.values()]
    times += [flight.began + WORKING_SECONDS for flight in in_flight.values() if now - flight.began < WORKING_SECONDS]
    return min(times) - now


def _start(
    item: Item,
    work: Callable[[Item], Result],
    done: queue.SimpleQueue[Visit[Item, Result]],
    *,
    jitter_seconds: float,
) -> None:
    def run() -> None:
        began = monotonic()
        threading.Event().wait(jitter_seconds)
        try:
            visit = Visit(item, work(item), None, monotonic() - began)
        except Exception as error:  # noqa: BLE001 - a defect met at one box must not stop the look at the others
            visit = Visit(item, None, error, monotonic() - began)
        done.put(visit)

    threading.Thread(target=run, name=f"visit {item}", daemon=True).start()


# -- what boxes share


def find_gates(targets: Sequence[SshTarget], limits: Limits) -> dict[SshTarget, str]:
    """What each connection goes through, as the user's configuration resolves it. {} where they are too few to matter:
    `ssh -G` costs some milliseconds each.
    """
    remote = [target for target in targets if target.host is not None]
    if len(remote) <= limits.per_gate:
        return {}
    gates = {}
    for visit in visit_all(remote, _find_gate, Limits(limits.at_once, len(remote), CONFIGURATION_SECONDS)):
        gates[visit.item] = visit.result or visit.item.host or ""
    return gates


def _find_gate(target: SshTarget) -> str:
    try:
        return gate_of(probe_configuration(target, CONFIGURATION_SECONDS))
    except (OSError, subprocess.TimeoutExpired):
        return target.host or ""


def gate_of(configuration: str) -> str:
    """The gate in what `ssh -G` prints: the first jump host, the proxy command, or host and port; "" if it is none of
    that. Pure.
    """
    values = dict(line.partition(" ")[::2] for line in configuration.splitlines())
    jump = values.get("proxyjump", "none")
    if jump not in {"none", ""}:
        return f"jump {jump.partition(',')[0]}"
    command = values.get("proxycommand", "none")
    host, port = values.get("hostname", ""), values.get("port", "")
    if command not in {"none", ""}:
        return f"proxy {command.replace(host, '%h') if host else command}"
    return f"{host}:{port}" if host else ""
