"""What every test may use: a project in a folder of its own, and `onbox` as a user runs it."""

from __future__ import annotations

import gc
import os
import signal
import time
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tests.box import Box
from tests.fault_server import FaultServer
from tests.hostile_box import Hostile, honest_project, hostile
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path


def pytest_configure() -> None:
    """What runs in the background, or by nohup, ignores signals of a terminal, and so would all that tests start. One
    that is caught here is at its default there: exec(2) sets it back.
    """
    os.environ["ONBOX_TRUST"] = "all"  # what tests write into onbox.toml is theirs; tests of trust take it out
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The many thousand tests that each worker finds stay until its end: to look for garbage among them takes a third
    of the time in which they are found, and then some of each test that forks.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What only waits, and long, is begun first, each worker with some of it: at the end everybody would wait for it.

    `--dist worksteal` gives each worker one piece of the list to begin with.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.get_closest_marker("long")]
    others = iter([item for item in items if not item.get_closest_marker("long")])
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        size = (len(items) - len(ordered)) // (workers - worker)
        first = long[worker::workers]
        ordered += [*first, *islice(others, max(0, size - len(first)))]
    items[:] = [*ordered, *others]


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """An empty project. Whatever still runs of it is ended afterwards, found by the project's own variable."""
    project = tmp_path / "digits"
    project.mkdir()
    made = Box(project)
    yield made
    made.end_everything()


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """An HTTP server whose paths are faults."""
    made = FaultServer()
    yield made
    made.close()


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    """A real sshd on loopback; skips where there is none."""
    need_sshd()
    made = Sshd(tmp_path / "ssh")
    yield made
    made.close()


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose run `digits` is done; not to be changed."""
    return honest_project(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def place_of_liars(tmp_path: Path, finished_project: Path) -> Iterator[Hostile]:
    """A local folder that patrols boxes which answer what the test wants."""
    yield from hostile(tmp_path, finished_project)


@pytest.fixture
def universal_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
