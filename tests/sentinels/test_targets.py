"""The words of the command line: what names a target, and what is told of words that name none."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from sentinels.targets import (
    BadTarget,
    TargetKind,
    ere_of,
    parse_artifact,
    parse_logs,
    parse_process,
    parse_target,
    read_seconds,
    split_place,
)


@pytest.mark.parametrize(
    ("text", "kind", "box", "path"),
    [
        ("ckpt/DONE", TargetKind.MARKER, None, "ckpt/DONE"),
        ("DONE", TargetKind.MARKER, None, "DONE"),
        ("./a:b", TargetKind.MARKER, None, "./a:b"),
        ("/x/a:b", TargetKind.MARKER, None, "/x/a:b"),
        ("gpu1:/root/DONE", TargetKind.MARKER, "gpu1", "/root/DONE"),
        ("gpu1:~/DONE", TargetKind.MARKER, "gpu1", "~/DONE"),
        ("gpu1:out/DONE", TargetKind.MARKER, "gpu1", "out/DONE"),
        ("me@gpu1.lan:/root/a b$(x)", TargetKind.MARKER, "me@gpu1.lan", "/root/a b$(x)"),
        ("gpu1:digits", TargetKind.RUN, "gpu1", "digits"),
    ],
)
def test_words_are_targets(text: str, kind: TargetKind, box: str | None, path: str) -> None:
    target = parse_target(text)
    assert (target.kind, target.box, target.path, target.text) == (kind, box, path, text)


@pytest.mark.parametrize("text", ["", "gpu1:", "-oProxyCommand=x:/DONE", "a b:/DONE", "gpu1:-x", "gpu1:a b", "x\0y"])
def test_other_words_are_refused_with_what_is_wanted(text: str) -> None:
    with pytest.raises(BadTarget, match=r"wanted|cannot be|is not a run"):
        parse_target(text)


def test_one_pattern_serves_all_logs() -> None:
    targets = list(parse_logs(["a.log", "gpu1:/b.log"], ["DONE"], []))
    assert [(target.box, target.regex) for target in targets] == [(None, "DONE"), ("gpu1", "DONE")]


def test_patterns_pair_with_logs_in_order() -> None:
    targets = list(parse_logs(["a", "b"], ["x", "y"], ["f"]))
    assert [(target.regex, target.fail_regex) for target in targets] == [("x", "f"), ("y", "f")]


@pytest.mark.parametrize(
    ("logs", "regexes"), [([], ["x"]), (["a"], ["("]), (["a", "b", "c"], ["x", "y"]), (["a"], [""])]
)
def test_patterns_that_cannot_be_used_are_refused(logs: list[str], regexes: list[str]) -> None:
    with pytest.raises(BadTarget):
        list(parse_logs(logs, regexes, []))


def test_sizes_and_times_are_read_with_units() -> None:
    target = parse_artifact("gpu1:/ckpt/*.pt", "1.5GB", "20s")
    assert (target.min_bytes, target.stable_seconds) == (1_500_000_000, 20.0)
    assert read_seconds("--timeout", "1h30m") == 5400
    with pytest.raises(BadTarget, match="--min-bytes"):
        parse_artifact("x", "many", None)


def test_a_process_is_a_number() -> None:
    assert parse_process("gpu1:4711").path == "4711"
    with pytest.raises(BadTarget):
        parse_process("gpu1:train.py")


@pytest.mark.parametrize("text", ["gpu1:/x", "/x"])
def test_places_split_only_at_a_box(text: str) -> None:
    assert split_place(text)[1] == "/x"


@pytest.mark.parametrize(
    ("regex", "ere"),
    [
        ("QUEUE DONE|Training completed", "QUEUE DONE|Training completed"),
        (r"epoch \d+/\d+", "epoch [0-9]+/[0-9]+"),
        (r"\[done\]\s", r"\[done\][[:space:]]"),
        (r"(?i)done", None),
        (r"a.*?b", None),
        (r"[\d]", None),
        (r"\x41", None),
        (r"\\+?", None),
    ],
)
def test_patterns_are_told_to_a_box_without_python(regex: str, ere: str | None) -> None:
    assert ere_of(regex) == ere


LINES = (
    "a\tb",
    "atb",
    "a<b",
    "a b",
    "<b>",
    '{"loss": 1}',
    "a{2}",
    "aa",
    "50%",
    "x-y",
    "a.b",
    "axb",
    "a]b",
    "50\\",
    "+",
    "",
)


@pytest.mark.parametrize(
    "regex",
    [
        r"a\tb",
        r"\<b",
        r"a\ b",
        '{"loss"',
        r"a\{2\}",
        "a{2}",
        r"\d+%",
        r"x\-y",
        r"a\.b",
        r"a[].]b",
        r"\ba",
        r"0\\",
        r"^\+?$",
    ],
)
def test_grep_finds_the_same_lines_as_python(regex: str) -> None:
    ere = ere_of(regex)
    assert ere is not None
    words = ["grep", "-E", "-e", ere]
    text, env = "".join(f"{line}\n" for line in LINES), {**os.environ, "LC_ALL": "C"}
    found = subprocess.run(words, check=False, input=text, capture_output=True, text=True, env=env)
    assert found.stdout.splitlines() == [line for line in LINES if re.search(regex, line)]
    assert not found.stderr


def test_a_pattern_without_a_log_is_refused_by_its_own_name() -> None:
    with pytest.raises(BadTarget, match=r"^--fail-regex goes with a log"):
        list(parse_logs([], [], ["Error"]))
