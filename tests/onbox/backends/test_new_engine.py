"""An engine that onbox has never heard of: a row in the table and its own four modules are all that it takes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.box import REPOSITORY, wait_until

if TYPE_CHECKING:
    from pathlib import Path

ROW = """    Engine(
        "toy",
        "Toy: one process here",
        config="onbox.config.tables.toy",
        backend="onbox.backends.toy",
        check="onbox.preflight.engine_toy",
        look="onbox.backends.toy_cluster",
        address_key="url",
    ),
"""
CONFIG = """
from onbox.config import values
from onbox.config.keys import Key, Keys, OwnKey
from onbox.config.tables.engine_part import EnginePart, GuardedKey, kept


class ToyKeys(Keys):
    HEADER = "[toy]"
    url = Key(values.http_url, None, "Where it answers.", '"http://127.0.0.1:1"')
    token = OwnKey("Its token.", '"env:TOY"')


PART = EnginePart(
    keys=ToyKeys,
    read=lambda table: kept({"url": table.get(ToyKeys.url)}),
    guarded=(GuardedKey("url", "is asked about jobs", address=True),),
    job_id=values.text,
    job_wanted="a toy",
    job_example="toy-1",
)
"""
BACKEND = """
import os
import subprocess
from types import MappingProxyType

from onbox.backends.base import Done, Job, JobState, Submitted
from onbox.contract.readings import Absent


class Toy:
    name, per_stage, forgets, files = "toy", False, False, MappingProxyType({"toy.txt": "for toys"})

    def __init__(self, folder):
        self.folder = folder

    def launch(self, order):
        env = {**os.environ, **dict(order.env), "ONBOX_JOB": "toy:1"}
        log = open(os.path.join(self.folder, "out"), "ab")
        child = subprocess.Popen(order.argv, cwd=order.folder, env=env, stdout=log, stderr=log, start_new_session=True)
        with open(os.path.join(self.folder, "pid"), "w") as file:
            file.write(str(child.pid))
        return Submitted("1")

    def look(self, job_ids):
        done = os.path.exists(os.path.join(os.path.dirname(self.folder), "markers", "CHAIN_DONE"))
        state = JobState.SUCCEEDED if done else JobState.RUNNING
        return {one: Job(one, state, "TOYING") for one in job_ids}

    def find(self, name):
        return Absent("never lost")

    def logs(self, job_id, *, lines):
        return Absent("none")

    def stop(self, job_id, *, urgent):
        return Done()


def make(settings, folder):
    return Toy(folder)
"""
CHECK = """
from onbox.preflight.report import EngineCheck, passed

CHECK = EngineCheck(lambda facts: iter([passed("toy", "it is there")]))
"""
CLUSTER = """
import re

from onbox.backends.base import Job, JobState
from onbox.backends.cluster import ClusterJob, ClusterLook

WORTH_READING = re.compile("error")
default_address = default_token = lambda environ: ""


def look(questions, job_ids, *, brief):
    return ClusterLook("", {one: ClusterJob(Job(one, JobState.RUNNING, "TOYING")) for one in job_ids})


def log_argv(address, job_id):
    return ("toy", "logs", job_id)


def read_new_id(code, out, err):
    return out.strip() or None
"""
FILES = {
    "onbox/config/tables/toy.py": CONFIG,
    "onbox/backends/toy.py": BACKEND,
    "onbox/preflight/engine_toy.py": CHECK,
    "onbox/backends/toy_cluster.py": CLUSTER,
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project beside a copy of the programs that knows one engine more."""
    for package in ("onbox", "patrol", "sentinels", "handbook"):
        shutil.copytree(REPOSITORY / package, tmp_path / "lib" / package, ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "lib/onbox/model/engines.py"
    start = "ENGINES: tuple[Engine, ...] = (\n"
    table.write_text(table.read_text().replace(start, start + ROW))
    for name, text in FILES.items():
        (tmp_path / "lib" / name).write_text(text)
    (tmp_path / "digits").mkdir()
    return tmp_path


def run(home: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(home / "lib"), "HOME": str(home), "ONBOX_TRUST": "all"}
    argv = [sys.executable, "-m", program, *words]
    return subprocess.run(argv, cwd=home / "digits", env=env, capture_output=True, text=True, timeout=60, check=False)


def test_it_is_configured_checked_run_and_watched_like_any_other(home: Path) -> None:
    assert len(FILES) + 1 <= 6
    assert run(home, "onbox", "init", "--full").returncode == 0
    template = (home / "digits/onbox.toml").read_text()
    assert '#[toy]\n# Where it answers.\n#url = "http://127.0.0.1:1"' in template
    assert '"toy"' in template
    text = '[run]\nbackend = "toy"\n[stages.train]\ncmd = "echo trained"\n[boxes.far]\nbackend = "toy"\n'
    text += 'address = "http://127.0.0.1:1"\nwatch = { name = "llm", job = "toy-7" }\n'
    (home / "digits/onbox.toml").write_text(text)

    assert "it is there" in run(home, "onbox", "check").stdout

    started = run(home, "onbox", "chain", "-d")
    assert started.returncode == 0, started.stderr
    assert "is with toy: job 1" in started.stdout
    marker = home / "digits/.onbox/digits/markers/CHAIN_DONE"
    wait_until(marker.exists, "the chain's marker")
    assert json.loads(run(home, "onbox", "status", "--json").stdout)["state"] == "done"

    watched = run(home, "patrol", "tick", "--json")
    assert "toy-7" in watched.stdout, watched
    assert "TOYING" in watched.stdout
