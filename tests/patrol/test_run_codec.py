"""What is remembered of runs comes back as it was, also from files of earlier versions; what is not understood is read
once more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onbox.logs.cursor import Cursor
from onbox.logs.progress import ProgressReader
from onbox.model.boxes import BoxSettings, Watch
from onbox.trackers.reading import TrackerRun
from patrol.memory.run_codec import memories_of, run_to_text, texts_of
from patrol.memory.run_journal import nothing_read, take_in
from patrol.memory.run_manifest import NOT_READ, DeclaredStage, Manifest
from patrol.memory.run_memory import (
    BoxMemory,
    Handed,
    JudgedText,
    LogChange,
    LogPlace,
    Memories,
    RunMemory,
    TrackerMemory,
    Watched,
    WatchedJob,
)
from patrol.probe import log_memory
from patrol.probe.plan import plan
from patrol.snapshot import Failure

CASES = Path(__file__).resolve().parents[1] / "cases" / "memory"
STORED = sorted(path.name for path in CASES.iterdir())
FAILURE = Failure("cuda_oom", "a smaller batch", False, "s1", "CUDA out of memory", "", "log", traceback=("a", "b"))
LOG = LogPlace("logs/train.1.log", Cursor(1, 2, 3, "ab"), b"step 1\n", b"st\xff", ProgressReader().state(), 17, 4)
MANAGED = RunMemory(
    log=LOG,
    manifest=Manifest(
        "1.2.3", "r1", "/p", "ray", {"address": "x"}, targets=("me",), stages={"train": DeclaredStage(9.0)}
    ),
    journal=take_in(nothing_read(7), 0, (b'{"event": "chain_started", "launch": 1}\n',), 0),
    handed=Handed({"job_id": "j1", "state": "failed"}, "j1", LogChange(1, 2, 3.5)),
    pids=(12,),
    trackers={"train": TrackerMemory("wandb x", "1.2.3", 32768, True, TrackerRun("wandb", "x"), after_end=2)},
    marks="2.5",
)
WATCHED = RunMemory(log=LOG, watched=Watched(("1:2",), True, "done", JudgedText(1, 2, None, FAILURE)), pids=(1,))
JOB = RunMemory(job=WatchedJob("a", "b", True, "s", 2, 5.5, LogChange(1, 2, 3.5)))
ALL = Memories(BoxMemory("b1", 7.5), {"managed": MANAGED, "watched": WATCHED, "job": JOB})


def stored(name: str) -> Memories:
    return memories_of({run: json.dumps(data) for run, data in json.loads((CASES / name).read_text()).items()})


def test_every_record_comes_back_as_it_was() -> None:
    texts = dict(texts_of(ALL, {}))
    again = memories_of(texts)
    assert again.box == ALL.box
    for name, run in ALL.runs.items():
        assert again.runs[name]._replace(journal=None) == run._replace(journal=None)
    assert vars(again.runs["managed"].journal.facts)["launches"] == 1  # type: ignore[union-attr]
    assert dict(texts_of(again, {})) == texts, "what is not new is the same text, and is not masked again"


@pytest.mark.parametrize("name", STORED)
def test_a_memory_of_an_earlier_version_is_gone_on_from(name: str) -> None:
    """A patrol that is replaced goes on: with the jobs that it submitted, and the ends that engines have forgotten."""
    memories = stored(name)
    runs = memories.runs
    assert memories.box.boot_id == "11111111-2222-3333-4444-555555555555"
    assert runs["resubmitted"].job == WatchedJob("raysubmit_1", "raysubmit_2", restarts=1, submitted_at=1790000100.0)
    cluster = runs["cluster"].job
    assert cluster is not None
    assert (cluster.seen, cluster.session, cluster.log is None) == (True, "session_1", False)
    assert runs["handed"].handed.ended is not None
    assert runs["handed"].handed.ended["failure_class"] == "host_oom"
    assert runs["handed"].handed.log == LogChange(123, 456, 1790000000.0)
    hand = runs["hand"]
    assert (hand.watched.at_home, hand.pids) == (True, (int(hand.watched.processes[0][:4]),))
    assert hand.log is None, "what the earlier reader of its progress knew cannot be gone on from: the log is read anew"
    judged = runs["crashed"].watched.judged
    assert judged is not None
    assert judged.failure is not None
    assert judged.failure.failure_class == "cuda_oom"
    digits = runs["digits"]
    assert digits.manifest is not None
    assert (digits.manifest.run_id, digits.manifest.id) == ("20261121-2873615c", NOT_READ), "run.json is asked for anew"
    assert digits.trackers["train"].run == TrackerRun(
        "wandb", "abc12345", "try-7", "digits", "running", 118.0, True, 1790000000.0, 0.5, True
    )


@pytest.mark.parametrize("name", STORED)
def test_what_is_asked_after_an_upgrade_is_all_of_the_managed_run_and_all_of_a_log(name: str) -> None:
    memories = stored(name)
    box = BoxSettings("b", "b", project="/root/digits", watches=(Watch("hand", log="train.log"),))
    asked = {call.label: call.values for call in plan(box, ".onbox", memories).calls}
    words = asked["runs"]
    at = words.index("digits")
    assert words[at : at + 5] == ("digits", "0:", "0", "0", "-")
    new = {call.label: call.values for call in plan(box, ".onbox", Memories(BoxMemory(), {})).calls}
    assert asked["log.0"][:5] == new["log.0"][:5]


BROKEN: list[Any] = [None, 5, "x", [1, 2, 3], {"x": 1}]


@pytest.mark.parametrize("name", [*STORED, "today"])
def test_a_part_of_another_shape_costs_that_part_only(name: str) -> None:
    """Every part of every record, replaced by what no version ever wrote: nothing raises, and no other run suffers."""
    texts = dict(texts_of(ALL, {}))
    kept = (
        {run: json.loads(text) for run, text in texts.items()}
        if name == "today"
        else json.loads((CASES / name).read_text())
    )
    for run, data in kept.items():
        for path in paths(data):
            for junk in BROKEN:
                spoilt = {**kept, run: replaced(data, path, junk)}
                found = memories_of({one: json.dumps(value) for one, value in spoilt.items()})
                assert set(kept) - {run, ""} <= set(found.runs)
                for memory in found.runs.values():
                    run_to_text(memory)
                    log_memory.progress(memory.log)
    assert memories_of({"": "{", "a": "[1", "b": "null", "c": "5"}) == Memories(BoxMemory(), {})


def paths(data: Any, depth: int = 3) -> list[tuple[str, ...]]:
    """What stands in a journal's facts and in a progress reader's state is their own."""
    if not isinstance(data, dict) or depth == 0 or {"newest_event", "track"} & set(data):
        return []
    return [path for key, value in data.items() for path in [(key,), *((key, *p) for p in paths(value, depth - 1))]]


def replaced(data: dict[str, Any], path: tuple[str, ...], junk: Any) -> dict[str, Any]:
    key, *rest = path
    return {**data, key: replaced(data[key], tuple(rest), junk) if rest else junk}


@pytest.mark.parametrize(("key", "junk"), [("schema", 1), ("repeats", None), ("jobs", 5), ("end", "x")])
def test_a_journal_of_another_shape_is_read_from_its_beginning(key: str, junk: Any) -> None:
    data = json.loads(run_to_text(MANAGED))
    data["journal"]["facts"][key] = junk
    again = memories_of({"m": json.dumps(data)}).runs["m"]
    assert again.journal is not None
    assert (again.journal.offset, again.manifest) == (0, MANAGED.manifest)


def test_a_failure_of_another_shape_is_judged_anew() -> None:
    data = json.loads(run_to_text(WATCHED))
    del data["watched"]["judged"]["failure"]["remedy"]
    again = memories_of({"w": json.dumps(data)}).runs["w"]
    assert (again.watched.judged, again.watched.processes) == (None, ("1:2",))


def test_a_look_leaves_what_it_was_given_as_it_was() -> None:
    """The look before it may be taken again, as a second opinion."""
    place = take_in(nothing_read(1), 0, (b'{"event": "chain_started", "launch": 1}\n',), 0)
    later = take_in(place, place.offset, (b'{"event": "chain_done", "attempt": 1}\n',), 0)
    assert (place.facts.is_open, later.facts.is_open) == (True, False)
