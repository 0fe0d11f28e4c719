"""A page that cannot be made or written is trouble in words, and leaves what was there."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from patrol.page import write
from patrol.page.write import path_of, renew_page
from tests.patrol.makers import NOW
from tests.patrol.page.fleet import make_project

if TYPE_CHECKING:
    from pathlib import Path

    from patrol.config.settings import Settings

pytest.importorskip("jinja2", reason="needs jinja2, of the extra onbox[report]")


def asked_for(folder: Path, name: str = "report.html") -> Settings:
    settings = make_project(folder, ["gpu1"], NOW)
    patrol = settings.config.patrol._replace(report=name)
    return settings._replace(config=settings.config._replace(patrol=patrol))


def test_it_is_written_for_its_owner_alone_and_again(tmp_path: Path) -> None:
    settings = asked_for(tmp_path)
    assert (renew_page(settings), renew_page(settings)) == ([], [])
    path = tmp_path / "report.html"
    assert path_of(settings) == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "No run is known yet" in path.read_text()
    assert [one.name for one in tmp_path.glob("*.html*")] == ["report.html"]


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    (said,) = renew_page(asked_for(tmp_path, "none/report.html"))
    assert said.startswith("the report could not be written: ")
    assert "none" in said


def test_a_defect_is_told_and_the_old_page_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = asked_for(tmp_path)
    assert renew_page(settings) == []
    before = (tmp_path / "report.html").read_text()

    def broken(_: object) -> str:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr(write, "page_of", broken)
    (said,) = renew_page(settings)
    assert "the report could not be made: a defect in the patrol: ZeroDivisionError: odd" in said
    assert (tmp_path / "report.html").read_text() == before
