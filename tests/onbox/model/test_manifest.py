"""Stages as data, and back."""

from __future__ import annotations

import json

import pytest

from onbox.model.manifest import Amount, Artifact, Gates, GpuGate, Retry, Stage, WaitFor, stage_from_dict, stage_to_dict

WHOLE = Stage(
    name="train",
    cmd=("python", "train.py", "two words", ""),
    cwd="src",
    env=(("HF_TOKEN", "env:HF_TOKEN"), ("SEED", "7")),
    artifacts=(Artifact("best.npz"), Artifact("epoch_*.npz", is_glob=True, min_count=3, min_bytes=0)),
    timeout_seconds=43200.0,
    stall_after_seconds=1800.0,
    min_duration_seconds=60.0,
    wait_for=WaitFor(None, "server.log", "listening", 600.0),
    retry=Retry(2, ("preempted", "network_blip"), 90.0),
    done_if_log="^saved",
    gates=Gates(Amount(5 * 10**9), Amount(percent=5.0), Amount(2 * 10**9), GpuGate(2, 500)),
    sbatch=(("gres", "gpu:1"), ("requeue", None)),
    checkpoints="hf",
    fail_if_log="CHECKSUM",
    finite_loss="refuse",
    expected_seconds=50400.0,
)
PLAIN = Stage("train", "python train.py")


def test_the_example_sets_every_field() -> None:
    assert [
        field for field, value in zip(WHOLE._fields[2:], WHOLE[2:], strict=True) if value == getattr(PLAIN, field)
    ] == []


@pytest.mark.parametrize(
    "stage",
    [
        WHOLE,
        PLAIN,
        *(PLAIN._replace(**{field: getattr(WHOLE, field)}) for field in WHOLE._fields),
        PLAIN._replace(wait_for=WaitFor("READY", None, None, 600.0)),
        PLAIN._replace(gates=Gates(gpu=GpuGate(1))),
        PLAIN._replace(gates=Gates(gpu=GpuGate(1, 0), disk_free=Amount(0))),
        PLAIN._replace(gates=Gates(disk_free=Amount(percent=0.0))),
        PLAIN._replace(retry=Retry(0, (), 0.0)),
        PLAIN._replace(timeout_seconds=0.0, done_if_log=""),
        PLAIN._replace(cmd="größe 'x\ny' \"z\"", cwd="/模"),
    ],
)
def test_a_stage_is_read_back_as_written(stage: Stage) -> None:
    assert stage == stage_from_dict(json.loads(json.dumps(stage_to_dict(stage))))


def test_fields_at_their_default_are_left_out() -> None:
    assert stage_to_dict(PLAIN) == {"name": "train", "cmd": "python train.py"}


def test_a_stage_as_data_is_pinned() -> None:
    assert stage_to_dict(WHOLE) == {
        "name": "train",
        "cmd": ["python", "train.py", "two words", ""],
        "cwd": "src",
        "env": [["HF_TOKEN", "env:HF_TOKEN"], ["SEED", "7"]],
        "artifacts": [
            {"pattern": "best.npz", "is_glob": False, "min_count": 1, "min_bytes": 1},
            {"pattern": "epoch_*.npz", "is_glob": True, "min_count": 3, "min_bytes": 0},
        ],
        "timeout_seconds": 43200.0,
        "stall_after_seconds": 1800.0,
        "min_duration_seconds": 60.0,
        "wait_for": {"log": "server.log", "regex": "listening", "timeout_seconds": 600.0},
        "retry": {"max": 2, "classes": ["preempted", "network_blip"], "backoff_seconds": 90.0},
        "done_if_log": "^saved",
        "gates": {
            "disk_free": {"number": 5 * 10**9},
            "inodes_free": {"percent": 5.0},
            "memory_free": {"number": 2 * 10**9},
            "gpu": {"number": 2, "max_used_mib": 500},
        },
        "sbatch": [["gres", "gpu:1"], ["requeue", None]],
        "checkpoints": "hf",
        "fail_if_log": "CHECKSUM",
        "finite_loss": "refuse",
        "expected_seconds": 50400.0,
    }


def test_fields_of_a_newer_writer_are_ignored() -> None:
    data = json.loads(json.dumps(stage_to_dict(WHOLE)))
    data["novel"] = {"deep": [1]}
    data["artifacts"][0]["novel"] = 1
    data["wait_for"]["novel"] = 1
    data["retry"]["novel"] = 1
    data["gates"]["novel"] = {"number": 1}
    data["gates"]["gpu"]["novel"] = 1
    assert stage_from_dict(data) == WHOLE


@pytest.mark.parametrize(
    ("said", "data"),
    [
        ("a stage lacks name and cmd", {}),
        ("a stage lacks cmd", {"name": "train"}),
        ("a stage lacks name", {"cmd": "x", "cwd": "."}),
    ],
)
def test_missing_fields_are_named_together(said: str, data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        stage_from_dict(data)
