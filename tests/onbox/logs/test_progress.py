"""How far a run is: many displays and traps, any cut of the bytes, hostile logs, the user's own shape, words."""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from typing import Any

import pytest

from onbox.contract.progress import Progress, render_progress
from onbox.logs.line.read import read_line
from onbox.logs.line.shapes import SHAPES
from onbox.logs.line.words import LONE_WORDS
from onbox.logs.progress import ProgressReader, ProgressSettings, read_progress
from tests.box import BOUND_SECONDS

CASES = os.path.join(os.path.dirname(__file__), "..", "..", "cases", "progress")
with open(os.path.join(CASES, "expectations.json"), encoding="utf-8") as _file:
    EXPECTED: list[dict[str, Any]] = json.load(_file)


def read(name: str) -> bytes:
    with open(os.path.join(CASES, name), "rb") as file:
        return file.read()


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda row: row["file"])
def test_case(expected: dict[str, Any]) -> None:
    progress = read_progress(read(expected["file"]))
    for name, want in expected.items():
        if name == "file" or name.startswith("accept_"):
            continue
        got = getattr(progress, name)
        if name == "current" and expected.get("current_rounded"):
            assert got == pytest.approx(want, rel=0.01)
        else:
            assert got in [want, *expected.get("accept_" + name.removeprefix("exact_"), [])], name


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.id)
def test_every_shape_reads_its_example(shape: Any) -> None:
    assert shape.id in {sight.rule for sight in read_line(shape.example).sights}


def test_shape_names_are_unique() -> None:
    assert len({shape.id for shape in SHAPES}) == len(SHAPES)


def test_the_result_does_not_depend_on_how_the_bytes_are_cut() -> None:
    cut = random.Random(7)
    for row, most in zip(EXPECTED, itertools.cycle((1, 7, 200))):
        data = read(row["file"])
        reader, at = ProgressReader(), 0
        while at < len(data):
            step = cut.randint(1, most)
            reader.feed(data[at : at + step])
            at += step
            if cut.random() < 0.05:
                reader = ProgressReader.from_state(json.loads(json.dumps(reader.state())))
        assert reader.result() == read_progress(data), row["file"]


def test_the_users_own_counter_is_read_beside_everything_else() -> None:
    reader = ProgressReader(ProgressSettings(regex=r"did (?P<current>\d+) of (?P<max>\d+) things"))
    for at in range(1, 1000):
        reader.feed(b"eval batch 7/9\nINFO did %d of 5000 things, loss 2.%03d\nnothing to see\n" % (at, 999 - at))
    shown = reader.result()
    assert (shown.current, shown.exact_max, shown.loss) == (999, 5000, 2.0)


def test_a_line_that_only_the_users_own_regex_knows_is_read() -> None:
    reader = ProgressReader(ProgressSettings(regex=r"@(?P<current>\d+)"))
    reader.feed(b"nothing to see\n@12 here\nnothing to see\n\x1b[32m@13\x1b[0m there\nnothing\n")
    assert reader.result().current == 13


def test_a_state_of_another_version_is_refused() -> None:
    reader = ProgressReader()
    reader.feed(b"step 10/2000 loss 1.5\n" * 2)
    state = json.loads(json.dumps(reader.state()))
    state["track"]["fields"] -= 1
    with pytest.raises(ValueError, match="another version"):
        ProgressReader.from_state(state)


def test_asking_for_the_result_changes_nothing() -> None:
    reader = ProgressReader()
    reader.feed(b"step 10/2000 loss 1.5\nstep 20/20")
    assert (reader.result().current, reader.result().exact_max) == (20, 2000)  # half a number is not read
    reader.feed(b"00 loss 1.4\n")
    assert (reader.result().current, reader.result().exact_max, reader.result().loss) == (20, 2000, 1.4)


def test_of_alike_lines_with_remarks_between_few_are_looked_at() -> None:
    reader = ProgressReader()
    for number in range(1, 2001):
        reader.feed(b"part %d from the cache\nINFO step %d/5000 loss 1.5\n" % (number % 7, number))
    assert reader.result()[:2] == (2000, 5000)
    assert reader.track.line < 200


