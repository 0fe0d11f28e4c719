"""What a box that lies cannot do to the patrol, the handbook and the sentinel of its user."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from onbox.contract.notices import Notice, notice_to_dict

if TYPE_CHECKING:
    from tests.fault_server import FaultServer
    from tests.hostile_box import Hostile


def test_an_honest_answer_passes_through_whole(place_of_liars: Hostile) -> None:
    place = place_of_liars
    place.know_two()
    assert place.rules() == {"gpu1/digits": "done", "gpu2/digits": "done"}
    place.lie("def change(out, script): return out.replace(b'digits', b'numbers')")
    assert set(place.tick()) >= {"gpu1/numbers", "gpu2/digits"}
    place.lie("def each(line, script): return line")
    assert place.sentinel("wait", "gpu1:digits", "--timeout", "20s").returncode == 0
    place.lie("def stream(script):\n    yield mark(script, b'end')")
    assert place.tick()["gpu1/digits"]["state"] == "unknown"


def test_a_name_that_is_not_text_blinds_nobody(place_of_liars: Hostile) -> None:
    place = place_of_liars
    place.know_two()
    state = place.copy_project() / ".onbox"
    shutil.copytree(state / "digits", os.fsdecode(os.fsencode(state) + b"/x\xffy"))
    for _ in range(2):
        seen = place.tick()
        assert seen["gpu1/digits"]["state"] == seen["gpu2/digits"]["state"] == "done"
        assert set(seen) == {"gpu1/digits", "gpu2/digits"}
        assert "could not look at: runs (1 left out, not a run's name: x\\xffy)" in place.patrol("tick").stdout
    assert place.rules() == {"gpu1/digits": "done", "gpu2/digits": "done"}
    assert place.handbook("build", "--look").returncode == 0


def test_random_bytes_in_every_frame_blind_nobody(place_of_liars: Hostile) -> None:
    place = place_of_liars
    place.know_two()
    place.lie(
        """
        import random, re
        def change(out, script):
            chance = random.Random(7)
            word = re.escape(nonce(script))
            return re.sub(rb"<<<" + word + rb"[^\\n]*>>>\\n", lambda mark: mark[0] + chance.randbytes(40), out)
        """
    )
    for _ in range(2):
        seen = place.tick()
        assert seen["gpu2/digits"]["state"] == "done"
        assert any(name.startswith("gpu1") for name in seen)
    assert place.handbook("resume").returncode != 70


def test_a_waiting_notice_with_odd_numbers_ends_no_tick(place_of_liars: Hostile, server: FaultServer) -> None:
    place = place_of_liars
    place.head = '[notify.targets.team]\nurl = "env:HOOK"\n'
    place.env["HOOK"] = server.url()
    outbox = place.copy_project() / ".onbox" / "digits" / "outbox"
    outbox.mkdir(exist_ok=True)
    notice = Notice("msg_1", "2026-11-21T05:00:00.000Z", "chain_done", "done", "digits", "r1", "/p")
    told = json.dumps({"notice": {**notice_to_dict(notice), "duration_seconds": "N"}, "enqueued_at": notice.at})
    (outbox / "00000000000001-team.json").write_text(told.replace('"N"', "NaN") + "\n")
    for _ in range(2):
        assert place.tick()["gpu1/digits"]["state"] == "done"
    assert place.patrol("history").stdout.count("finished") == 1, "the second tick knows what the first one saw"


def test_a_defect_met_at_one_box_costs_that_box_only(place_of_liars: Hostile) -> None:
    """Whatever the judging fails at: here a look with half a character, put where no text of a box is looked at."""
    place = place_of_liars
    place.know_two()
    place.env["PYTHONPATH"] = f"{place.folder}:{place.env['PYTHONPATH']}"
    (place.folder / "sitecustomize.py").write_text(
        "import patrol.judge as j\nwhole = j.judge\n"
        "def judge(box, snapshot, *rest):\n"
        "    if box.name == 'gpu1' and type(snapshot).__name__ == 'BoxLook':\n        raise RuntimeError('odd')\n"
        "    return whole(box, snapshot, *rest)\nj.judge = judge\n"
    )
    for _ in range(3):
        seen = place.tick("gpu1", "gpu2")
        assert seen["gpu2/digits"]["state"] == "done"
        assert seen["gpu1"]["state"] == "unknown"
        assert "a defect in the patrol: RuntimeError: odd" in json.dumps(seen["gpu1"])
    (report,) = (place.state / "defects").iterdir()
    assert "RuntimeError: odd" in report.read_text()


FLOODS = {
    "hello at no time": "yield b'@s hello python inf boot 7\\n@s quiet 0 nan\\n'",
    "stamp of 5000 digits": "yield b'@s hello python 1 boot 7\\n@s file 0 present 1:2:' + b'7' * 5000 + b':4:5 - -\\n'",
    "lines without end": "while True: yield b'x' * (1 << 20) + b'\\n'",
    "beats without end": "yield b'@s hello python 1 boot 7\\n'\n    while True: yield b'@s beat 1\\n' * 100000",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=list(FLOODS))
def test_a_box_that_floods_ends_no_wait_for_another(place_of_liars: Hostile, flood: str) -> None:
    place = place_of_liars
    place.know_two()
    place.lie(f"def stream(script):\n    {flood}\n    import time; time.sleep(60)")
    waited = place.measure(
        "sentinels", "wait", "gpu1:digits", "gpu2:digits", "--all", "--timeout", "6s", "--json", timeout=60
    )
    assert waited.done.returncode in (69, 124), waited.done.stdout + waited.done.stderr
    assert "gpu1" in waited.done.stdout
    assert waited.cpu_seconds < 4
    landed = place.sentinel("wait", "gpu1:digits", "gpu2:digits", "--any", "--timeout", "20s")
    assert landed.returncode == 0, landed.stdout + landed.stderr
