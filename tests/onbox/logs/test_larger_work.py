"""What ends is one piece of a larger work, or leaves some of it: the run goes on."""

from __future__ import annotations

import pytest

from onbox.logs.progress import ProgressReader
from tests.onbox.logs.loops import lines, read

BELOW = lines("   iter # residual 0.0#", *range(1, 14))
FILES = "".join(
    f"img/{at}.png\n        41,000 100%   9.1MB/s    0:00:00 (xfr#{at}, to-chk={30 - at}/31)\n" for at in range(1, 12)
)
PIECES = [
    "model 3/25 ridge\n" + BELOW + "converged\n",
    "[queue] task 7/60 begins\n" + lines("ep # loss 0.4#", *range(1, 9)) + "train done\n",
    "angle 5/36: relaxing\nOptimization terminated successfully.\n  Current function value: 0.2\n",
    "part 2/9\n" + lines("step #/40 loss 0.5", *range(10, 41, 10)) + "Training finished in 3.2 s\n",
]
NPM = (
    "added 12 packages, and audited 13 packages in 2s\n\n3 packages look for funding\n  run `npm fund` for details\n\n"
)
SCORES = lines("   0.8# = Validation score", 1, 2)
GOES_ON = [
    "Fitting model: knn ...\n"
    + SCORES
    + "Fitting model: forest ... for up to 40 s\nno improvement: early stopping\n"
    + SCORES
    + "Fitting model: boosting ... for up to 31 s\n",
    lines("Completed 1#.0 MiB/1.9 GiB (40.8 MiB/s) with # file(s) remaining", 8, 7, 6, 5, 4),
    "reading corpus\nDone! 859 sentences kept\n" + lines("merged pairs=#00 best=xy", *range(1, 6)),
    lines("\x1b[2K[0:0#] # files 9.5 MiB, total 9 files 9.9 MiB, 0 errors\r\n", *range(4, 10)),
]
COPIED = "Transferred:      9 B / 9 B, 100%, 0 B/s, ETA 0s\nTransferred:      # / 9, 100%\nElapsed time:      1.9s"
GOES_ON.append(lines("Sorting bucket # of 9", *range(1, 10)) + "  using 4 threads for bucket\n")
OVER = [
    lines(COPIED, 9),
    "added 6 packages in 2s\n",
    lines("epoch # acc 0.81", *range(3, 15)) + "val loss plateaued, done.\n",
    lines("epoch # acc 0.81", *range(3, 15)) + "target 0.93 reached after 14 epochs, finishing\n",
    NPM + "1 high severity vulnerability\n",
    "7: Pulling from library/redis\na0b1: Pull complete\nStatus: Downloaded newer image for redis:7\n",
    "parameter set 17/64\n" + lines("epoch #/5 loss 0.2", *range(1, 6)) + "task 17 completed, exit 0\n",
    lines("[0:0#] # files 9.5 MiB, total 9 files 9.9 MiB, 0 errors", *range(4, 10)) + "snapshot 66e74a8a saved\n",
    BELOW + "converged\n",
    "model 25/25 ridge\n" + BELOW + "converged\n",
    "replica 1/3 on node b\n" + lines("step #/400 loss 0.5", *range(100, 401, 100)) + "Training finished\n",
    FILES + "img/30.png\n        41,000 100%   9.1MB/s    0:00:00 (xfr#30, to-chk=0/31)\n",
]


@pytest.mark.parametrize("log", PIECES)
def test_the_end_of_a_piece_is_not_the_end_of_the_work(log: str) -> None:
    assert not read(log).finished


@pytest.mark.parametrize("log", GOES_ON)
def test_what_says_that_more_is_to_come_is_not_over(log: str) -> None:
    assert not read(log).finished


@pytest.mark.parametrize("log", OVER)
def test_the_end_of_the_last_piece_is(log: str) -> None:
    assert read(log).finished


@pytest.mark.parametrize("last", ["", "img/12.png\n", "img/12.png\n        32,768  80%   9.1MB/s    0:00:00\n"])
def test_a_copy_of_which_files_are_left_goes_on(last: str) -> None:
    assert read(FILES + last).finished is False


def test_a_copy_that_says_what_it_came_to_is_over() -> None:
    assert read(FILES + "\nsent 451,000 bytes  received 240 bytes\ntotal size is 451,000  speedup is 1.00\n").finished


def test_a_replica_that_is_named_is_none_of_several_in_turn() -> None:
    seen = read("pod trainer-0 (replica 1/3)\n" + lines('{"step":#,"total":900,"loss":0.2}', *range(100, 700, 100)))
    assert (seen.current, seen.exact_max) == (600, 900)


def test_a_lone_piece_in_a_growing_log_is_not_taken_for_an_end() -> None:
    reader = ProgressReader()
    for line in PIECES[0].splitlines(keepends=True):
        reader.feed(line.encode())
        assert not reader.result().finished


def test_a_fraction_in_brackets_before_a_named_inner_loop_is_the_runs() -> None:
    log = "".join(f"T=1.{at}0 [{at}/9] sweep {of}0/150 |m|=0.9\n" for at in range(1, 5) for of in (5, 10, 15))
    assert (read(log).current, read(log).exact_max) == (4, 9)


@pytest.mark.parametrize("word", ["minibatch", "microbatch", "batch"])
def test_batches_count_by_whatever_name(word: str) -> None:
    assert read(lines(f"{word} # nll 3.1", *range(1, 40))).current == 39


def test_bytes_that_are_left_are_no_time_that_is_left() -> None:
    progress = read(lines("dump #/20 written", *range(1, 6)) + "only 12 MB left on /scratch\n")
    assert (progress.current, progress.eta_seconds) == (5, None)
