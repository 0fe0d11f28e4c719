"""Questions to a child that may hang or die."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from onbox.system.child_query import ChildQuery, Silence
from onbox.system.process import look_up
from tests.box import BOUND_SECONDS, is_running, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"


@pytest.fixture
def make() -> Iterator[Callable[..., ChildQuery]]:
    """Makes askers of Python code; ends their children."""
    made: list[ChildQuery] = []

    def build(code: str, give_up_seconds: float = 60.0) -> ChildQuery:
        words = (sys.executable, "-I", "-S", "-c", textwrap.dedent(code))
        made.append(ChildQuery(words, name="the card", give_up_seconds=give_up_seconds))
        return made[-1]

    yield build
    for asker in made:
        asker.close()


def children() -> set[int]:
    """Live children of this process."""
    found = set()
    for name in os.listdir("/proc"):
        entry = look_up(int(name)) if name.isdigit() else None
        if entry is not None and entry.parent == os.getpid() and not entry.is_zombie:
            found.add(entry.identity.pid)
    return found


def test_questions_are_answered_by_one_child(make: Callable[..., ChildQuery]) -> None:
    before = children()
    asker = make(ECHO)
    for question, answer in ((b"abc", b"cba"), (b"xy", b"yx")):
        asker.ask(question)
        assert asker.answer(BOUND_SECONDS) == answer
    assert len(children() - before) == 1
    asker.close()
    wait_until(lambda: not children() - before, "the child to be gone")


def test_an_answer_may_come_in_pieces_and_be_long(make: Callable[..., ChildQuery]) -> None:
    asker = make(
        """
        import sys
        sys.stdin.readline()
        for part in ("x" * 500_000, "y" * 500_000, "\\n"):
            sys.stdout.write(part); sys.stdout.flush()
        sys.stdin.readline()
        """
    )
    asker.ask()
    answer = asker.answer(BOUND_SECONDS)
    assert isinstance(answer, bytes)
    assert len(answer) == 1_000_000


def test_a_hanging_child_is_waited_for_only_so_long(make: Callable[..., ChildQuery]) -> None:
    asker = make("import time\ntime.sleep(600)")
    asker.ask()
    answer = asker.answer(0.05)
    assert isinstance(answer, Silence)
    assert "the card has not answered for" in answer.why
    asker.ask()  # asks nothing more while it hangs
    assert isinstance(asker.answer(0.0), Silence)


def test_a_late_answer_is_still_taken(make: Callable[..., ChildQuery]) -> None:
    # Byte by byte: what buffers would take both words at once where the child began late.
    asker = make("import os\nos.read(0, 4)\nos.read(0, 1)\nprint('late', flush=True)\nos.read(0, 1)")
    asker.ask(b"one")
    assert isinstance(asker.answer(0.05), Silence)
    os.write(asker._to_child, b"x")
    assert asker.answer(BOUND_SECONDS) == b"late"


def test_a_child_that_hangs_for_good_is_ended(make: Callable[..., ChildQuery]) -> None:
    before = children()
    asker = make("import time\ntime.sleep(600)", 0.0)
    asker.ask()
    assert isinstance(asker.answer(0.05), Silence)
    assert "was ended" in str(asker.answer(0.0))
    wait_until(lambda: not children() - before, "the child to be gone")


def test_a_crash_is_told_with_its_signal(make: Callable[..., ChildQuery]) -> None:
    asker = make("import os, sys\nsys.stdin.readline()\nos.kill(os.getpid(), 11)")
    asker.ask()
    assert "killed by SIGSEGV" in str(asker.answer(BOUND_SECONDS))
    asker.ask()  # not started again at once
    assert "killed by SIGSEGV" in str(asker.answer(0.0))


def test_an_end_is_told_with_its_code(make: Callable[..., ChildQuery]) -> None:
    asker = make("raise SystemExit(3)")
    asker.ask()
    assert "exit code 3" in str(asker.answer(BOUND_SECONDS))


def test_an_end_before_the_question_could_be_put_is_told_too(make: Callable[..., ChildQuery]) -> None:
    before = children()
    asker = make("input()\nprint('one', flush=True)\nraise SystemExit(3)")
    asker.ask()
    assert asker.answer(BOUND_SECONDS) == b"one"
    wait_until(lambda: not children() - before, "its end")
    asker.ask()
    assert "exit code 3" in str(asker.answer(BOUND_SECONDS))


def test_a_program_that_is_not_there_is_a_silence(make: Callable[..., ChildQuery]) -> None:
    asker = ChildQuery(("/no/such/program",), name="the card")
    asker.ask()
    assert "cannot be started" in str(asker.answer(0.0))


def test_the_child_ends_with_who_asks_even_by_sigkill() -> None:
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        asker = ChildQuery((sys.executable, "-I", "-S", "-c", ECHO), name="the card")
        asker.ask(b"x")
        asker.answer(BOUND_SECONDS)
        os.write(write_fd, str(asker._pid).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(write_fd)
    child = int(os.read(read_fd, 32))
    os.close(read_fd)
    os.waitpid(pid, 0)
    wait_until(lambda: not is_running(child), "the child to end")
