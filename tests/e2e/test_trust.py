"""A configuration from a stranger: it runs nothing and reaches nothing by being read, until somebody accepts it."""

from __future__ import annotations

import json
import os
import pty
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.runfile import parse_head, replace_head
from onbox.trust import accept_engine, engine_not_accepted
from tests import warm
from tests.box import ONBOX, REPOSITORY, Box, wait_until

if TYPE_CHECKING:
    from pathlib import Path

PATROL = [sys.executable, "-m", "patrol"]
SENTINEL = [sys.executable, "-m", "sentinels"]
HANDBOOK = [sys.executable, "-m", "handbook"]


class Cloned:
    """A project as it comes out of somebody's repository, and a user who never saw it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "cloned"
        self.project.mkdir()
        self.pwned = self.project / "PWNED"
        self.runs = f"sh -c 'touch {self.pwned}'"
        self.env = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "XDG_STATE_HOME": str(folder / "state"),
            "HOME": str(folder),
        }
        for name in ("ONBOX_TRUST", "ONBOX_SSH_COMMAND"):
            self.env.pop(name, None)

    def write(self, text: str) -> None:
        (self.project / "onbox.toml").write_text(text)

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return warm.run(words, cwd=self.project, env={**self.env, **env}, timeout=120)

    def at_terminal(self, answer: str, *words: str) -> tuple[int, str]:
        """Exit code and all output; the answer is typed once a question stands there."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            words, cwd=self.project, env=self.env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        ) as process:
            os.close(theirs)
            shown = b""

            def more() -> bool:
                nonlocal shown
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    part = b""
                shown += part
                return not part or b"[y/N]" in shown

            wait_until(more, "a question or the end")
            if b"[y/N]" in shown:
                os.write(ours, answer.encode() + b"\n")
                shown += b" "
                seen = len(shown)
                while True:
                    try:
                        part = os.read(ours, 65536)
                    except OSError:
                        break
                    if not part:
                        break
                    shown += part
                assert len(shown) >= seen
            code = process.wait(60)
        os.close(ours)
        return code, shown.decode("utf-8", "replace")


@pytest.fixture
def cloned(tmp_path: Path) -> Cloned:
    return Cloned(tmp_path)


BOX = '[boxes.gpu1]\nhost = "gpu1"\nproject = "/root/digits"\n'


def test_no_command_that_reads_runs_the_files_ssh(cloned: Cloned) -> None:
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}')
    tick = cloned.run(*PATROL, "tick")
    assert "not accepted here" in tick.stdout
    assert "onbox trust" in tick.stderr
    assert tick.returncode == 3
    assert "onbox trust" in cloned.run(*PATROL, "check").stdout
    wait = cloned.run(*SENTINEL, "wait", "gpu1:digits", "--timeout", "5s")
    assert (wait.returncode, wait.stderr.count("\n")) == (78, 1)
    assert "ssh.command" in wait.stderr
    added = cloned.run(*PATROL, "add", "gpu2")
    assert added.returncode == 78
    cloned.run(*HANDBOOK, "build", "--look")
    cloned.run(*HANDBOOK, "resume")
    for words in (["status"], ["runs"], ["check"], ["stages"], ["stats"]):
        cloned.run(*ONBOX, *words)
    assert not cloned.pwned.exists()


def test_what_was_accepted_stays_so_until_one_of_these_keys_changes(cloned: Cloned) -> None:
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}')
    assert cloned.run(*ONBOX, "trust", "--show").returncode == 78
    assert cloned.run(*ONBOX, "trust").returncode == 64  # nobody can be asked
    assert cloned.run(*ONBOX, "trust", "--yes").returncode == 0
    cloned.run(*PATROL, "tick")
    assert cloned.pwned.exists()
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}[patrol]\ndeadline = "9s"\n')
    assert cloned.run(*ONBOX, "trust", "--show").returncode == 0
    cloned.write(f'[ssh]\ncommand = """{cloned.runs} and more"""\n{BOX}')
    cloned.pwned.unlink()
    cloned.run(*PATROL, "tick", "gpu1")
    assert not cloned.pwned.exists()
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}')
    cloned.run(*ONBOX, "trust", "--revoke")
    cloned.run(*PATROL, "tick", "gpu1")
    assert not cloned.pwned.exists()


