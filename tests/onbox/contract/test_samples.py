"""Samples: one line each, junk passed over, and the peaks that are worth keeping."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onbox.contract.samples import parse_samples, peaks_of, render_sample

AT = "2026-01-02T03:04:05Z"


def test_a_sample_is_one_line_and_comes_back() -> None:
    sample = {"at": AT, "disks": {"/a\nb \udcff": [1, 2, None, None]}, "usable_cores": 1.5}
    line = render_sample(sample)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert parse_samples([line]) == [{"schema": 1, **sample}]


def test_unknown_fields_and_schemas_are_kept() -> None:
    assert parse_samples([b'{"schema":9,"at":"x","new":{"a":1}}']) == [{"schema": 9, "at": "x", "new": {"a": 1}}]


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\n",
        b'{"at":"2026',
        b"[]",
        b"5",
        b'"at"',
        b"null",
        b"{}",
        b'{"at":5}',
        b"\0" * 50,
        b"\xff\xfe",
        b"[" * 99999,
    ],
)
def test_junk_lines_are_passed_over(junk: bytes) -> None:
    good = render_sample({"at": AT})
    assert parse_samples([good, junk, good]) == [{"schema": 1, "at": AT}] * 2


def test_peaks_keep_the_highest_and_the_lowest() -> None:
    rooms = ([9, 10, 5, 6], [3, 10, 6, 6], [7, 10, 4, 6])
    samples = [
        {
            "at": AT,
            "memory_working_set_bytes": used,
            "memory_limit_bytes": 100,
            "tree_rss_bytes": used // 2,
            "tree_processes": 3,
            "tree_threads": used,
            "disks": {"/": room},
            "gpus": [{"number": 0, "memory_used_bytes": used}, {"number": 1}],
        }
        for used, room in zip((10, 40, 20), rooms, strict=True)
    ]
    assert peaks_of(samples).data == {
        "samples": 3,
        "peak_working_set_bytes": 40,
        "memory_limit_bytes": 100,
        "peak_tree_rss_bytes": 20,
        "peak_processes": 3,
        "peak_threads": 40,
        "disks": {"/": {"min_bytes_free": 3, "min_inodes_free": 4}},
        "peak_gpu_memory_bytes": {"0": 40},
    }


def test_what_was_never_seen_has_no_peak() -> None:
    assert peaks_of([{"at": AT, "disks": {"/": [5, 9, None, None]}}]).data == {
        "samples": 1,
        "disks": {"/": {"min_bytes_free": 5}},
    }
    assert peaks_of([]).data == {}


@pytest.mark.parametrize(
    "parts",
    [
        {"disks": 5},
        {"disks": ["/"]},
        {"disks": {"/": None}},
        {"disks": {"/": 5}},
        {"disks": {"/": [1]}},
        {"gpus": 5},
        {"gpus": ["lost", None]},
        {"gpus": {"number": 0}},
        {"memory_working_set_bytes": "much"},
    ],
)
def test_parts_of_another_shape_are_passed_over(parts: dict[str, Any]) -> None:
    (sample,) = parse_samples([json.dumps({"at": AT, "tree_threads": 4, **parts}).encode()])
    data = peaks_of([sample]).data
    assert (data["samples"], data["peak_threads"]) == (1, 4)
