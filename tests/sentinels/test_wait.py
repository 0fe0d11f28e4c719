"""The loop over connections, at a quicker pace: renewals, ends that are forced, programs of every old python."""

from __future__ import annotations

import ast
import json
import os
import resource
import shlex
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from onbox.system.clock import monotonic
from patrol.ssh.client import SshTarget as Box
from sentinels.box.send_lookout import program_text, script, values_of
from sentinels.judge.conditions.base import Arming
from sentinels.judge.conditions.table import make_conditions
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.link.channel import Channel, LinkAttempt
from sentinels.link.schedule import LinkPace
from sentinels.targets import parse_fail_marker, parse_target
from sentinels.wait import Plan, Wait, WaitSignals
from tests.sentinels.waiter import land

OLDEST = Path.home() / ".pyenv/versions"


def run(channels: list[Channel], plan: Plan) -> Outcome:
    signals = WaitSignals()
    try:
        return Wait(plan, channels, signals).run().outcome
    finally:
        signals.close()


def here(path: Path, pace: LinkPace, *, number: int = 0, fails: bool = False) -> Channel:
    target = parse_fail_marker(str(path)) if fails else parse_target(str(path))
    items = [(number, condition) for condition in make_conditions(target, str(path), Arming())]
    return Channel(Box("here", None), items, pace, time.time())


def test_connections_are_replaced_without_a_gap_or_a_drop(tmp_path: Path) -> None:
    channel = here(tmp_path / "DONE", LinkPace(hold=3.0, renew=1.0))
    used = resource.getrusage(resource.RUSAGE_SELF)
    assert run([channel], Plan(("DONE",), 9.0)) is Outcome.TIMED_OUT
    now = resource.getrusage(resource.RUSAGE_SELF)
    assert (channel.drops, channel.contact.in_sight) == (0, True)  # as it stood at the end
    assert 2 <= channel.connections <= 10
    assert now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime < 2.0  # it slept between the events


def test_a_connection_that_ends_itself_is_no_drop(tmp_path: Path) -> None:
    channel = here(tmp_path / "DONE", LinkPace(hold=1.0, renew=1e9))
    run([channel], Plan(("DONE",), 8.0))
    assert channel.drops == 0
    assert channel.connections >= 2


def test_a_fail_marker_elsewhere_is_watched_to_the_end(tmp_path: Path) -> None:
    channels = [here(tmp_path / "DONE", LinkPace()), here(tmp_path / "FAILED", LinkPace(), number=1, fails=True)]
    land(tmp_path / "FAILED")
    (tmp_path / "FAILED").unlink()
    job = subprocess.Popen(["sh", "-c", f"sleep 1; touch {tmp_path}/FAILED"])
    assert run(channels, Plan(("DONE", "FAILED"), 60.0, watchers=frozenset({1}))) is Outcome.FAILED
    job.wait()


def test_a_connection_that_ended_before_its_first_beat_is_not_waited_for() -> None:
    """Both markers were told, so it was closed; the beat behind them was never read."""
    channel = SimpleNamespace(
        items={"a": (0, None), "b": (1, None)}, finished={0, 1}, looked=False, lasting=False,
        contact=SimpleNamespace(in_sight=True),
    )  # fmt: skip
    signals = WaitSignals()
    wait = Wait(Plan(("DONE", "FAILED"), 1.0, watchers=frozenset({1})), [channel], signals)
    wait.findings = {
        0: WaitFinding(Outcome.LANDED, "DONE", "it landed", since=2.0),
        1: WaitFinding(Outcome.FAILED, "FAILED", "it failed", since=1.0),
    }
    assert wait._end() is wait.findings[0]
    signals.close()


def test_a_box_that_never_stops_talking_does_not_keep_the_wait_from_its_limit(tmp_path: Path) -> None:
    channel = here(tmp_path / "DONE", LinkPace())
    talks = SimpleNamespace(read=lambda: b"@s beat 1\n" * 6000, close=lambda: None)
    attempt = LinkAttempt(talks, monotonic(), plain=True)  # type: ignore[arg-type]
    channel.live = attempt
    assert channel.read(attempt) == []
    assert channel.connections_open() == [attempt]
    assert 0 < attempt.bytes_total < 1 << 20, "what is left waits for the next turn"
    channel.live = None


