"""The success gate: every trap that looks like success and is none."""

from __future__ import annotations

import pytest

from onbox.chain.artifacts.on_disk import ArtifactLook, FoundFile
from onbox.chain.gates.success_gate import Ended, GateFinding, judge, signal_of
from onbox.model.manifest import Artifact, Stage

PLAIN = Stage("train", "python train.py")
BEST = Artifact("best.npz")
EPOCHS = Artifact("epoch_*.npz", is_glob=True, min_count=3, min_bytes=1000)
LONG = PLAIN._replace(min_duration_seconds=60.0)
SAVED = PLAIN._replace(done_if_log="^saved")
GOOD = Ended(0, None, "exit", 100.0)


def files(count: int, size: int = 2000) -> tuple[FoundFile, ...]:
    return tuple(FoundFile(f"epoch_{number}.npz", size, 1, 1, number) for number in range(count))


NEW_BEST = ArtifactLook(BEST, new=files(1))

SUCCESSES: list[tuple[Stage, Ended, tuple[ArtifactLook, ...], bool | None]] = [
    (PLAIN, GOOD, (), None),
    (PLAIN, GOOD._replace(duration_seconds=None), (), None),
    (PLAIN, GOOD, (NEW_BEST,), None),
    (PLAIN, GOOD, (NEW_BEST, ArtifactLook(EPOCHS, new=files(3))), None),
    (PLAIN, GOOD, (ArtifactLook(EPOCHS, new=files(3), old=files(9), small=files(2, 5)),), None),
    (PLAIN, GOOD, (), False),
    (LONG, GOOD._replace(duration_seconds=60.0), (), None),
    (LONG._replace(min_duration_seconds=0.0), GOOD._replace(duration_seconds=0.0), (), None),
    (SAVED, GOOD, (), True),
]


def test_a_quick_last_attempt_of_a_long_series_is_not_too_fast() -> None:
    ended = Ended(0, None, "exit", 2.0)
    assert judge(LONG, ended, (), log_matches=None, earlier_seconds=58.0) == ()
    assert judge(LONG, ended, (), log_matches=None, earlier_seconds=57.0) != ()


@pytest.mark.parametrize(("stage", "ended", "looks", "log"), SUCCESSES)
def test_it_passes_when_nothing_is_missing(
    stage: Stage, ended: Ended, looks: tuple[ArtifactLook, ...], *, log: bool | None
) -> None:
    assert judge(stage, ended, looks, log_matches=log) == ()


TRAPS: list[tuple[str, Stage, Ended, tuple[ArtifactLook, ...], bool | None]] = [
    ("exit_code: 1, wanted 0", PLAIN, Ended(1, None, "exit", 100.0), (NEW_BEST,), None),
    ("exit_code: 137 (SIGKILL), wanted 0", PLAIN, Ended(137, 9, "exit", 100.0), (NEW_BEST,), None),
    ("exit_code: not recorded, wanted 0", PLAIN, Ended(None, None, "exit", 100.0), (NEW_BEST,), None),
    (
        "timeout: ended by onbox, wanted a normal end with exit code 0",
        PLAIN,
        Ended(0, None, "timeout", 100.0),
        (NEW_BEST,),
        None,
    ),
    (
        "stalled: quiet for 30m, wanted a normal end with exit code 0",
        PLAIN,
        Ended(143, 15, "stalled", 100.0, "quiet for 30m"),
        (NEW_BEST,),
        None,
    ),
    (
        "keeper_lost: ended by onbox, wanted a normal end with exit code 0",
        PLAIN,
        Ended(None, None, "keeper_lost", None),
        (NEW_BEST,),
        None,
    ),
    (
        "not_started: no such file",
        PLAIN,
        Ended(None, None, "not_started", 0.0, "no such file"),
        (),
        None,
    ),
    (
        "artifact best.npz: missing, wanted a new file or folder of at least 1 B",
        PLAIN,
        GOOD,
        (ArtifactLook(BEST),),
        None,
    ),
    (
        (
            "artifact best.npz: 0 new, 1 old (from before the stage's first attempt), "
            "wanted a new file or folder of at least 1 B"
        ),
        PLAIN,
        GOOD,
        (ArtifactLook(BEST, old=files(1)),),
        None,
    ),
    (
        "artifact best.npz: 0 new, 1 too small (from 0 B), wanted a new file or folder of at least 1 B",
        PLAIN,
        GOOD,
        (ArtifactLook(BEST, small=files(1, 0)),),
        None,
    ),
    (
        "artifact best.npz: could not look (best.npz: Permission denied), wanted a readable file or folder",
        PLAIN,
        GOOD,
        (ArtifactLook(BEST, problem="best.npz: Permission denied"),),
        None,
    ),
    ("artifact epoch_*.npz: missing, wanted 3 new of at least 1.0 kB", PLAIN, GOOD, (ArtifactLook(EPOCHS),), None),
    (
        "artifact epoch_*.npz: 2 new, wanted 3 new of at least 1.0 kB",
        PLAIN,
        GOOD,
        (ArtifactLook(EPOCHS, new=files(2)),),
        None,
    ),
    (
        (
            "artifact epoch_*.npz: 2 new, 7 old (from before the stage's first attempt), 1 too small (from 5 B), "
            "wanted 3 new of at least 1.0 kB"
        ),
        PLAIN,
        GOOD,
        (ArtifactLook(EPOCHS, new=files(2), old=files(7), small=files(1, 5)),),
        None,
    ),
    (
        "min_duration: ended after 59.9s, wanted at least 1m00s",
        LONG,
        GOOD._replace(duration_seconds=59.9),
        (),
        None,
    ),
    (
        "min_duration: unknown duration, wanted at least 1m00s",
        LONG,
        GOOD._replace(duration_seconds=None),
        (),
        None,
    ),
    ("done_if_log: no such line in the attempt's log, wanted /^saved/", SAVED, GOOD, (), False),
    ("done_if_log: no such line in the attempt's log, wanted /^saved/", SAVED, GOOD, (), None),
]


@pytest.mark.parametrize(("said", "stage", "ended", "looks", "log"), TRAPS)
def test_each_trap_is_refused_with_its_numbers(
    said: str, stage: Stage, ended: Ended, looks: tuple[ArtifactLook, ...], *, log: bool | None
) -> None:
    assert [said] == [str(finding) for finding in judge(stage, ended, looks, log_matches=log)]


def test_all_that_is_missing_is_said_at_once() -> None:
    stage = LONG._replace(done_if_log="^saved")
    found = judge(
        stage, GOOD._replace(duration_seconds=1.0), (ArtifactLook(BEST), ArtifactLook(EPOCHS)), log_matches=False
    )
    assert [one.gate for one in found] == ["min_duration", "artifact best.npz", "artifact epoch_*.npz", "done_if_log"]


def test_artifacts_say_nothing_about_a_failed_command() -> None:
    found = judge(SAVED, Ended(2, None, "exit", 1.0), (ArtifactLook(BEST),), log_matches=False)
    assert (GateFinding("exit_code", "2", "0"),) == found


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (None, None),
        (None, 0),
        (None, 1),
        (None, 127),
        (None, 128),
        (1, 129),
        (9, 137),
        (15, 143),
        (64, 192),
        (None, 193),
        (None, 255),
    ],
)
def test_the_signal_is_read_from_the_exit_code(number: int | None, code: int | None) -> None:
    assert number == signal_of(code)
