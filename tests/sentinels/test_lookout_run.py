"""What the program on the box tells of a run while nothing but its progress changes."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from sentinels.box.lookout_run import STATUS_SECONDS, RunItem

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOW = 1_795_000_000.0


def test_processes_of_a_run_that_is_not_there_are_told(tmp_path: Path) -> None:
    make: Any = RunItem
    live = subprocess.Popen(
        ["sleep", "600"], env={**os.environ, "ONBOX_RUN_DIR": str(tmp_path / "digits" / "cells" / "1")}
    )
    try:
        for name, told in (("digits", str(live.pid)), ("digit", "")):
            (line,) = make("1", str(tmp_path / name), "", "").look(NOW)
            (orphans,) = [word.partition("=")[2] for word in line.split() if word.startswith("orphans=")]
            assert orphans == (told.encode().hex() or "-")
    finally:
        live.kill()
        live.wait()


def test_progress_is_told_again_and_not_at_every_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunItem, "_life", lambda _: ("alive", "-"))
    (tmp_path / "markers").mkdir()
    (tmp_path / "run.json").write_text("{}\n")
    make: Any = RunItem  # the language of the program on the box has no annotations
    item = make("1", str(tmp_path), "", "")

    def told(text: str, at: float) -> bool:
        (tmp_path / "status.json").write_text(text)
        return any(text.encode().hex() in line for line in item.look(at))

    assert told("step 1", NOW)
    assert not told("step 22", NOW + STATUS_SECONDS / 2)
    assert told("step 333", NOW + STATUS_SECONDS + 1)
