"""After a restart of the machine interrupted runs go on by themselves, and no others."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX, Box, wait_until
from tests.fakes.crontab import fake_crontab

if TYPE_CHECKING:
    from pathlib import Path

WAITS = "echo begins:$ONBOX_RESUME >>ran; while ! [ -e go ]; do sleep 0.05; done"


@pytest.fixture
def table(box: Box, tmp_path: Path) -> Path:
    """A crontab(1) that keeps its table in a file."""
    return fake_crontab(tmp_path / "cron-bin", box.env)


def begin(box: Box, run: str) -> None:
    """A run that waits for the file `go`."""
    assert box.onbox("chain", "-d", "--launch-check", "0", "--run", run, f"train={WAITS}").returncode == 0


def test_only_what_was_interrupted_goes_on(box: Box) -> None:
    for run in ("cut", "ended"):
        begin(box, run)
    wait_until(lambda: len(box.ran) == 2, "both to begin")
    assert box.onbox("stop", "ended").returncode == 0
    assert box.onbox("chain", "--run", "bad", "train=false").returncode == 1
    assert box.onbox("chain", "--run", "good", "train=true").returncode == 0
    box.end_everything()
    done = box.onbox("boot", "run")
    assert done.returncode == 0, done.stderr
    told = {line.split()[1].rstrip(":"): line for line in done.stdout.splitlines()}
    assert set(told) == {"cut", "ended", "bad"}, "what is done needs no line"
    assert "onbox resume ended with 0" in told["cut"]
    assert "stopped, left as it is" in told["ended"]
    wait_until(lambda: box.ran == ["begins:0", "begins:0", "begins:1"], "the interrupted one to go on")
    assert "running, left as it is" in box.onbox("boot", "run").stdout
    (box.project / "go").touch()
    wait_until((box.project / ".onbox/cut/markers/CHAIN_DONE").exists, "the end of the chain")


def test_the_line_comes_and_goes_and_others_stay(box: Box, table: Path) -> None:
    table.write_text("0 4 * * * backup\n")
    refused = box.onbox("boot", "install")
    assert (refused.returncode, table.read_text()) == (64, "0 4 * * * backup\n")
    assert "--yes" in refused.stderr
    done = box.onbox("boot", "install", "--yes")
    assert done.returncode == 0, done.stderr
    kept, line = table.read_text().splitlines()
    assert kept == "0 4 * * * backup"
    assert line in done.stdout, "the exact line is shown"
    assert line.startswith("@reboot ")
    assert "it was there already" in box.onbox("boot", "install", "--yes").stdout
    assert line in box.onbox("boot", "uninstall").stdout
    assert table.read_text() == "0 4 * * * backup\n"
    assert "no line for this project" in box.onbox("boot", "uninstall").stdout


def test_without_crontab_it_shows_what_to_do_instead(box: Box, tmp_path: Path) -> None:
    done = box.onbox("boot", "install", "--yes", env={**box.env, "PATH": os.fspath(tmp_path)})
    assert done.returncode == 64
    assert "start script" in done.stderr
    assert "boot run" in done.stderr


def test_the_line_waits_for_a_disk_that_is_mounted_late(box: Box) -> None:
    begin(box, "digits")
    wait_until(lambda: box.ran, "the stage to begin")
    command = box.onbox("boot", "install", "--print").stdout.splitlines()[1].split(" ", 1)[1].replace("\\%", "%")
    box.end_everything()
    away = box.project.with_name("away")
    box.project.rename(away)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": box.env["PYTHONPATH"], **tag(box)}
    started = subprocess.Popen(["sh", "-c", command], cwd="/", env=environment, stderr=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(0.5)
    away.rename(box.project)
    assert started.wait(60) == 0
    wait_until(lambda: box.ran == ["begins:0", "begins:1"], "the run to go on")
    assert "onbox resume ended with 0" in (box.project / ".onbox/boot.log").read_text()


def test_the_line_for_a_start_script_leaves_the_script_alone(box: Box) -> None:
    """Neither its directory nor its umask changes, and it does not wait for a disk that never comes."""
    shown = box.onbox("boot", "install", "--print").stdout.splitlines()
    line = shown[shown.index("# a container's start script (on-start, entrypoint)") + 1]
    box.project.rename(box.project.with_name("away"))
    script = f"umask 022\n{line}\npwd; umask; kill $!\n"
    words, env = ["sh", "-c", script], tag(box)
    done = subprocess.run(words, cwd="/", env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["/", "0022"]


def tag(box: Box) -> dict[str, str]:
    """By which the test finds, and ends, what it started."""
    name, _, value = box.tag.partition("=")
    return {name: value}


REAL_CRON = r"""
set -e
mount -t tmpfs none /var/spool/cron
mkdir -m 1730 /var/spool/cron/crontabs
chgrp crontab /var/spool/cron/crontabs 2>/dev/null || true
mount -t tmpfs none /run
printf '%s\n' "$TAG" "PYTHONPATH=$PYTHONPATH" '17 3 * * * true # mine' | crontab -
"$@" boot install --yes
cron -f >/dev/null 2>&1 & # the first one since /run is empty: to cron the machine has just started
for _ in $(seq 1 900); do
  [ -e .onbox/digits/markers/CHAIN_DONE ] && break
  sleep 0.1
done
kill $!
"""


@pytest.mark.root
def test_real_cron_continues_it_at_a_start_of_the_machine(box: Box) -> None:
    """Debian's cron, in a mount namespace of its own, so that nobody's crontab is touched."""
    if os.geteuid() != 0 or shutil.which("cron", path="/usr/sbin:/usr/bin") is None or shutil.which("unshare") is None:
        pytest.skip("needs root and cron")
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    begin(box, "digits")
    wait_until(lambda: box.ran, "the stage to begin")
    box.end_everything()
    (box.project / "go").touch()
    env = {**box.env, "PATH": f"{box.env['PATH']}:/usr/sbin", "TAG": box.tag}
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", REAL_CRON, "sh", *ONBOX],
        cwd=box.project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "installed" in done.stdout, (done.stdout, done.stderr)
    assert box.ran == ["begins:0", "begins:1"]
    assert box.markers == ["CHAIN_DONE", "train_DONE"]