def test_a_ten_megabyte_line_of_bars() -> None:
    bars = b"".join(
        b"\r%3d%%|###   | %d/200000 [1:00<2:00, 3.2it/s]" % (100 * n // 200000, n) for n in range(0, 200000, 1)
    )
    reader = ProgressReader()
    began = time.process_time()
    reader.feed(bars)
    assert time.process_time() - began < BOUND_SECONDS
    assert reader.result()[:2] == (199999, 200000)
    assert len(json.dumps(reader.state())) < 10_000


@pytest.mark.parametrize(
    "data",
    [b"\0" * 100_000, b"\xff\xfe" * 50_000, b"1/2 " * 100_000, b"step " * 50_000, b"[" * 100_000, b"9" * 100_000,
    b"=" * 100_000,
     b"epoch 1/2" * 20_000, b"\x1b[" * 50_000, b"\r" * 100_000, b"loss: " * 30_000, b"1:" * 50_000, b"a_" * 50_000],
    ids=lambda data: repr(data[:8]),
)  # fmt: skip
def test_hostile_lines_are_read_in_bounded_time_and_memory(data: bytes) -> None:
    began = time.process_time()
    reader = ProgressReader()
    reader.feed(data)
    reader.feed(b"\n" + data)
    reader.result()
    assert time.process_time() - began < BOUND_SECONDS
    assert len(json.dumps(reader.state())) < 1_000_000


def test_the_users_own_shape_wins() -> None:
    settings = ProgressSettings(r"<<(?P<current>\d+)~(?P<max>\d+)>>")
    data = b"step 3/10\n<<41~900>>\nstep 4/10\n"
    assert read_progress(data, settings)[:2] == (41, 900)


def test_the_configured_maximum_wins() -> None:
    assert read_progress(b"step 41/900\n", ProgressSettings(max=5155)).exact_max == 5155
    assert (
        read_progress(
            b"4.60k/5.16k [1:00<2:00, 3.2it/s]\n 89%|##| 4.60k/5.16k [1:00<2:00, 3it/s]", ProgressSettings(max=5155)
        ).exact_max
        == 5155
    )


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(), "no progress shown"),
        (Progress(4600, 5155, eta_seconds=4320, loss=0.41), "~4600/5155 (89%) eta 1h12m loss 0.41"),
        (Progress(4600, None), "~4600/unknown"),
        (Progress(5154, 5155), "~5154/5155 (99%)"),
        (Progress(0.5, 3, loss="nan"), "~0.5/3 (16%) loss nan"),
        (Progress(percent=45.0), "45%"),
        (Progress(10, 10, eta_seconds=0, finished=True), "~10/10 (100%)"),
        (Progress(29, 50), "~29/50 (58%)"),
        (Progress(4, 4, inner_current=33, inner_max=100, finished=False), "~4/4 (83%)"),
        (Progress(4, 4, inner_current=100, inner_max=100, finished=True), "~4/4 (100%)"),
    ],
)
def test_words(progress: Progress, text: str) -> None:
    assert render_progress(progress) == text


@pytest.mark.parametrize(
    "line",
    [
        "step 10/5000+ loss 1", "step 10/5 million loss 1", "step 10/1e6 loss 1", "step 10/5 thousand loss 1",
        "Training for ~5000 steps\nstep 10 loss 1",
        "about 5000 total steps\nTraining for roughly 5000 steps\nstep 10 loss 1",
        "total steps: more than 5000\nstep 10 loss 1",
    ],
)  # fmt: skip
def test_an_approximate_maximum_is_never_exact(line: str) -> None:
    progress = read_progress(f"{line}\n".encode())
    assert (progress.current, progress.exact_max) == (10, None)


@pytest.mark.parametrize(
    "text",
    [
        "ep 1 of enp0s3", "gen 5 x16 pcie", "update 3 packages", "trial 30 days left", "round 2 of talks",
        "Dell PowerEdge generation 14", "Downloading episode 3 of a show", "Downloaded 3/4/2024", "GET http://x/y?step=3",
        "bulk ep 2 has invalid maxpacket 64",
    ],
)  # fmt: skip
def test_an_everyday_word_with_a_number_is_no_progress(text: str) -> None:
    assert read_progress(f"{text}\n".encode()).current is None


