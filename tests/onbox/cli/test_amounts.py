"""Numbers, durations and sizes on the command lines of all programs: what is out of range is refused at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import onbox.cli.app
import patrol.cli
import sentinels.cli

if TYPE_CHECKING:
    from pathlib import Path

    from onbox.cli.program import Program

PROGRAMS: dict[str, Program] = {
    "onbox": onbox.cli.app.PROGRAM,
    "patrol": patrol.cli.PROGRAM,
    "sentinel": sentinels.cli.PROGRAM,
}
HUGE = "9" * 30


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("patrol watch --count 0", "0 is not in the range x>=1"),
        ("patrol watch --count -1", "-1 is not in the range x>=1"),
        ("patrol watch --every 0s", "'0s' is less than 1s"),
        ("patrol watch --every soon", "'soon' is not a duration such as \"90s\""),
        ("patrol report --since 0s", "'0s' is less than 1s"),
        (f"patrol history --limit {HUGE}", f"{HUGE} is too large"),
        ("patrol history --limit 0", "0 is not in the range x>=1"),
        ("patrol logs gpu1/r --attempt 0", "0 is not in the range x>=1"),
        ("patrol pull gpu1/r --limit 0", "'0' is less than 1 B"),
        ("patrol push gpu1 --limit fast", "'fast' is not a size such as \"5GB\""),
        ("patrol silence gpu1/r long", "'long' is not a duration such as \"90s\""),
        ("patrol tick --after nan", "'nan' is not a valid number"),
        ("onbox logs -n -5", "-5 is not in the range x>=0"),
        ("onbox logs --attempt -1", "-1 is not in the range x>=1"),
        ("onbox chain --launch-check nan a=true", "'nan' is not a valid number"),
        ("onbox chain --launch-check inf a=true", "inf is not in the range 0<=x<=1000000000"),
        ("onbox chain --after-pid 0 a=true", "0 is not in the range x>=1"),
        ("onbox stop --grace x", "'x' is not a valid number"),
        ("onbox stop --grace -1", "-1.0 is not in the range"),
        ("onbox sweep stop --grace nan", "'nan' is not a valid number"),
        ("onbox sweep start --gpus -1 n=1", "-1 is not in the range x>=0"),
        ("onbox notify flush --limit 0", "0.0 is not in the range"),
        ("onbox triage x.log --exit-code 1 --signal 9", "--signal: not allowed with --exit-code"),
        ("onbox triage x.log --age old", "'old' is not a duration such as \"90s\""),
        ("sentinel wait x --interval=", "--interval '': wanted a duration"),
        ("sentinel wait --log x.log --stall-after=", "--stall-after '': wanted a duration"),
    ],
)
def test_what_is_out_of_range_is_refused(line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program, *words = line.split()
    done = CliRunner().invoke(PROGRAMS[program], words)
    assert (done.exit_code, done.stdout) == (64, "")
    assert said in done.stderr
    assert not list(tmp_path.iterdir())
