"""A run's own records, as a look brings them for whoever takes over."""

from __future__ import annotations

import json

import pytest

from patrol.memory.run_records import RecordText, record_from_text, record_of, record_to_text


def test_no_secret_and_no_file_but_markers_is_kept() -> None:
    marker = json.dumps({"stage": "train", "cmd": "train --token=abcdef0123456789"}).encode()
    files = {"lock": b"x", "markers/train_DONE": marker, "markers/../evil_DONE": b"x", "markers/a b_FAILED": b"x"}
    record = record_of(marker, b"", marker, files)
    assert list(record.markers) == ["train_DONE", "evil_DONE"]
    assert "abcdef0123456789" not in record_to_text(record)


def test_it_is_the_same_after_it_was_kept() -> None:
    record = RecordText("a", "b", "c", {"train_DONE": "d"})
    assert record_from_text(record_to_text(record)) == record


@pytest.mark.parametrize("text", ["", "[]", '{"manifest": 1}', '{"manifest": "a", "launches": "b"}'])
def test_what_is_none_is_none(text: str) -> None:
    assert record_from_text(text) is None
