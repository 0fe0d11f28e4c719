"""A stage whose `python` is onbox's own finds none of the project's packages."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.model.manifest import Stage
from onbox.preflight.own_python import check_python
from onbox.preflight.report import CheckVerdict
from tests.box import REPOSITORY
from tests.onbox.preflight.facts import facts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("cmd", ["python train.py", "SEED=1 exec python train.py | tee log", ("python3", "train.py")])
@pytest.mark.parametrize(("others", "verdict"), [((), CheckVerdict.WARN), (("torch",), None)])
def test_onboxs_own_python_is_warned_of_where_nothing_else_is_installed(
    tmp_path: Path, cmd: str | tuple[str, ...], others: tuple[str, ...], verdict: CheckVerdict | None
) -> None:
    for name in ("python", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    stage = Stage("train", cmd)
    environ = {"PATH": str(tmp_path)}
    own = facts(environ=environ, stages=[stage], python=f"{tmp_path}/python3.12", packages=lambda: others)
    assert next((one.verdict for one in check_python(own)), None) is verdict
    another = own._replace(python="/elsewhere/bin/python")
    assert all(one.verdict is CheckVerdict.PASS for one in check_python(another))


def test_what_lies_beside_onbox_is_told_from_what_it_needs(tmp_path: Path) -> None:
    """In an environment with onbox alone, as `uv tool install` makes it, and one package more."""
    for name, needs in (("onbox", "Requires-Dist: click>=8\n"), ("click", ""), ("pip", ""), ("My_Torch", "")):
        folder = tmp_path / f"{name}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{needs}")
    code = (
        "import sys; from onbox.preflight.own_python import other_packages\n"
        f"sys.path[:] = [{str(tmp_path)!r}]\nprint(*other_packages())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["my-torch"]