def test_an_everyday_word_counts_when_it_goes_on_or_measures() -> None:
    assert read_progress(b"episode 1\nepisode 2\nepisode 3\n").current == 3
    assert read_progress(b"round 7 acc 0.51\n").current == 7
    assert read_progress(b"generation: 12\n").current == 12


def test_what_is_prepared_is_not_the_run() -> None:
    bars = "Tokenizing train: 100%|██| 40/40 [00:00<00:00, 9 it/s]\nSaving: 50%|█ | 20/40 [00:00<00:00, 9 it/s]\n"
    progress = read_progress(bars.encode())
    assert (progress.current, progress.finished) == (20, False)
    served = (
        "Capturing graphs: 100%|██| 35/35 [00:20<00:00, 1.7it/s]\nINFO: step of the server 0 running on port 8000\n"
    )
    assert read_progress(served.encode())[:2] == (None, None)
    assert not read_progress(served.encode()).finished
    files = "Fetching 4 files: 50%|██ | 2/4 [00:30<00:30, 15s/it]\n"
    files += "model-3.bin: 83%|██ | 4.11G/4.98G [00:23<00:04, 179MB/s]\n"
    assert (read_progress(files.encode()).current, read_progress(files.encode()).exact_max) == (2, 4)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_log_in_utf_16_is_read(encoding: str) -> None:
    progress = read_progress("step 3/10 loss 0.5\r\nstep 4/10 loss 0.4\r\n".encode(encoding))
    assert (progress.current, progress.exact_max, progress.loss) == (4, 10, 0.4)


def test_rows_with_evaluation_sets_of_the_users_own_names_count() -> None:
    assert read_progress(b"[3]\tmine-rmse:0.52\tother-rmse:0.6\n[4]\tmine-rmse:0.50\tother-rmse:0.6\n").current == 4


@pytest.mark.parametrize(
    ("log", "finished"),
    [
        ("step 3/10 loss 1\nSaving the checkpoint ...\ndone\n", None),
        ("step 9/10 loss 1\ndone\n", True),
        ("step 3/10 loss 1\nTraining finished\n", True),
        ("step 3 loss 1\ndone\n", True),
    ],
)
def test_a_bare_done_far_from_the_end_may_speak_of_a_part(log: str, finished: object) -> None:
    assert read_progress(log.encode()).finished is finished


def test_processes_at_their_own_work_show_no_progress_of_the_run() -> None:
    lines = [
        f"(train_fn pid={4000 + trial}) epoch {epoch + 5 * trial}/40 loss 0.5"
        for epoch in range(9)
        for trial in range(3)
    ]
    progress = read_progress("\n".join(lines).encode())
    assert (progress.current, progress.exact_max) == (None, None)


def test_a_setting_named_in_the_plural_is_the_maximum_unless_it_moves() -> None:
    assert read_progress(b"lr: 0.1\nsteps: 5000\nstep 10 loss 1\nstep 20 loss 1\n")[:2] == (20, 5000)
    assert read_progress(b"steps: 100\nloss: 0.4\nsteps: 200\nloss: 0.3\nsteps: 300\nloss: 0.3\n")[:2] == (300, None)


@pytest.mark.parametrize("word", sorted(LONE_WORDS))
def test_each_word_that_counts_is_read(word: str) -> None:
    """Small, and as the first word of a line."""
    for told in (word, word.capitalize()):
        log = "".join(f"{told} {at}: x=0.{at}\n" for at in range(1, 9))
        assert read_progress(log.encode()).current == 8, told


@pytest.mark.parametrize(("line", "percent"), [("Training: 12%", 12), ("training accuracy: 91%", None)])
def test_a_share_that_was_measured_is_no_progress(line: str, percent: float | None) -> None:
    assert read_progress(f"{line}\n".encode()).percent == percent
