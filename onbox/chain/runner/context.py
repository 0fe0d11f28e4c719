"""What every part of the runner needs to know about the run it serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.chain.observe.detect_watch import DetectWatch
    from onbox.chain.observe.progress_watch import ProgressWatch
    from onbox.chain.observe.sampling import Sampler
    from onbox.chain.observe.series_watch import SeriesWatch
    from onbox.chain.observe.tracker_watch import TrackerWatch
    from onbox.chain.runner.signals import Signals
    from onbox.chain.state.recorder import Recorder
    from onbox.chain.state.stage_code import FrozenGit
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead
    from onbox.model.manifest import Stage


class Context(NamedTuple):
    """The run, and the runner's hands. boot_id: None if the kernel does not tell. environ: what the runner was started
    with, copied once. life_fd: the writing end of a pipe that this process alone reads; keepers inherit it and learn
    from it whether the runner lives. job: `ENGINE:ID` of the job that this runner is, None outside of one.
    """

    paths: RunPaths
    head: RunHead
    recorder: Recorder
    signals: Signals
    boot_id: str | None
    resume_words: tuple[str, ...]
    environ: Mapping[str, str]
    life_fd: int
    sampler: Sampler
    progress: ProgressWatch
    series: SeriesWatch
    detect: DetectWatch
    tracker: TrackerWatch
    git: FrozenGit
    job: str | None = None

    def folder(self, stage: Stage) -> str:
        """Where a stage works: its cwd below the project."""
        return folder_of(self.head.project, stage)
