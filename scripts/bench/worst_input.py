"""How long 10 MB of the worst text take: `worst_input.py [--tree DIR] [--limit SECONDS]`.

For each reader the patterns of its tables are tried on texts made out of their own parts (`tests/pumping.py`); of those
that take longest a log is made, once with every line the same and once with a word of its own on each, and read. CPU
seconds are told, of the reading alone. DIR: another checkout to measure, such as an older commit.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import multiprocessing
import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE_BYTES = 10_000_000
LINE_LENGTHS = (150, 1900)
BLOCK_BYTES = 1 << 18
PIECE = 1 << 16  # as much as is masked at once: the end of a log that goes into a message
WORST = 3
TABLES = {
    "triage": ("onbox.triage.",),
    "progress": ("onbox.logs.",),
    "patrol": ("onbox.logs.", "patrol."),
    "redact": ("onbox.redact",),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", default=HERE)
    parser.add_argument("--limit", type=float, default=60.0, metavar="SECONDS")
    args = parser.parse_args()
    sys.path.insert(0, os.path.abspath(args.tree))
    pumping = _pumping()
    for table, places in TABLES.items():
        for name, text in worst_texts(pumping, places):
            print(f"{table:<9} {_told(table, text, args.limit)}  {name}", flush=True)
    return 0


def worst_texts(pumping: Any, places: tuple[str, ...]) -> list[tuple[str, Callable[[int], str]]]:
    """The texts of the slowest patterns, as functions of a length."""
    found = []
    for one in pumping.shipped():
        worst = pumping.pumped(one) if one.place.startswith(places) else None
        if worst:
            found.append((worst.seconds, f"{worst.lead + worst.unit!r} for {one.pattern[:60]!r}", worst.text))
    found.sort(key=lambda row: row[0], reverse=True)
    return [row[1:] for row in found[:WORST]]


def _told(table: str, text: Callable[[int], str], limit: float) -> str:
    logs = (list(_lines(text(length), own=own)) for length in LINE_LENGTHS for own in (False, True))
    return "  ".join(_seconds(READERS[table], log, limit) for log in logs)


def _lines(text: str, *, own: bool) -> Iterator[bytes]:
    """Lines of 10 MB in all. own: each ends with a word that no other has."""
    size = 0
    for number in itertools.count():
        line = f"{text} {_word(number) if own else 'x'}\n".encode()
        size += len(line)
        if size > SIZE_BYTES:
            return
        yield line


def _word(number: int) -> str:
    letters = "abcdefghij"
    return "".join(letters[int(digit)] for digit in str(number))


def _seconds(read: Callable[[bytes], None], log: list[bytes], limit: float) -> str:
    """CPU seconds in a process of its own, which is ended at the limit."""
    ours, theirs = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_measure, args=(read, b"".join(log), theirs, limit))
    child.start()
    theirs.close()
    try:
        return f"{ours.recv():7.2f}"
    except EOFError:
        return f"> {limit:5.0f}"
    finally:
        child.join()


def _measure(read: Callable[[bytes], None], log: bytes, answer: Any, limit: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + limit) + 1, -1))
    began = time.process_time()
    read(log)
    answer.send(time.process_time() - began)


def _triage(log: bytes) -> None:
    """As the command reads a file; an older tree reads all of it."""
    from onbox.triage.classify import classify  # noqa: PLC0415 - of the tree to measure
    from onbox.triage.evidence import Evidence  # noqa: PLC0415 - of the tree to measure

    try:
        from onbox.system.places import Places  # noqa: PLC0415 - as above
        from onbox.triage.reading.large import Excerpt  # noqa: PLC0415 - of the tree to measure
    except ModuleNotFoundError:
        classify((log[at : at + BLOCK_BYTES] for at in range(0, len(log), BLOCK_BYTES)), Evidence(exit_code=1))
    else:
        classify(Excerpt(Places(_file(log), len(log))).parts(), Evidence(exit_code=1))


def _progress(log: bytes) -> None:
    """As `_triage`."""
    from onbox.logs.progress import ProgressSettings, read_progress  # noqa: PLC0415 - of the tree to measure

    try:
        from onbox.logs.large import read_large  # noqa: PLC0415 - of the tree to measure
        from onbox.system.places import Places  # noqa: PLC0415 - as above
    except ModuleNotFoundError:
        read_progress(log)
    else:
        read_large(Places(_file(log), len(log)), ProgressSettings())


def _file(log: bytes) -> int:
    fd = os.memfd_create("log")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(log)
    return fd


def _patrol(log: bytes) -> None:
    """As the ticks of a patrol: the reader is kept as text between them."""
    from onbox.logs.progress import ProgressReader  # noqa: PLC0415 - of the tree to measure

    reader = ProgressReader()
    for at in range(0, len(log), 1 << 20):
        reader = ProgressReader.from_state(reader.state())
        reader.feed(log[at : at + (1 << 20)])
        reader.result()


def _redact(log: bytes) -> None:
    from onbox.redact import redact  # noqa: PLC0415 - of the tree to measure

    text = log.decode()
    for at in range(0, len(text), PIECE):
        redact(text[at : at + PIECE])


READERS = {"triage": _triage, "progress": _progress, "patrol": _patrol, "redact": _redact}


def _pumping() -> Any:
    """`tests/pumping.py` of this checkout: an older one has none, and it finds the patterns of any."""
    spec = importlib.util.spec_from_file_location("pumping", os.path.join(HERE, "tests", "pumping.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pumping"] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
