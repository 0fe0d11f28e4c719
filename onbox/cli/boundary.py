"""The edge of a command: streams that may be closed, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from typing import TYPE_CHECKING

from onbox.cli.streams import open_the_closed
from onbox.cli.utf8 import ensure_utf8
from onbox.contract.exits import Exit
from onbox.contract.runfile import DamagedRunfile
from onbox.errors import Trouble
from onbox.outside import safe_line, safe_text
from onbox.system.files import StateNotWritten, whose
from onbox.system.lock import LockUnsupported

GC_ALLOCATIONS = 100_000  # what a command imports is no garbage: to look for some every 700 objects costs 5% of a start

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn


def run_as_script(main: Callable[[list[str]], int]) -> NoReturn:
    """What a console script does: make the standard streams usable, then end with the exit code of `main`."""
    ensure_utf8()
    gc.set_threshold(GC_ALLOCATIONS)
    open_the_closed()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.write_through:
        sys.stdout = _told_by(sys.stdout)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the locale cannot show must not end a command
    code = main(sys.argv[1:])
    gc.freeze()  # the interpreter's end would look through all objects for what the kernel takes back anyway: 18 ms
    sys.exit(code)


def within_boundary(
    program: str,
    command: Callable[[], int],
    troubles: Callable[[Exception], tuple[int, str] | None],
    *,
    interrupted: tuple[int, str],
) -> int:
    """Run one command; its exit code. troubles: what further errors of this program mean, as exit code and text; None:
    not known to it. interrupted: what Ctrl-C means.
    """
    try:
        code = int(command())
        sys.stdout.flush()
        return code
    except Trouble as trouble:
        return say(program, trouble.exit_code, str(trouble))
    except BrokenPipeError:
        drop_output()  # who read it has gone (`| head`): no error of ours
        return int(Exit.DONE)
    except KeyboardInterrupt:
        return say(program, *interrupted)
    except Exception as error:  # noqa: BLE001 - the boundary: a defect gets one line and a report, not a traceback
        known = troubles(error) or _common_trouble(error)
        if isinstance(error, OSError) and _is_of_output(error):
            known = Exit.STATE_NOT_WRITTEN, lost_answer(error)
        if known:
            return say(program, *known)
        from onbox.cli.defect import reported  # noqa: PLC0415 - 6 ms of every start, for what hardly ever happens

        return say(program, Exit.INTERNAL, reported(program, error))


def drop_output() -> bool:
    """Keep the interpreter from writing once more, at its end, what could not be written; whether there was such."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


class _Unbuffered(io.FileIO):
    """A standard output that keeps nothing (PYTHONUNBUFFERED): it has nothing to be refused again, so it keeps what it
    raised.
    """

    raised: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.raised = error
            raise


def _told_by(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = _Unbuffered(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(raw, stream.encoding, stream.errors, write_through=True)


def _is_of_output(error: OSError) -> bool:
    """Whether it was the standard output that could not be written: it names no file, and refuses what is written
    again. Nothing is written to find out.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, _Unbuffered) and raw.raised is error:
        drop_output()
        return True
    return drop_output() and error.filename is None


def lost_answer(error: OSError) -> str:
    """Why who asked gets no answer, of an error of the standard output."""
    if error.errno == errno.EBADF:  # the caller closed it (`streams.open_the_closed`)
        return "the standard output is closed, so the answer is lost: send it to a file"
    return f"the standard output cannot be written, so the answer is lost: {error.strerror or error}"


def _common_trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, StateNotWritten):
        return Exit.STATE_NOT_WRITTEN, f"{error}; {error.way_on}"
    if isinstance(error, LockUnsupported):
        return Exit.STATE_NOT_WRITTEN, str(error)
    if isinstance(error, DamagedRunfile):
        return Exit.CONFIG, str(error)
    if isinstance(error, PermissionError) and isinstance(error.filename, str):
        return Exit.STATE_NOT_WRITTEN, f"{safe_line(error.filename)}: {error.strerror}{whose(error.filename)}"
    if isinstance(error, OSError):
        return Exit.STATE_NOT_WRITTEN, f"{safe_line(error.filename or 'the system')}: {error.strerror or error}"
    return None


def say(program: str, code: int, text: str) -> int:
    """One line for people on stderr; the exit code."""
    print(f"{program}: {safe_text(text)}", file=sys.stderr)
    return int(code)
