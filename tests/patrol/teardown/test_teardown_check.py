"""`patrol teardown-check` as a user runs it: a no with its proof until all three conditions hold."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from onbox.model.screen import WIDTH, columns
from tests.box import wait_until
from tests.patrol.transfer.places import finish
from tests.patrolled import Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOX = 'price = "2.10 USD/h"\nstarted = "2026-01-01 08:00"\nprovider = "vast"\nclocks = ["released on Friday"]\n'


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        box = made.add_box("gpu1", BOX)
        (box.project / "metrics.json").write_text('{"accuracy": 0.97}')
        finish(box, "metrics.json")
        yield made


def said(place: Patrolled, *words: str) -> dict[str, bool | None]:
    """The conditions of the run, and the answer."""
    done = place.patrol("teardown-check", "gpu1", "--json", *words)
    data = json.loads(done.stdout)
    assert done.returncode == (0 if data["may"] else 1)
    (run,) = data["runs"]
    return {"may": data["may"], **{one["name"]: one["holds"] for one in run["conditions"]}}


def test_it_is_a_no_until_pulled_verified_and_said(place: Patrolled) -> None:
    word = ("--word", "destroy gpu1")
    assert said(place, *word) == {"may": False, "pulled": False, "verified": False, "word": True}
    assert place.patrol("pull", "gpu1/digits").returncode == 0
    assert said(place, *word) == {"may": False, "pulled": True, "verified": False, "word": True}
    assert place.patrol("verify", "gpu1/digits").returncode == 0
    assert said(place) == {"may": False, "pulled": True, "verified": True, "word": False}
    assert said(place, *word) == {"may": True, "pulled": True, "verified": True, "word": True}
    shown = place.patrol("teardown-check", "gpu1", *word).stdout
    assert "vastai destroy instance ID" in shown
    assert "released on Friday" in " ".join(shown.split())
    assert "USD" in shown
    assert "YOU MAY" in shown.splitlines()[-1]
    (place.local / "pulled/gpu1/digits/metrics.json").unlink()
    assert said(place, *word)["pulled"] is False, "what was home and is not any more does not count"


def test_a_word_for_another_box_or_verb_is_refused(place: Patrolled) -> None:
    for word in ("destroy", "destroy gpu2", "burn gpu1", "yes"):
        done = place.patrol("teardown-check", "gpu1", "--word", word)
        assert done.returncode == 64
        assert '"destroy gpu1"' in done.stderr


def test_a_new_run_of_the_same_name_is_not_home(place: Patrolled) -> None:
    assert place.patrol("pull", "gpu1/digits").returncode == 0
    assert place.patrol("verify", "gpu1/digits").returncode == 0
    box = place.boxes["gpu1"]
    ended = (box.state / "markers" / "CHAIN_DONE").stat().st_mtime
    wait_until(lambda: time.time() > ended + 2, "another second")  # an end is told in whole seconds
    assert box.onbox("chain", "--again").returncode == 0
    assert said(place, "--word", "stop gpu1")["may"] is False


def test_a_run_that_lives_is_a_no(place: Patrolled) -> None:
    box = place.boxes["gpu1"]
    assert box.onbox("chain", "-d", "--launch-check", "0", "--run", "second", "s=sleep 600").returncode == 0
    shown = place.patrol("teardown-check", "gpu1", "--word", "stop gpu1")
    assert shown.returncode == 1
    assert "it runs" in shown.stdout
    assert "NOT YET" in shown.stdout.splitlines()[-1]
    assert place.patrol("pull", "gpu1/second").returncode in (0, 1)
    runs = json.loads(place.patrol("teardown-check", "gpu1", "--json").stdout)["runs"]
    (second,) = [one for one in runs if one["run"] == "second"]
    pulled = next(one for one in second["conditions"] if one["name"] == "pulled")
    assert pulled["holds"] is False
    assert "it runs: what it has written since the pull is not here" in pulled["proof"]


def test_what_cannot_be_looked_at_is_not_given_back(place: Patrolled) -> None:
    place.sshd.stop()
    done = place.patrol("teardown-check", "gpu1", "--word", "stop gpu1")
    assert done.returncode == 3
    assert "could not look" in done.stderr


def test_the_meter_runs_in_the_line_and_the_next_step_leads_home(place: Patrolled) -> None:
    assert " · idle for " in place.patrol("tick").stdout
    assert " USD · idle for " in place.patrol("tick", "--wide").stdout
    steps = []
    for words in ((), ("pull", "gpu1/digits"), ("verify", "gpu1/digits")):
        if words:
            assert place.patrol(*words).returncode == 0
        steps.append(place.tick()["gpu1/digits"]["next_command"])
    assert steps == ["patrol pull gpu1/digits", "patrol verify gpu1/digits", "patrol teardown-check gpu1"]


def test_a_job_whose_log_alone_came_home_is_a_no_until_its_results_are_named(place: Patrolled) -> None:
    """Nobody has said where a job that onbox did not start leaves its results: that its log is here proves nothing."""
    entry = 'name = "fit", log = "train.log", process = "no-such-fit[.]py"'
    box = place.add_box("gpu2", f"watch = {{ {entry} }}")
    (box.project / "train.log").write_text("step 9/9\nTraining completed\n")
    os.utime(box.project / "train.log", (time.time() - 3600,) * 2)
    (box.project / "model.bin").write_bytes(b"weights")
    pulled = place.patrol("pull", "gpu2/fit").stdout
    assert "not done" not in pulled, "as the patrol says of it"
    assert "nothing proves" not in pulled
    assert "no results came, only its log and its records: name the result files in `artifacts`" in pulled
    assert place.patrol("verify", "gpu2/fit").returncode == 0
    word = ("teardown-check", "gpu2", "--word", "destroy gpu2")
    refused = place.patrol(*word)
    assert refused.returncode == 1
    says = " ".join(refused.stdout.split())  # it is folded
    assert "only its log and its records came; name the result files in `artifacts`" in says
    assert all(columns(line) <= WIDTH for line in refused.stdout.splitlines() if " no   " in line)
    assert "YOU MAY" not in refused.stdout
    place.tables["gpu2"] = place.tables["gpu2"].replace(entry, f'{entry}, artifacts = ["*.bin"]')
    place.write()
    assert place.patrol("pull", "gpu2/fit").returncode == 0
    assert (place.local / "pulled/gpu2/fit/model.bin").read_bytes() == b"weights"
    assert place.patrol("verify", "gpu2/fit").returncode == 0
    assert "YOU MAY" in place.patrol(*word).stdout
    with (box.project / "train.log").open("a") as log:
        log.write("step 1/9\n")  # it was started once more since
    assert "YOU MAY" not in place.patrol(*word).stdout
