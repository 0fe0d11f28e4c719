"""Whoever shows a run says the same: its state, how bad it is, and what to type next. Real runs, every door."""

from __future__ import annotations

import json
import os
import re
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import pytest

from onbox.contract.states import RunState
from onbox.system.process import find_tree
from onbox.triage.classes import REMEDIES, may_repeat
from patrol.verdict import Severity
from tests.box import wait_until
from tests.handbooked import Handbooked, handbooked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

FAILURES = sorted(REMEDIES.keys() - {"success_healthy"})
STATES = ("stopped", "done", "interrupted", "orphan", "refused", "running", "acked", "elsewhere", "doubted")
# What no next command may do: that needs a person's word.
FORBIDDEN = re.compile(r"\b(?:stop|ack|--redo|--accept-done|--any-checkpoint|--again|chain|rm|kill)\b")


class Door(NamedTuple):
    """What one way of looking says of a run. severity: None where it tells none."""

    state: str
    next_command: str
    severity: str | None = None


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Door]]]:
    """What each door says, by `box/run` and the door's name."""
    with handbooked(tmp_path_factory.mktemp("doors")) as place:
        failed, mixed = place.add_box("fails"), place.add_box("mixed")
        fail_in_every_way(failed)
        end_in_every_way(mixed)
        place.head = '[patrol]\ntextfile = "runs.prom"\n'
        place.write()
        yield look_through_all(place)


def fail_in_every_way(box: Box) -> None:
    """One run for each class of failures, found in its log by a rule of the user's own."""
    rows = "".join(f'[[triage]]\nregex = "^BOOM {key}$"\nclass = "{key}"\n' for key in FAILURES)
    (box.project / "onbox.toml").write_text(rows)
    words = [(f"chain --inline --run {key}", f"train=echo BOOM {key}; exit 9") for key in FAILURES]
    for options, stage in words:
        assert box.onbox(*options.split(), stage).returncode == 1


def end_in_every_way(box: Box) -> None:
    waits = "train=echo step 1/9; until test -e go; do sleep 0.1; done"
    (box.project / "full.toml").write_text('[gates]\ndisk_free = "999PB"\n')
    for run in ("done", "acked"):
        assert box.onbox("chain", "--run", run, "train=true").returncode == 0
    assert box.onbox("chain", "--run", "doubted", "train=echo epoch 3/10 loss 0.4", "eval=true").returncode == 0
    full = "train=echo 'tee: /mnt/small/out: No space left on device'; exit 1"
    assert box.onbox("chain", "--run", "elsewhere", full).returncode == 1
    assert box.onbox("chain", "-c", "full.toml", "--run", "refused", "train=true").returncode == 3
    for run in ("stopped", "interrupted", "orphan", "running"):
        assert box.onbox("chain", "-d", "--launch-check", "0", "--run", run, waits).returncode == 0
    assert box.onbox("stop", "--now", "stopped").returncode == 0
    for run in ("interrupted", "orphan"):
        kill(box, run, and_stage=run == "interrupted")


