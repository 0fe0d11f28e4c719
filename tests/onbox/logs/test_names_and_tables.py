"""Short names of counts, names beside them that mean something else, and tables of lists or behind a prefix."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

LISTS = "Step      Train loss              Test loss               Test metric\n" + "".join(
    f"{at:<9} [3.{at % 97:02}e-02, 7.0e-04]    [4.{at % 89:02}e-02, 7.0e-04]    []\n" for at in range(0, 5000, 1000)
)
PREFIXED = "".join(
    "2026-11-28 10:00:00 [INFO]:    Epoch       Batch       box      conf     time\n"
    + lines(f"2026-11-28 10:00:07 [INFO]:      {epoch}/12       #/165   0.0071   0.0060      7.1", 0, 40, 80, 120)
    for epoch in (1, 2, 3)
)
SIMULATED = "Time[ps]      Etot[eV]     Epot[eV]    T[K]\n" + "".join(
    f"{at / 1000:.4f}       -152.{at * 37 % 91}     -153.{at * 53 % 97}   3{at * 7 % 19}.0\n" for at in range(30)
)
# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "rows of lists": (LISTS, 4000, None),
    "rows behind a logger's prefix": (PREFIXED, 3, 12),
    "a simulated time": (SIMULATED, 0.029, None),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)
