"""NVML in a child: hangs, crashes and junk are readings with a reason."""

from __future__ import annotations

import os
import sys

import pytest

from onbox.collectors.gpu.nvml import GpuReading
from onbox.collectors.gpu.watch import GpuWatch, gpu_words, read_once
from onbox.contract.readings import Absent, Unseen
from tests.box import BOUND_SECONDS, REPOSITORY

FAKE = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from onbox.collectors.gpu import watch as gpu_watch
from onbox.collectors.gpu.nvml import read_gpus
from tests.fakes.nvml import FakeNvml
gpu_watch._read = lambda: read_gpus(FakeNvml({{}}, {{}}))
gpu_watch.serve()
"""


def watch(code: str) -> GpuWatch:
    return GpuWatch([sys.executable, "-c", code])


def test_the_child_answers_as_often_as_it_is_asked() -> None:
    asked = watch(FAKE)
    for _ in range(2):
        asked.ask()
        reading = asked.answer(BOUND_SECONDS)
        assert isinstance(reading, GpuReading)
        assert [gpu.number for gpu in reading.gpus] == [0, 1]
    asked.close()


def test_a_hanging_driver_is_unseen_and_nobody_waits() -> None:
    asked = watch("import time\ntime.sleep(600)")
    asked.ask()
    assert not asked.has_answer()
    reading = asked.answer(0.0)
    asked.close()
    assert isinstance(reading, Unseen)
    assert "NVML has not answered" in reading.why


def test_a_crashing_driver_is_unseen_with_its_signal() -> None:
    asked = watch("import os, sys\nsys.stdin.readline()\nos.kill(os.getpid(), 11)")
    asked.ask()
    reading = asked.answer(BOUND_SECONDS)
    asked.close()
    assert isinstance(reading, Unseen)
    assert "SIGSEGV" in reading.why


@pytest.mark.parametrize("answer", ["not json", "{}", "[1]", '{\\"driver\\": 1, \\"gpus\\": [{}]}'])
def test_junk_is_no_reading(answer: str) -> None:
    asked = watch(f'import sys\nsys.stdin.readline()\nprint("{answer}", flush=True)')
    asked.ask()
    reading = asked.answer(BOUND_SECONDS)
    asked.close()
    assert reading == Unseen("the look at the GPUs gave no reading")


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="this machine has a GPU")
def test_on_a_box_without_gpu_the_real_binding_says_so() -> None:
    assert isinstance(read_once(), Absent)
    real = GpuWatch(gpu_words())
    real.ask()
    assert real.answer(BOUND_SECONDS) == Absent("no NVIDIA device")
    real.close()
