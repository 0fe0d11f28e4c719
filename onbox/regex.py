"""Regular expressions that are compiled when they are first used.

Python compiles at every start anew, which for the tables of `onbox.logs` and `onbox.triage` takes longer than all else
that a tick of the patrol does here; and most logs need few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but a mistake in it is met at the first use. It has all that a pattern has, but `re.sub` and the
    like do not take it: its own `sub` is meant.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))


class _Lazy(Generic[AnyStr]):
    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._asked = flags

    def __getattr__(self, name: str) -> Any:
        """Reached once for each name: what was found becomes an attribute."""
        found = getattr(re.compile(self.pattern, self._asked), name)
        setattr(self, name, found)
        return found
