"""Rows of `patrol explain` and `patrol history` on a terminal of 80 columns: nothing of them is cut."""

from __future__ import annotations

from patrol.commands.explain import _row
from patrol.commands.history import _flip_line, folded
from patrol.memory.rows import Flip

LACKS = "alive, and every one of its signals is older than the limit that its stage declares in onbox.toml"


def test_what_a_rule_lacks_is_folded_below_itself() -> None:
    lines = _row({"rule": "stalled", "fired": False, "lacks": LACKS})
    assert lines[0].startswith("  no      stalled                  it would need: alive, and every one")
    assert max(map(len, lines)) <= 80
    assert {line[:35] for line in lines[1:]} == {" " * 35}
    assert " ".join(" ".join(lines).split()).endswith(LACKS)
    assert _row({"rule": "healthy", "fired": True, "lacks": None}) == ["  SPEAKS  healthy"]


def test_a_row_of_the_history_is_folded_and_a_path_in_it_stays_whole() -> None:
    path = "/data/checkpoints/" + "x" * 70
    flip = Flip(1_800_000_000.0, "gpu1", "digits", "healthy", "failed", 2, "failed", f"train failed: {path} is full")
    lines = folded(_flip_line(flip))
    assert max(len(line) for line in lines if path not in line) <= 80
    assert [line.strip() for line in lines if path in line] == [path]
    assert " ".join(" ".join(lines).split()).endswith(f"{path} is full")
