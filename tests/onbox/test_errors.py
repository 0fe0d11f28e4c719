from __future__ import annotations

from onbox.errors import describe_defect


def test_a_defect_is_told_with_the_line_that_met_it() -> None:
    def inner() -> None:
        raise KeyError("loss")

    try:
        inner()
    except KeyError as error:
        told = describe_defect(error)
    line = inner.__code__.co_firstlineno + 1
    assert told == f"KeyError: 'loss' (test_errors.py:{line})"


def test_a_defect_that_was_never_raised_has_no_line() -> None:
    assert describe_defect(ValueError("x")) == "ValueError: x"
