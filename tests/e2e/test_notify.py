"""Notifications end to end: real runs, real deliverers, a receiver that misbehaves."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from onbox.contract.notify_targets import DEFAULT_NOTIFY_EVENTS
from onbox.contract.paths import RunPaths
from onbox.notify.queue.outbox import Message, Outbox
from onbox.system.clock import utc_text, wall
from tests import warm
from tests.box import BOUND_SECONDS, REPOSITORY, Box, is_running, wait_until
from tests.fault_server import CANARY, FaultServer
from tests.onbox.notify.samples import DONE, message
from tests.ports import free_port

DIE_AT = REPOSITORY / "tests" / "fakes" / "die_at.py"
PATIENT = "attempt_timeout = '30s'\nbackoff = '20ms'\nbackoff_limit = '100ms'\n"  # a busy machine is slow, too
QUICK = PATIENT.replace("30s", "1s")  # for a target that hangs


STAGE = "[stages.a]\ncmd = 'true'\n"


def configure(box: Box, more: str = "", *, stages: str = STAGE, urls: str = "'env:HOOK'", pace: str = PATIENT) -> None:
    words = "" if more.startswith("on = ") else f"on = {json.dumps([*DEFAULT_NOTIFY_EVENTS, 'stage_done'])}\n"
    text = f"[run]\ngrace = '1s'\nsample_every = '200ms'\n{stages}[notify]\nurls = [{urls}]\n{words}{pace}{more}"
    (box.project / "onbox.toml").write_text(text)


def outbox(box: Box) -> Outbox:
    return Outbox(RunPaths(os.fspath(box.state)))


def is_quiet(box: Box) -> bool:
    return not outbox(box).names(outbox(box).paths.outbox)


def told(server: FaultServer) -> list[str]:
    """What has arrived. One whose answer was waited for in vain, for this machine held still, comes again."""
    arrived = {one.id: one for one in server.acknowledged}
    return [one.json()["type"].removeprefix("onbox.") for one in arrived.values()]


def listed(box: Box) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(box.onbox("notify", "list", "--json").stdout)
    return data


def test_every_event_arrives_once_in_order(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    configure(box, stages="[stages.a]\ncmd = 'true'\n[stages.b]\ncmd = 'echo broken; exit 3'\n")
    assert box.onbox("chain").returncode == 1
    wait_until(lambda: is_quiet(box), "delivery")
    assert told(server) == ["stage_done", "stage_failed"], "one message for one failure"
    assert len(server.acknowledged) == 2
    failed = server.acknowledged[1].json()["data"]
    assert failed["stage"] == "b"
    assert failed["proof"] == "broken"
    assert failed["exit_code"] == 3
    text = server.acknowledged[1].json()["text"]
    assert "\ntook " in text
    assert "\nnext: cd " in text
    assert Path(failed["log"]).read_text() == "broken\n"
    assert failed["next_command"] == f"cd {box.project} && onbox logs --run {box.run}"


def test_a_refusing_gate_is_told(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    configure(box, stages="[stages.a]\ncmd = 'true'\n[gates]\ndisk_free = '900000TB'\n")
    assert box.onbox("chain").returncode == 3
    wait_until(lambda: is_quiet(box), "delivery")
    assert told(server) == ["gate_refused"]
    assert "disk_free" in server.acknowledged[0].json()["data"]["reason"]


def test_a_stalled_stage_and_a_signal_of_the_system_are_told(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    stages = "[stages.a]\ncmd = 'sleep 60'\nstall_after = '500ms'\n"
    configure(box, "on = ['stalled', 'interrupted', 'stopped']\n", stages=stages)
    box.start("chain")
    wait_until(lambda: told(server) == ["stalled"], "the word that it stalled")
    assert server.acknowledged[0].json()["data"]["reason"].startswith("no sign of life for")
    os.kill(box.runner_pid(), signal.SIGTERM)
    wait_until(lambda: told(server) == ["stalled", "interrupted"], "the word that it was interrupted")


@pytest.mark.parametrize("fault", ["hang", "down"])
def test_the_chain_waits_for_no_delivery(box: Box, server: FaultServer, fault: str) -> None:
    box.env["HOOK"] = f"http://127.0.0.1:{free_port()}/x" if fault == "down" else server.url(fault)
    slow = "attempt_timeout = '10m'\nbackoff = '10m'\nbackoff_limit = '10m'\n"
    configure(box, stages="[stages.a]\ncmd = 'true'\n[stages.b]\ncmd = 'true'\n", pace=slow)
    began = time.monotonic()
    assert box.onbox("chain").returncode == 0
    assert time.monotonic() - began < BOUND_SECONDS
    assert len(outbox(box).pending()) == 3
    assert box.status()["notifications"]["pending_total"] == 3


@pytest.mark.parametrize("fault", ["hang", "200"])
def test_inline_waits_a_moment_and_no_more(box: Box, server: FaultServer, fault: str) -> None:
    box.env["HOOK"] = server.url(fault)
    configure(box, pace="attempt_timeout = '10m'\n")
    began = time.monotonic()
    assert box.onbox("chain", "--inline").returncode == 0
    assert time.monotonic() - began < BOUND_SECONDS


def test_a_chain_that_ends_well_is_one_message_unless_each_stage_is_asked_for(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    stages = (
        "[stages.a]\ncmd = 'echo step 5/5 loss 0.41; sleep 1.2'\nexpected = '14h'\n[stages.b]\ncmd = 'echo acc 0.967'\n"
    )
    (box.project / "onbox.toml").write_text(f"{stages}[notify]\nurls = ['env:HOOK']\n")
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: is_quiet(box), "delivery")
    assert told(server) == ["chain_done"]
    data = server.acknowledged[0].json()["data"]
    assert data["progress"] == "a 5/5 loss 0.41 · b acc 0.967"
    assert re.fullmatch(r"a: it took [\d.]+s where 14h00m was expected: look at the results", data["warning"]), data[
        "warning"
    ]


def test_down_for_a_while_then_up_loses_nothing(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    server.plan = ["500", "reset", "hang", "503", "429", "hang_in_headers"]
    configure(box, pace=QUICK)
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: is_quiet(box), "delivery")
    assert told(server) == ["stage_done", "chain_done"]
    first = [one.id for one in server.received[:7]]
    assert len(set(first)) == 1, "the same id at every try"


def test_a_runner_killed_before_delivery_loses_nothing(box: Box, server: FaultServer) -> None:
    port = free_port()
    box.env["HOOK"] = f"http://127.0.0.1:{port}/x"
    configure(box, stages="[stages.a]\ncmd = 'true'\n[stages.b]\ncmd = 'sleep 60'\n")
    box.start("chain")
    wait_until(lambda: outbox(box).pending(), "a pending notice")
    box.kill_runner()
    box.end_everything()
    box.env["HOOK"] = server.url()
    flushed = box.onbox("notify", "flush")
    assert flushed.returncode == 0, flushed.stdout + flushed.stderr
    assert told(server) == ["stage_done"]


def test_a_stop_without_a_runner_is_told(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    configure(box, "on = ['stopped']\n", stages="[stages.a]\ncmd = 'sleep 60'\n")
    box.start("chain")
    box.wait_for_event("attempt_started")
    box.kill_runner()
    assert box.onbox("stop", "--now").returncode == 0
    wait_until(lambda: told(server) == ["stopped"], "the notice")


def test_a_dead_target_delays_no_other(box: Box, server: FaultServer) -> None:
    box.env |= {"DEAD": server.url("hang"), "GONE": server.url("410"), "HOOK": server.url()}
    configure(box, urls="'env:DEAD', 'env:GONE', 'env:HOOK'", pace=QUICK)
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: len(told(server)) == 2, "both notices at the good one")
    wait_until(lambda: box.status()["notifications"]["dead_total"] == 2, "the refused ones to be dead")
    settled = {"DEAD": (2, 0, 0), "GONE": (0, 0, 2), "HOOK": (0, 2, 0)}

    def counts() -> dict[str, tuple[int, int, int]]:
        return {row["target"]: (row["pending"], row["sent"], row["dead"]) for row in listed(box)["targets"]}

    wait_until(lambda: counts() == settled, "each notice to be written down")  # it arrives before that
    text = " ".join(box.onbox("status").stdout.split())
    assert "not delivered yet: 2 to DEAD" in text
    assert "2 given up" in text


def test_a_permanent_error_is_not_repeated_and_can_be_revived(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url("404")
    configure(box)
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: is_quiet(box), "both to be dead")
    assert len(server.received) == 2
    assert "HTTP 404" in box.onbox("notify", "list").stdout
    box.env["HOOK"] = server.url()
    with (box.state / "outbox" / ".lock").open("ab") as another:
        fcntl.flock(another, fcntl.LOCK_EX)  # as a deliverer that still knows the URL which refused them
        assert "did not make way" in box.onbox("notify", "flush", "--dead", "--limit", "1").stdout
        assert len(outbox(box).names(outbox(box).paths.dead)) == 2, "nothing is put back for another one to take"
    assert box.onbox("notify", "flush", "--dead").returncode == 0
    assert told(server) == ["stage_done", "chain_done"]


def test_a_variable_that_is_not_set_keeps_the_notices(box: Box, server: FaultServer) -> None:
    configure(box)
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: "HOOK is not set here" in box.onbox("notify", "list").stdout, "the reason")
    box.env["HOOK"] = server.url()
    wait_until(lambda: box.onbox("notify", "flush").returncode == 0, "the flush")
    assert told(server) == ["stage_done", "chain_done"]


def test_the_next_start_delivers_what_was_left(box: Box, server: FaultServer) -> None:
    configure(box)
    assert box.onbox("chain").returncode == 0
    box.end_everything()
    box.env["HOOK"] = server.url()
    assert box.onbox("chain", "--redo", "a").returncode == 0
    wait_until(lambda: is_quiet(box), "delivery")
    assert told(server) == ["stage_done", "chain_done"] * 2


def test_an_outbox_that_cannot_be_written_is_said_and_fails_nothing(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    configure(box, stages="[stages.a]\ncmd = 'true'\n[stages.b]\ncmd = 'until test -e go; do sleep 0.05; done'\n")
    box.state.mkdir(parents=True)
    (box.state / "outbox").write_text("in the way")
    chain = box.start("chain")
    wait_until(
        lambda: (box.state / "status.json").exists() and box.status()["notifications"].get("trouble"), "the word"
    )
    (box.state / "outbox").unlink()
    wait_until(lambda: told(server) == ["stage_done"], "the notice that could not be written")
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    wait_until(lambda: len(told(server)) == 3, "the rest")
    assert "in the way" not in str(box.events("notices_held")[0]["reason"])
    assert box.events("notices_held")[0]["reason"].startswith("cannot write")


def done_now(offset: int) -> Message:
    """A message of this minute: one that has waited for a week is given up."""
    return message(offset, DONE, target="HOOK")._replace(enqueued_at=utc_text(wall()))


def test_many_notices_through_a_bad_receiver(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    configure(box, pace="attempt_timeout = '1s'\nbackoff = '1ms'\nbackoff_limit = '5ms'\n")
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: is_quiet(box), "delivery")
    server.acknowledged.clear()
    box.env["HOOK"] = server.url("random")
    sent = [done_now(10_000_000 + number) for number in range(60)]
    for one in sent:
        outbox(box).put(one)
    result = box.onbox("notify", "flush", "--limit", "300", timeout=320)
    assert result.returncode == 0, result.stdout + result.stderr
    seen = [one.json()["data"]["id"] for one in server.acknowledged]
    assert list(dict.fromkeys(seen)) == [one.notice.id for one in sent], "none lost, in order"
    assert all(one.id == one.json()["data"]["id"] for one in server.acknowledged)


def test_no_secret_is_left_anywhere(box: Box, server: FaultServer) -> None:
    box.env |= {"HOOK": server.url("echo"), "SLOW": server.url("hang"), "WRONG": f"http://example.com/{CANARY}"}
    box.env |= {"SECRET": f"whsec_{CANARY}", "ODD": server.url("bad_headers")}
    more = "[notify.targets.signed]\nurl = 'env:SLOW'\nsecret = 'env:SECRET'\n"
    configure(box, more, urls="'env:HOOK', 'env:SLOW', 'env:WRONG', 'env:ODD'", pace=QUICK)
    shown = [box.onbox("chain")]
    seen = box.run_program(["ps", "axww", "-o", "args"]).stdout
    actions = (["list"], ["list", "--json"], ["test"], ["test", "--json"], ["flush", "--limit", "2"])
    shown += [box.onbox("notify", *words) for words in actions]
    shown += [box.onbox("status"), box.onbox("status", "--json"), box.onbox("notify", "list", "--json")]
    wait_until(lambda: server.received, "a try")
    text = "".join(one.stdout + one.stderr for one in shown)
    assert "onbox" in seen
    assert CANARY not in seen
    assert CANARY not in text
    assert "not base64" in text or "base64" in text
    for path in box.state.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path


def test_the_command_test_says_what_each_target_did(box: Box, server: FaultServer) -> None:
    box.env |= {"GOOD": server.url(), "BAD": server.url("500"), "NEVER": server.url("401")}
    configure(box, urls="'env:GOOD', 'env:BAD', 'env:NEVER', 'env:UNSET_ONE'")
    result = box.onbox("notify", "test", "--json")
    assert result.returncode == 1
    rows = {row["target"]: (row["outcome"], row["status"]) for row in json.loads(result.stdout)["targets"]}
    expected = {"GOOD": ("delivered", 200), "BAD": ("will be tried again", 500), "NEVER": ("refused for good", 401)}
    assert rows == {**expected, "UNSET_ONE": ("waits", None)}
    assert box.onbox("notify", "test", "GOOD").returncode == 0
    assert box.onbox("notify", "test", "NOBODY").returncode == 64


def test_the_end_of_the_log_goes_along_without_secrets(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url()
    line = f"echo HF_TOKEN={CANARY}; seq 1 2000; echo the end"
    more = "[notify.targets.team]\nurl = 'env:HOOK'\nattach_log = '1KB'\non = ['stage_done']\n"
    configure(box, more, stages=f"[stages.a]\ncmd = '{line}'\n", urls="")
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: is_quiet(box), "delivery")
    tail = server.acknowledged[0].json()["data"]["log_tail"]
    assert tail.endswith("2000\nthe end")
    assert 900 < len(tail) <= 1000
    assert CANARY.encode() not in server.acknowledged[0].body


def test_one_deliverer_at_a_time(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url("hang")
    configure(box, pace=QUICK)
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: server.received, "the first try")
    # Itself, the one target's worker, and its try; one that is started beside it sees that, and leaves.
    wait_until(lambda: len(deliverers(box)) <= 3, "one deliverer")
    server.plan = ["200"] * 20  # also for what it tries once more before it makes way
    assert box.onbox("notify", "flush").returncode == 0, "it makes way for a person"
    assert told(server) == ["stage_done", "chain_done"]


FIRST_STEPS = {"before": 1, "after": 2, "torn": 4}  # of those that are taken; ONBOX_EVERY_STEP=1 takes all


@pytest.mark.parametrize("when", ["before", "after", "torn"])
def test_a_deliverer_killed_at_any_step_loses_nothing(box: Box, server: FaultServer, when: str) -> None:
    box.env["HOOK"] = server.url()
    configure(box)
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: is_quiet(box), "delivery")
    wait_until(lambda: not deliverers(box), "the deliverer to end")
    offset, count = 10_000_000, box.project.parent / "count"
    for at in range(FIRST_STEPS[when], 200, 1 if os.environ.get("ONBOX_EVERY_STEP") else 11):
        server.acknowledged.clear()
        batch = [done_now(offset + number) for number in range(2)]
        offset += 10
        for one in batch:
            outbox(box).put(one)
        words = [sys.executable, str(DIE_AT), str(at), when, str(count), "notify", "flush"]
        warm.run(words, cwd=box.project, env=box.env, timeout=60)
        wait_until(lambda: not deliverers(box), "orphans to end")
        if at % 2 == 0 or count.exists():
            again = box.onbox("notify", "flush")
            assert again.returncode == 0, f"{when} {at}: {again.stdout}{again.stderr}"
            seen = Counter(one.json()["data"]["id"] for one in server.acknowledged)
            assert {one.notice.id for one in batch} <= set(seen), f"{when} {at}"
        # The worker of the target goes on counting where its parent was when it was forked.
        if count.exists() and at > int(count.read_text()) + 40:
            return
        count.unlink(missing_ok=True)


def deliverers(box: Box) -> list[int]:
    return [pid for pid in box.processes() if is_running(pid) and b"notify" in _words(pid)]


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_runner_killed_at_any_step_tells_everything(tmp_path: Path, server: FaultServer, when: str) -> None:
    for at in range(20 + 2 * FIRST_STEPS[when], 400, 1 if os.environ.get("ONBOX_EVERY_STEP") else 13):
        project = tmp_path / str(at) / "digits"
        project.mkdir(parents=True)
        box, count = Box(project), project.parent / "count"
        box.env["HOOK"] = server.url()
        configure(box)
        server.acknowledged.clear()
        words = [sys.executable, str(DIE_AT), str(at), when, str(count), "chain", "--inline"]
        warm.run(words, cwd=project, env=box.env, timeout=60)
        if not count.exists():
            assert box.onbox("chain").returncode == 0
        wait_until(lambda b=box: b.onbox("notify", "flush").returncode == 0, "the flush")  # type: ignore[misc]
        records = [one for one in box.events() if one["event"] in ("stage_done", "chain_done")]
        assert {(one["event"], one["at"]) for one in records} == {
            (one.json()["data"]["event"], one.json()["data"]["at"]) for one in server.acknowledged
        }, f"killed {when} {at}"
        box.end_everything()
        if count.exists() and int(count.read_text()) < at:  # it had no such step: the sweep is through
            return


def test_a_deliverer_that_is_killed_leaves_no_lock(box: Box, server: FaultServer) -> None:
    box.env["HOOK"] = server.url("hang")
    configure(box, pace=QUICK)
    assert box.onbox("chain").returncode == 0
    wait_until(lambda: server.received, "the first try")
    for pid in deliverers(box):
        with suppress(ProcessLookupError):  # a try that has just ended
            os.kill(pid, signal.SIGKILL)
    box.env["HOOK"] = server.url()
    wait_until(lambda: box.onbox("notify", "flush").returncode == 0, "the flush")
    assert Counter(told(server)) == {"stage_done": 1, "chain_done": 1}
