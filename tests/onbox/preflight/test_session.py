"""Whether what is started outlives the login session: logind's settings as systemd would read them."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

import pytest

from onbox.preflight.session import check_session, parse_settings, read_logind
from tests.onbox.preflight.facts import facts

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "0::/user.slice/user-1000.slice/session-3.scope\n"


def tree(root: Path, group: str = SESSION, **files: str) -> str:
    """A root with /proc/self/cgroup, /proc/1/comm and further files (`etc__systemd__logind.conf=…`)."""
    texts = {"proc/self/cgroup": group, "proc/1/comm": "systemd\n"}
    texts |= {name.replace("__", "/"): text for name, text in files.items()}
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return str(root)


def verdict(root: str, **environ: str) -> tuple[str, str]:
    (result,) = check_session(facts(root=root, environ=environ))
    return result.verdict.value, result.seen


KILLS = "[Login]\nKillUserProcesses=yes\nKillExcludeUsers=\n"


@pytest.mark.parametrize(
    ("expected", "files"),
    [
        ("PASS", {}),
        ("PASS", {"etc__systemd__logind.conf": "[Login]\n#KillUserProcesses=yes\n"}),
        ("FAIL", {"etc__systemd__logind.conf": KILLS}),
        ("FAIL", {"usr__lib__systemd__logind.conf": KILLS}),
        ("PASS", {"usr__lib__systemd__logind.conf": KILLS, "etc__systemd__logind.conf": "KillUserProcesses=no\n"}),
        ("FAIL", {"etc__systemd__logind.conf.d__50-kill.conf": KILLS}),
        ("PASS", {"etc__systemd__logind.conf": KILLS, "run__systemd__logind.conf.d__9.conf": "KillUserProcesses=no"}),
        ("PASS", {"etc__systemd__logind.conf": KILLS + f"KillExcludeUsers=root {getpass.getuser()}\n"}),
        ("PASS", {"etc__systemd__logind.conf": KILLS + "KillOnlyUsers=somebody-else\n"}),
        ("FAIL", {"etc__systemd__logind.conf": "KillUserProcesses = Yes \nKillExcludeUsers=\n"}),
    ],
)
def test_logind_is_read_as_systemd_reads_it(tmp_path: Path, expected: str, files: dict[str, str]) -> None:
    assert verdict(tree(tmp_path, **files))[0] == expected


def test_outside_a_login_session_logind_does_not_matter(tmp_path: Path) -> None:
    root = tree(tmp_path, "0::/\n", etc__systemd__logind__conf=KILLS, proc__1__comm="sleep\n")
    assert verdict(root) == (
        "PASS",
        "not a logind session: a run lives as long as the first process of this container (sleep)",
    )


@pytest.mark.parametrize("variable", ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"])
def test_a_batch_job_ends_what_it_started(tmp_path: Path, variable: str) -> None:
    assert verdict(tree(tmp_path), **{variable: "7"})[0] == "WARN"


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert verdict(str(tmp_path))[1].startswith("could not look: no ")


def test_settings_ignore_comments_sections_and_junk() -> None:
    text = "[Login]\n# a=1\n; b=2\n c = 3 \njunk\n=\n"
    assert parse_settings(text) == {"c": "3", "": ""}


def test_without_any_file_there_are_no_settings(tmp_path: Path) -> None:
    assert read_logind(str(tmp_path)) == {}
