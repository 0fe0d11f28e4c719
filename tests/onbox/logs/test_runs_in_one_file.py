"""Runs that were appended to one file, stages that a script numbers itself, and the last of the last."""

from __future__ import annotations

from tests.onbox.logs.loops import lines, read

WARNED = "".join(
    f"kernel/vmm.cpp:2{at}:14: warning: unused variable 'pd_index' [-Wunused-variable]\n      |       ^~~~~~~~\n"
    for at in range(12)
)


def _runs(*lengths: tuple[int, int], banner: str = "") -> str:
    """One run after the other, each up to an epoch of so many."""
    return "".join(banner + lines(f"Epoch #/{most} loss 0.31", *range(1, last + 1)) for last, most in lengths)


def test_the_newest_run_counts_for_itself_after_many_of_another_length() -> None:
    seen = read(_runs(*[(40, 50)] * 8, (51, 200)))
    assert (seen.current, seen.exact_max) == (51, 200)


def test_the_newest_run_counts_for_itself_behind_its_banner() -> None:
    seen = read(_runs(*[(20, 50)] * 8, (13, 50), banner="05/15/2018 09:50:40 [Program starts.]\n"))
    assert seen.current == 13


def test_epochs_that_begin_again_and_again_are_those_of_one_of_many() -> None:
    assert read(_runs(*[(5, 5)] * 8, (3, 5))).exact_max is None


def test_stages_that_a_script_numbers_stay_while_the_newest_one_talks() -> None:
    begun = "".join(f"[{at}/5] {what}...\n" for at, what in enumerate(("Assembling", "Linking", "Compiling C++"), 1))
    seen = read(begun + WARNED)
    assert (seen.current, seen.exact_max, seen.finished) == (3, 5, False)


def test_the_last_step_of_the_last_epoch_is_the_end() -> None:
    of_last = lines("Epoch [2/2], Step [#/900], Loss: 2.3066", *range(1, 901))
    assert read(of_last).finished is True
    assert read(of_last.replace("Step [900/900]", "Step [899/900]").rsplit("\n", 3)[0] + "\n").finished is not True
