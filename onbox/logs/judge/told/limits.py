"""The last number of a loop, where a log's head sets it by one of the names that programs give it. Pure.

`nt = 4000` above `t= 250`, `nmax = 100000` above `n= 50`, `from=1 to=250000` above `rows 1..1000`, `stop at 8000`,
`T=10000` above `t= 500`: nothing but a convention tells that the one is the end of the other. So it is asked last, and
of a number that has gone on.
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
_CAPITAL = lazy(rf"(?<![\w.])([A-Z])\s?=\s?{_NUMBER}")  # `horizon T=10000` above `t=   500`


def limit_of(beginning: bytes, current: float, noun: str = "") -> int | None:
    """The only such number of the first lines that is beyond where the loop is; None if none or several are. noun: what
    the loop calls its count: the capital of a letter is its end by convention, too.
    """
    lines = headings(beginning)
    told = {next(filter(None, found.groups())) for line in lines for found in _LAST.finditer(line)}
    if len(noun) == 1:
        told |= {found[2] for line in lines for found in _CAPITAL.finditer(line) if found[1] == noun.upper()}
    numbers = {int(number.replace(",", "")) for number in told}
    most = numbers.pop() if len(numbers) == 1 else 0
    return most if most >= max(FEWEST, current) else None
