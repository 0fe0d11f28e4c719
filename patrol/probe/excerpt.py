"""The last traceback in a log's newest lines, whole, as a report shows it. Pure."""

from __future__ import annotations

from onbox.outside import safe_text
from onbox.regex import lazy
from onbox.triage.reading.tracebacks import CHAIN, HEADER

LINES_LIMIT = 50
LINE_LIMIT = 200
LINES_BEFORE = 2  # whoever raised it often says a word before
_INSIDE = lazy(r"^(?:\s|$|[|│+╭╰])")  # of a traceback every line but the last is indented


def last_traceback(text: bytes) -> tuple[str, ...]:
    """Its lines from two before the header to the exception, with those that it was raised while handling; of more than
    50 lines the last ones. () where there is none. Redacted, without control characters; each at most 200 characters.
    """
    lines = [line.rstrip() for line in safe_text(text.decode("utf-8", "replace")).split("\n")]
    headers = [at for at, line in enumerate(lines) if HEADER.search(line)]
    if not headers:
        return ()
    start = headers[-1]
    end = next((at for at in range(start + 1, len(lines)) if not _INSIDE.match(lines[at])), len(lines) - 1)
    for header in reversed(headers[:-1]):
        if not any(CHAIN.search(line) for line in lines[header:start]):
            break
        start = header
    found = lines[max(0, start - LINES_BEFORE) : end + 1]
    return tuple(line[:LINE_LIMIT] for line in found[-LINES_LIMIT:])
