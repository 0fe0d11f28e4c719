"""What a runner finds in a run while it runs: told once, shown, and stopped only where that is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.box import python, wait_until

if TYPE_CHECKING:
    from tests.box import Box
    from tests.fault_server import FaultServer

TRAINING = """
import os, time
step = 0
def until(name, loss):
    global step
    while not os.path.exists(name):
        step += 1
        print(f'step {step}/99999 loss {loss}', flush=True)
        time.sleep(0.02)
until('ill', 0.5)
until('well', 'nan')
until('end', 0.5)
"""
CONFIG = "[run]\nsample_every = '100ms'\ngrace = '1s'\n[stages.train]\ncmd = {!r}\n"


def configure(box: Box, more: str = "") -> None:
    (box.project / "train.py").write_text(TRAINING)
    (box.project / "onbox.toml").write_text(CONFIG.format(python("import train")) + more)


def series(box: Box) -> bytes:
    path = box.state / "series.jsonl"
    return path.read_bytes() if path.exists() else b""


def detected(box: Box) -> list[dict[str, Any]]:
    path = box.state / "status.json"
    found: list[dict[str, Any]] = (json.loads(path.read_text()).get("detected") or []) if path.exists() else []
    return found


def test_an_episode_is_told_once_and_once_when_it_is_over(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    configure(box, "[notify]\nurls = ['env:HOOK']\n")
    chain = box.start("chain")
    wait_until(lambda: b"0.5" in series(box), "a point with a loss")
    (box.project / "ill").touch()
    box.wait_for_event("detected")
    wait_until(lambda: detected(box), "the flag in the status")
    assert "loss-not-finite" in box.onbox("status").stdout
    box.kill_runner()
    chain.wait(60)
    chain = box.start("chain")
    box.wait_for_event("attempt_adopted")
    known = len(series(box).splitlines())
    wait_until(lambda: len(series(box).splitlines()) > known + 3, "more points")
    (box.project / "well").touch()
    box.wait_for_event("detected_over")
    (box.project / "end").touch()
    assert chain.wait(60) == 0
    assert len(box.events("detected")) == 1, "the next runner knows of the episode"
    wait_until(lambda: len(server.acknowledged) == 3, "both messages, and the end of the chain")
    ill, well, _ = [one.json()["data"] for one in server.acknowledged]
    assert (ill["event"], ill["failure_class"], well["event"]) == ("detected", "loss-not-finite", "detected_over")
    assert "loss is nan at step" in ill["reason"]
    assert "the last number was 0.5 at step" in ill["reason"]


def test_a_stage_is_stopped_where_that_is_written(box: Box) -> None:
    (box.project / "ill").touch()
    configure(box, "[detect]\non_detect = { loss-not-finite = 'stop' }\n")
    assert box.onbox("chain").returncode == 1
    marker = box.marker("train_FAILED")
    assert (marker["cause"], marker["failure_class"]) == ("diverged", "divergence")
    assert "loss-not-finite: loss is nan" in marker["reason"]
    assert len(box.events("attempt_started")) == 1


def test_a_resume_with_another_seed_is_told(box: Box) -> None:
    """The steps between the last checkpoint and the end are gone through again: their losses must be the same."""
    code = """
import os, sys, time
seed = 0.1 if os.environ['ONBOX_RESUME'] == '1' else 0.0
for step in range(40 if seed else 1, 2000):
    print(f'step {step}/2000 loss {1 / step + seed:.4f}', flush=True)
    time.sleep(0.01)
    if not seed and step == 80:
        sys.exit(75)
    if os.path.exists('end'):
        break
"""
    (box.project / "train.py").write_text(code)
    retry = "retry = { max = 1, backoff = '10ms', classes = ['network_blip'] }\n"
    (box.project / "onbox.toml").write_text(CONFIG.format(python("import train")) + retry)
    chain = box.start("chain")
    box.wait_for_event("detected")
    told = box.events("detected")[0]
    assert (told["detector"], told["attempt"]) == ("resume-mismatch", 2)
    assert "differs by 0.1 from the attempt before" in told["reason"]
    (box.project / "end").touch()
    assert chain.wait(60) == 0
