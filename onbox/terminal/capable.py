"""Whether standard output is a terminal on which tables with colours can be read. Everything else gets plain lines."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_COLUMNS = 60
LOCALE_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")  # the first that is set decides, as in setlocale(3)


def shows_tables(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """A terminal of 60 columns or more that obeys control sequences and takes UTF-8, whose user has not asked for plain
    text (https://no-color.org).
    """
    if not obeys(stream, environ) or environ.get("NO_COLOR"):
        return False
    return is_utf8(stream.encoding, environ) and width_of() >= LEAST_COLUMNS and _has_rich()


def obeys(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether it is a terminal that can be cleared and written over."""
    return stream.isatty() and environ.get("TERM", "") not in ("", "dumb", "unknown")


def is_utf8(encoding: str | None, environ: Mapping[str, str]) -> bool:
    """By the stream's encoding and by the locale, if one is set: Python speaks UTF-8 in the locale C, the terminal may
    not. Containers mostly set none, and the terminal there is the one of whoever came by ssh.
    """
    locale = next((environ[name] for name in LOCALE_VARIABLES if environ.get(name)), "")
    if locale and not locale.lower().replace("-", "").partition("@")[0].endswith("utf8"):
        return False
    try:
        return codecs.lookup(encoding or "").name == "utf-8"
    except LookupError:
        return False


def width_of() -> int:
    import shutil  # noqa: PLC0415 - with its archives 2 ms, and a chain's viewer asks for none of this

    return shutil.get_terminal_size().columns


def _has_rich() -> bool:
    """It comes with onbox; an installation without dependencies still says everything in plain lines."""
    import importlib.util  # noqa: PLC0415 - as above

    return importlib.util.find_spec("rich") is not None
