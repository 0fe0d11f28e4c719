"""Attacks by a configuration, or by where it lies, that come to nothing."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX
from tests.e2e.test_trust import BOX, HANDBOOK, PATROL, Cloned

if TYPE_CHECKING:
    from pathlib import Path

NASTY = "a%b 'c' \"d\" $(touch PWNED) ; touch PWNED # onbox-patrol other-0a1b2c3d"


@pytest.fixture
def cloned(tmp_path: Path) -> Cloned:
    made = Cloned(tmp_path)
    made.env["ONBOX_TRUST"] = "all"  # what is accepted is attacked, too
    return made


@pytest.mark.parametrize("host", ["-oProxyCommand=touch PWNED", "a b", "a\\nb", "-F/tmp/x", "a\\u001b[2K", ""])
def test_no_host_is_an_option_of_ssh(cloned: Cloned, host: str) -> None:
    cloned.write(f'[boxes.gpu1]\nhost = "{host}"\n')
    done = cloned.run(*PATROL, "tick")
    assert (done.returncode, "boxes.gpu1.host" in done.stderr) == (78, True)


def test_no_name_is_an_option(cloned: Cloned) -> None:
    cloned.write('[boxes.-oProxyCommand]\nhost = "x"\n')
    assert cloned.run(*PATROL, "tick").returncode == 78
    cloned.write("")
    for words in (["add", "--", "-oProxyCommand=x"], ["add", "gpu1", "--name=-x"], ["tick", "--", "-oProxyCommand=x"]):
        assert cloned.run(*PATROL, *words).returncode == 64, words


def command_of(line: str, fields: int) -> str:
    """What cron hands to sh: all behind the time; a bare % would be a line break."""
    command = line.split(" ", fields)[fields]
    assert "%" not in command.replace("\\%", "")
    return command.replace("\\%", "%")


def test_no_path_breaks_out_of_a_crontab(cloned: Cloned, tmp_path: Path) -> None:
    place = cloned.project / NASTY
    place.mkdir()
    (place / "onbox.toml").write_text('[boxes.here]\nbackend = "local"\nproject = "/nowhere"\n')
    cloned.project = place
    lines = [
        line
        for words in ([*PATROL, "install", "--print"], [*ONBOX, "boot", "install", "--print"])
        for line in cloned.run(*words).stdout.splitlines()
    ]
    (tick,) = [command_of(line, 5) for line in lines if line.startswith("3,33")]
    (boot,) = [command_of(line, 1) for line in lines if line.startswith("@reboot")]
    for command in (tick, boot):
        assert any(str(place) in word for word in shlex.split(command))
        subprocess.run(["sh", "-n", "-c", command], check=True, timeout=60)
    subprocess.run(["sh", "-c", tick], cwd=place, env=cloned.env, timeout=60, check=False)
    assert list(place.rglob("PWNED")) == []
    (log,) = (tmp_path / "state" / "onbox").glob("*/tick.log")
    assert "here" in log.read_text()  # it was looked at, from this very place


def test_a_path_with_a_line_break_gets_no_line(cloned: Cloned) -> None:
    place = cloned.project / "a\n* * * * * touch PWNED"
    place.mkdir()
    (place / "onbox.toml").write_text(BOX)
    cloned.project = place
    for words in ([*PATROL, "install", "--print"], [*ONBOX, "boot", "install", "--print"]):
        done = cloned.run(*words)
        assert done.returncode != 0
        assert "touch PWNED" not in [line.strip() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("schedule", ["* * * * * touch PWNED", "@reboot", "* * * * *\\n* * * * * id", "*/5 * * * %"])
def test_no_schedule_is_a_command(cloned: Cloned, schedule: str) -> None:
    cloned.write(f'{BOX}[patrol]\nschedule = "{schedule}"\n')
    done = cloned.run(*PATROL, "install", "--print")
    assert (done.returncode, "patrol.schedule" in done.stderr, done.stdout) == (78, True, "")


def test_a_pipe_is_not_a_configuration(cloned: Cloned) -> None:
    os.mkfifo(cloned.project / "onbox.toml")
    told = cloned.run(*ONBOX, "status")  # nothing waits for the pipe
    assert (told.returncode, "it is a FIFO, not a file" in told.stderr) == (78, True), told.stderr


def test_metrics_go_into_metrics_files_only(cloned: Cloned, tmp_path: Path) -> None:
    start_up = tmp_path / ".bashrc"
    start_up.write_text("alias ll='ls -l'\n")
    cloned.write(f'{BOX}[patrol]\ntextfile = "~/.bashrc"\n')
    done = cloned.run(*PATROL, "tick")
    assert (done.returncode, '".prom"' in done.stderr) == (78, True)
    other = tmp_path / "backup.prom"
    other.write_text("# HELP backup_age_seconds Of another program.\n")
    here = '[boxes.here]\nbackend = "local"\nproject = "/nowhere"\n'
    cloned.write(f'{here}[patrol]\ntextfile = "{other}"\n')
    assert "holds something else" in cloned.run(*PATROL, "tick").stderr
    assert start_up.read_text() + other.read_text() == (
        "alias ll='ls -l'\n# HELP backup_age_seconds Of another program.\n"
    )


def test_no_logbook_or_page_is_written_through_a_link(cloned: Cloned, tmp_path: Path) -> None:
    profile = tmp_path / ".profile"
    profile.write_text("PATH=$HOME/bin:$PATH")
    before = profile.read_bytes()
    cloned.run(*ONBOX, "chain", "--run", "digits", "train=true")
    cloned.write(f'[boxes.here]\nbackend = "local"\nproject = "{cloned.project}"\n')
    cloned.run(*PATROL, "tick")
    (cloned.project / "logbook").mkdir()
    (cloned.project / "logbook" / "digits.md").symlink_to(profile)
    (cloned.project / "HANDBOOK.md").symlink_to(profile)
    cloned.run(*HANDBOOK, "log", "a note", "--run", "digits")
    cloned.run(*HANDBOOK, "build")
    cloned.run(*PATROL, "tick")
    assert profile.read_bytes() == before
