"""`LOG`: a file, the standard input, a cell of a sweep; nothing: the log of the run."""

from __future__ import annotations

import glob
import os
import shlex
import stat
import sys
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from onbox.cli.command import argument, files
from onbox.commands.shared.arguments import complete_run, complete_stage
from onbox.contract.exits import Exit
from onbox.contract.paths import SWEEP
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.system.clock import wall
from onbox.system.files import open_plain
from onbox.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project

END_BYTES = 1 << 16
FEW_BYTES = 64
SILENT_SECONDS = 0.5  # so long a wait for the writer of a FIFO is not worth a word
LINES_OF_A_LOG, WORDS_BYTES = 2, 10
BINARY_SHARE = 0.05  # random bytes have twice as many
_IN_NO_TEXT = bytes(byte for byte in (*range(32), 127) if byte not in b"\b\t\n\v\f\r\x1b")
# (what a compressed file begins with, what prints it)
COMPRESSED = (
    (b"\x1f\x8b", "zcat"), (b"BZh", "bzcat"), (b"\xfd7zXZ\0", "xzcat"), (b"\x28\xb5\x2f\xfd", "zstdcat"),
)  # fmt: skip
NO_LOGS = (
    (b"\x7fELF", "a program or a library"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x93NUMPY", "an array"),
    (b"\x80\x04\x95", "a pickle of Python"),
    (b"\x80\x05\x95", "a pickle of Python"),
)
MAGIC_BYTES = max(len(magic) for magic, _ in (*COMPRESSED, *NO_LOGS))
SHOWN_RUNS = 5
HELP = "a log file, - for the standard input, or a cell of a sweep (default: the log that `onbox logs` shows)"


def log_argument(function: Any) -> Any:
    """`LOG`, and what chooses among the logs of runs."""
    function = click.option(
        "--stage", metavar="STAGE", help="of the run, the log of this stage", shell_complete=complete_stage
    )(function)
    function = click.option("--run", metavar="NAME", help="name of the run", shell_complete=complete_run)(function)
    return argument("log", required=False, metavar="LOG", help=HELP, shell_complete=files)(function)


def log_to_read(project: Project, args: Options) -> str:
    """The path, or "-". One that nobody typed is told. Raises Trouble, also for a file that is no log."""
    if args.log == "-":
        _refuse_choice(("--stage", args.stage), ("--run", args.run))
        return "-"
    if args.log == "":
        raise Trouble(Exit.USAGE, "LOG is empty: name a file, - for the standard input, or nothing for the run's log")
    if args.log and _is_there(args.log):
        _refuse_choice(("--stage", args.stage), ("--run", args.run))
        return str(args.log)
    below = _below_a_run(project.state_dir, args.run, args.log) if args.log else None
    if below is not None:
        _refuse_choice(("--stage", args.stage))
        print(f"onbox: the log is {safe_line(below)}", file=sys.stderr)
        return below
    from onbox.commands.shared.run_log import find_cell, find_log  # noqa: PLC0415 - not for a log that is named

    if args.log and not find_cell(project, args.run, args.log):
        cells = f"no cell of a sweep in {safe_line(project.state_dir)} has that name"
        raise Trouble(Exit.USAGE, f"no log {name_of(args.log)}, and {cells}")
    try:
        found = find_log(project, args.run, args.log, stage=args.stage)
    except Trouble as trouble:
        if args.log is None and _is_redirected():
            raise Trouble(trouble.exit_code, f"{trouble}; to read a log on the standard input, add -") from trouble
        raise
    if found.stage == SWEEP:
        sweep = os.path.basename(found.paths.root)
        raise Trouble(Exit.USAGE, f"{sweep} is a sweep: name a cell, or a log; its cells: onbox sweep table {sweep}")
    print(f"onbox: the log is {safe_line(found.path)}", file=sys.stderr)
    return found.path


def _below_a_run(state_dir: str, run: str | None, log: str) -> str | None:
    """A log as a chain tells it, `logs/train.1.log`: below the folder of its run. None where there is none. Raises
    Trouble where several runs have one.
    """
    if not log.startswith("logs/"):
        return None
    pattern = os.path.join(glob.escape(state_dir), "*" if run is None else glob.escape(run), glob.escape(log))
    found = sorted(filter(os.path.isfile, glob.glob(pattern)))
    if len(found) > 1:
        runs = ", ".join(safe_line(path[len(state_dir) :].strip("/").partition("/")[0]) for path in found[:SHOWN_RUNS])
        raise Trouble(Exit.USAGE, f"several runs have a {name_of(log)} ({runs}): add --run NAME")
    return os.path.relpath(found[0]) if found else None


def _refuse_choice(*options: tuple[str, str | None]) -> None:
    """Raises Trouble where a log of a run was asked for as well: only one of both can be read."""
    for option, value in options:
        if value is not None:
            raise Trouble(
                Exit.USAGE, f"{option} chooses a log of a run, and LOG names another one: leave one of them out"
            )


def _is_redirected() -> bool:
    """Whether the standard input is a file."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):  # it is closed, or none
        return False


def _is_there(path: str) -> bool:
    """Whether the file is there. Raises Trouble where that cannot be told, and for what is no log."""
    try:
        seen = os.stat(path)
        if stat.S_ISREG(seen.st_mode):
            with open_plain(path) as file:
                _refuse_other_data(path, file, seen.st_size)
    except FileNotFoundError:
        if os.path.islink(path):
            raise Trouble(
                Exit.USAGE, f"cannot read the log {name_of(path)}: it is a link to a file that is gone"
            ) from None
        return False
    except OSError as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(seen.st_mode):
        raise Trouble(Exit.USAGE, f"{name_of(path)} is a folder: name a log in it")
    if stat.S_ISCHR(seen.st_mode) or stat.S_ISBLK(seen.st_mode):
        raise Trouble(Exit.USAGE, f"cannot read the log {name_of(path)}: it is a device, not a file")
    return True


@contextmanager
def opened_log(path: str) -> Iterator[BinaryIO]:
    """What `log_to_read` found, to be read; a FIFO, as of `<(kubectl logs job/train)`, may be one. Raises Trouble, also
    where it cannot be read to its end.
    """
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else _opened(path) as file:
            yield file
    except OSError as error:
        raise _unreadable(path, error) from error


def _opened(path: str) -> BinaryIO:
    """A FIFO opens once somebody writes to it, as `cat` has it; who waits for that is told so."""
    telling = threading.Timer(SILENT_SECONDS, _tell_waiting, (path,))
    telling.daemon = True
    if stat.S_ISFIFO(os.stat(path).st_mode):
        telling.start()
    try:
        return open(path, "rb")
    finally:
        telling.cancel()


def _tell_waiting(path: str) -> None:
    print(f"onbox: {name_of(path)} is a FIFO: waiting for a program that writes to it", file=sys.stderr, flush=True)


def age_seconds(file: BinaryIO) -> float | None:
    """Since the opened log was written, also where it is the standard input; None for a pipe."""
    seen = os.fstat(file.fileno())
    return max(0.0, wall() - seen.st_mtime) if stat.S_ISREG(seen.st_mode) else None


def name_of(path: str) -> str:
    """As a sentence says it."""
    return "the standard input" if path == "-" else safe_line(path)


def _unreadable(path: str, error: OSError) -> Trouble:
    return Trouble(Exit.USAGE, f"cannot read the log {name_of(path)}: {error.strerror or error}")


def _refuse_other_data(path: str, file: BinaryIO, size: int) -> None:
    """Raises Trouble for a compressed file, and for one that holds no text at either end."""
    log = Places(file.fileno(), size)
    magic_bytes = log.read(0, MAGIC_BYTES)
    tool = next((tool for magic, tool in COMPRESSED if magic_bytes.startswith(magic)), None)
    if tool is not None:
        command = click.get_current_context().info_name
        way = f"{tool} {safe_line(shlex.quote(path))} | onbox {command} -"
        raise Trouble(Exit.USAGE, f"{name_of(path)} is compressed; read it with: {way}")
    other = next((what for magic, what in NO_LOGS if magic_bytes.startswith(magic)), None)
    if other is not None:
        raise Trouble(Exit.USAGE, f"{name_of(path)} is no log, but {other}")
    _refuse_binary(name_of(path), log)


def refuse_binary_input(path: str, log: Places) -> None:
    """Raises Trouble for a pipe that held no text at either end, as a file is refused before it is read."""
    if path == "-":
        _refuse_binary(name_of(path), log)


def _refuse_binary(name: str, log: Places) -> None:
    ends = ((0, END_BYTES), (max(0, log.size - END_BYTES), log.size))
    if all(_is_binary(log.read(start, end)) for start, end in ends):
        raise Trouble(Exit.USAGE, f"{name} is no log: it holds binary data, not text")


def _is_binary(data: bytes) -> bool:
    """Whether many of its bytes stand in no text, whatever its encoding. NUL is one of UTF-16, and of a disk
    that lost power.
    """
    text = data.replace(b"\0", b"")
    odd = len(text) - len(text.translate(None, _IN_NO_TEXT))
    if len(text) <= FEW_BYTES or odd <= BINARY_SHARE * len(text):
        return False
    return sum(_is_of_a_log(line) for line in data.splitlines()) < LINES_OF_A_LOG  # or else some junk is in one


def _is_of_a_log(line: bytes) -> bool:
    """Whether a line holds a few words and nothing else."""
    return len(line) >= WORDS_BYTES and b" " in line and line.isascii() and line.decode().isprintable()
