"""What `onbox checkpoints` says of a resume, by which stage it would start."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.commands.show.checkpoints_text import render_checkpoints

TEN = {"stage": "train", "path": "/p/ckpt/step-10", "step": 10, "whole": True, "says": ""}
ONE = {
    "stage": "train", "step": 10, "bytes": 1000, "age_seconds": 5.0, "name": "ckpt/step-10", "selected": False,
    "kept_because": "newest", "whole": True, "says": "", "against": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("next_stage", "chosen", "says"),
    [
        ("train", TEN, "a resume continues from step 10: ONBOX_CHECKPOINT"),
        ("eval", TEN, "the newest whole one, step 10; a resume starts stage eval, which has none"),
        (None, TEN, "the newest whole one, step 10; the run is done: nothing is left to resume"),
        ("train", TEN | {"whole": None}, "a resume continues from step 10 (whole: cannot be told): ONBOX_CHECKPOINT"),
        (None, TEN | {"whole": None}, "the newest one, step 10 (whole: cannot be told); the run is done"),
        ("train", {"absent": "none is whole"}, "from nothing: none is whole"),
        (None, {"absent": "none is whole"}, "none: the run is done; none is whole"),
    ],
)
def test_what_a_resume_goes_on_from(next_stage: str | None, chosen: dict[str, Any], says: str) -> None:
    data = {"run": "digits", "checkpoints": [ONE], "select": chosen, "next_stage": next_stage, "stages": []}
    assert says in " ".join(render_checkpoints(data).split())


def test_a_format_that_tells_nothing_is_said_uncut_whatever_the_name() -> None:
    untold = ONE | {"name": "a-long-folder/of-a-tokenizer/tokens_10.bin", "whole": None}
    data = {"run": "tok", "checkpoints": [untold], "select": TEN | {"whole": None}, "next_stage": None, "stages": []}
    text = render_checkpoints(data)
    assert "whole: cannot be told" in next(line for line in text.splitlines() if "tokens_10.bin" in line)
    assert "the newest one, step 10 (whole: cannot be told)" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
