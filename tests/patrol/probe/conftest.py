"""Fixtures: a box without ssh, under each shell that this machine has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.patrol.probe.local_sh import LocalBox, shell_params

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=shell_params())
def box(request: pytest.FixtureRequest, tmp_path: Path) -> LocalBox:
    return LocalBox(tmp_path, request.param)


@pytest.fixture
def one_box(tmp_path: Path) -> LocalBox:
    return LocalBox(tmp_path)