def kill(box: Box, run: str, *, and_stage: bool) -> None:
    """kill -9 of a run's runner and keeper, and of its stage."""
    folder = box.project / ".onbox" / run

    def begun() -> tuple[int, int] | None:
        """Runner and keeper, once all of it is there: the launch returns before."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            holder, tree = (json.loads((folder / name).read_text()) for name in ("lock", "status.json"))
            if (folder / "logs" / "train.log").stat().st_size:
                return int(holder["pid"]), int(tree["keeper"]["pid"])
        return None

    for pid in wait_until(begun, f"{run} to be at work") or ():
        os.kill(pid, signal.SIGKILL)
    stage = find_tree(None, f"ONBOX_RUN_DIR={box.project}/.onbox/{run}".encode()) if and_stage else []
    for entry in stage:
        with suppress(ProcessLookupError):
            os.kill(entry.identity.pid, signal.SIGKILL)

    def over() -> bool:
        said = json.loads(box.onbox("status", "--json", run).stdout)
        return not said["runner_alive"] and said["stage_alive"] != and_stage

    wait_until(over, f"{run} to have lost its runner")


def look_through_all(place: Handbooked) -> dict[str, dict[str, Door]]:
    place.tick()  # a death is believed at the second look
    assert place.patrol("ack", "mixed/acked").returncode == 0
    ticked = place.patrol("tick", "--json")
    said = json.loads(ticked.stdout)
    assert ticked.returncode == said["exit_code"]
    found: dict[str, dict[str, Door]] = {}
    for one in said["runs"]:
        name = f"{one['box']}/{one['run']}"
        severity = one["severity_told"]
        found[name] = {"patrol --json": Door(one["state"], one["next_command"], severity)}
        box = place.boxes[one["box"]]
        status = json.loads(box.onbox("status", "--json", one["run"]).stdout)
        known_there = status["next_command"] or one["next_command"]  # a box does not know what it is called here
        found[name]["onbox status --json"] = Door(status["state"], known_there)
    for one in json.loads(place.handbook("resume", "--json").stdout)["runs"]:
        name = f"{one['box']}/{one['run']}"
        found[name]["handbook resume --json"] = Door(one["state"], one["next_command"])
    page = place.build()
    for name, told in found.items():
        part = page.partition(f"\n## {name}: ")[2].partition("\n## ")[0]
        if part:  # a page describes the ten that need somebody most; handbook.json has all
            state = part.split()[0].lower()
            shown = re.search(r"^- \*\*next\*\* (`+) ?(.*?) ?\1", part, re.M)
            assert shown, part
            told["HANDBOOK.md"] = Door(state, shown[2])
    read_handoff(place.handbook("handoff").stdout, found)
    read_text(place.patrol("tick").stdout, found)
    read_metrics(place.local / "runs.prom", found)
    nagios = place.patrol("tick", "--nagios")
    found[""] = {"exit": Door("", "", str(ticked.returncode)), "nagios": Door("", "", nagios.stdout)}
    return found


def read_text(text: str, found: dict[str, dict[str, Door]]) -> None:
    """One line a run, and below what is wrong the next command."""
    for name, told in found.items():
        part = re.search(rf"^\d\d:\d\d {re.escape(name)} ([A-Z]+)\b.*\n((?: .*\n)*)", text, re.M)
        assert part, (name, text)
        command = re.search(r"^  next     (.*)$", part[2], re.M)
        quiet = told["patrol --json"].severity == "ok"
        assert quiet or command, (name, part[0])
        told["patrol tick"] = Door(part[1].lower(), command[1] if command else told["patrol --json"].next_command)


def read_metrics(path: Path, found: dict[str, dict[str, Door]]) -> None:
    text = path.read_text()
    numbers = dict(re.findall(r'^patrol_run_severity(\{box="\w+",run="\w+")\} (\d)', text, re.M))
    for labels, box, run, state in re.findall(
        r'^patrol_run_info(\{box="(\w+)",run="(\w+)"),state="(\w+)",rule=".*"\} 1', text, re.M
    ):
        known = found[f"{box}/{run}"]["patrol --json"]
        severity = Severity(int(numbers[labels])).name.lower()
        found[f"{box}/{run}"]["metrics"] = Door(state, known.next_command, severity)


def read_handoff(text: str, found: dict[str, dict[str, Door]]) -> None:
    for name, told in found.items():
        part = text.partition(f"\n- {name}: ")[2].partition("\n- ")[0]
        if part:  # the block names those that need somebody most
            command = re.search(r"next: (`+) ?(.*?) ?\1", part)
            assert command, part
            told["handbook handoff"] = Door(part.split(",")[0].split()[0].lower(), command[2])


def plain(command: str) -> str:
    """A command without the way to the box, and without how onbox is called there."""
    inner = re.sub(r"^ssh .*?'(.*)'$", r"\1", command.replace("'\"'\"'", "'"))
    inner = re.sub(r"^cd \S+ && ", "", inner)
    return re.sub(r"(?:\S*/)?(?:python\S* -m )?\bonbox ", "onbox ", inner)


def test_every_door_says_the_same(doors: dict[str, dict[str, Door]]) -> None:
    names = {f"fails/{key}" for key in FAILURES} | {f"mixed/{state}" for state in STATES}
    assert names == set(doors) - {""}
    for name in names:
        told = doors[name]
        assert len(told) >= 5, told
        assert len({door.severity for door in told.values()} - {None}) == 1, (name, told)
        assert len({door.state for door in told.values()}) == 1, (name, told)
        assert len({plain(door.next_command) for door in told.values()}) == 1, (name, told)
        from_here = {door.next_command for way, door in told.items() if way != "onbox status --json"}
        assert len(from_here) == 1, (name, told)  # how onbox is called there is one answer, too


def test_the_next_command_is_the_right_one_and_needs_no_persons_word(doors: dict[str, dict[str, Door]]) -> None:
    """In one test: each worker that has one of this file's tests looks through all doors, which takes half a minute."""
    for name, told in doors.items():
        for door in told.values():
            run = name.partition("/")[2]
            words = plain(door.next_command).replace(run, "") if run else ""
            assert not FORBIDDEN.search(words), (name, door)
    for way, door in doors["mixed/elsewhere"].items():  # the disk that was full, not the project's own
        assert "df -h /mnt/small && df -i /mnt/small && " in door.next_command, way
    assert "patrol pull" in doors["mixed/done"]["patrol --json"].next_command
    for way, door in doors["mixed/doubted"].items():  # a warning is looked at before the results are taken
        assert plain(door.next_command) == "onbox status doubted", way
    assert doors["mixed/doubted"]["patrol --json"].severity == "warning"


def test_a_resume_is_next_only_where_the_same_may_help(doors: dict[str, dict[str, Door]]) -> None:
    for key in FAILURES:
        command = plain(doors[f"fails/{key}"]["patrol --json"].next_command)
        assert " resume -d " not in command, key  # a failure is read before anything is typed
        assert may_repeat(key) or re.search(r"^(?:df|onbox logs|onbox status|onbox resume --dry-run) ", command), key
    assert " resume -d " in doors["mixed/interrupted"]["patrol --json"].next_command
    assert " resume -d " in doors["mixed/orphan"]["patrol --json"].next_command
    assert "--dry-run" in doors["mixed/stopped"]["patrol --json"].next_command


def test_severity_is_the_exit_code_in_every_form(doors: dict[str, dict[str, Door]]) -> None:
    code = int(doors[""]["exit"].severity or -1)
    said = {name: told["patrol --json"].severity for name, told in doors.items() if name}
    ranks = {severity.name.lower(): severity for severity in Severity}
    worst = max((ranks[one] for one in said.values() if one), key=lambda one: one.rank)
    assert code == int(worst)
    assert (doors[""]["nagios"].severity or "").startswith(f"PATROL {worst.name}")
    assert said["mixed/acked"] == said["mixed/done"] == said["mixed/stopped"] == "ok"
    assert doors["mixed/done"]["patrol --json"].state == RunState.DONE.value