def test_no_descriptor_is_left_behind(tmp_path: Path) -> None:
    land(tmp_path / "DONE")
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        run([here(tmp_path / "DONE", LinkPace(hold=1.0))], Plan(("DONE",), 1.0))
    assert set(os.listdir("/proc/self/fd")) <= before


def test_the_program_on_the_box_is_old_pythons_language() -> None:
    ast.parse(program_text(), feature_version=(3, 6))
    assert "sentinels." not in program_text()
    assert "__future__" not in program_text()


@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8", "3.9", "3.12", "3.13"])
def test_the_program_runs_on_every_python(tmp_path: Path, version: str) -> None:
    found = sorted(OLDEST.glob(f"{version}.*/bin/python3"))
    if not found:
        pytest.skip(f"no python {version} here")
    (tmp_path / "DONE").write_text("hi")
    (tmp_path / "log").write_text("line\n")
    (tmp_path / "markers").mkdir()
    items = [
        ("file", "0", str(tmp_path / "DONE")),
        ("log", "1", str(tmp_path / "log"), "0:0:0:0:0", "line"),
        ("artifact", "2", str(tmp_path / "D*"), "1", "0", "0;"),
        ("pid", "3", str(os.getpid())),
        ("run", "4", str(tmp_path)),
    ]
    words = shlex.split(values_of(items, LinkPace(hold=0.0, deaf=0.0))[5])
    program = "import json, sys; sys.argv[1:] = []\n" + program_text()
    env = {"SENTINEL_WORDS": json.dumps(words)}
    done = subprocess.run([str(found[0]), "-ISc", program], capture_output=True, text=True, env=env, check=True)
    kinds = [line.split()[1:3] for line in done.stdout.splitlines() if line.startswith("@s")]
    assert [kind[0] for kind in kinds][:2] == ["hello", "file"]
    for wanted in (["log", "1"], ["artifact", "2"], ["pid", "3"], ["run", "4"], ["end", "held"]):
        assert wanted in kinds
    assert done.stderr == ""


def told_of_the_run(output: str, name: str) -> bytes:
    """What the program on the box says of it, by the name of the part."""
    words = next(line.split() for line in output.splitlines() if line.startswith("@s run"))
    return bytes.fromhex(next(word.partition("=")[2] for word in words if word.startswith(f"{name}=")))


def alive_in(folder: Path) -> subprocess.Popen[bytes]:
    """A process as a stage of a run in this place is one."""
    return subprocess.Popen(["sleep", "600"], env={**os.environ, "ONBOX_RUN_DIR": str(folder)})


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_the_script_runs_in_every_shell(tmp_path: Path, shell: str) -> None:
    (tmp_path / "DONE").write_text("hi")
    items = [("file", "0", str(tmp_path / "DONE")), ("pid", "1", str(os.getpid())), ("run", "2", str(tmp_path))]
    values = values_of(items, LinkPace(hold=0.0, deaf=0.0), engine="sh")
    words = [*shell.split(), "-c", script(), "sh", *values]
    orphan, other = alive_in(tmp_path), alive_in(tmp_path.with_name(f"{tmp_path.name}2"))
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        for process in (orphan, other):
            process.kill()
            process.wait()
    lines = [line.split()[1:4] for line in done.stdout.splitlines() if line.startswith("@s")]
    assert lines[0][:2] == ["hello", "sh"]
    assert ["file", "0", "present"] in lines
    assert ["pid", "1", "alive"] in lines
    assert ["end", "held"] in lines
    assert len(told_of_the_run(done.stdout, "room").split()) == 2
    assert told_of_the_run(done.stdout, "orphans") == str(orphan.pid).encode()
    assert done.stderr == ""
