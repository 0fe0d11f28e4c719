"""Where a new run begins in a file that several share."""

from __future__ import annotations

import pytest

from onbox.logs.model.segments import Beginning, begins_run


@pytest.mark.parametrize("text", ["=== run D ===", "=== restart 2 ===", "Resuming from checkpoint step 400"])
def test_words_begin_a_run(text: str) -> None:
    assert begins_run(text)


@pytest.mark.parametrize(
    "text", ["=== run summary ===", "===== FINAL RUN REPORT =====", "to resume training, pass --resume", "step 4"]
)
def test_other_words_do_not(text: str) -> None:
    assert not begins_run(text)


def test_the_first_line_of_the_file_comes_again() -> None:
    beginning = Beginning()
    for form in (b"Loading the configuration", b"Building the data loaders"):
        beginning.take_head(form, form.decode())
    assert not beginning.comes_again(b"Saving the last checkpoint", "")
    assert not beginning.comes_again(b"Building the data loaders", "")
    assert beginning.comes_again(b"Loading the configuration", "")


def test_a_counter_begins_again() -> None:
    beginning = Beginning()
    beginning.take_counts("epoch 1/3 loss 2.0")
    assert beginning.begins_again("epoch 1/3 loss 1.9", before="epoch 2/3 loss 1.0")
    assert not beginning.begins_again("epoch 3/3 loss 0.9", before="epoch 2/3 loss 1.0")
