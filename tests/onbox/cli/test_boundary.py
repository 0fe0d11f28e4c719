"""What a defect leaves behind: one line, and one report however often it is met."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.cli.boundary import within_boundary
from onbox.contract.exits import Exit

if TYPE_CHECKING:
    from pathlib import Path


def fail() -> int:
    raise RuntimeError("odd")


def other() -> int:
    raise RuntimeError("odd")


def met(command: object) -> int:
    assert callable(command)
    return within_boundary("patrol", command, lambda _: None, interrupted=(1, ""))


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_defect_that_is_met_again_and_again_leaves_one_report(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {met(fail) for _ in range(5)} == {Exit.INTERNAL}
    (report,) = reports.iterdir()
    assert "RuntimeError: odd" in report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr().err.count(f"details in {report}") == 5
    met(other)
    assert len(list(reports.iterdir())) == 2


def test_a_report_goes_into_no_file_of_somebody_else(reports: Path) -> None:
    met(fail)
    (report,) = reports.iterdir()
    report.unlink()
    aim = reports / "aim"
    aim.write_text("as it was")
    report.symlink_to(aim)
    met(fail)
    assert aim.read_text() == "as it was"
    assert len(list(reports.iterdir())) == 3
