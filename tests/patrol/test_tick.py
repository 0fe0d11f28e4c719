"""One tick, called as the command does: the boxes are folders of this machine, asked by its own shell; the memory is a
real one.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.local.locks import take
from onbox.model.manifest import Stage
from onbox.project import load_project
from patrol.config.configured import settings_of
from patrol.decide.table import BOX_FLAGS
from patrol.memory.store import Memory
from patrol.tick import LOCK, Busy, Ticked, TickWishes, tick
from patrol.timer.heartbeat import read_heartbeat
from patrol.verdict import Severity
from tests.box import Box
from tests.chain_here import ChainHere, end_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from patrol.config.settings import Settings

QUIET = "".join(f'[[patrol.rules]]\nname = "{rule.name}"\nenabled = false\n' for rule in BOX_FLAGS)
FAR = '[boxes.far]\nhost = "far"\nproject = "/x"\n'


class Here:
    """A local side, and a box that is a folder beside it with one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        project = folder / "box" / "digits"
        project.mkdir(parents=True)
        self.chain = ChainHere(Box(project))
        self.near = f'[boxes.near]\nbackend = "local"\nproject = "{project}"\n'
        self.shown: list[str] = []

    def settings(self, boxes: str = "", *, head: str = "") -> Settings:
        # The client of boxes that are reached by ssh: one that is refused.
        path = self.folder / "local" / "onbox.toml"
        path.parent.mkdir(exist_ok=True)
        client = """[ssh]\ncommand = "sh -c 'echo Connection refused >&2; exit 255' ssh"\n"""
        path.write_text(head + client + QUIET + (boxes or self.near))
        return settings_of(load_project(str(path)), {"XDG_STATE_HOME": str(self.folder / "state")})

    def tick(self, settings: Settings, *, unattended: bool = False, act: bool = False) -> Ticked:
        wishes = TickWishes(settings.config.boxes, unattended=unattended, act=act)
        self.shown = []
        return tick(settings, wishes, {}, lambda one: self.shown.append(one.box.name))

    def rules(self, ticked: Ticked) -> dict[str, str]:
        return {
            f"{box.box.name}/{run.verdict.run}": run.verdict.finding.rule for box in ticked.judged for run in box.runs
        }


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    made = Here(tmp_path)
    yield made
    made.chain.box.end_everything()


def test_a_run_that_is_done_is_looked_at_judged_and_remembered(here: Here) -> None:
    assert here.chain.run(Stage("a", "true")) == Exit.DONE
    settings = here.settings()
    ticked = here.tick(settings)
    assert here.rules(ticked) == {"near/digits": "done"}
    assert (here.shown, ticked.troubles) == (["near"], ())
    past = Memory(settings.state).recall()
    assert set(past.memories) == {"near"}
    heartbeat = read_heartbeat(settings.state)
    assert heartbeat is not None
    assert (heartbeat.boxes, heartbeat.runs, heartbeat.exit_code) == (1, 1, int(ticked.severity))
    assert heartbeat.ended_at is not None


def test_a_failure_makes_the_tick_critical_and_names_its_cause(here: Here) -> None:
    here.chain.run(Stage("a", "echo 'ValueError: bad shape' >&2; exit 1"))
    ticked = here.tick(here.settings())
    assert ticked.severity is Severity.CRITICAL
    ((run,),) = [box.runs for box in ticked.judged]
    assert "ValueError: bad shape" in run.line


def test_a_box_that_is_not_reached_hides_no_other_and_is_never_well(here: Here) -> None:
    here.chain.run(Stage("a", "true"))
    ticked = here.tick(here.settings(FAR + here.near))
    assert [box.box.name for box in ticked.judged] == ["far", "near"], "in the order of the file"
    assert here.rules(ticked)["near/digits"] == "done"
    assert ticked.severity is not Severity.OK
    assert sorted(here.shown) == ["far", "near"]


def test_what_was_seen_before_is_not_forgotten_when_a_box_is_out_of_sight(here: Here) -> None:
    here.chain.run(Stage("a", "true"))
    settings = here.settings()
    here.tick(settings)
    known = Memory(settings.state).recall().memories["near"]
    gone = here.settings(here.near.replace('backend = "local"', 'host = "far"'))
    ticked = here.tick(gone)
    assert here.rules(ticked) == {"near/digits": "unreachable"}
    assert Memory(settings.state).recall().memories["near"] == known


