"""docs/sentinel-truth.md, rendered from the tables. Pure."""

from __future__ import annotations

from sentinels.judge.outcome import TABLE, TROUBLES
from sentinels.judge.run_facts import RunFold
from sentinels.judge.run_rows import ROWS, RunTerms

HEADER = """\
# What `sentinel` says, and when

Rendered from `sentinels/judge/outcome.py` and `sentinels/judge/run_rows.py` by `python scripts/gen_docs.py`.

## Outcomes and exit codes

| code | outcome | meaning |
|---|---|---|
"""
RUNS = """
## How a run is judged

The first row that applies decides. *Proved twice* means: seen again before it is believed, at least 1.5 s later;
an engine's word in a second answer 5 s later, 60 s where the run's own records may follow.

| row | ends the wait as | why the row stands there |
|---|---|---|
"""


def render_page() -> str:
    """The page's whole text."""
    rows = [(int(row.code), row.outcome.value, row.meaning) for row in TABLE]
    rows += [(int(code), "", meaning) for code, meaning in TROUBLES]
    codes = "".join(f"| {code} | {word} | {_cell(meaning)} |\n" for code, word, meaning in sorted(rows))
    runs = "".join(f"| {row.name} | {_ends_as(row.name)} | {_cell(row.reason)} |\n" for row in ROWS)
    return HEADER + codes + RUNS + runs


def _ends_as(name: str) -> str:
    """What a row says of a run of which nothing else is known."""
    row = next(row for row in ROWS if row.name == name)
    judged = row.verdict(_NOTHING, RunTerms())
    word = "goes on" if judged.outcome is None else judged.outcome.value
    return f"{word} (proved twice)" if judged.proof_seconds is not None else word


_NOTHING = RunFold("R", "", 0, None, None, None, None, "", "", {}, {}, "gone", "gone", rebooted=False, clock=0.0)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
