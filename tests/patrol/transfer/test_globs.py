"""Which names a glob with `**` takes."""

from __future__ import annotations

import pytest

from patrol.transfer.wanted import takes


@pytest.mark.parametrize(
    ("glob", "name", "wanted"),
    [
        ("ckpt/**/*.pt", "ckpt/a.pt", True),
        ("ckpt/**/*.pt", "ckpt/x/y/a.pt", True),
        ("ckpt/**/*.pt", "ckpt/x/y/a.npz", False),
        ("ckpt/**/*.pt", "other/a.pt", False),
        ("ckpt/**", "ckpt/a", True),
        ("ckpt/**", "ckpt", False),
        ("**/best", "a/b/best/weights/0", True),  # a folder that it matches, with all that lies below
        ("**/step-[0-9]*", "run/step-12", True),
        ("**/step-[!0-9]", "run/step-1", False),
        ("**/*a*a*a*a*a*a*a*a*b", "x/" + "a" * 250, False),
    ],
)
def test_a_glob_with_two_stars(glob: str, name: str, wanted: bool) -> None:  # noqa: FBT001 - a table
    assert takes(tuple(glob.split("/")), name) is wanted
