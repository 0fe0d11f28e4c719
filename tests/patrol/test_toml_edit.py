"""A box comes into onbox.toml, and every byte that stood there stays."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from patrol.config.toml_edit import quote, render_box, with_box

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VALUES = ["gpu1", 'a "b" \\ c', "/root/it's 50%/ü\n\t\x7f\x00", "-leading", "$(x)`y`"]


@pytest.mark.parametrize("value", VALUES)
def test_any_text_comes_back(value: str) -> None:
    assert tomllib.loads(f"x = {quote(value)}") == {"x": value}


@pytest.mark.parametrize("name", ["gpu1", "a-b_C", "node.1", "7"])
def test_a_box_is_read_as_it_was_written(name: str) -> None:
    values = dict(zip("host project state_dir".split(), VALUES, strict=False))
    assert tomllib.loads(render_box(name, values)) == {"boxes": {name: values}}


TEXTS = ["", "# mine\n", "[run]\nname = 'x' # keep", "[boxes.b]\nhost='b'\n[patrol]\n", "[run]\r\nname = 'x'\r\n"]


@pytest.mark.parametrize("text", TEXTS)
def test_what_stood_there_stays(text: str) -> None:
    after = with_box(text, render_box("gpu1", {"host": "gpu1"}))
    assert after.startswith(text)
    data: dict[str, Any] = tomllib.loads(after)
    assert data["boxes"].pop("gpu1") == {"host": "gpu1"}
    before = tomllib.loads(text)
    assert {**data, "boxes": data["boxes"]} == {"boxes": {}, **before}
    assert ("\n" in after.replace("\r\n", "")) == ("\r\n" not in text)
