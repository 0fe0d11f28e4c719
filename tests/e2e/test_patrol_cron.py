"""Installed in a crontab, in cron's bare environment: it ticks, and its lines arrive where promised."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from onbox.cron.daemon import cron_runs
from patrol.timer.cron_line import bare_environment
from tests.box import wait_until
from tests.fakes.crontab import fake_crontab
from tests.patrolled import TRAIN, Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        box = made.add_box("gpu1")
        assert box.onbox("chain", "-d", "--launch-check", "0.2", TRAIN).returncode == 0
        box.wait_for_log("step 1/100")
        yield made


@pytest.fixture
def table(place: Patrolled) -> Path:
    """A crontab(1) that keeps its table in a file."""
    return fake_crontab(place.folder / "cron-bin", place.env)


@contextmanager
def a_daemon(folder: Path) -> Iterator[None]:
    """A process that is called as a cron daemon is: whether one is at work where the tests run is not known."""
    program = folder / "crond"
    program.symlink_to(os.path.realpath(sys.executable))
    with subprocess.Popen([program, "-S", "-c", "import signal; signal.pause()"]) as daemon:
        yield
        daemon.kill()


def run_as_cron_does(line: str, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[bytes]:
    """The sixth field and all behind it, `\\%` as `%`, by sh, in the home directory, in cron's own environment."""
    command = line.split(None, 5)[5].replace("\\%", "%")
    me = pwd.getpwuid(os.getuid())
    env = dict(bare_environment(me.pw_dir, me.pw_name, path))
    return subprocess.run(
        ["/bin/sh", "-c", command],
        env=env,
        cwd=me.pw_dir,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=90,
    )


def test_installed_line_ticks_in_a_bare_environment(place: Patrolled, table: Path) -> None:
    table.write_text("MAILTO=me\n0 4 * * * backup\n")
    done = place.patrol("install", "--yes")
    assert done.returncode == 0, done.stderr
    assert "gpu1/digits RUNNING" in done.stdout, "the look in cron's environment"
    others, line = table.read_text().rsplit("\n", 2)[0], table.read_text().splitlines()[-1]
    assert others == "MAILTO=me\n0 4 * * * backup"
    assert line in done.stdout, "the exact line is shown"
    assert line.startswith("3,33 * * * * ")
    for _ in range(2):
        ran = run_as_cron_does(line)
        assert (ran.stdout, ran.stderr) == (b"", b"")
    log = (place.state / "tick.log").read_text()
    assert len(re.findall(r"^\d\d:\d\d gpu1/digits RUNNING", log, re.MULTILINE)) == 2, log
    assert len(re.findall(r"^-- \d{4}-\d\d-\d\d ", log, re.MULTILINE)) == 2
    with a_daemon(table.parent):
        assert re.search("^next tick .* by cron", place.patrol("status").stdout, re.MULTILINE)
    said = "never: no cron daemon" if cron_runs() is False else "by cron"
    assert said in place.patrol("status").stdout
    assert place.patrol("install", "--yes").stdout.count("it was there already") == 1
    done = place.patrol("uninstall")
    assert line in done.stdout
    assert table.read_text() == "MAILTO=me\n0 4 * * * backup\n"


def test_the_next_tick_is_told_by_the_line_that_lies_in_the_crontab(place: Patrolled, table: Path) -> None:
    assert place.patrol("install", "--yes", "--untried").returncode == 0
    text = table.read_text()
    table.write_text(text.replace("3,33 * * * * ", "* * * * * "))
    assert table.read_text() != text
    with a_daemon(table.parent):
        said = place.patrol("status").stdout
    assert re.search(r"^next tick .* \(in (?:[\d.]+s|1m00s)\), by cron", said, re.MULTILINE), said


def test_a_shell_with_a_home_of_its_own_and_cron_have_one_memory(place: Patrolled, table: Path) -> None:
    home = place.folder / "home-of-the-shell"
    home.mkdir()
    env = {**place.env, "HOME": os.fspath(home)}
    del env["XDG_STATE_HOME"]
    assert place.patrol("install", "--yes", "--untried", env=env).returncode == 0
    run_as_cron_does(table.read_text().splitlines()[-1])
    mine = home / ".local" / "state" / "onbox"
    said = place.patrol("status", env=env)
    assert "gpu1/digits RUNNING" in said.stdout, said.stderr
    assert f"state dir    {mine}" in said.stdout
    assert "the ticks by cron keep" not in said.stderr
    said = place.patrol("ack", "--all")
    assert f"the ticks by cron keep their state in {mine}" in said.stderr
    assert f"export XDG_STATE_HOME={home / '.local' / 'state'}" in place.patrol("status").stderr


def test_nobody_is_asked_where_nobody_can_answer(place: Patrolled, table: Path) -> None:
    done = place.patrol("install", "--untried")
    assert done.returncode == 64
    assert "--yes" in done.stderr
    assert not table.exists()


