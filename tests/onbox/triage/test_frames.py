"""What stands around a program's own lines, where a cluster, a build service or a script has started it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = "".join(f"step {at}/300 loss {2 - at / 600:.3f}\n" for at in range(10, 300, 10))
DONE = f"{STEPS}step 300/300 loss 1.500\nsaved model to out/model.pt\n"
# (class, what the program and its shell print, exit code)
PROGRAMS: dict[str, tuple[str, str, int]] = {
    "an exception": (
        "code_error",
        (
            f'{STEPS}Traceback (most recent call last):\n  File "/home/u/train.py", line 88, in <module>\n    main()\n'
            "  File \"/home/u/train.py\", line 61, in main\n    y = table[k]\nKeyError: 'label_id'\n"
        ),
        1,
    ),
    "a command line that is refused": (
        "config_error",
        "usage: train.py [-h] --data DATA\ntrain.py: error: unrecognized arguments: --lrr 1\n",
        2,
    ),
    "a kill": ("host_oom", f"{STEPS}/opt/run.sh: line 9:  4411 Killed                  python train.py\n", 137),
    "a good end": ("success_healthy", DONE, 0),
    "a good end behind a warning": ("success_healthy", f"WARNING: fetch failed (503), retrying in 2 s\n{DONE}", 0),
}


def each(text: str, prefix: str) -> str:
    """The lines behind a prefix, in which # is a number of two digits."""
    return "".join(
        f"{prefix.replace('#', f'{at % 60:02}')}{line}\n" for at, line in enumerate(text.rstrip("\n").split("\n"))
    )


def compose(said: str, code: int) -> str:
    return (
        "Attaching to db-1, train-1\ndb-1     | LOG:  database system is ready to accept connections\n"
        f"{each(said, 'train-1  | ')}train-1 exited with code {code}\nAborting on container exit...\n"
        " Container x-train-1  Stopping\n Container x-db-1  Stopping\n"
        "db-1     | LOG:  received fast shutdown request\ndb-1     | LOG:  database system is shut down\n"
    )


def github(said: str, code: int) -> str:
    ended = f"##[error]Process completed with exit code {code}.\n" if code else ""
    ran = f"##[group]Run python train.py\nshell: /usr/bin/bash -e\n##[endgroup]\n{said}{ended}"
    return each(f"{ran}Post job cleanup.\nCleaning up orphan processes\n", "2026-01-02T07:12:#.2652043Z ")


def gitlab(said: str, code: int) -> str:
    ended = f"ERROR: Job failed: exit code {code}\n" if code else "Job succeeded\n"
    return f"$ python train.py\n{said}Cleaning up project directory and file based variables\n{ended}"


def jenkins(said: str, code: int) -> str:
    ended = f"ERROR: script returned exit code {code}\nFinished: FAILURE\n" if code else "Finished: SUCCESS\n"
    return f"[Pipeline] sh\n+ python train.py\n{said}[Pipeline] // node\n[Pipeline] End of Pipeline\n{ended}"


def slurm(said: str, code: int) -> str:
    return f"Loading gcc/12.2.0\n{said}End: Fri Jan  2 08:00:00 UTC 2026\nJob script finished (status {code})\n"


def epilogue(said: str, _: int) -> str:
    return f"{said}--- epilog ---\nCopying results to /home/u/out\nScratch removed\nElapsed: 00:12:33\n"


def systemd(said: str, code: int) -> str:
    unit = "Jan 02 08:00:00 box systemd[1]: train.service: "
    ended = f"{unit}Main process exited, code=exited, status={code}/n/a\n{unit}Failed with result 'exit-code'.\n"
    told = each(said, "Jan 02 07:12:# box python[4411]: ")
    return f"{told}{ended if code else f'{unit}Deactivated successfully.'}\n{unit}Consumed 12min CPU time.\n"


def timed(said: str, _: int) -> str:
    return f"{said}real\t12m33.120s\nuser\t44m1.002s\nsys\t0m12.331s\n"


def trapped(said: str, code: int) -> str:
    return f"[run.sh] starting train.py\n{said}[run.sh] cleaning up scratch\n[run.sh] exit {code}\n"


FRAMES: tuple[Callable[[str, int], str], ...] = (
    compose, github, gitlab, jenkins, slurm, epilogue, systemd, timed, trapped,
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.__name__)
@pytest.mark.parametrize(("failure_class", "said", "code"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_frame_changes_nothing(frame: Callable[[str, int], str], failure_class: str, said: str, code: int) -> None:
    verdict = classify(frame(said, code).encode(), Evidence(log_age_seconds=30.0))
    assert verdict.failure_class == failure_class, verdict
