"""What a box that lies cannot do to the patrol, the handbook and the sentinel of its user."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from typing import TYPE_CHECKING

import pytest

from onbox.contract.notices import Notice, notice_to_dict
from tests.box import BOUND_SECONDS

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
    assert place.sentinel("wait", "gpu1:digits", "--timeout", "60s").returncode == 0
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
        assert (
            "could not look at: runs («1 left out, not a run's name: x\\xffy»)" in place.patrol("tick", "--wide").stdout
        )
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
    place.lie(f"def stream(script):\n    {flood}\n")
    waited = place.measure(
        "sentinels", "wait", "gpu1:/nowhere/DONE", "gpu2:digits", "--all", "--timeout", "6s", "--json", timeout=60
    )
    assert waited.done.returncode in (0, 69, 124), waited.done.stdout + waited.done.stderr
    assert "gpu1" in waited.done.stdout
    assert waited.cpu_seconds < 10
    landed = place.sentinel("wait", "gpu1:/nowhere/DONE", "gpu2:digits", "--any", "--timeout", "60s")
    assert landed.returncode == 0, landed.stdout + landed.stderr


ANSWERS = {
    "60000 runs": """
        def change(out, script):
            word = re.escape(nonce(script))
            run = re.search(rb"\\n<<<" + word + rb" run>>>\\ndigits\\n", out)
            many = b"".join(mark(script, b"run") + b"r%d\\n" % at for at in range(60000))
            return out[: run.start()] + many + out[run.start() :]
        """,
    "300 whole runs": """
        def change(out, script):
            word = re.escape(nonce(script))
            run = re.search(rb"\\n<<<" + word + rb" run>>>\\n.*?(?=\\n<<<" + word + rb" count )", out, re.S)
            many = b"".join(run[0].replace(b"\\ndigits\\n", b"\\nr%d\\n" % at, 1) for at in range(300))
            return out[: run.start()] + many + out[run.end() :]
        """,
    "100 MB in one field": """
        def change(out, script):
            head, state, tail = out.partition(b'"state": "')
            yield head + state
            for _ in range(100):
                yield b"A" * (1 << 20)
            yield tail
        """,
    "7 MB in the log": """
        def change(out, script):
            return re.sub(rb"( at \\d+>>>\\n)", lambda found: found[1] + b"x" * 7_000_000, out, count=1)
        """,
    "7 MB of lines in every section": """
        def change(out, script):
            many = b"a 1 2 3 4 /x\\n0, 1, 2, 3, 4\\n" * 20_000
            names = rb"(\\n<<<\\w+ (?:memory|disk|run_disk|gpus|kernel|identity)>>>\\n)"
            return re.sub(names, lambda found: found[1] + many, out)
        """,
    "deep JSON": """
        def change(out, script):
            return out.replace(b'"state": "', b'"odd": ' + b"[" * 200_000 + b'], "state": "')
        """,
    "frames inside frames": """
        def change(out, script):
            word = nonce(script)
            names = (b"runs", b"run", b"/run", b"files", b"runs")
            fake = b"".join(b"\\n<<<%s %s>>>\\n" % (word, name) for name in names)
            return re.sub(rb"(\\n<<<\\w+ runs>>>\\n)", lambda found: found[1] + fake * 20_000, out)
        """,
    "every number with 5000 digits": """
        def change(out, script):
            return re.sub(rb"(?<=[ :.])\\d+(?=[ ,.\\n])", b"9" * 5000, out)
        """,
    "every number NaN": """
        def change(out, script):
            return re.sub(rb"(?<=[ :])\\d+(?=[ ,.\\n])", b"NaN", out)
        """,
    "years 0 and 9999": """
        def change(out, script):
            out = re.sub(rb"20\\d\\d-(\\d\\d)-\\d\\d", lambda found: b"0000-" + found[1] + b"-00", out, count=9)
            return re.sub(rb"20\\d\\d-", b"9999-", out)
        """,
    "every name twice": """
        def change(out, script):
            return re.sub(rb'("\\w+": )', rb'\\1"x", \\1', out)
        """,
    "half characters": """
        def change(out, script):
            return re.sub(rb'": "', rb'": "\\\\ud800\\\\udfff\\\\udc80 ', out)
        """,
    "no end": """
        def stream(script):
            while True:
                yield b"x" * (1 << 20)
        """,
    "a byte now and then": """
        def stream(script):
            import time
            while True:
                time.sleep(0.2)
                yield b"x"
        """,
}
DEADLINE_SECONDS = 12.0


@pytest.fixture(scope="session")
def honest_mib() -> list[float]:
    """The peak of an honest tick, measured by the first test that needs it."""
    return []


@pytest.fixture(scope="session")
def honest_build_mib() -> list[float]:
    """The same of a handbook that is built."""
    return []


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
def test_no_answer_costs_more_than_its_share(place_of_liars: Hostile, honest_mib: list[float], answer: str) -> None:
    """Within the deadline, with at most 64 MiB more than an honest answer, and the other box is seen as always."""
    place = place_of_liars
    place.head = f'[patrol]\ndeadline = "{DEADLINE_SECONDS:g}s"\n'
    place.know_two()
    if not honest_mib:
        honest_mib.append(place.measure("patrol", "tick", "--json").peak_mib)
    place.lie("import re\n" + textwrap.dedent(answer))
    ticked = place.measure("patrol", "tick", "--json", "gpu1", "gpu2")
    assert ticked.done.stdout, ticked.done.stderr
    seen = {"/".join(filter(None, (one["box"], one["run"]))): one for one in json.loads(ticked.done.stdout)["runs"]}
    assert seen["gpu2/digits"]["state"] == "done"
    assert any(name.startswith("gpu1") for name in seen)
    assert len(seen) <= 34
    assert len(ticked.done.stdout) < 1 << 20
    assert ticked.peak_mib < honest_mib[0] + 64
    assert ticked.seconds < DEADLINE_SECONDS + BOUND_SECONDS
    assert not (place.state / "defects").exists()
    if "stream" not in answer:
        again = place.tick("gpu1", "gpu2")
        assert again["gpu2/digits"]["state"] == "done", "what was remembered of it ends no later tick"


RECORDS = {
    "7 MB run.json": 'out.replace(b" manifest\\n{", b" manifest\\n{" + b\'"a": "\' + b"A" * 7_000_000 + b\'", \', 1)',
    "7 MB of dashes": 'out.replace(b" events\\n", b" events\\n" + b"-" * 7_000_000 + b"\\n", 1)',
    "100 MB of lines": 'out.replace(b" launches\\n", b" launches\\n" + b\'{"event": "x"}\\n\' * 7_000_000, 1)',
    "100000 runs": 'out.replace(b" run\\n", b"".join(b" run\\nr%d" % at + word for at in range(100000)) + b" run\\n")',
    "100000 markers": 'out.replace(b" forecast\\n", (b" marker a_DONE\\n{}\\n" + word) * 100000 + b" forecast\\n")',
    "deep": 'out.replace(b"{", b"{" + b\'"a": \' + b"[" * 50_000 + b"],")',
    "half characters": """re.sub(rb'": "', rb'": "\\\\ud800\\\\udc80\\\\udfff ', out)""",
}


@pytest.mark.parametrize("change", RECORDS.values(), ids=list(RECORDS))
def test_no_records_cost_more_than_their_share(
    place_of_liars: Hostile, honest_build_mib: list[float], change: str
) -> None:
    place = place_of_liars
    place.know_two()
    if not honest_build_mib:
        honest_build_mib.append(place.measure("handbook", "build", "--look").peak_mib)
    place.lie(
        "import re\n"
        "def change(out, script):\n"
        "    word = re.search(rb'<<<[0-9a-f]{32}>>>', script)\n"
        "    if word is None:\n        return out\n"
        "    word = b'\\n' + word[0]\n"
        f"    return {change}\n"
    )
    built = place.measure("handbook", "build", "--look")
    assert built.done.returncode == 0, built.done.stderr
    assert built.peak_mib < honest_build_mib[0] + 64
    assert built.seconds < BOUND_SECONDS
    assert sum(path.stat().st_size for path in place.local.rglob("*")) < 1 << 20
    assert "gpu2/digits" in (place.local / "HANDBOOK.md").read_text()