def test_a_second_look_at_the_same_end_says_no_more(here: Here) -> None:
    here.chain.run(Stage("a", "true"))
    settings = here.settings()
    before = here.chain.told
    assert here.rules(here.tick(settings)) == here.rules(here.tick(settings))
    assert here.chain.told == before, "a look leaves nothing in the run"


def test_two_ticks_never_work_at_once(here: Here) -> None:
    settings = here.settings()
    os.makedirs(settings.state)
    lock = take(os.path.join(settings.state, LOCK))
    assert lock is not None
    with pytest.raises(Busy):
        here.tick(settings)
    lock.release()
    here.tick(settings)
    assert here.shown == ["near"]


def test_only_a_timers_tick_counts_as_the_timers(here: Here) -> None:
    settings = here.settings()
    here.tick(settings, unattended=True)
    timer_at = getattr(read_heartbeat(settings.state), "timer_at", None)
    assert timer_at is not None
    here.tick(settings)
    assert getattr(read_heartbeat(settings.state), "timer_at", None) == timer_at


def test_a_box_learns_of_its_patrol_only_by_a_timers_tick_that_acts(here: Here) -> None:
    here.chain.run(Stage("a", "true"))
    settings = here.settings()
    here.tick(settings, unattended=True, act=False)
    assert not (here.chain.box.state.parent / ".patrolled").exists()
    here.tick(settings, unattended=True, act=True)
    assert (here.chain.box.state.parent / ".patrolled").exists()


def test_a_folder_that_cannot_be_written_hinders_no_look_and_nothing_is_done(here: Here) -> None:
    here.chain.run(Stage("a", "true"))
    (here.folder / "state").write_text("a file where the folder should be")
    ticked = here.tick(here.settings(), act=True)
    assert here.rules(ticked) == {"near/digits": "done"}
    (trouble,) = ticked.troubles
    assert "nothing was done but to look" in trouble
    assert ticked.severity is not Severity.OK


def test_an_error_in_the_table_of_the_patrol_is_told_before_any_box_is_looked_at(here: Here) -> None:
    settings = here.settings(head='[patrol.thresholds]\nno_such = "1h"\n')
    with pytest.raises(Trouble, match=r"errors in \[patrol\]; no box was looked at"):
        here.tick(settings)
    assert here.shown == []


# -- a resume that is allowed


def interrupted(here: Here) -> Settings:
    """The run was ended by the machine in its first stage; whoever patrols it may resume it."""
    stage = Stage("a", "echo $ONBOX_RESUME >>ran; touch began; test -e go || sleep 600")
    pid = here.chain.begin(here.chain.freeze(stage, python=sys.executable))
    here.chain.box.wait_for_file("began")
    os.kill(pid, signal.SIGTERM)
    assert end_of(pid) == Exit.STOPPED
    (here.chain.box.project / "go").touch()
    return here.settings(here.near + 'recover = "resume"\n')


def acts(settings: Settings) -> list[tuple[str, str]]:
    return [(act.kind, act.outcome) for act in reversed(Memory(settings.state).acts(10))]


def test_a_run_that_was_interrupted_is_resumed_once_and_both_are_on_record(here: Here) -> None:
    settings = interrupted(here)
    ticked = here.tick(settings, act=True)
    ((run,),) = [box.runs for box in ticked.judged]
    assert run.line.endswith("· resumed by this patrol")
    assert acts(settings) == [("resume", "trying"), ("resume-outcome", "resumed")]
    here.chain.box.wait_for_marker("CHAIN_DONE")
    assert here.chain.box.ran == ["0", "1"]


def test_a_tick_that_only_looks_resumes_nothing(here: Here) -> None:
    settings = interrupted(here)
    assert here.rules(here.tick(settings, act=False)) == {"near/digits": "interrupted-recorded"}
    assert (acts(settings), here.chain.box.ran) == ([], ["0"])


def test_without_a_memory_nothing_is_resumed(here: Here) -> None:
    settings = interrupted(here)
    (here.folder / "state").write_text("a file where the folder should be")
    here.tick(settings, act=True)
    assert here.chain.box.ran == ["0"]
