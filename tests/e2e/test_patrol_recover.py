"""What a patrol with `recover = "resume"` leaves alone, and how long it remembers: a real run, on a local box."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from patrol.decide.table import BOX_FLAGS
from tests import warm
from tests.box import REPOSITORY, Box, wait_until
from tests.fakes.crontab import fake_crontab
from tests.patrolled import PATROL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENDS = {
    "divergence": 'echo "step 9 loss nan"; echo "ValueError: Loss is nan, stopping training"; exit 1',
    "host_oom": 'echo "step 9 loss 1.0"; echo "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0"; exit 137',
    "disk_full": 'echo "step 9 loss 1.0"; echo "OSError: [Errno 28] No space left on device"; exit 1',
    "network_blip": 'echo "step 9 loss 1.0"; echo "ConnectionResetError: [Errno 104] Connection reset by peer"; exit 1',
}


class Local:
    """Projects on this machine, each a box of one patrol that may resume."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.boxes = folder, dict[str, Box]()
        self.env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "XDG_STATE_HOME": str(folder / "state")}

    def add(self, name: str, cmd: str) -> Box:
        project = self.folder / name
        project.mkdir()
        (project / "onbox.toml").write_text(f"[stages.train]\ncmd = {json.dumps(cmd)}\n")
        self.boxes[name] = box = Box(project, name)
        return box

    def tick(self, patrol: str = "one") -> dict[str, dict[str, Any]]:
        """What a tick of this patrol says, by box. Each patrol has a configuration and a memory of its own."""
        here = self.folder / f"patrol-{patrol}"
        here.mkdir(exist_ok=True)
        text = "".join(f'[[patrol.rules]]\nname = "{rule.name}"\nenabled = false\n' for rule in BOX_FLAGS)
        for name, box in self.boxes.items():
            place = json.dumps(str(box.project))
            text += f'[boxes.{name}]\nbackend = "local"\nproject = {place}\nrecover = "resume"\n'
        (here / "onbox.toml").write_text(text)
        words = [*PATROL, "tick", "--json"]
        done = subprocess.run(words, check=False, capture_output=True, text=True, env=self.env, cwd=here, timeout=90)
        assert done.stdout, done.stderr
        return {one["box"]: one for one in json.loads(done.stdout)["runs"]}


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    made = Local(tmp_path)
    yield made
    for box in made.boxes.values():
        box.end_everything()


def test_what_the_same_configuration_can_only_repeat_is_never_resumed(local: Local) -> None:
    for name, cmd in ENDS.items():
        assert local.add(name, cmd).onbox("chain").returncode == 1
    said = local.tick()
    for name, box in local.boxes.items():
        if name == "network_blip":  # proves that this patrol does resume what it may
            wait_until(lambda box=box: len(box.events("attempt_started")) == 2, "the resume")  # type: ignore[misc]
            continue
        assert "resumed" not in said[name]["line"], said[name]
        assert len(box.events("attempt_started")) == 1
        status = box.status()
        assert (status["failure"]["failure_class"], status["failure"]["may_resume_by_itself"]) == (name, False)
        assert status["next_command"] != "onbox resume"


def test_an_acknowledged_job_that_ended_without_proof_ends_the_watch(tmp_path: Path) -> None:
    """One whose log shows an end of its own and one that was killed: nobody here can start them again."""
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "XDG_STATE_HOME": str(tmp_path / "state")}
    table = fake_crontab(tmp_path / "cron-bin", env)
    watches = []
    for name, last in (("ended", "step 10/10 loss 1.0\n"), ("killed", "step 5/10 loss 1.0\n")):
        (tmp_path / f"{name}.log").write_text(last)
        watches.append(f'{{ name = "{name}", log = "{name}.log", process = "{tmp_path}/nobody" }}')
    text = "".join(f'[[patrol.rules]]\nname = "{rule.name}"\nenabled = false\n' for rule in BOX_FLAGS)
    text += f'[boxes.here]\nbackend = "local"\nproject = "{tmp_path}"\nwatch = [{", ".join(watches)}]\n'
    (tmp_path / "onbox.toml").write_text(text)

    def patrol(*words: str) -> str:
        done = warm.run([*PATROL, *words], env=env, cwd=tmp_path, timeout=90)
        return done.stdout + done.stderr

    said = patrol("install", "--yes", "--untried")
    assert table.exists(), said
    patrol("tick", "--unattended")
    said = patrol("tick", "--unattended")
    assert "ended-unproven" in said, said
    assert table.read_text()
    patrol("ack", "--all")
    assert "crontab line was removed" in patrol("tick", "--unattended")
    assert not table.exists()


def test_a_new_patrol_knows_a_failure_that_came_twice_and_so_does_status(local: Local) -> None:
    box = local.add("twice", "python3 -c \"raise KeyError('lr')\"")
    box.onbox("chain")
    first = local.tick("one")["twice"]
    assert first["rule"] == "failed"
    assert "times" not in box.onbox("status").stdout
    box.onbox("resume")
    assert local.tick("two")["twice"]["rule"] == "repeated-failure"
    assert "the same failure 2 times" in box.onbox("status").stdout


def test_two_different_ends_at_one_step_are_the_same_failure(local: Local) -> None:
    """Killed there once, broken there the next time: neither the class nor the line is the same, the step is."""
    steps = "seq -f 'step %.0f/5155 loss 1.0' 4590 4600; "
    ends = "if test -e second; then echo 'RuntimeError: NCCL communicator was aborted'; exit 1; fi; "
    box = local.add("step", steps + ends + "touch second; kill -9 $$")
    box.onbox("chain")
    box.onbox("resume")
    said = local.tick()["step"]
    assert (said["rule"], "2 ends at the same step (4600)" in said["say"]) == ("repeated-failure", True), said
    assert len(box.events("attempt_started")) == 2
    assert box.status()["repeated"] == {"times": 2, "step": 4600.0, "says": "2 ends at the same step (4600)"}
