"""Where nobody says after how long a stage is stalled: it is told after half an hour, and nothing is ended by it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain.observe.detect_watch import DetectWatch
from onbox.chain.observe.liveness import Signs, has_busy_gpu, is_active
from onbox.chain.observe.series_watch import SeriesWatch
from onbox.chain.runner import attempt_monitor
from onbox.chain.runner.attempt_monitor import _Watch
from onbox.chain.runner.start_attempt import Live
from onbox.config.parse import parse_config
from onbox.contract.events import Event
from onbox.contract.paths import RunPaths
from onbox.contract.runfile import FrozenStage
from onbox.model.detect import DetectSettings
from onbox.model.manifest import DEFAULT_STALL_SECONDS, Artifact, Retry, Stage
from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from pathlib import Path

HALF_AN_HOUR = 1800.0


class Watched:
    """An attempt that writes nothing, as its runner sees it at its last look and at the next one."""

    def __init__(self, folder: Path, stage: Stage) -> None:
        self.noted: list[dict[str, Any]] = []
        self.shown: dict[str, Any] = {}
        recorder = SimpleNamespace(note=self.noted.append, show=lambda **fields: self.shown.update(fields))
        settings = SimpleNamespace(sample_every_seconds=30.0, grace_seconds=1.0)
        paths = RunPaths(f"{folder}/state/digits")
        ctx: Any = SimpleNamespace(
            head=SimpleNamespace(run_id=f"none-{folder.name}", settings=settings),
            paths=paths,
            recorder=recorder,
            signals=SimpleNamespace(stops=0),
            folder=lambda stage: str(folder),
            sampler=SimpleNamespace(fd=None, taken_at=float("-inf")),
            series=SeriesWatch(paths),
            detect=DetectWatch(paths, DetectSettings()),
            environ={},
        )
        frozen = FrozenStage(stage, "f", 1)
        live = Live(frozen, 1, None, keeper_lives=False, is_child=False, began=monotonic(), began_wall=0.0)
        self.watch = _Watch(ctx, live)
        self.watch.next_beat = monotonic() + 3600

    def look_after(self, seconds: float, *, sample: dict[str, Any] | None = None) -> tuple[str, float, str] | None:
        """The next look, after so long a quiet."""
        now = monotonic()
        self.watch.resources = sample
        self.watch.signs = self.watch.signs or Signs(None, (), 0.0, now - seconds)
        self.watch.quiet_since, self.watch.next_look = now - seconds, now - 1
        return self.watch.overdue()

    @property
    def events(self) -> list[str]:
        return [record["event"] for record in self.noted]


def test_half_an_hour_of_quiet_is_told_and_ends_nothing(tmp_path: Path) -> None:
    watched = Watched(tmp_path, Stage("train", "sleep 9", retry=Retry(2, ("hang_stall",))))
    assert watched.look_after(HALF_AN_HOUR - 60) is None
    assert watched.events == []
    assert watched.look_after(HALF_AN_HOUR + 1) is None, "nobody asked for an end"
    assert watched.events == [Event.STAGE_STALLED]
    assert (watched.shown["state"], watched.shown["stalls_by_default"]) == ("stalled", True)
    assert watched.shown["stall_limit_seconds"] == HALF_AN_HOUR == DEFAULT_STALL_SECONDS


def test_a_busy_gpu_is_life_where_nobody_set_a_limit(tmp_path: Path) -> None:
    busy = {"gpus": [{"utilization_percent": 0}, {"utilization_percent": 97}]}
    watched = Watched(tmp_path, Stage("train", "sleep 9"))
    watched.look_after(HALF_AN_HOUR + 1, sample=busy)
    assert watched.events == []
    declared = Watched(tmp_path, Stage("train", "sleep 9", stall_after_seconds=60.0))
    declared.look_after(61, sample=busy)
    assert declared.events == [Event.STAGE_STALLED], "a limit that somebody set is for what hangs on a GPU, too"


def test_the_time_in_which_the_whole_box_was_held_is_no_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(tmp_path, Stage("train", "sleep 9", stall_after_seconds=60.0, retry=Retry(2, ("hang_stall",))))
    assert watched.look_after(30) is None
    clock = [monotonic()]
    held = clock[0] + 3600
    watched.watch.ctx.signals.wait = lambda *_: clock.append(held)  # type: ignore[method-assign]
    monkeypatch.setattr(attempt_monitor, "monotonic", lambda: clock[-1])
    watched.watch.sleep()
    watched.watch.next_beat = held + 3600
    assert watched.watch.overdue() is None
    assert watched.events == []
    clock.append(held + 31)
    assert (watched.watch.overdue() or ("",))[0] == "stalled", "from there on it counts"


def test_never_is_never(tmp_path: Path) -> None:
    config = parse_config({"stages": {"a": {"cmd": "x", "stall_after": "never"}}}, default_name="x")
    (stage,) = config.stages
    watched = Watched(tmp_path, stage)
    watched.look_after(30 * 86400.0)
    assert watched.events == []


def test_the_newest_artifact_is_shown_for_who_looks_from_outside(tmp_path: Path) -> None:
    (tmp_path / "best.npz").write_bytes(b"weights")
    watched = Watched(tmp_path, Stage("train", "sleep 9", artifacts=(Artifact("best.npz"),)))
    watched.look_after(10)
    watched.watch._show()
    told = watched.shown["artifacts"]
    assert (told["count"], told["bytes"]) == (1, 7)
    assert told["newest_at"].startswith("20")


@pytest.mark.parametrize(
    ("busy", "sample"),
    [
        (False, None),
        (False, {}),
        (False, {"gpus": [{"utilization_percent": 1}]}),
        (False, {"gpus": [{"utilization_percent": {"unseen": "no right"}}, {}]}),
        (False, {"gpus": "none"}),
        (True, {"gpus": [{"utilization_percent": 5}]}),
    ],
)
def test_what_the_driver_does_not_tell_is_no_life(*, busy: bool, sample: dict[str, Any] | None) -> None:
    assert busy is has_busy_gpu(sample)
    quiet = Signs((1, 1), (), 1.0, 1.0)
    assert busy is is_active(quiet, quiet._replace(gpu_is_busy=has_busy_gpu(sample), at_seconds=31.0))
