"""Markers and slots: they fit their place, and what is none is told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onbox.contract.markers import (
    SLOT_BYTES,
    Invalid,
    Marker,
    Slot,
    parse_marker,
    parse_slot,
    render_marker,
    render_slot,
)

BASE: dict[str, Any] = {"run_id": "20261121-2873615c", "stage": "train", "attempt": 3, "fingerprint": "a" * 16}
FILES = [{"path": f"ckpt/epoch_{number:05}.npz", "bytes": 10**9} for number in range(200)]


def artifacts(count: int, path: str = "ckpt/epoch_{}.npz") -> dict[str, Any]:
    files = [{"path": path.format(number), "bytes": 10**9} for number in range(count)]
    return {"artifacts": files, "artifact_count": count, "artifact_bytes_total": count * 10**9}


@pytest.mark.parametrize(
    "more",
    [
        {},
        artifacts(1),
        artifacts(200),
        artifacts(5000),
        artifacts(1, "x" * 9000),
        artifacts(50, "模" * 300 + "{}"),
        {"cmd": "x" * 9000},
        {"cmd": "\x00" * 9000},
        {"cmd": ["python", "-c", "y" * 9000]},
        {"cmd": "x" * 3900, "cwd": "/y" * 2000},
        {"env": {f"NAME_{number}": "v" * 50 for number in range(500)}},
        {"reason": "\u2014" * 4096},
        {"cmd": "x" * 9000, "env": {"A": "y" * 9000}, "cwd": "z" * 9000, "reason": "r" * 9000, **artifacts(300)},
    ],
)
def test_a_marker_never_outgrows_its_place(more: dict[str, Any]) -> None:
    text = render_marker({**BASE, **more})
    assert len(text) <= SLOT_BYTES
    marker = parse_marker(text)
    assert isinstance(marker, Marker)
    assert tuple(BASE.values()) == marker[:4]
    assert more.get("artifact_count") == marker.data.get("artifact_count")


@pytest.mark.parametrize(
    "more",
    [
        {"findings": [{"gate": f"artifact {number}.npz", "seen": "missing", "wanted": "1"} for number in range(100)]},
        {"log": "/long-name" * 450},
    ],
)
def test_a_failed_marker_never_outgrows_its_place(more: dict[str, Any]) -> None:
    assert len(render_marker({**BASE, **more})) <= SLOT_BYTES


def test_what_fits_is_kept_whole() -> None:
    data = {**BASE, "cmd": "python train.py", "artifacts": FILES[:10], "novel": [1, {"a": None}]}
    marker = parse_marker(render_marker(data))
    assert isinstance(marker, Marker)
    assert {"schema": 1, **data} == marker.data


def test_artifacts_are_left_out_before_the_command() -> None:
    data = json.loads(render_marker({**BASE, "cmd": "c" * 2000, **artifacts(200)}))
    assert data["cmd"] == "c" * 2000
    assert 0 < len(data["artifacts"]) < 200
    assert data["artifacts"] == artifacts(200)["artifacts"][: len(data["artifacts"])]


def test_rendering_leaves_its_input_alone() -> None:
    data = {**BASE, "cmd": "c" * 9000, **artifacts(200)}
    render_marker(data)
    assert {**BASE, "cmd": "c" * 9000, **artifacts(200)} == data


def test_a_marker_is_one_line_of_ascii() -> None:
    text = render_marker({**BASE, "cmd": "größe\n模"})
    assert (text.count(b"\n"), text[-1:], text.isascii()) == (1, b"\n", True)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("it is empty (touched by hand?)", b""),
        ("it is empty (touched by hand?)", b"\n  \n"),
        ("it does not hold a whole JSON object", render_marker(BASE)[:-20]),
        ("it does not hold a whole JSON object", b"garbage"),
        ("it does not hold a whole JSON object", b"\0" * SLOT_BYTES),
        ("it does not hold a whole JSON object", b"\xff\xfe\xfd"),
        ("it does not hold a whole JSON object", render_slot("r", "train", 1) + b" " * 100),
        ("it does not hold a whole JSON object", render_marker(BASE) * 2),
        ("it does not hold a JSON object", b"[]"),
        ("it does not hold a JSON object", b"null"),
        ("it does not hold a JSON object", b'"done"'),
        ("it lacks run_id, stage, attempt, fingerprint", b"{}"),
        ("it lacks attempt, fingerprint", b'{"run_id": "r", "stage": "train"}'),
    ],
)
def test_what_is_no_marker_says_why(reason: str, text: bytes) -> None:
    assert Invalid(reason) == parse_marker(text)


@pytest.mark.parametrize("attempt", ['"x"', "null", "[1]", "1e999"])
def test_a_strange_attempt_makes_no_marker(attempt: str) -> None:
    text = b'{"run_id": "r", "stage": "s", "fingerprint": "f", "attempt": ' + attempt.encode() + b"}"
    assert isinstance(parse_marker(text), Invalid)


def test_deep_nesting_makes_no_marker() -> None:
    assert isinstance(parse_marker(b"[" * 200_000), Invalid)


def padded(text: bytes) -> bytes:
    return text + b" " * (SLOT_BYTES - len(text))


HEAD = render_slot("r", "train", 12)


@pytest.mark.parametrize(
    ("slot", "text"),
    [
        (Slot("r", "train", 12, None, None), HEAD),
        (Slot("r", "train", 12, None, None), padded(HEAD)),
        (Slot("r", "train", 12, 77, None), padded(HEAD + b"keeper 77\n")),
        (Slot("r", "train", 12, 77, 0), padded(HEAD + b"keeper 77\nexit 0\n")),
        (Slot("r", "train", 12, 77, 143), HEAD + b"keeper 77\nexit 143\n"),
        (Slot("r", "train", 12, 77, None), HEAD + b"keeper 77\nexit 14"),
        (Slot("r", "train", 12, None, None), HEAD + b"keeper 7"),
        (Slot("r", "train", 12, 77, None), padded(HEAD + b"keeper 77\nexit 14")),
        (Slot("r", "train", 12, 77, None), padded(HEAD + b"keeper 77\nexit\nexit -1\nexit 1 2\nEXIT 3\nkeeper x\n")),
        (None, b""),
        (None, b"\n"),
        (None, padded(b"")),
        (None, b"\0" * SLOT_BYTES),
        (None, b"slot 1 r train"),
        (None, b"slot 1 r train x\n"),
        (None, b"slot 1 r train -1\n"),
        (None, b"slot 1 r two words 1\n"),
        (None, render_marker(BASE)),
        (None, render_marker(BASE) + b"exit 0\n"),
    ],
)
def test_a_slot_says_what_its_keeper_wrote(slot: Slot | None, text: bytes) -> None:
    assert slot == parse_slot(text)


@pytest.mark.parametrize(("stage", "attempt"), [("train", 1), ("a.b-c_9", 10_000), ("x" * 80, 1)])
def test_a_slot_is_read_back_as_written(stage: str, attempt: int) -> None:
    assert Slot("20261121-2873615c", stage, attempt, None, None) == parse_slot(
        render_slot("20261121-2873615c", stage, attempt)
    )


@pytest.mark.parametrize("text", [HEAD[:-2], b"slot 1 \xff train 1\n"])
def test_a_damaged_head_makes_no_slot(text: bytes) -> None:
    assert parse_slot(text) is None
