"""What the program on the box tells of a run while nothing but its progress changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sentinels.box.lookout_run import STATUS_SECONDS, RunItem

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOW = 1_795_000_000.0


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
