"""Answers that no honest box gives: whatever comes, the look is a look, and nothing is made up."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Unseen, plain
from onbox.model.boxes import BoxSettings, Watch
from patrol.memory.run_memory import nothing_remembered
from patrol.probe import sections
from patrol.probe.frames import end_mark, split
from patrol.probe.plan import below, plan
from patrol.probe.script import build, stripped
from patrol.probe.take import read, take
from patrol.snapshot import BoxLook, Unreachable
from patrol.ssh.client import Answer, NoAnswer
from tests.box import Box
from tests.patrol.probe.local_sh import LocalBox, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


NUMBERS = re.compile(rb"\d+")
ODD = (b"", b"-1", b"999999999999999999999999999999", b"\xff\xfe", b"NaN", b'"', b"{", b"\x1b[2J", b"<<<", b"\r", b"0")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[bytes, BoxSettings]]:
    """The answer of a box with a failed run and a watched one."""
    folder = tmp_path_factory.mktemp("digits")
    project = Box(folder, "digits")
    project.onbox("chain", "prep=echo step 1/2", "train=echo step 5/9; echo ValueError: x; false")
    (folder / "nohup.out").write_bytes(b"step 3/4\n")
    box = LocalBox(folder)
    watch = Watch("w", log="nohup.out", process="nobody", session="s", artifacts=("*",), done_regex="x")
    settings = BoxSettings("b", "b", project=str(folder), watches=(watch,))
    box.look(settings)
    yield box.answer, settings
    project.end_everything()


def spoilt(answer: bytes, seed: int) -> bytes:
    """The answer with some of its numbers, bytes or lines replaced, cut out or doubled; the marks stay."""
    chance = random.Random(seed)
    lines = answer.split(b"\n")
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(lines))
        if lines[at].startswith(b"<<<") and seed % 2:
            continue
        kind = chance.randrange(5)
        if kind == 0:
            lines[at] = NUMBERS.sub(lambda _: chance.choice(ODD), lines[at])
        elif kind == 1:
            lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
        elif kind == 2:
            lines[at] = chance.choice(ODD)
        elif kind == 3:
            lines.insert(at, chance.choice(lines))
        else:
            del lines[at]
    return b"\n".join(lines)


@pytest.mark.parametrize("seed", range(400))
def test_a_spoilt_answer_never_raises(real: tuple[bytes, BoxSettings], seed: int) -> None:
    answer, settings = real
    nonce = answer.partition(b"<<<")[2].partition(b" ")[0].decode()
    asked = plan(settings, ".onbox", nothing_remembered())
    known = nothing_remembered()
    for _ in range(2):
        look, known = read(settings, asked, split(spoilt(answer, seed), nonce), known, 1e9)
        assert isinstance(look, BoxLook)
        plain(look)
        build(plan(settings, ".onbox", known).calls, nonce, 18)


def test_nothing_at_all_is_unseen(real: tuple[bytes, BoxSettings]) -> None:
    _, settings = real
    look, known = read(
        settings, plan(settings, ".onbox", nothing_remembered()), split(b"", "x"), nothing_remembered(), 0.0
    )
    assert isinstance(look.identity, Unseen)
    assert isinstance(look.runs, Unseen)
    assert known == nothing_remembered()


def test_no_answer_is_unreachable_and_forgets_nothing(tmp_path: Path) -> None:
    box = LocalBox(tmp_path)
    settings = BoxSettings("b", "b", project=str(tmp_path))
    box.look(settings)
    refused = NoAnswer("refused", "ssh: connect: \x1b[31mrefused\ntoken=abcdef", b"", 0.1)
    look, known = take(settings, settings_for(tmp_path), box.memories, lambda *_: refused, 5.0)
    assert look == Unreachable("b", 5.0, "refused", "ssh: connect: refused⏎token=***")
    assert known == box.memories


def test_clock_skew_is_against_the_middle_of_the_look(tmp_path: Path) -> None:
    def ask(stdin: bytes, mark: bytes, deadline: float) -> Answer:
        nonce = mark.decode()[3:].split()[0]
        text = f"\n<<<{nonce} identity>>>\nvm\nid\n5.5\n1000\n\n\n<<<{nonce} /identity 0>>>\n"
        assert deadline == 30.0
        return Answer(text.encode(), 0, 4.0, 2.0)

    look, _ = take(BoxSettings("b", "b"), settings_for(tmp_path), nothing_remembered(), ask, 900.0)
    assert isinstance(look, BoxLook)
    assert not isinstance(look.identity, Unseen)
    assert look.identity.clock_skew_seconds == 97.5  # type: ignore[union-attr]
    assert dict(look.sections_unseen)["gpus"] == "cut off: its end did not come"


def test_the_table_of_sections_is_sound() -> None:
    names = [section.name for section in sections.SECTIONS]
    assert len(set(names)) == len(names)
    for section in sections.SECTIONS:
        text = "".join(section.texts)
        assert f"\n{section.function}() {{" in text
        assert section.seconds > 0
        assert section.reads


def test_values_never_stand_in_the_script() -> None:
    hostile = "$(touch PWNED)'\"\n`id`"
    watch = Watch("w", log=hostile, process=hostile, session=hostile, artifacts=(hostile,))
    box = BoxSettings("b", "b", project=hostile, watches=(watch,))
    script, values = build(plan(box, hostile, nothing_remembered()).calls, "abc", 18)
    assert "PWNED" not in script
    assert hostile in values


def test_the_sent_script_has_no_comment_and_no_indentation() -> None:
    assert stripped("# why\n  p_name=1 # kept\n\n  echo $p_name\n") == "p_name=1 # kept\necho $p_name"
    script, _ = build(plan(BoxSettings("b", "b", project="/p"), ".onbox", nothing_remembered()).calls, "abc", 18)
    assert not any(line.startswith((" ", "#")) for line in script.split("\n"))


def test_paths_below_the_project() -> None:
    assert [below("/p/", "a b"), below("/p", "/x"), below("/p", "~/x"), below(None, "x")] == [
        "/p/a b",
        "/x",
        "~/x",
        "x",
    ]
    assert end_mark("a") == b"<<<a end>>>"