def test_a_failing_crontab_is_not_an_empty_one(place: Patrolled, table: Path) -> None:
    program = table.with_name("crontab")
    program.write_text('#!/bin/sh\necho "crontab: Input/output error" >&2\nexit 1\n')
    done = place.patrol("install", "--yes", "--untried")
    assert done.returncode == 74
    assert "Input/output error" in done.stderr


def test_without_crontab_a_timer_is_shown(place: Patrolled, tmp_path: Path) -> None:
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("ssh", "sh", "env"):
        (folder / name).symlink_to(shutil.which(name) or "")
    done = place.patrol("install", "--yes", env={**place.env, "PATH": os.fspath(folder)})
    assert done.returncode == 64
    assert "OnCalendar=*:3,33" in done.stderr


def test_the_log_stays_small(place: Patrolled, table: Path) -> None:
    assert place.patrol("install", "--yes", "--untried").returncode == 0
    log = place.state / "tick.log"
    log.write_text("old line\n" * 200_000)
    run_as_cron_does(table.read_text())
    text = log.read_text()
    assert len(text) < 600_000
    assert text.startswith("old line\n")
    assert "gpu1/digits RUNNING" in text.splitlines()[-1] or "gpu1/digits RUNNING" in text[-2000:]


def test_it_leaves_when_all_is_done_and_acknowledged(place: Patrolled, table: Path) -> None:
    table.write_text("0 4 * * * backup\n")
    assert place.patrol("install", "--yes", "--untried").returncode == 0
    line = table.read_text().splitlines()[-1]
    path = f"{table.parent}:/usr/bin:/bin"
    place.boxes["gpu1"].project.joinpath("go").touch()
    place.boxes["gpu1"].wait_for_marker("CHAIN_DONE")
    run_as_cron_does(line, path)
    assert line in table.read_text(), "done, but nobody has acknowledged it"
    assert place.patrol("ack", "--all").returncode == 0
    run_as_cron_does(line, path)
    assert table.read_text() == "0 4 * * * backup\n"
    assert "crontab line was removed" in (place.state / "tick.log").read_text()


REAL_CRON = r"""
set -e
mount -t tmpfs none /var/spool/cron
mkdir -m 1730 /var/spool/cron/crontabs
chgrp crontab /var/spool/cron/crontabs 2>/dev/null || true
mount -t tmpfs none /run
printf '17 3 * * * true # mine\n' | crontab -
cron -f >/dev/null 2>&1 &
sleep 1.1 # cron tells a changed table by its time in whole seconds
"$@" install --yes --untried --schedule '* * * * *'
for _ in $(seq 1 1500); do
  [ -s "$XDG_STATE_HOME"/onbox/*/tick.log ] && grep -q RUNNING "$XDG_STATE_HOME"/onbox/*/tick.log && break
  sleep 0.1
done
kill $!
"$@" uninstall >/dev/null
echo "== crontab"
crontab -l
"""


@pytest.mark.root
@pytest.mark.long
def test_real_cron_does_the_ticks(place: Patrolled) -> None:
    """Debian's cron, in a mount namespace of its own, so that nobody's crontab is touched. Takes up to a minute."""
    if os.geteuid() != 0 or shutil.which("cron", path="/usr/sbin:/usr/bin") is None or shutil.which("unshare") is None:
        pytest.skip("needs root and cron")
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    words = [shutil.which("patrol", path=place.env["PATH"]) or "patrol"]
    env = {**place.env, "PATH": f"{place.env['PATH']}:/usr/sbin"}
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", REAL_CRON, "sh", *words],
        cwd=place.local,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.stdout.endswith("== crontab\n17 3 * * * true # mine\n"), (done.stdout, done.stderr)
    wait_until((place.state / "tick.log").exists, "the log of the ticks")
    assert "gpu1/digits RUNNING" in (place.state / "tick.log").read_text()
    assert json.loads((place.state / "heartbeat.json").read_text())["timer_at"]


def test_a_second_patrol_of_the_same_run_is_refused_with_the_owner(place: Patrolled, table: Path) -> None:
    place.tables["gpu1"] += 'owner = "Ada"\n'
    place.write()
    assert place.patrol("install", "--yes", "--untried").returncode == 0
    other = place.folder / "other"
    other.mkdir()
    shutil.copy(place.local / "onbox.toml", other / "onbox.toml")
    before = table.read_text()
    done = place.patrol("install", "--yes", "--untried", cwd=other)
    assert done.returncode == 64
    assert place.state.name in done.stderr
    assert "owner Ada" in done.stderr
    assert table.read_text() == before
    assert "patrolled already by" in place.patrol("tick", "--unattended", "--look-only", cwd=other).stderr
    assert place.patrol("uninstall").returncode == 0
    assert place.patrol("install", "--yes", "--untried", cwd=other).returncode == 0, "handed over"
