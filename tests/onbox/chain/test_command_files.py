"""Files that a command names: what of them is code that a relaunch has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.chain.command.command_files import files_of
from onbox.model.manifest import Stage

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("cmd", "named"),
    [
        ("python train.py --config run.yaml", ["train.py", "run.yaml"]),
        ("python train.py --config=run.yaml", ["train.py", "run.yaml"]),
        ("python train.py config=run.yaml lr=0.1", ["train.py", "run.yaml"]),
        ("deepspeed train.py --deepspeed_config ds.json", ["train.py", "ds.json"]),
        ("python eval.py --out results.json && ls", []),
        ("python train.py --out results.json", ["train.py"]),
        ("python train.py settings.toml; echo done", ["train.py", "settings.toml"]),
        ("python train.py --config gone.yaml", ["train.py"]),
        (("python", "train.py", "-c", "run.yaml"), ["train.py", "run.yaml"]),
        ("echo 'open", []),
    ],
)
def test_scripts_and_configurations_are_known_and_results_are_not(
    tmp_path: Path, cmd: str | tuple[str, ...], named: list[str]
) -> None:
    for name in ("train.py", "run.yaml", "ds.json", "results.json", "settings.toml"):
        (tmp_path / name).write_text("x")
    assert files_of(Stage("train", cmd), str(tmp_path)) == named
