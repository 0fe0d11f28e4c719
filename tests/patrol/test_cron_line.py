"""Our line comes and goes; every other byte of the crontab stays, and a failure is never taken for an empty one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.cron.crontab import NoCrontab, change_crontab, read_crontab
from onbox.cron.crontab_text import BadLine, means_no_crontab, our_lines, with_line, without_line
from onbox.errors import Trouble
from patrol.timer.cron_line import CronJob, bare_environment, render_line, shell_line, systemd_units, tag

if TYPE_CHECKING:
    from pathlib import Path

ID = "digits-0a1b2c3d"
TAG = tag(ID)
JOB = CronJob(
    "3,33 * * * *",
    ("/opt/v/bin/patrol", "tick", "-c", "/home/u/digits/onbox.toml"),
    (),
    "/home/u/.local/state/x/tick.log",
    ID,
)
OTHERS = [
    "",
    "MAILTO=me\n0 4 * * * /usr/bin/backup\n",
    "# a comment\n\n\t5 5 * * *  x  \n",
    "0 1 * * * date +\\%F # onbox-patrol other-0a1b2c3d\n",
    f"0 1 * * * echo # onbox-patrol {ID}0\n",
    f"0 1 * * * echo '# onbox-patrol {ID}' # and more\n",
    "0 1 * * * caf\udce9\r\n",
]


def test_the_line_is_the_one_that_is_promised() -> None:
    assert render_line(JOB) == (
        "3,33 * * * * umask 077; mkdir -p /home/u/.local/state/x; cd /; if echo >>/home/u/.local/state/x/tick.log; then"
        " exec >>/home/u/.local/state/x/tick.log 2>&1; fi; /opt/v/bin/patrol tick -c /home/u/digits/onbox.toml"
        f" # onbox-patrol {ID}"
    )


@pytest.mark.parametrize("others", OTHERS)
def test_other_lines_stay_byte_for_byte(others: str) -> None:
    line = render_line(JOB)
    added = with_line(others, line, TAG)
    assert added == others + line + "\n"
    assert with_line(added, line, TAG) == added
    assert without_line(added, TAG) == others
    assert without_line(others, TAG) == others


def test_the_line_is_renewed_in_its_place() -> None:
    crontab = f"a\n# off: x # onbox-patrol {ID}\nb\n3 * * * * x # onbox-patrol {ID}\n"
    assert our_lines(crontab, TAG) == [f"# off: x # onbox-patrol {ID}", f"3 * * * * x # onbox-patrol {ID}"]
    assert with_line(crontab, "NEW", TAG) == "a\nNEW\nb\n"


def test_a_last_line_without_end_gets_one() -> None:
    assert with_line("5 5 * * * x", "NEW", TAG) == "5 5 * * * x\nNEW\n"


@pytest.mark.parametrize("path", ["/tmp/a b/50%/it's $(x)", "/tmp/-n/ü", '/tmp/"q"\\'])
def test_hostile_paths_reach_the_program(path: str, tmp_path: Path) -> None:
    """The line is run as cron does it: up to `#` and beyond, by sh, `\\%` as `%`, in the bare environment."""
    code = "import os, sys; print(sys.argv[1:], os.environ.get('X'), os.getcwd())"
    log = tmp_path / "made by % it's" / "tick.log"
    job = CronJob("* * * * *", (sys.executable, "-c", code, path), (("X", path),), os.fspath(log), ID)
    command = render_line(job).split(" ", 5)[5].replace("\\%", "%")
    env = bare_environment(os.fspath(tmp_path), "u")
    for _ in range(2):
        done = subprocess.run(["/bin/sh", "-c", command], env=dict(env), cwd=tmp_path, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert log.read_text(errors="surrogateescape") == f"\n{[path]!r} {path} /\n" * 2
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("log", ["/dev/full", "/proc/no/tick.log"])
def test_a_tick_is_done_though_its_log_cannot_be_written_and_cron_mails_its_words(log: str) -> None:
    job = CronJob("* * * * *", (sys.executable, "-c", "print('looked')"), (), log, ID)
    done = subprocess.run(["/bin/sh", "-c", shell_line(job)], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"looked\n")
    assert log.encode() in done.stderr or b"echo" in done.stderr


@pytest.mark.parametrize("path", ["/tmp/a\nb", "/tmp/" + "x" * 1000])
def test_what_no_crontab_can_hold_is_refused(path: str) -> None:
    with pytest.raises(BadLine):
        render_line(JOB._replace(log=path))


SAYS = [
    ("no crontab for root\n", True),  # Debian's cron 3.0pl1, cronie 1.5, systemd-cron
    ("crontab: no crontab for me\n", True),  # macOS, FreeBSD
    ("crontab: can't open 'root': No such file or directory\n", True),  # BusyBox 1.35
    ("crontab: can't open 'root': Permission denied\n", False),
    ("You (me) are not allowed to use this program (crontab)\nSee crontab(1) for more information\n", False),
    ("crontab: error: crontabs/me/: fdopen: Permission denied\n", False),
    ("/var/spool/cron/: mkstemp: Permission denied\n", False),
    ("", False),
]


@pytest.mark.parametrize(("said", "none"), SAYS)
def test_only_no_crontab_is_an_empty_one(said: str, none: object) -> None:
    assert means_no_crontab(1, said) is none
    assert not means_no_crontab(127, said)


def test_a_timer_says_the_same() -> None:
    text = systemd_units(JOB._replace(schedule="3,33 8-10 * * *"))
    assert "OnCalendar=8,9,10:3,33\n" in text
    assert shell_line(JOB) in text
    assert "OnCalendar=*:3,33\n" in systemd_units(JOB)


# -- through a program that answers as crontab(1) does

FAKE = """#!/bin/sh
file=$(dirname "$0")/table
case "$1" in
  -l) [ ! -e "$file.broken" ] || { echo "crontab: cannot read: Input/output error" >&2; exit 1; }
      [ -e "$file" ] || { echo "no crontab for me" >&2; exit 1; }; cat "$file" ;;
  -r) rm "$file" ;;
  -) [ ! -e "$file.full" ] || { echo "No space left on device" >&2; exit 1; }; cat >"$file" ;;
esac
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "crontab").write_text(FAKE)
    (folder / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder / "table"


def test_the_crontab_comes_and_goes(table: Path, tmp_path: Path) -> None:
    locks = os.fspath(tmp_path / "locks")
    assert read_crontab() == ""
    assert change_crontab(locks, lambda text: with_line(text, "NEW", TAG))
    assert table.read_bytes() == b"NEW\n"
    assert not change_crontab(locks, lambda text: text)
    assert change_crontab(locks, lambda text: "")
    assert not table.exists()


def test_bytes_that_are_no_utf8_stay(table: Path, tmp_path: Path) -> None:
    table.write_bytes(b"0 1 * * * caf\xe9\n")
    change_crontab(os.fspath(tmp_path), lambda text: with_line(text, "NEW", TAG))
    assert table.read_bytes() == b"0 1 * * * caf\xe9\nNEW\n"


@pytest.mark.parametrize("fault", ["broken", "full"])
def test_a_failing_crontab_changes_nothing(table: Path, tmp_path: Path, fault: str) -> None:
    table.write_text("0 4 * * * backup\n")
    table.with_name(f"table.{fault}").touch()
    with pytest.raises(Trouble, match="failed"):
        change_crontab(os.fspath(tmp_path), lambda text: with_line(text, "NEW", TAG))
    assert table.read_text() == "0 4 * * * backup\n"


def test_without_crontab_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(NoCrontab):
        read_crontab()
