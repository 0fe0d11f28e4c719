"""The last number of a loop, where a log's head sets it by one of the names that programs give it. Pure.

`nt = 4000` above `t= 250`, `nmax = 100000` above `n= 50`, `from=1 to=250000` above `rows 1..1000`, `stop at 8000`:
nothing but a convention tells that the one is the end of the other. So it is asked last, and of a number that has gone
on.
"""

from __future__ import annotations

from onbox.logs.totals.head import headings
from onbox.regex import lazy

FEWEST = 200  # smaller ones are of threads, of types, of what not
_NUMBER = r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?![\w/%-]|[.,]\d)"
_LAST = lazy(
    rf"(?<![\w.])(?:nt|n_t|[nN]_?max|NMAX|max_?n|(?:nn_)?n?it_?end|nstop|last_?(?:it|step)|max_batches|n_?cycles?_?max)\s{{0,20}}[=:]\s{{0,20}}{_NUMBER}"
    rf"|(?i:\bfrom[ =:]{{1,2}}[01],?\s(?:to|until)[ =:]{{1,2}}){_NUMBER}"
    rf"|^\W*(?i:budget)\W{{1,3}}{_NUMBER}\W*$"
    rf"|(?<![A-Za-z-])(?i:(?:stop|end)(?:s|ping|ing)? at|until) {_NUMBER}(?=\s*(?:[,;.)]|$))"
)


def limit_of(beginning: bytes, current: float) -> int | None:
    """The only such number of the first lines that is beyond where the loop is; None if none or several are."""
    told = {
        int(next(filter(None, found.groups())).replace(",", ""))
        for line in headings(beginning)
        for found in _LAST.finditer(line)
    }
    most = told.pop() if len(told) == 1 else 0
    return most if most >= max(FEWEST, current) else None
