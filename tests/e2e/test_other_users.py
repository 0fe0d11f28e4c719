"""What another user of the machine can write is neither carried out nor believed, and never written through."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onbox.contract.exits import Exit
from onbox.system.process import look_up
from patrol.config.settings import state_folder
from patrol.ssh.control_sockets import control_path
from tests.users import ATTACKER, VICTIM, environment_of, give, need_users, run_as, run_words_as

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = need_users


class Machine:
    """shared: as /tmp is. own, theirs: folders of the victim and the attacker below it, each closed to the other."""

    def __init__(self, shared: Path) -> None:
        self.shared = shared
        self.own, self.home = shared / "ann" / "digits", shared / "home"
        for folder in (self.own, self.home):
            folder.mkdir(parents=True)
        for folder in (self.own.parent, self.home):
            folder.chmod(0o700)
            give(folder, VICTIM)

    def onbox(self, *words: str, cwd: Path | None = None, uid: int = VICTIM) -> subprocess.CompletedProcess[str]:
        return run_as(uid, "onbox", *words, cwd=cwd or self.own, home=self.home)


@pytest.fixture
def machine() -> Iterator[Machine]:
    shared = Path(tempfile.mkdtemp(prefix="onbox-users-"))
    shared.chmod(0o1777)
    yield Machine(shared)
    shutil.rmtree(shared)


def interrupted_run(machine: Machine, project: Path, uid: int, proof: Path) -> Path:
    """A run of `uid` whose only stage writes down who ran it, interrupted by hand: its state directory."""
    project.mkdir(exist_ok=True)
    give(project, uid)
    done = run_as(uid, "onbox", "chain", "--inline", "--run", "job", f"train=id -u >{proof}", cwd=project, home=project)
    assert done.returncode == 0, done.stderr
    state = project / ".onbox"
    for marker in (state / "job" / "markers").iterdir():
        marker.unlink()
    proof.unlink()
    journal = state / "job" / "events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(next(line for line in lines if b'"event":"chain_started"' in line))
    give(project, uid)
    return state


# -- onbox.toml


def test_a_file_in_a_shared_folder_above_is_not_looked_for(machine: Machine) -> None:
    proof = machine.shared / "proof"
    bait = machine.shared / "onbox.toml"
    bait.write_text(f'[ssh]\ncommand = "touch {proof}"\n[boxes.a]\nhost = "a"\n[stages.x]\ncmd = "touch {proof}"\n')
    give(bait, ATTACKER)
    chain = machine.onbox("chain", "--inline", "own=touch mine")
    assert chain.returncode == 0, chain.stderr
    assert machine.onbox("stages").stdout == machine.onbox("stages", cwd=machine.home).stdout
    tick = run_as(VICTIM, "patrol", "tick", cwd=machine.own, home=machine.home)
    assert tick.returncode == Exit.USAGE, "no box is known there"
    assert not proof.exists()


def test_a_file_of_another_owner_is_refused_with_its_name_and_a_way_on(machine: Machine) -> None:
    path = machine.shared / "onbox.toml"
    path.write_text('[stages.x]\ncmd = "id -u >proof"\n')
    give(path, ATTACKER)
    for module, words in (("onbox", ["chain", "--inline"]), ("onbox", ["status"]), ("patrol", ["tick"])):
        told = run_as(VICTIM, module, *words, cwd=machine.shared, home=machine.home)
        assert told.returncode == Exit.CONFIG
        (line,) = told.stderr.splitlines()
        assert f"{path} belongs to nobody" in line
        assert f"-c {path}" in line
        assert f"chown {VICTIM} {path}" in line
    assert not (machine.shared / "proof").exists()


def test_root_refuses_the_file_of_a_plain_user_too_and_takes_it_by_name(machine: Machine) -> None:
    path = machine.own / "onbox.toml"
    path.write_text('[stages.x]\ncmd = "true"\n')
    give(path, VICTIM)
    assert machine.onbox("stages", uid=0).returncode == Exit.CONFIG
    assert machine.onbox("stages", "-c", str(path), uid=0).returncode == 0
    assert machine.onbox("stages").returncode == 0


def test_a_file_that_everybody_can_write_is_refused(machine: Machine) -> None:
    path = machine.own / "onbox.toml"
    path.write_text("[stages.x]\ncmd = 'true'\n")
    path.chmod(0o666)
    give(path, VICTIM)
    told = machine.onbox("stages")
    assert told.returncode == Exit.CONFIG
    assert f"{path} can be written by other users (mode 0666)" in told.stderr
    assert f"chmod go-w {path}" in told.stderr


def test_the_search_goes_up_to_the_home_folder_and_not_beyond(machine: Machine) -> None:
    (machine.own / "a" / "b").mkdir(parents=True)
    (machine.own.parent / "onbox.toml").write_text("[stages.above]\ncmd = 'true'\n")
    give(machine.own.parent, VICTIM)
    below = machine.own / "a" / "b"
    assert "above" in run_as(VICTIM, "onbox", "stages", cwd=below, home=machine.home).stdout
    assert "above" in run_as(VICTIM, "onbox", "stages", cwd=below, home=machine.own.parent).stdout
    assert "above" not in run_as(VICTIM, "onbox", "stages", cwd=below, home=machine.own).stdout


# -- the state of a run


def test_a_state_directory_that_another_made_first_is_refused(machine: Machine) -> None:
    project = machine.shared / "project"
    project.mkdir()
    project.chmod(0o777)
    trap = project / ".onbox"
    trap.mkdir()
    trap.chmod(0o777)
    give(trap, ATTACKER)
    told = machine.onbox("chain", "-d", "train=touch ran", cwd=project)
    assert told.returncode == Exit.CONFIG
    assert f"{trap} belongs to nobody" in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert not (project / "ran").exists()


def test_an_exchanged_run_is_shown_and_never_resumed_stopped_or_flushed(machine: Machine) -> None:
    proof = machine.shared / "proof"
    state = interrupted_run(machine, machine.shared / "trap", ATTACKER, proof)
    own = machine.own / ".onbox"
    own.mkdir()
    shutil.move(state / "job", own / "job")
    give(own / "job", ATTACKER)
    os.chown(own, VICTIM, VICTIM)
    for path in (own / "job").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (own / "job").chmod(0o755)
    for words in ("resume job", "resume -d job", "stop job", "notify flush job", "boot run"):
        told = machine.onbox(*words.split())
        assert told.returncode == Exit.CONFIG, (words, told)
        assert "belongs to nobody" in told.stderr + told.stdout
    assert not proof.exists()
    shown = machine.onbox("status", "job", "--json")
    assert shown.returncode == 0, "a colleague's run may be looked at"
    assert json.loads(shown.stdout)["state"] == "interrupted"


def test_root_does_not_continue_what_a_plain_user_wrote(machine: Machine) -> None:
    proof = machine.shared / "proof"
    project = machine.shared / "trap"
    state = interrupted_run(machine, project, ATTACKER, proof)
    manifest = state / "job" / "run.json"
    manifest.write_text(manifest.read_text().replace('"environment": {', '"environment": {"BASH_ENV": "/tmp/x", ', 1))
    told = machine.onbox("boot", "run", cwd=project, uid=0)
    assert told.returncode == Exit.CONFIG
    assert "belongs to nobody, and this is root" in told.stderr
    assert not proof.exists()


def test_a_state_directory_that_everybody_can_write_is_not_believed(machine: Machine) -> None:
    proof = machine.shared / "proof"
    state = interrupted_run(machine, machine.own, VICTIM, proof)
    state.chmod(0o777)
    told = machine.onbox("resume", "job")
    assert told.returncode == Exit.CONFIG
    assert f"{state} can be written by other users (mode 0777)" in told.stderr
    assert f"chmod -R go-w {state}" in told.stderr
    state.chmod(0o700)
    assert machine.onbox("resume", "job").returncode == 0
    assert proof.read_text() == f"{VICTIM}\n"


def test_only_what_a_launch_freezes_is_taken_over_of_an_environment(machine: Machine) -> None:
    out = machine.shared / "environment"
    state = interrupted_run(machine, machine.own, VICTIM, out)
    manifest = state / "job" / "run.json"
    added = '"environment": {"BASH_ENV": "/x", "LD_PRELOAD": "", "TZ": "UTC+3", '
    manifest.write_text(manifest.read_text().replace('"environment": {', added).replace("id -u >", "env >"))
    told = machine.onbox("resume", "job")
    assert told.returncode == 0, told.stderr
    seen = out.read_text()
    assert "TZ=UTC+3" in seen
    assert "BASH_ENV" not in seen
    assert "LD_PRELOAD" not in seen


# -- processes


@pytest.mark.parametrize("lock", ["lock", "outbox/.lock"])
def test_the_text_of_a_lock_does_not_choose_who_is_signalled(machine: Machine, lock: str) -> None:
    """Root's own process stands in a lock that another process holds."""
    state = interrupted_run(machine, machine.own, 0, machine.shared / "proof") / "job"
    (state / "outbox").mkdir(exist_ok=True)
    target = subprocess.Popen(["sleep", "600"], start_new_session=True)
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, os.fspath(state / lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        entry = look_up(target.pid)
        assert entry is not None
        rest = {"leads": True, "boot_id": None, "host": os.uname().nodename, "run_id": "x", "chain_fingerprint": "x"}
        (state / lock).write_text(json.dumps({**entry.identity._asdict(), **rest}) + "\n")
        words = ["stop", "--now", "job"] if lock == "lock" else ["notify", "flush", "job", "--limit", "1"]
        told = machine.onbox(*words, uid=0)
        assert told.returncode != 70, told.stderr
        if lock == "lock":
            assert told.returncode == Exit.ANOTHER_RUNNER
            assert f"names pid {target.pid}" in told.stderr
        assert target.poll() is None, "it was signalled"
    finally:
        target.kill()
        holder.kill()
        target.wait()
        holder.communicate()


_HOLD = """
import fcntl, sys
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


# -- what is ours, and where others could have been first


def test_whatever_the_umask_nobody_else_can_read_our_state(machine: Machine) -> None:
    (machine.own / "onbox.toml").write_text(
        f'[stages.train]\ncmd = "true"\n[boxes.here]\nhost = "here"\nbackend = "local"\nproject = "{machine.own}"\n'
    )
    give(machine.own, VICTIM)
    boot = "import os, runpy, sys; os.umask(0); runpy.run_module(sys.argv.pop(1), run_name='__main__')"
    env = environment_of(machine.home)
    for module, *words in (
        ["onbox", "chain"],
        ["patrol", "tick"],
        ["sentinels", "wait", "here:train", "--timeout", "1"],
    ):
        run_words_as(VICTIM, [sys.executable, "-c", boot, module, *words], cwd=machine.own, env=env)
    kept = [machine.own / ".onbox", machine.home / ".local" / "state" / "onbox"]
    found = [path for folder in kept for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
    assert any(path.name == "memory.db" for path in found)
    assert any(path.name == "CHAIN_DONE" for path in found)
    assert [path for path in found if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("how", ["of another", "a link"])
def test_no_connection_is_shared_through_a_folder_that_is_not_ours(machine: Machine, how: str) -> None:
    own = machine.shared / f"onbox-{os.getuid()}"
    if how == "a link":
        (machine.shared / "elsewhere").mkdir(mode=0o700)
        own.symlink_to("elsewhere")
    else:
        own.mkdir(mode=0o700)
        give(own, ATTACKER)
    assert control_path("a", "gpu1", ("ssh",), os.fspath(machine.shared)) is None


def test_the_state_folder_of_a_patrol_that_another_made_is_not_used(machine: Machine) -> None:
    (machine.own / "onbox.toml").write_text(f'[boxes.a]\nhost = "a"\nbackend = "local"\nproject = "{machine.own}"\n')
    give(machine.own, VICTIM)
    trap = Path(state_folder(os.fspath(machine.own), {"XDG_STATE_HOME": os.fspath(machine.shared)}))
    trap.mkdir(parents=True)
    trap.chmod(0o777)
    give(trap, ATTACKER)
    told = run_as(
        VICTIM, "patrol", "tick", cwd=machine.own, home=machine.home, XDG_STATE_HOME=os.fspath(machine.shared)
    )
    assert f"cannot write {trap}: it belongs to nobody" in told.stdout + told.stderr
    assert list(trap.iterdir()) == []


def test_a_report_of_a_defect_is_private_and_there_is_one_for_each_place(tmp_path: Path) -> None:
    call = "within_boundary('onbox', lambda: 1 / 0, lambda _: None, interrupted=(0, ''))"
    boot = f"from onbox.cli.boundary import within_boundary; {call}"
    env = {**os.environ, "TMPDIR": os.fspath(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", boot], env=env, check=True, capture_output=True, timeout=60)
    reports = list(tmp_path.iterdir())
    assert [path.stat().st_mode & 0o777 for path in reports] == [0o600]
