"""On which line of the file an error is."""

from __future__ import annotations

import pytest

from onbox.config.lines import line_of, lines_of

TEXT = '''\
# a comment = 1
[run]
name = "x"

[stages.train]
cmd = """
timeout = "not a key"
[stages.no]
"""
env = { A = "1", B = "[" }
artifacts = [
  "a", # ]
  { glob = "x", min_count = 3 },
]
timeout = "x"
gates.disk_free = "5%"
[boxes."gpu 1"]
host = 'a#b['
[[boxes.a.watch]]
log = "x"
[[boxes.a.watch]]
log = "y"
  [boxes.a.watch.stop_at]
  stepp = 3
[ stages . eval ]
[[triage]]
regex = "\\"\\"\\""
class = "c"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("run.name", 3), ("stages.train", 5), ("stages.train.timeout", 15), ("stages.train.env.B", 10),
        ("stages.train.artifacts[1].min_count", 11), ("stages.train.gates.disk_free", 16), ('boxes."gpu 1".host', 18),
        ("boxes.a.watch[0].log", 20), ("boxes.a.watch[1].log", 22), ("boxes.a.watch[1].stop_at.stepp", 24),
        ("stages.eval.cmd", 25), ("triage[0].class", 28), ("triage[0].remedy", 26), ("nothing.there", None),
        ("boxes.a.watch", 19), ("stages.no", None),
    ],
)  # fmt: skip
def test_the_line_of_a_key_or_of_what_holds_it(path: str, line: int | None) -> None:
    assert line_of(lines_of(TEXT), path) == line
