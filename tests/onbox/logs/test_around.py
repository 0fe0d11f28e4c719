"""What stands around a loop: headings above evaluations, lines that close each pass, a bracket beside a global step."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read


def bar(name: str, *shares: tuple[int, int]) -> str:
    return "".join(
        f"{name}: {100 * at // most:3}%|####      | {at}/{most} [00:{at // 9:02}<00:{(most - at) // 9:02}, 9.1it/s]\n"
        for at, most in shares
    )


SWEEPS = lines("  sweep # of 40", 20, 40)
EPOCHS = lines("    epoch #/4 loss 0.31", 2, 4)

# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "a box with a row for the maximum": (
        "".join(
            f"+------------+------+\n| epoch      | {at:4} |\n| max_epochs |   20 |\n| loss       | 0.{60 - at} |\n"
            for at in range(1, 13)
        ),
        12,
        20,
    ),
    "stages with names, each with counts of its own": (
        "Stage 1/4: tokenize\n"
        + lines("  tokenize: #/40 chunks", 20, 40)
        + "Stage 2/4: dedup\n"
        + lines("  dedup: #/25 chunks", 5, 25)
        + "Stage 3/4: pack\n"
        + lines("  pack: #/60 chunks", 5, 10, 15),
        3,
        4,
    ),
    "what closes each pass of a loop, told behind it": (
        "".join(f"{SWEEPS}pressure {at} of 9: density 0.{at}\n" for at in range(1, 5)) + lines("  sweep # of 40", 20),
        4,
        9,
    ),
    "a heading that says of an evaluation which one": (
        "Evaluating task 1/3: oak\n"
        + bar("oak", (10, 50), (50, 50))
        + "Evaluating task 2/3: elm\n"
        + bar("elm", (10, 50)),
        2,
        3,
    ),
    "the first of several evaluations": ("Evaluating task 1/3: oak\n" + bar("oak", (10, 50), (20, 50)), 1, 3),
    "a heading above a bar without a name": (
        "Scoring checkpoint 1/3 (a)\n" + bar("", (50, 50)) + "Scoring checkpoint 2/3 (b)\n" + bar("", (25, 50)),
        2,
        3,
    ),
    "a bracket that stands while the global step goes on": (
        lines("[1/4] global_step=# loss=0.31", 20, 40) + lines("[2/4] global_step=# loss=0.29", 60, 80),
        2,
        4,
    ),
    "the same, with spaces": (lines("(1/4) iter # loss 0.31", 20, 40) + lines("(2/4) iter # loss 0.29", 60, 80), 2, 4),
    "a cycle whose pool began far from its beginning": (
        "".join(f"-- cycle {at} (pool: {300 + 90 * at}/4000) --\n{EPOCHS}" for at in range(3))
        + "-- cycle 3 (pool: 570/4000) --\n",
        3,
        None,
    ),
    "how many there are, told behind each of them": (
        "".join(
            lines(f"[net {at}] epoch # loss=0.31", *range(4)) + f"wrote net_{at}.bin ({at + 1}/6)\n" for at in range(3)
        )
        + lines("[net 3] epoch # loss=0.31", 0, 1),
        3,
        6,
    ),
    "a bar of a resumed run beside epochs that are fractions": (
        "".join(bar("", (at, 90)) + f"{{'loss': '0.3', 'epoch': '{at / 30:.1f}'}}\n" for at in range(6, 61, 6))
        + bar("", (0, 90))
        + "".join(bar("", (at, 90)) + f"{{'loss': '0.3', 'epoch': '{at / 30:.1f}'}}\n" for at in range(48, 91, 6)),
        90,
        90,
    ),
    "all of it once more behind a crash": (
        lines("[#/24] part.gz 900 rows", *range(1, 9))
        + "run.sh: line 2:  4242 Killed                  python3 pack.py\n"
        + lines("[#/24] part.gz 900 rows", *range(1, 25)),
        24,
        24,
    ),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


def test_what_closes_the_last_one_ends_the_run() -> None:
    passes = (
        lines(f"[net {at}] epoch # loss=0.31", *range(4)) + f"wrote net_{at}.bin ({at + 1}/3)\n" for at in range(3)
    )
    assert read("".join(passes)).finished is True


def test_ranks_in_brackets_are_no_progress() -> None:
    log = "".join(f"[{rank}/4] step={at} loss=0.31\n" for at in range(10, 60, 10) for rank in range(4))
    assert read(log).exact_max is None


IN_A_LABEL = {
    "prompts": ("prompt 2/8", 2, 8),
    "of a word that no table holds": ("island 3/7", 3, 7),
    "pictures that are drawn": ("Drawing picture 2/9", 2, 9),
}


@pytest.mark.parametrize(("label", "current", "most"), IN_A_LABEL.values(), ids=IN_A_LABEL)
def test_which_one_in_the_label_of_a_bar(label: str, current: int, most: int) -> None:
    seen = read(bar(label, (5, 25), (10, 25)))
    assert (seen.current, seen.exact_max, seen.inner_current, seen.inner_max) == (current, most, 10, 25)


def test_a_rank_in_the_label_of_a_bar_is_none() -> None:
    seen = read(bar("rank 2/8", (5, 25), (10, 25)))
    assert (seen.current, seen.exact_max) == (10, 25)


def test_what_closes_each_of_several_counts_is_around_them() -> None:
    log = (
        "  oak: 20/40 samples\n  oak: 40/40 samples\n[1/5] oak: mean=0.9\n  elm: 20/40 samples\n  elm: 40/40 samples\n"
    )
    seen = read(log + "[2/5] elm: mean=0.8\n  ash: 20/40 samples\n")
    assert (seen.current, seen.exact_max) == (2, 5)


@pytest.mark.parametrize("word", ["Fold # of 9", "packing part #/9"])
def test_headings_that_go_on_from_the_first(word: str) -> None:
    headed = "".join(word.replace("#", str(at)) + f"\n   size {at * 37 % 91}\n" for at in (1, 2, 3))
    seen = read(headed)
    assert (seen.current, seen.exact_max) == (3, 9)


def test_the_last_epoch_is_not_over_while_its_steps_go_on() -> None:
    log = lines("[1/2] global_step=# loss=0.31", 20, 40) + lines("[2/2] global_step=# loss=0.29", 60, 80)
    assert read(log).finished is False
    assert read(log + "adapter saved to ./out\n").finished is True


def test_an_evaluation_behind_the_first_epoch_is_no_end() -> None:
    log = lines("Train Epoch: 1 [#/4000 (8%)]\tLoss: 0.31", 320, 3840) + "\nTest set: Average loss: 0.92\n"
    assert read(log.replace("(8%)", "")).finished is not True


def test_the_size_of_the_data_in_the_head_is_no_end() -> None:
    head = "[Info] Total Bins 7650\n[Info] Number of data points in the set: 6000, number of used features: 30\n"
    assert read("[Info] Auto-choosing\n" + head).finished is not True


def test_the_first_of_several_stages_is_around_its_steps() -> None:
    seen = read("== stage 1/3: short ==\n" + lines("step #/200 loss 0.31", 50, 100))
    assert (seen.current, seen.exact_max) == (1, 3)


def test_a_long_number_in_brackets_is_no_rank() -> None:
    log = "".join(f"[{at:08}] it {at} of 9000000 nll 2.9\n" for at in range(300))
    found = read(log)
    assert (found.current, found.exact_max) == (299, 9000000)