def test_the_record_is_the_users_own_and_of_this_path(cloned: Cloned, tmp_path: Path) -> None:
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}')
    cloned.run(*ONBOX, "trust", "--yes")
    (record,) = (tmp_path / "state" / "onbox" / "trust").iterdir()
    assert (record.stat().st_mode & 0o777, record.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "touch" not in record.read_text()
    record.chmod(0o666)  # then anybody may have written it
    assert cloned.run(*ONBOX, "trust", "--show").returncode == 78
    record.chmod(0o600)
    cloned.project.rename(tmp_path / "moved")
    cloned.project.symlink_to(tmp_path / "moved")
    assert cloned.run(*ONBOX, "trust", "--show").returncode == 78


def test_what_cannot_be_recorded_is_not_accepted(cloned: Cloned, tmp_path: Path) -> None:
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}')
    (tmp_path / "file").write_text("")
    told = cloned.run(*ONBOX, "trust", "--yes", XDG_STATE_HOME=os.fspath(tmp_path / "file"))
    assert told.returncode == 74
    assert "Nothing was accepted" in told.stderr
    assert told.stderr.rstrip().endswith("then: onbox trust")


def test_a_file_of_the_project_that_is_run_is_part_of_it(cloned: Cloned) -> None:
    for command, name in (("ssh -F ./ssh_config", "ssh_config"), ("ssh -Fssh_config", "ssh_config"), ("sh run", "run")):
        file = cloned.project / name
        file.write_text("Host gpu1\n")
        cloned.write(f'[ssh]\ncommand = "{command}"\n{BOX}')
        cloned.run(*ONBOX, "trust", "--yes")
        assert cloned.run(*ONBOX, "trust", "--show").returncode == 0
        file.write_text(f"Host *\n  ProxyCommand touch {cloned.pwned}\n")
        assert cloned.run(*ONBOX, "trust", "--show").returncode == 78
    cloned.run(*PATROL, "tick")
    assert not cloned.pwned.exists()


def test_at_a_terminal_it_is_shown_and_asked_once(cloned: Cloned) -> None:
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}')
    code, shown = cloned.at_terminal("n", *PATROL, "tick")
    assert "touch" in shown
    assert "not accepted" in shown
    assert (code, cloned.pwned.exists()) == (3, False)
    _, shown = cloned.at_terminal("y", *PATROL, "tick", "gpu1")
    assert cloned.pwned.exists()
    _, shown = cloned.at_terminal("n", *PATROL, "tick", "gpu1")
    assert "[y/N]" not in shown


def test_who_needs_nothing_of_it_is_not_asked(cloned: Cloned) -> None:
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n[stages.t]\ncmd = "true"\n{BOX}')
    for words in (["status"], ["runs"], ["stages"], ["chain", "t"]):
        _, shown = cloned.at_terminal("y", *ONBOX, *words)
        assert "[y/N]" not in shown, words
    assert not cloned.pwned.exists()


def test_the_environment_is_the_users_own_word(cloned: Cloned) -> None:
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}')
    found: dict[str, Any] = json.loads(cloned.run(*ONBOX, "trust", "--show", "--json").stdout)
    assert found["keys"][0]["key"] == "ssh.command"
    assert cloned.run(*ONBOX, "trust", "--show", ONBOX_TRUST="0" * 32).returncode == 78
    assert cloned.run(*ONBOX, "trust", "--show", ONBOX_TRUST=found["hash"]).returncode == 0
    assert cloned.run(*ONBOX, "trust", "--show", ONBOX_TRUST="all").returncode == 0
    elsewhere = cloned.run(*PATROL, "tick", ONBOX_SSH_COMMAND="false")
    assert "not accepted" not in elsewhere.stdout + elsewhere.stderr
    assert not cloned.pwned.exists()


def test_what_patrol_add_wrote_is_accepted_and_nothing_else(cloned: Cloned) -> None:
    cloned.write('[patrol]\nping = "file:hook"\n')
    url = "http://192.0.2.1:8265"
    cloned.run(*PATROL, "add", url, "--backend", "ray", "--job", "raysubmit_1", "--name", "c", "--token", "file:t")
    keys = json.loads(cloned.run(*ONBOX, "trust", "--show", "--json").stdout)["keys"]
    assert {one["key"]: one["accepted"] for one in keys} == {
        "boxes.c.address": True,
        "boxes.c.token": True,
        "patrol.ping": False,
    }


def test_boxes_that_need_nothing_of_it_are_looked_at(cloned: Cloned, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "x.log").write_text("step 1/2\n")
    local = f'[boxes.here]\nbackend = "local"\nproject = "{here}"\nwatch = {{ log = "x.log" }}\n'
    cloned.write(f'[ssh]\ncommand = """{cloned.runs}"""\n{BOX}{local}')
    data = json.loads(cloned.run(*PATROL, "tick", "--json").stdout)
    assert {run["box"]: run["state"] == "unknown" for run in data["runs"]} == {"gpu1": True, "here": False}
    assert any("onbox trust" in trouble for trouble in data["troubles"])
    assert not cloned.pwned.exists()


