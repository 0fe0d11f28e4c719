"""How much work there is, by how the numbers of the last lines go on beside each other."""

from __future__ import annotations

import pytest

from onbox.logs.progress import read_progress


def rows(form: str, numbers: range, **more: object) -> str:
    return "".join(form.format(n=n, left=60 - n, share=100 * n / 48, **more) + "\n" for n in numbers)


TOLD = {
    "what is done and what is left": (rows("{n} mailboxes sorted, {left} to go", range(3, 31, 3)), 30, 60),
    "the same in fields of a logger": (
        rows('lvl=info msg="fill" docs_done={n} docs_left={left}', range(5, 21)),
        20,
        60,
    ),
    "the same in words of its own": (rows("tile_{n}_7 came back ({n} in, {left} still out)", range(1, 33)), 32, 60),
    "a share that only one whole has": (
        rows("part #{n} ok  etag=1204cc30{n}9a0  {share:.1f}% complete", range(1, 31)),
        30,
        48,
    ),
    "a share in whole numbers, up to the end": (
        rows("committed {n} partitions, {share:.0f}% of the job", range(4, 49, 4)),
        48,
        48,
    ),
    "a whole in another script": (rows("第{n}轮/共60轮  训练损失 0.69", range(1, 12)), 11, 60),
    "a whole in another language": (rows("Эпоха {n} из 60: потери = 17.8", range(1, 12)), 11, 60),
}
NOTHING = {
    "seconds that have passed, and are left": rows("asking, {n} s gone, {left} s left", range(5, 21)),
    "a share alone": rows("Sorting... {n}% mistakes so far: 6.7%", range(10, 101, 10)),
    "what has still to be looked at of what is known": rows("f{n} (xfr#{n}, to-chk={left}/80)", range(1, 10)),
    "two numbers that both rise": rows("x {n} of a, {share:.0f} of b", range(5, 21)),
    "a row that comes twice": rows("{n} sent, {left} to go", range(1, 3)),
}


@pytest.mark.parametrize(("log", "current", "most"), list(TOLD.values()), ids=list(TOLD))
def test_the_whole_is_told_by_numbers_that_belong_together(log: str, current: int, most: int) -> None:
    progress = read_progress(log.encode())
    assert (progress.current, progress.exact_max) == (current, most)


@pytest.mark.parametrize("log", list(NOTHING.values()), ids=list(NOTHING))
def test_numbers_that_do_not_belong_together_tell_no_whole(log: str) -> None:
    assert read_progress(log.encode()).exact_max is None


def test_what_is_left_at_a_crash_is_not_finished() -> None:
    log = rows("{n} MiB verified, {left} MiB outstanding", range(4, 41, 4)) + "Traceback (most recent call last):\n"
    assert read_progress(log.encode()).finished is False


def test_the_first_of_a_bar_that_is_drawn_over_shows_that_it_moves() -> None:
    log = "\r".join(f"Compacting: {n}/640 |>>      | ETA: 0:00:0{n % 7}" for n in range(0, 377, 8))
    progress = read_progress(log.encode())
    assert (progress.current, progress.exact_max) == (376, 640)


def test_ffmpeg_shows_its_frame() -> None:
    log = "".join(f"frame={n:5} fps= 11 q=29.0 size=       0KiB time=00:00:01.03 speed=0.3x\r" for n in (33, 63, 94))
    assert read_progress(log.encode()).current == 94
