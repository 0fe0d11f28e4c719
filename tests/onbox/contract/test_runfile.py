"""run.json: the head in its first line, then one stage per line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onbox.contract.runfile import DamagedRunfile, FrozenStage, parse_head, parse_stages, render_runfile, replace_head
from onbox.model.manifest import RunSettings, Stage
from tests.onbox.model.test_manifest import PLAIN, WHOLE

HEAD: dict[str, Any] = {
    "run": "digits",
    "run_id": "20261121-2873615c",
    "project": "/root/digits",
    "chain_fingerprint": "c" * 16,
    "stage_count": 2,
    "settings": {"sample_every_seconds": 10.0, "grace_seconds": 60.0},
    "git": {"absent": "not a git work tree"},
}
STAGES = [(WHOLE, "a" * 16), (PLAIN._replace(name="eval"), "b" * 16)]


def read(text: bytes) -> list[FrozenStage]:
    return list(parse_stages(text.splitlines(keepends=True)[1:]))


def test_missing_stages_are_no_end() -> None:
    text = render_runfile({**HEAD, "stage_count": 2}, [(Stage("a", "true"), "f")])
    with pytest.raises(ValueError, match="2 stages, and 1"):
        list(parse_stages(text.splitlines(keepends=True)[1:], 2))


@pytest.mark.parametrize("value", [None, "x", float("inf"), [], {}, [[]], -1, True])
@pytest.mark.parametrize("field", ["run", "stage_count", "settings", "project"])
def test_an_odd_head_is_damaged_or_read(field: str, value: Any) -> None:
    text = render_runfile({**HEAD, field: value}, STAGES)
    try:
        head = parse_head(text.split(b"\n", 1)[0])
    except DamagedRunfile:
        return
    assert isinstance(head.run, str)
    assert isinstance(head.stage_count, int)


@pytest.mark.parametrize(
    "line", [b'{"name": []', b'{"name": "a", "cmd": "b"}', b'{"name": 1, "cmd": "b", "fingerprint": 1}']
)
def test_an_odd_stage_is_damaged(line: bytes) -> None:
    with pytest.raises(DamagedRunfile):
        list(parse_stages([line]))


def test_head_and_stages_are_read_back_as_written() -> None:
    text = render_runfile(HEAD, STAGES)
    head = parse_head(text.split(b"\n", 1)[0])
    assert ("digits", "20261121-2873615c", "/root/digits", "c" * 16, 2, RunSettings(10.0, 60.0)) == head[:6]
    assert head.data == {"schema": 1, **HEAD}
    assert [FrozenStage(WHOLE, "a" * 16, 1), FrozenStage(STAGES[1][0], "b" * 16, 2)] == read(text)


def test_the_whole_file_is_one_json_object() -> None:
    data = json.loads(render_runfile(HEAD, STAGES))
    assert ([stage["name"] for stage in data["stages"]], data["run"]) == (["train", "eval"], "digits")


@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_there_is_one_stage_per_line(count: int) -> None:
    stages = [(Stage(f"s{number}", "line 1\nline 2 \u2028 , "), "f" * 16) for number in range(count)]
    text = render_runfile(HEAD, stages)
    assert text.isascii()
    assert max(1, count) + 2 == text.count(b"\n")
    assert [(f"s{number}", number + 1) for number in range(count)] == [
        (frozen.stage.name, frozen.position) for frozen in read(text)
    ]


@pytest.mark.parametrize("stages", [[], STAGES[:1], STAGES])
def test_another_head_keeps_the_stages(stages: list[tuple[Stage, str]]) -> None:
    changed = {**HEAD, "git": {"commit": "abc", "dirty": False}}
    assert render_runfile(changed, stages) == replace_head(render_runfile(HEAD, stages), changed)


@pytest.mark.parametrize("hostile", [', "stages": [', '"stages": [\n]}', "}", "größe"])
def test_text_in_the_head_is_no_layout(hostile: str) -> None:
    text = render_runfile({**HEAD, "project": hostile}, STAGES)
    assert hostile == parse_head(text.split(b"\n", 1)[0]).project
    assert len(read(text)) == 2


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("first line", b""),
        ("first line", b"{}"),
        ("first line", b"\xff\xfe"),
        ("first line", render_runfile(HEAD, STAGES).split(b"\n")[1]),
        ("lacks run, run_id, project, chain_fingerprint, stage_count", b'{"schema": 1, "stages": ['),
        ("lacks project, stage_count", b'{"run": "a", "run_id": "b", "chain_fingerprint": "c", "stages": ['),
    ],
)
def test_a_damaged_head_says_all_that_is_missing(said: str, line: bytes) -> None:
    with pytest.raises(ValueError, match=said):
        parse_head(line)


def test_settings_of_a_newer_writer_are_ignored() -> None:
    text = render_runfile({**HEAD, "settings": {"grace_seconds": 5, "novel": "x"}}, STAGES)
    assert RunSettings(grace_seconds=5.0) == parse_head(text.split(b"\n", 1)[0]).settings


def test_settings_left_out_have_their_defaults() -> None:
    head = {key: value for key, value in HEAD.items() if key != "settings"}
    assert RunSettings() == parse_head(render_runfile(head, STAGES).split(b"\n", 1)[0]).settings