def test_a_run_that_came_with_the_repository_is_not_resumed_unasked(cloned: Cloned) -> None:
    box = Box(cloned.project)
    box.env = {**cloned.env, **{key: value for key, value in box.env.items() if key == "ONBOX_TEST"}}
    box.onbox("chain", "-d", "--launch-check", "0", "--run", "digits", f"train=touch {cloned.pwned}; exec sleep 1000")
    wait_until(cloned.pwned.exists, "the stage ran once")
    box.end_everything()
    cloned.pwned.unlink()
    cloned.write(f'[boxes.here]\nbackend = "local"\nproject = "{cloned.project}"\nrecover = "resume"\n')
    try:
        tick = cloned.run(*PATROL, "tick")
        assert "boxes.here.recover" in tick.stderr
        assert not cloned.pwned.exists()
        assert "resumed by this patrol" in cloned.run(*PATROL, "tick", ONBOX_TRUST="all").stdout
        wait_until(cloned.pwned.exists, "who accepted it has it resumed")
    finally:
        box.end_everything()


def test_a_run_that_came_with_the_repository_sends_no_token(cloned: Cloned, tmp_path: Path) -> None:
    (tmp_path / ".token").write_text("hf_secret\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        cloned.run(*ONBOX, "chain", "--run", "digits", "train=true")
        manifest = cloned.project / ".onbox" / "digits" / "run.json"
        text = manifest.read_bytes()
        engine = {"name": "ray", "address": address, "token": "file:~/.token"}
        manifest.write_bytes(replace_head(text, {**parse_head(text.split(b"\n")[0]).data, "backend": engine}))
        last = json.loads((manifest.parent / "events.jsonl").read_text().splitlines()[-1])
        about = {**last, "stage": "train", "backend": "ray", "name": "digits", "job_id": "raysubmit_1"}
        with (manifest.parent / "events.jsonl").open("a") as journal:
            for number, event in enumerate(("job_submitting", "job_submitted"), 1):
                journal.write(json.dumps({**about, "event": event, "seq": last.get("seq", 0) + number}) + "\n")
        manifest.chmod(0o600)
        for words in (["status"], ["stop"], ["resume"], ["runs"]):
            done = cloned.run(*ONBOX, *words)
            assert done.returncode == (0 if words == ["runs"] else 78), done
            assert words == ["runs"] or "nobody here accepted its ray.token" in done.stderr
            assert "hf_secret" not in done.stdout + done.stderr
        cloned.write(f'[boxes.here]\nbackend = "local"\nproject = "{cloned.project}"\n')
        cloned.run(*PATROL, "tick")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_who_hands_a_run_to_an_engine_has_it_asked_later(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    settings = {"name": "ray", "address": "http://192.0.2.1:8265", "token": "file:t"}
    assert engine_not_accepted(settings, None, environ) == ["ray.address", "ray.token"]
    accept_engine(settings, environ)
    assert engine_not_accepted(settings, None, environ) == []
    assert engine_not_accepted({**settings, "token": "file:other"}, None, environ) == ["ray.token"]
    assert engine_not_accepted({"name": "ray", "address": "http://127.0.0.1:8265"}, None, {}) == []


def test_typing_chain_is_the_word_for_the_files_stages_only(cloned: Cloned, tmp_path: Path) -> None:
    state = tmp_path / "elsewhere"
    cloned.write(f'[run]\nstate_dir = "{state}"\n[stages.t]\ncmd = "true"\n')
    typed = cloned.run(*ONBOX, "chain", "t=true")
    assert typed.returncode == 78
    assert "run.state_dir" in typed.stderr
    assert not state.exists()
    assert cloned.run(*ONBOX, "chain").returncode == 0
    assert cloned.run(*ONBOX, "status").returncode == 0  # and it is found where it is
    cloned.write('[iris]\ncontroller = "http://192.0.2.1:1"\n[stages.t]\ncmd = "true"\n')
    engine = cloned.run(*ONBOX, "chain", "--backend", "iris", "--run", "other")
    assert engine.returncode == 78
    assert "iris.controller" in engine.stderr


@pytest.mark.parametrize(
    "text", ["[patrol]\ntextfile = 'x'", "x = [", '[ssh]\ncommand = "a\\u0000b"', "[ssh]\ncommand = '\"'"]
)
def test_a_wrong_file_is_refused_before_it_is_trusted(cloned: Cloned, text: str) -> None:
    cloned.write(text)
    done = cloned.run(*ONBOX, "trust", "--yes")
    assert (done.returncode, "onbox.toml" in done.stderr, "defect" in done.stderr) == (78, True, False)


def test_what_is_shown_cannot_hide_itself(cloned: Cloned) -> None:
    cloned.write('[ssh]\ncommand = "sh -c evil \\u202e\\u001b[2K token=abcdefgh12345678 "\n' + BOX)
    shown = cloned.run(*ONBOX, "trust", "--show").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "not all of it is shown" in shown
