"""What lives for weeks on a box, and what it or a tick starts, loads no click: seen in real runs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.box import REPOSITORY, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.box import Box

# Every child that this process starts notes the names of what it imports, and so do its own children.
PATCH = """
from onbox.system import self_exec
bare, notes = self_exec.bare_child_words, {notes!r}
heard = f"exec(open({{notes + '/hook'!r}}).read()); exec(open({{notes + '/patch'!r}}).read())"
def bare_child_words(module, call, *arguments):
    words = list(bare(module, call, *arguments))
    at = words.index("-c") + 1
    words[at] = words[at].replace("; import ", f"; {{heard}}; import ", 1)
    return tuple(words)
self_exec.bare_child_words = bare_child_words
self_exec._CLEAN += "; " + heard
"""
HOOK = """
import os, sys
def hear(event, words):
    if event == "import":
        file = os.open(f"{notes}/{{os.getpid()}}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, words[0].encode() + bytes([10]))
        os.close(file)
sys.addaudithook(hear)
"""
FORBIDDEN = {"click", "filelock", "psutil", "argparse"}


def run_noted(words: list[str], notes: Path, folder: Path, env: dict[str, str]) -> None:
    """Run one of our programs, so that each of its descendants notes what it imports."""
    notes.mkdir()
    (notes / "hook").write_text(HOOK.format(notes=notes))
    (notes / "patch").write_text(PATCH.format(notes=os.fspath(notes)))
    code = f"exec(open({os.fspath(notes / 'patch')!r}).read()); from {words[0]} import main; main({words[1:]!r})"
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, check=True, capture_output=True, timeout=60)


def importers(notes: Path, *wanted: str) -> dict[str, set[str]]:
    """The processes that have imported one of these modules of ours: its name -> all that it has imported."""
    found = [set(path.read_text().split()) for path in notes.glob("[0-9]*")]
    return {name: one for one in found for name in wanted if name in one}


def test_runner_triage_and_deliverer_load_no_click(box: Box, tmp_path: Path) -> None:
    (box.project / "onbox.toml").write_text(
        '[stages.train]\ncmd = "echo CUDA out of memory; exit 1"\n'
        '[notify]\nurls = ["env:HOOK"]\nattempt_timeout = "1s"\n'
    )
    notes = tmp_path / "notes"
    env = {**box.env, "HOOK": "http://127.0.0.1:9/hook", "PYTHONPATH": str(REPOSITORY)}
    code = ["onbox.cli.app", "chain", "-d"]
    run_noted(code, notes, box.project, env)
    parts = ("onbox.chain.runner.runner_process", "onbox.triage.classify", "onbox.notify.send.deliver")
    wait_until(lambda: len(importers(notes, *parts)) == len(parts), "runner, triage and deliverer to have noted it")
    for name, modules in importers(notes, *parts).items():
        assert not FORBIDDEN & modules, name
    assert "requests" not in importers(notes, *parts[:2])[parts[0]]


@pytest.mark.parametrize("words", [["onbox.cli.app", "chain"], ["patrol.cli", "tick"]], ids=["chain", "tick"])
def test_who_renews_the_page_unasked_loads_no_click(box: Box, tmp_path: Path, words: list[str]) -> None:
    (box.project / "onbox.toml").write_text(
        f'[stages.train]\ncmd = "true"\n[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n'
    )
    box.state.parent.mkdir()
    for folder in (box.state.parent, box.project):
        (folder / "HANDBOOK.md").touch()  # one that is there is renewed
    notes = tmp_path / "notes"
    run_noted(words, notes, box.project, {**box.env, "PYTHONPATH": str(REPOSITORY)})
    wait_until(lambda: importers(notes, "handbook.renewal"), "a renewal")
    assert not {"click", "argparse"} & importers(notes, "handbook.renewal")["handbook.renewal"]
