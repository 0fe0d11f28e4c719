"""The `onbox` command: parse, run, and turn what goes wrong into one clear line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from onbox.cli_parser import build_parser
from onbox.contract.exits import Exit
from onbox.contract.runfile import Damaged
from onbox.errors import Trouble
from onbox.redact import redact
from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported

if TYPE_CHECKING:
    from collections.abc import Sequence


def entry() -> None:
    """The console script."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed by the caller (`>&-`): talk to nobody, and keep the number taken
            _open_null(number, name)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # what the locale cannot show must not end a command
    sys.exit(main(sys.argv[1:]))


def _open_null(number: int, name: str) -> None:
    fd = os.open(os.devnull, os.O_RDWR)
    if fd != number:
        os.dup2(fd, number)
        os.close(fd)
    setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115 - for the whole process


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    args = build_parser(argv[0] if argv else None).parse_args(argv)
    try:
        code = int(args.function(args))
        sys.stdout.flush()
        return code
    except Trouble as trouble:
        return _say(trouble.exit_code, str(trouble))
    except StateNotWritten as error:
        return _say(
            Exit.STATE_NOT_WRITTEN, f"{error}. Nothing was marked done by this; {error.way_on}, then: onbox resume"
        )
    except LockUnsupported as error:
        way = "set `state_dir` in onbox.toml (or work) on a local disk; results may stay where they are"
        return _say(Exit.STATE_NOT_WRITTEN, f"{error}, so two runners could not be kept apart: {way}")
    except BrokenPipeError:
        # Who read our output has gone (`| head`): no error of ours. Keep the interpreter from flushing into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.DONE)
    except KeyboardInterrupt:
        return _say(Exit.STOPPED, "interrupted; a running chain goes on")
    except Damaged as error:
        return _say(Exit.CONFIG, f"{error}; `onbox chain` writes it anew, or move the run's directory away")
    except OSError as error:
        return _say(Exit.STATE_NOT_WRITTEN, f"{error.filename or 'the system'}: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 - the boundary: a defect gets one line and a report, not a traceback
        return _report_defect(error)


def _say(code: Exit, text: str) -> int:
    print(f"onbox: {redact(text)}", file=sys.stderr)
    return int(code)


def _report_defect(error: Exception) -> int:
    import tempfile  # noqa: PLC0415 - only when something is wrong
    import traceback  # noqa: PLC0415

    text = redact("".join(traceback.format_exception(error)))
    try:
        fd, path = tempfile.mkstemp(prefix="onbox-report-", suffix=".txt")
        with open(fd, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        where = f"; details in {path}"
    except OSError:
        where = f"\n{text}"
    return _say(Exit.INTERNAL, f"a defect in onbox: {type(error).__name__}: {error}{where}")
