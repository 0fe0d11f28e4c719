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
