"""What public libraries say when they give up: each sentence, at the end of a traceback, has one of its classes.

The classes are those that a reader of the sentence alone would name; they were written down before triage saw it.
"""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest

from onbox.triage.classes import REMEDIES
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FILE = Path(__file__).parents[2] / "cases" / "triage" / "sentences.tsv"
ROWS = [tuple(line.split("\t")) for line in FILE.read_text(encoding="utf-8").splitlines()[1:]]


def test_the_classes_of_the_sentences_are_known() -> None:
    assert {name for row in ROWS for name in row[0].split("|")} <= REMEDIES.keys()


@pytest.mark.parametrize(("classes", "exception", "sentence"), ROWS)
def test_a_sentence_of_a_library_has_its_class(classes: str, exception: str, sentence: str) -> None:
    name = exception if hasattr(builtins, exception) else f"lib.errors.{exception}"
    trace = 'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    run(cfg)\n'
    log = f"step 1 loss 2.0\nstep 2 loss 1.9\n{trace}{name}: {sentence}\n"
    assert classify(log.encode(), Evidence(log_age_seconds=30.0)).failure_class in classes.split("|")
