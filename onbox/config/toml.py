"""The standard library's reader of TOML; on Python 3.10, which has none, the one that it was made from."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from tomllib import loads as loads  # noqa: PLC0414 - passed on to those who import it from here
else:
    from tomli import loads as loads  # noqa: PLC0414 - as above
