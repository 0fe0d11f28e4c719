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


def test_what_is_told_behind_the_epochs_of_each_goes_before_them() -> None:
    log = "".join(
        lines("     | Epoch #/20 - Actor loss : -0.0955, Critic loss : 0.9184", *range(1, 21))
        + f"Episode {at}/20 finished, total reward  : {at * 37 % 91}.870\n"
        for at in range(1, 10)
    )
    seen = read(log)
    assert (seen.current, seen.exact_max) == (9, 20)


def test_a_bar_that_was_drawn_no_more_tells_how_many_there_were() -> None:
    bar = "\rrainbow train:   2%|1         | 31/2000 [00:46<41:07,  1.25s/it]\n"
    told = "".join(f"[step={at}] episode={at}.0 length={at % 7}.0 global_step={at * 29}.0\n" for at in range(1, 2001))
    assert (read(bar + told).current, read(bar + told).exact_max) == (2000, 2000)
    early = "".join(told.splitlines(keepends=True)[:900])
    assert read(bar + early).exact_max is None


def test_a_row_with_a_bar_that_was_too_wide_is_one_of_its_table() -> None:
    head = "     Epoch   gpu_mem       box       obj       cls    labels  img_size\n"
    row = "     {}/199     18.6G    0.17{}38    0.0142   0.01563        55      1600: 100%|#|\n"
    seen = read("".join(head + row.format(at, at) for at in range(4)))
    assert (seen.current, seen.exact_max, seen.unit) == (3, 199, "epoch")


def test_how_many_of_all_had_a_trouble_is_no_count_of_what_is_done() -> None:
    trials = lines("trial #/5: rmse 0.62", *range(1, 6))
    for remark in ("2 of 5 trials pruned\n", "1/5 files had warnings\n"):
        seen = read(trials + remark)
        assert (seen.current, seen.exact_max, seen.finished) == (5, 5, True)
