"""Every command of every rule, for runs, boxes, projects and programs with hostile names: none does more than it says.

Such names are refused where they come in; this is what holds if one ever gets by.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.outside import safe_line
from patrol.decide.decide import decide_box, decide_run, decide_unreachable_run
from patrol.decide.remote_command import Way
from patrol.report.lines import details
from patrol.report.machine_formats import ReportEntry, document, nagios
from patrol.snapshot import BoxLook
from patrol.verdict import Severity
from tests.patrol.makers import NOW, log
from tests.patrol.truth import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from patrol.snapshot import RunLook
    from patrol.verdict import Verdict
    from tests.patrol.case import Case

NAMES = (
    "a;touch PWNED",
    "$(touch PWNED)",
    "`touch PWNED`",
    "x' ; touch PWNED '",
    'x" && touch PWNED "',
    "a|touch PWNED",
)
HIDDEN = ("a\nnext    touch PWNED", "a\x1b[2Jtouch PWNED", "a\u202etouch PWNED", "a\u200btouch PWNED", "a\U000e0041b")
# Does what the shell on a box does with the words behind the host; all other programs do nothing.
SSH = '#!/bin/sh\nfor last in "$@"; do :; done\nexec sh -c "$last"\n'
PROGRAMS = ("patrol", "handbook", "df", "ls", "tail", "rsync", "wandb", "nvidia-smi", "ray", "iris", "onbox")


def with_name(case: Case, name: str, root: str = "/root") -> tuple[Verdict, RunLook | None]:
    way = Way(name, name, f"{root}/{name}")
    snapshot = case.snapshot._replace(box=name)
    if case.look is not None:
        assert isinstance(snapshot, BoxLook)
        look = case.look._replace(run=name, place=f"{root}/{name}", python=f"{root}/{name}/python")
        if not isinstance(look.log, Absent | Unseen):
            look = look._replace(log=log()._replace(path=f"{root}/{name}/log"))
        if look.log_words:
            look = look._replace(log_words=(*look.log_words[:-1], name))
        return decide_run(look, snapshot, case.before, case.box_before, NOW, way=way), look
    if not case.name:
        return decide_box(snapshot, case.box_before, NOW, way=way), None
    return decide_unreachable_run(snapshot, name, case.before, case.box_before, NOW, way=way), None


def commands_of(verdict: Verdict) -> set[str]:
    found = {finding.command for finding in (verdict.finding, *verdict.further)}
    return {command for command in (*found, *(command for _, command in verdict.asked), verdict.look) if command}


def test_no_name_runs_anything(tmp_path: Path) -> None:
    stubs = tmp_path / "bin"
    stubs.mkdir()
    for name in ("ssh", *PROGRAMS):
        (stubs / name).write_text(SSH if name == "ssh" else "#!/bin/sh\n")
        (stubs / name).chmod(0o755)
    env = {"PATH": f"{stubs}:{os.environ['PATH']}"}
    root = os.fspath(tmp_path)
    for name in NAMES:
        (tmp_path / name).mkdir()
    commands = {command for case in CASES for name in NAMES for command in commands_of(with_name(case, name, root)[0])}
    assert len(commands) > 30
    script = "".join(f"( {command} ) </dev/null >/dev/null 2>&1\n" for command in sorted(commands))
    done = subprocess.run(["bash", "-s"], input=script, text=True, cwd=tmp_path, env=env, timeout=120, check=False)
    assert done.returncode >= 0
    assert list(tmp_path.rglob("PWNED*")) == []
    checked = subprocess.run(["bash", "-n"], input=script, text=True, timeout=60, check=False, capture_output=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_not_shown_as_it_is_is_offered_through_no_door(name: str) -> None:
    for case in CASES:
        verdict, look = with_name(case, name)
        for command in commands_of(verdict):
            assert safe_line(command) == command
            assert "touch PWNED" not in command
        entry = ReportEntry(verdict, look, None)
        lines = [*details(verdict, look, NOW), *nagios([entry], NOW, Severity.OK)]
        assert [line for line in lines if safe_line(line) != line] == []
        data = document([entry], NOW, Severity.OK)["runs"][0]
        assert data["next_command"] in (verdict.finding.command, None)
