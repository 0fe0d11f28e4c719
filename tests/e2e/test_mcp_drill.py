"""The takeover drill over MCP: an agent that sees nothing but the server says of each run how it stands, why, and what
is typed next; it changes nothing, and is told who may.

Twelve runs behind one real sshd, taken over once.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.box import end_at_once, python, wait_until
from tests.handbooked import Handbooked, handbooked

anyio = pytest.importorskip("anyio")
# The SDK takes a second to load, which every worker would wait for: it is imported where it is used.
pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="needs mcp, of the extra onbox[mcp]")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.box import Box

GOES_ON = "train=echo began >>starts; until test -e go; do echo step 1/100 loss 0.5; sleep 0.1; done"
SLEEPS = 'cmd = "echo began >>starts; echo step {}/100; sleep 600"\n'
STALLS = '[run]\nname = "digits"\nsample_every = "200ms"\n[stages.train]\n' + SLEEPS.format(7) + 'stall_after = "1s"\n'
LEAVES = '[run]\nname = "digits"\n[stages.train]\ncmd = "echo x > best.npz"\nartifacts = ["best.npz"]\n'
TELLS = (
    '[run]\nname = "digits"\n[notify]\nurls = ["env:NOWHERE"]\non = ["stage_done"]\n[stages.first]\ncmd = "true"\n'
    "[stages.train]\n" + SLEEPS.format(1)
)
CHANGES = '[run]\nname = "digits"\n[stages.train]\n' + SLEEPS
DISK = "train=echo 'OSError: [Errno 28] No space left on device'; exit 1"
MEMORY = "train=echo 'slurmstepd: error: Detected 1 oom_kill event in StepId=1.0'; kill -9 $$"


class Situation(NamedTuple):
    """How it comes to be: `config` of the box, the words of `onbox chain`, then `breaks`; and what must be told.

    waits: for this marker before anybody looks; "": for the first line of its log. cause: in what the rule says, in the
    proof, or in what a resume would do. command: in the next command.
    """

    config: str
    chain: str
    waits: str
    breaks: Callable[[Box], None] | None
    state: str
    rule: str
    cause: str
    command: str


def kill_all(box: Box) -> None:
    """What a power cut leaves."""
    end_at_once(box.processes())
    wait_until(lambda: not box.processes(), "every process to be gone")


def kill_runner(box: Box) -> None:
    box.kill_runner()


def change_command(box: Box) -> None:
    kill_all(box)
    (box.project / "onbox.toml").write_text(CHANGES.format(2))


def lose_results(box: Box) -> None:
    (box.project / "best.npz").unlink()


FAILS = f"train={python('raise NameError(chr(120))')}"
DRILL = {
    "running": Situation("", GOES_ON, "", None, "running", "healthy", "1/100", "onbox status digits"),
    "code": Situation("", FAILS, "CHAIN_FAILED", None, "failed", "failed", "NameError", "onbox logs"),
    "disk": Situation("", DISK, "CHAIN_FAILED", None, "failed", "failed", "No space left", "df -h"),
    "memory": Situation("", MEMORY, "CHAIN_FAILED", None, "failed", "failed", "oom_kill", "onbox logs"),
    "runner": Situation("", GOES_ON, "", kill_runner, "running", "runner-gone", "runner is gone", "onbox resume -d"),
    "dead": Situation("", GOES_ON, "", kill_all, "interrupted", "interrupted", "no process", "onbox resume -d"),
    "away": Situation("", GOES_ON, "", None, "unknown", "unreachable", "refused", "patrol check away"),
    "done": Situation("", "train=echo ok", "CHAIN_DONE", None, "done", "done", "CHAIN_DONE", "patrol pull done/digits"),
    "lost": Situation(LEAVES, "", "CHAIN_DONE", lose_results, "done", "done", "best.npz", "resume --dry-run"),
    "stalled": Situation(STALLS, "", "", None, "stalled", "stalled", "signal is old", "onbox logs"),
    "changed": Situation(
        CHANGES.format(1), "", "", change_command, "interrupted", "interrupted", "no process", "onbox resume -d"
    ),
    "untold": Situation(TELLS, "", "", None, "running", "healthy", "undelivered", "onbox notify list"),
}


class TakenOver(NamedTuple):
    """All that the agent was told, by box; and what each run's journal and files said before and after."""

    listed: dict[str, Any]
    ticked: dict[str, Any]
    told: dict[str, dict[str, Any]]
    before: dict[str, Any]
    after: dict[str, Any]


def begin(place: Handbooked, name: str) -> None:
    situation, box = DRILL[name], place.add_box(name)
    if situation.config:
        (box.project / "onbox.toml").write_text(situation.config)
    box.onbox("chain", "-d", "--launch-check", "0", *filter(None, [situation.chain]))


def settle(place: Handbooked, name: str) -> None:
    situation, box = DRILL[name], place.boxes[name]
    if situation.waits:
        box.wait_for_marker(situation.waits)
    else:
        box.wait_for_log("/100")
    if name == "stalled":
        box.wait_for_event("stage_stalled")


def trace(box: Box) -> Any:
    """What would be another after any act on a run."""
    acts = [event["event"] for event in box.events() if not event["event"].startswith("notices")]
    starts = box.project / "starts"
    return acts, box.markers, starts.read_text() if starts.exists() else ""


@pytest.fixture(scope="module")
def taken_over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakenOver]:
    with handbooked(tmp_path_factory.mktemp("drill")) as place:
        bring_about(place)
        before = {name: trace(box) for name, box in place.boxes.items()}
        listed, ticked, told = take_over(place)
        after = {name: trace(box) for name, box in place.boxes.items()}
        yield TakenOver(listed, ticked, told, before, after)


