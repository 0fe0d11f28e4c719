"""`patrol pull` against a real sshd: what comes home, through what links, from which boxes, and what is refused."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import warm
from tests.box import wait_until
from tests.patrol.transfer.places import NAMES, Cutter, check, finish, manifest, through, tree
from tests.patrolled import Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        yield made


@pytest.fixture
def box(place: Patrolled) -> Box:
    return place.add_box("gpu1")


def test_a_run_comes_home_with_all_that_belongs_to_it(place: Patrolled, box: Box) -> None:
    for name in NAMES:
        path = box.project / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    with open(os.fsencode(box.project / "out") + b"/raw\xff", "wb") as file:
        file.write(b"not UTF-8")
    finish(box, "out")
    listed = place.patrol("pull", "gpu1/digits", "--dry-run")
    assert listed.returncode == 0
    assert "nothing was brought" in listed.stdout
    assert not (place.local / "pulled").exists()
    done = place.patrol("pull", "gpu1/digits")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "next: patrol verify pulled/gpu1/digits"
    folder = place.local / "pulled/gpu1/digits"
    records = [".onbox/digits/markers/CHAIN_DONE", ".onbox/digits/logs/train.1.log", ".onbox/digits/run.json"]
    raw = "out/raw\udcff"
    check(place, folder, box.project, [*(f"out/{name}" for name in NAMES), raw, *records])
    head, _ = manifest(folder)
    assert (head["box"], head["run"], head["done"]) == ("gpu1", "digits", True)
    assert head["run_id"] == box.marker("CHAIN_DONE")["run_id"]
    assert (folder / "out/two words.txt").stat().st_mtime_ns == (box.project / "out/two words.txt").stat().st_mtime_ns
    assert "(nothing new)" in place.patrol("pull", "gpu1/digits").stdout
    (box.project / "out/two words.txt").write_text("another text")
    assert place.patrol("pull", "gpu1/digits").returncode == 0
    assert (folder / "out/two words.txt").read_text() == "another text"


def test_after_each_cut_the_same_command_goes_on(place: Patrolled, box: Box) -> None:
    names = tree(box.project, 5, 300_000)
    finish(box, "ckpt")
    link = Cutter(place.sshd.port)
    through(place, link)
    folder = place.local / "home"
    chance = random.Random(5)
    seen = 0
    for _ in range(60):
        link.after_bytes = chance.randrange(1_000, 600_000)
        done = place.patrol("pull", "gpu1/digits", "home", "--tries", "1")
        if done.returncode == 0:
            break
        seen += 1
        assert done.returncode == 3, done.stderr
        assert "Go on with: patrol pull gpu1/digits home" in done.stderr
        assert not (folder / "onbox-manifest.jsonl").exists()
        assert not (folder / "ckpt").exists(), "nothing lies in its place before it is known to be whole"
    link.close()
    assert seen >= 3
    check(place, folder, box.project, names)
    (state,) = (place.state / "transfers").glob("*.json")
    told = json.loads(state.read_text())
    assert told["is_complete"]
    assert told["bytes_done"] == told["bytes_total"]


def test_it_goes_on_by_itself_as_long_as_bytes_come(place: Patrolled, box: Box) -> None:
    names = tree(box.project, 3, 500_000)
    finish(box, "ckpt")
    link = Cutter(place.sshd.port)
    through(place, link)
    link.after_bytes = 600_000
    done = place.patrol("pull", "gpu1/digits", "home")
    link.close()
    assert done.returncode == 0, done.stderr
    assert "going on in" in done.stderr
    check(place, place.local / "home", box.project, names)


def test_what_changes_meanwhile_is_named_and_not_torn(place: Patrolled, box: Box) -> None:
    (box.project / "still.txt").write_text("at rest")
    (box.project / "writer.py").write_text(
        "import os\nwhile not os.path.exists('go'): open('moving', 'w').write(os.urandom(999).hex())\n"
    )
    writer = f"{sys.executable} writer.py"
    (box.project / "onbox.toml").write_text(
        f"[stages.train]\ncmd = '''{writer}'''\nartifacts = ['moving', 'still.txt']\n"
    )
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    wait_until((box.project / "moving").exists, "the writer to write")
    done = place.patrol("pull", "gpu1/digits", "home")
    assert done.returncode in (1, 2), done.stdout
    assert "moving" in done.stdout
    assert "the run is not done" in done.stdout
    head, entries = manifest(place.local / "home")
    assert "moving" not in entries
    assert not (place.local / "home/moving").exists()
    assert (place.local / "home/still.txt").read_text() == "at rest"
    assert not head["done"]


def test_links_are_not_followed_out_of_the_tree(place: Patrolled, box: Box) -> None:
    out = box.project / "out"
    out.mkdir()
    (box.project / "step_9.pt").write_text("weights")
    (out / "data").write_text("data")
    (out / "inner").symlink_to("data")
    (out / "passwd").symlink_to("/etc/passwd")
    (out / "etc").symlink_to("/etc")
    (out / "up").symlink_to("../../../../../../etc/hostname")
    (box.project / "best.pt").symlink_to("step_9.pt")
    finish(box, "out", "best.pt")
    (place.local / "home").mkdir()
    (place.local / "elsewhere").mkdir()
    (place.local / "home" / "out").symlink_to("../elsewhere")
    refused = place.patrol("pull", "gpu1/digits", "home")
    assert refused.returncode == 2
    assert "symbolic link" in refused.stdout
    assert list((place.local / "elsewhere").iterdir()) == [], "nor through one that lies here"
    (place.local / "home" / "out").unlink()
    done = place.patrol("pull", "gpu1/digits", "home")
    assert done.returncode == 0, done.stdout
    home = place.local / "home"
    assert (home / "best.pt").read_text() == "weights", "what a link inside leads to comes, too"
    assert os.readlink(home / "out/inner") == "data"
    for name in ("passwd", "etc", "up"):
        assert not os.path.lexists(home / "out" / name)
        assert f"out/{name}" in done.stdout


def test_a_result_that_is_gone_is_told(place: Patrolled, box: Box) -> None:
    (box.project / "best.pt").write_text("weights")
    finish(box, "best.pt")
    (box.project / "best.pt").unlink()
    done = place.patrol("pull", "gpu1/digits", "home")
    assert done.returncode == 2
    assert "MISSING  best.pt (7 B, stage train is DONE with it)" in done.stdout


def local_box(place: Patrolled) -> Box:
    """This machine as a box: its tools are those of the environment."""
    box = place.add_box("here")
    place.tables["here"] += 'backend = "local"\n'
    place.write()
    return box


def with_tools(place: Patrolled, folder: Path, **programs: str) -> None:
    """Programs in front of those of the box."""
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    place.env["PATH"] = f"{folder}:{place.env['PATH']}"


@pytest.mark.parametrize("evil", ["../evil", "/tmp/evil", "a/../../evil", "onbox-manifest.jsonl", ".onbox-pull/x"])
def test_a_name_that_leads_elsewhere_is_refused(place: Patrolled, evil: str) -> None:
    box = local_box(place)
    (box.project / "best.pt").write_text("weights")
    finish(box, "best.pt")
    with_tools(
        place,
        place.folder / "bin",
        stat=f"#!/bin/sh\ncat >/dev/null\nprintf '/ 81a4 7 2026-01-01 00:00:00 +0000 x /./%s//\\n' '{evil}'\n",
    )
    done = place.patrol("pull", "here/digits", "home")
    assert done.returncode == 64
    assert "nothing more is taken from it" in done.stderr
    assert os.listdir(place.local / "home") == [".onbox-pull"]
    assert not (place.local / "evil").exists()


def test_a_file_that_nobody_asked_for_ends_it(place: Patrolled) -> None:
    box = local_box(place)
    (box.project / "best.pt").write_text("weights")
    finish(box, "best.pt")
    (place.folder / "evil").write_text("evil")
    real = shutil.which("tar")
    with_tools(
        place,
        place.folder / "bin",
        tar=f"#!/bin/sh\ncase $1 in --version) echo GNU tar;; *) {real} -cPf - {place.folder}/evil;; esac\n",
    )
    done = place.patrol("pull", "here/digits", "home", "--tries", "1")
    assert done.returncode == 3
    assert "a file that nobody asked for" in done.stderr
    assert os.listdir(place.local / "home") == [".onbox-pull"]


@pytest.mark.parametrize("box_has", ["busybox", "no tar"])
def test_a_box_with_few_tools_does(place: Patrolled, box_has: str) -> None:
    box = local_box(place)
    for name in NAMES:
        path = box.project / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    finish(box, "out")
    tools = {"tar": "#!/bin/sh\nexit 127\n"}
    if box_has == "busybox":
        busybox = shutil.which("busybox")
        if busybox is None:
            pytest.skip("needs busybox")
        applets = ("tar", "find", "stat", "xargs", "head", "tail", "sed", "sha256sum", "readlink")
        tools = {name: f'#!/bin/sh\nexec {busybox} {name} "$@"\n' for name in applets}
    with_tools(place, place.folder / "bin", **tools)
    done = place.patrol("pull", "here/digits", "home")
    assert done.returncode == 0, done.stdout + done.stderr
    check(place, place.local / "home", box.project, [f"out/{name}" for name in NAMES])


@pytest.mark.root
@pytest.mark.parametrize("options", ["size=1m", "size=64m,nr_inodes=40"])
def test_a_full_disk_here_is_told_and_gone_on_from(place: Patrolled, box: Box, options: str) -> None:
    names = tree(box.project, 60, 50_000)
    finish(box, "ckpt")
    home = place.local / "home"
    home.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", home], check=False)
    if mounted.returncode != 0:
        pytest.skip("cannot mount a tmpfs here")
    try:
        full = place.patrol("pull", "gpu1/digits", "home")
        assert full.returncode == 74, full.stderr
        assert "Make room, then: patrol pull gpu1/digits home" in full.stderr or "are free there" in full.stderr
        assert subprocess.run(["mount", "-o", "remount,size=64m,nr_inodes=4000", home], check=False).returncode == 0
        done = place.patrol("pull", "gpu1/digits", "home")
        assert done.returncode == 0, done.stderr
        check(place, home, box.project, names)
    finally:
        subprocess.run(["umount", home], check=False)


def test_a_box_that_does_not_answer_is_told_with_its_reason(place: Patrolled, box: Box) -> None:
    (box.project / "best.pt").write_text("weights")
    finish(box, "best.pt")
    place.sshd.stop()
    done = place.patrol("pull", "gpu1/digits", "home", "--tries", "1")
    assert done.returncode == 3
    assert "nothing listens on the ssh port" in done.stderr


def test_two_pulls_of_a_run_exclude_each_other(place: Patrolled, box: Box) -> None:
    tree(box.project, 1, 3_000_000)
    finish(box, "ckpt")
    slow = place.start("pull", "gpu1/digits", "home", "--limit", "50kB")
    wait_until(lambda: list((place.folder / "state").glob("onbox/*/transfers/*.json")), "the first to begin")
    second = place.patrol("pull", "gpu1/digits", "home")
    assert second.returncode == 75
    assert "is being pulled already" in second.stderr
    slow.terminate()
    slow.communicate()
    assert place.patrol("pull", "gpu1/digits", "home").returncode == 0


def test_a_transfer_that_died_is_told_to_who_takes_over(place: Patrolled, box: Box) -> None:
    tree(box.project, 2, 2_000_000)
    finish(box, "ckpt")
    link = Cutter(place.sshd.port)
    through(place, link)
    link.after_bytes = 1_000_000
    assert place.patrol("pull", "gpu1/digits", "home", "--tries", "1").returncode == 3
    link.after_bytes = None
    words = "it stopped before its end, continue: patrol pull gpu1/digits home"
    assert words in place.patrol("status").stdout
    handbook = [sys.executable, "-m", "handbook", "resume"]
    told = warm.run(handbook, env=place.env, cwd=place.local, timeout=90)
    link.close()
    assert "pull gpu1/digits → " in " ".join(told.stdout.split())  # folded to 80 columns


def test_a_destination_that_is_a_file_is_refused(place: Patrolled, box: Box) -> None:
    (box.project / "best.pt").write_text("weights")
    finish(box, "best.pt")
    (place.local / "taken").write_text("mine")
    done = place.patrol("pull", "gpu1/digits", "taken")
    assert done.returncode == 64
    assert "is not a folder" in done.stderr
    assert (place.local / "taken").read_text() == "mine"
