"""The `sentinel` command: parse, run, and turn what goes wrong into one clear line and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.errors import Trouble
from onbox.redact import redact
from onbox.system.files import StateNotWritten
from sentinels.outcome import Exit
from sentinels.parser import build_parser
from sentinels.places import UnknownBox
from sentinels.targets import BadTarget
from sentinels.wait import Signalled

if TYPE_CHECKING:
    from collections.abc import Sequence


def entry() -> None:
    """The console script."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed by the caller (`>&-`): talk to nobody, and keep the number taken
            _open_null(number, name)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # what the locale cannot show must not end a command
    code = main(sys.argv[1:])
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # all is closed and written; taking the interpreter down would only delay who waits for us


def _open_null(number: int, name: str) -> None:
    fd = os.open(os.devnull, os.O_RDWR)
    if fd != number:
        os.dup2(fd, number)
        os.close(fd)
    setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115 - for the whole process


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    args = build_parser().parse_args(argv)
    try:
        code = int(args.function(args))
        sys.stdout.flush()
        return code
    except (BadTarget, UnknownBox) as error:
        return _say(Exit.USAGE if isinstance(error, BadTarget) else Exit.CONFIG, str(error))
    except Trouble as trouble:
        return _say(Exit(int(trouble.exit_code)), str(trouble))
    except StateNotWritten as error:
        return _say(Exit.STATE_NOT_WRITTEN, f"{error}; {error.way_on}, or point XDG_STATE_HOME elsewhere")
    except Signalled as signalled:
        return _die_of(signalled.number)
    except KeyboardInterrupt:
        return _die_of(signal.SIGINT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.LANDED)
    except Exception as error:  # noqa: BLE001 - the boundary: a defect gets one line and a report, not a traceback
        return _report_defect(error)


def _die_of(number: int) -> int:
    """End as the signal would have ended us, so that the caller's shell sees what it was; everything is cleaned up."""
    sys.stdout.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _say(code: Exit, text: str) -> int:
    print(f"sentinel: {redact(text)}", file=sys.stderr)
    return int(code)


def _report_defect(error: Exception) -> int:
    import tempfile  # noqa: PLC0415 - only when something is wrong
    import traceback  # noqa: PLC0415

    text = redact("".join(traceback.format_exception(error)))
    try:
        fd, path = tempfile.mkstemp(prefix="sentinel-report-", suffix=".txt")
        with open(fd, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        where = f"; details in {path}"
    except OSError:
        where = f"\n{text}"
    return _say(Exit.INTERNAL, f"a defect in sentinel: {type(error).__name__}: {error}{where}")