def bring_about(place: Handbooked) -> None:
    """All the situations of the drill, until the patrol sees them."""
    place.head = '[patrol.thresholds]\nstart_grace = "1s"\n'
    for name in DRILL:
        begin(place, name)
    for name in DRILL:
        settle(place, name)
    place.build()
    for name, situation in DRILL.items():
        if situation.breaks is not None:
            situation.breaks(place.boxes[name])
    ssh = place.folder / "ssh-but-one"
    ssh.write_text(
        '#!/bin/sh\ncase " $* " in *" away "*) echo "ssh: connect to host away port 22: Connection refused" >&2; '
        f'exit 255;; esac\nexec {place.env["ONBOX_SSH_COMMAND"]} "$@"\n'
    )
    ssh.chmod(0o755)
    place.env["ONBOX_SSH_COMMAND"] = os.fspath(ssh)
    wait_until(lambda: all_seen(place.tick()), "looks that see how every run stands", 180.0)


def all_seen(rows: Any) -> bool:
    """Some rules need a second look."""
    flags = [one["rule"] for one in rows["untold/digits"]["further"]]
    return "notifications-stuck" in flags and all(
        rows[f"{name}/digits"]["rule"] == situation.rule for name, situation in DRILL.items()
    )


def take_over(place: Handbooked) -> tuple[Any, Any, dict[str, dict[str, Any]]]:
    """As the prompt `take-over` says: list, look, then each run, and what may not be done is asked for."""
    from mcp.client.stdio import stdio_client

    mcp: Any = import_module("mcp")

    found: list[Any] = []

    async def main() -> None:
        params = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "patrol", "mcp"], env=place.env, cwd=place.local
        )
        with anyio.fail_after(180):
            async with stdio_client(params) as streams, mcp.ClientSession(*streams) as session:
                await session.initialize()

                async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
                    said = await session.call_tool(tool, arguments)
                    assert not said.is_error, said.content[0].text
                    answer: dict[str, Any] = json.loads(said.content[0].text)
                    return answer

                listed, ticked = await ask("list_runs"), await ask("tick")
                told: dict[str, dict[str, Any]] = {}
                for row in ticked["data"]:
                    run = row["run"]
                    one = {tool: await ask(tool, run=run) for tool in ("run_summary", "triage", "next_step")}
                    acts = ("resume", "stop", "prune", "acknowledge")
                    one |= {act: await ask("act", run=run, action=act) for act in acts}
                    told[run.partition("/")[0]] = one
                found.extend((listed, ticked, told))

    anyio.run(main)
    listed, ticked, told = found
    return listed, ticked, told


ENDED = ("failed", "interrupted")
LIVE = ("running", "stalled", "unknown")
# What its command holds, in which states there is one, and what is said where there is none.
ACTS = {
    "resume": ("onbox resume -d", (*ENDED, *LIVE), "nothing to resume"),
    "stop": ("onbox stop", LIVE, "nothing to stop"),
    "prune": ("onbox prune --dry-run", (*ENDED, *LIVE, "done"), "onbox did not start it"),
    "acknowledge": ("patrol ack", (*ENDED, *LIVE, "done"), ""),
}


def everything(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False)


# Each of these looks at all runs: bringing them about takes half a minute, for each worker that gets a test.


def test_an_agent_is_told_state_cause_and_next_step(taken_over: TakenOver) -> None:
    for name, situation in DRILL.items():
        told = taken_over.told[name]
        summary, step = told["run_summary"]["data"], told["next_step"]["data"]
        assert (summary["state"], summary["rule"]) == (situation.state, situation.rule), name
        assert situation.cause in everything([told["run_summary"], told["triage"], step["a_resume_would"]]), name
        assert situation.command in step["next_command"], name
        assert step["then"], name
        assert step["never"], name
        assert bool(told["triage"]["data"]["failure"]) == (situation.state == "failed"), name


def test_nothing_is_changed_and_who_may_is_told(taken_over: TakenOver) -> None:
    assert taken_over.after == taken_over.before
    for name, situation in DRILL.items():
        told = taken_over.told[name]
        for act, (command, states, words) in ACTS.items():
            answer = told[act]["data"]
            assert (answer["done"], answer["never"]) == (False, told["next_step"]["data"]["never"]), (name, act)
            possible = situation.state in states
            assert bool(answer["command"]) == possible, (name, act)
            assert command in answer["command"] if possible else True, (name, act)
            assert ("a person types it" if possible else words) in answer["why"], (name, act)


def test_what_was_not_seen_is_named_and_nothing_else(taken_over: TakenOver) -> None:
    rows = {row["run"]: row for row in taken_over.listed["data"]}
    for name, situation in DRILL.items():
        for tool in ("run_summary", "triage", "next_step"):
            answer = taken_over.told[name][tool]
            unseen = " ".join(answer["could_not_look"])
            assert ("Connection refused" in unseen) == (name == "away"), (name, tool, unseen)
            assert answer["as_of"] is not None, (name, tool)
        assert rows[f"{name}/digits"]["state"] == situation.state, name


def test_what_a_resume_would_not_do_as_before_is_told(taken_over: TakenOver) -> None:
    changed = taken_over.told["changed"]["next_step"]["data"]["a_resume_would"]["changed"]
    assert "step 2/100" in everything(changed)
    assert "--redo" in everything(taken_over.told["lost"]["next_step"]["data"]["with_a_persons_word"])
    assert taken_over.ticked["could_not_look"] == ["away/digits: not reached"]
