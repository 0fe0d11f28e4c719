"""A share that a sentence tells, and a score, are no progress; an end in common words is one."""

from __future__ import annotations

import pytest

from onbox.logs.progress import read_progress

NO_PROGRESS = {
    "a share that was dropped": "quality filter dropped 88% of the pages\n71,220 documents left\n",
    "a share that agrees": "teacher agrees with student on 94.1% of the held-out set\n",
    "a share of a limit": "memory at 97% of the limit\nmemory at 99% of the limit\n",
    "a score of each round": "".join(
        f"eval: humaneval {at}/164 pass@1, mmlu 0.4{at}\n" for at in (79, 90, 87, 41, 55, 76, 53, 89, 44)
    ),
}
ENDED = {
    "in capitals": "INFO: generation=350 best=1e-8\nINFO: generation=375 best=1e-9\nINFO: SIMULATION ENDED NORMALLY\n",
    "the end of its input": "".join(f"{at}000 lines read, 3993 words\n" for at in range(4, 60, 4))
    + "EOF reached, saved\n",
    "nothing more to do": "backfill: 6 partitions pending\n"
    + "".join(f"backfill: partition {at} ok\n" for at in range(6))
    + "backfill: nothing more to do\n",
}


@pytest.mark.parametrize("log", NO_PROGRESS.values(), ids=NO_PROGRESS)
def test_it_shows_no_progress(log: str) -> None:
    progress = read_progress(log.encode())
    assert (progress.current, progress.exact_max, progress.percent) == (None, None, None)


@pytest.mark.parametrize("log", ENDED.values(), ids=ENDED)
def test_it_has_finished(log: str) -> None:
    assert read_progress(log.encode()).finished is True
