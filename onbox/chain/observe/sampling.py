"""The runner's look at its box while a stage runs: samples for trends, peaks for markers, OOM kills for verdicts.

The collectors are loaded with the first sample: a stage that is over before it costs nothing.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onbox.chain.observe.sample_file import SampleFile, read_samples
from onbox.collectors.groups import find_group
from onbox.collectors.oom import KillWatch, count_kills
from onbox.contract.readings import Absent, Unseen, observed, plain
from onbox.contract.samples import Peaks, peaks_of
from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.chain.gates.success_gate import Ended
    from onbox.collectors.disk import Room
    from onbox.collectors.gpu.nvml import GpuReading
    from onbox.collectors.gpu.watch import GpuWatch
    from onbox.collectors.groups import ControlGroup
    from onbox.collectors.remote_disk import RemoteDisks
    from onbox.collectors.snapshot import Groups, Snapshot
    from onbox.contract.paths import RunPaths
    from onbox.contract.readings import Maybe
    from onbox.contract.samples import Sample
    from onbox.model.manifest import Stage
    from onbox.system.process import Identity

OWN_RSS_BYTES = 64 << 20  # up to this `max_rss_bytes` may be the runner's own


class Sampler:
    """One stage at a time: `baseline` before it starts, `begin`, `take` at every beat, `finish`."""

    def __init__(self, paths: RunPaths) -> None:
        self.paths = paths
        self.file = SampleFile(paths.samples)
        self.taken_at = float("-inf")  # monotonic, of the newest sample
        self._groups: Groups | None = None
        self._about: dict[str, Any] = {}
        self._stage: Stage | None = None
        self._folder = ""
        self._touched: tuple[str, ...] | None = None  # what the stage touches, found with its first sample
        self._peaks = Peaks()
        self._kills: KillWatch | None = None
        self._remote: RemoteDisks | None = None
        self._gpus: GpuWatch | None = None

    def baseline(self) -> dict[str, int] | None:
        """The OOM counters now, for the start record of an attempt. None: they cannot be read here."""
        return None if isinstance(self._memory, Absent | Unseen) else count_kills(self._memory)

    @cached_property
    def _memory(self) -> Maybe[ControlGroup]:
        """Where this process stands, and with it its stages."""
        return find_group("memory")

    def begin(self, stage: Stage, folder: str, attempt: int, baseline: Mapping[str, int] | None) -> None:
        """An attempt runs from now on. baseline: of its start record."""
        self._about = {"stage": stage.name, "attempt": attempt}
        self._stage, self._folder, self._touched = stage, folder, None
        self._peaks = Peaks()
        self._kills = KillWatch(self._memory, baseline)

    def recall(self) -> None:
        """Take over what an earlier runner sampled of this attempt."""
        try:
            samples = read_samples(self.paths.samples)
        except OSError:
            return  # the peaks then begin with this runner
        about = self._about.items()
        self._peaks = peaks_of(sample for sample in samples if about <= sample.items())

    def ask(self) -> None:
        """Put the question to the GPUs, whose answer `take` will want. Costs nothing where there are none."""
        from onbox.collectors.gpu.watch import GpuWatch  # noqa: PLC0415 - loaded with the first sample

        if self._gpus is None:
            self._gpus = GpuWatch()
        self._gpus.ask()

    @property
    def fd(self) -> int | None:
        """Becomes readable when the GPUs have answered; None while no answer is awaited."""
        return None if self._gpus is None else self._gpus.fd

    def has_answer(self) -> bool:
        """Whether the GPUs' answer is there, or none is awaited."""
        return self._gpus is None or self._gpus.has_answer()

    def take(self, leader: Identity | None) -> Sample:
        """A sample of now, kept in samples.jsonl. leader: the stage's keeper; None: it is not known."""
        from onbox.collectors.sample import sample_of  # noqa: PLC0415 - loaded with the first sample
        from onbox.collectors.snapshot import find_groups, take_snapshot  # noqa: PLC0415

        self._groups = self._groups or find_groups()
        if self._touched is None:
            self._touched = () if self._stage is None else touched_paths(self.paths.root, self._stage, self._folder)
        snapshot = take_snapshot(self._groups, self._touched, leader, look_remote=self._look_at_remote)
        self.taken_at = monotonic()
        if self._kills is not None and not isinstance(snapshot.tree, Absent | Unseen):
            self._kills.look_at(member.pid for member in snapshot.tree.biggest)
        gpus = None if self._gpus is None else self._gpus.answer(0.0)
        sample = {**sample_of(snapshot, gpus), **self._about}
        self._peaks.take(sample)
        self.file.append(sample)
        return {
            **sample,
            **_troubles(snapshot, gpus),
            **({"samples_missed": self.file.missed} if self.file.missed else {}),
        }

    def _look_at_remote(self, path: str) -> Maybe[Room]:
        from onbox.collectors.remote_disk import RemoteDisks  # noqa: PLC0415 - loaded where there is such a mount

        if self._remote is None:
            self._remote = RemoteDisks()
        return self._remote.look(path)

    def close(self) -> None:
        """End the children that look at what may hang."""
        for children in (self._remote, self._gpus):
            if children is not None:
                children.close()

    def oom_kills(self) -> Maybe[int]:
        """Processes that the OOM killer took from the attempt."""
        return Unseen("no attempt") if self._kills is None else self._kills.delta()

    def finish(self, ended: Ended) -> dict[str, Any]:
        """What the attempt used, for its marker. What was not seen is left out."""
        kills = self.oom_kills()
        data = {
            "max_rss_bytes": ended.max_rss_bytes,
            "cpu_seconds": ended.cpu_seconds,
            "oom_kills": observed(kills) if not isinstance(kills, Unseen) else plain(kills),
            **self._peaks.data,
        }
        seen, counted = data.get("peak_tree_rss_bytes"), ended.max_rss_bytes
        if isinstance(seen, int) and counted is not None and counted > max(seen, OWN_RSS_BYTES):
            data["peak_tree_rss_bytes"] = counted  # it came and went between two samples: the tree held that at least
        return {key: value for key, value in data.items() if value is not None}


def _troubles(snapshot: Snapshot, gpus: Maybe[GpuReading] | None) -> dict[str, Any]:
    """Which collectors could not look, and why."""
    troubles = {took.collector: took.trouble for took in snapshot.took if took.trouble}
    if isinstance(gpus, Unseen):
        troubles["gpu"] = gpus.why
    return {"could_not_look": troubles} if troubles else {}


def touched_paths(root: str, stage: Stage, folder: str) -> tuple[str, ...]:
    """What a stage touches: its state, its folder, its artifacts' folders, and where temporary things go."""
    artifacts = [os.path.dirname(os.path.join(folder, artifact.pattern)) for artifact in stage.artifacts]
    fixed = [path.split("*")[0].split("?")[0].split("[")[0] for path in artifacts]
    temporary = os.environ.get("TMPDIR", "/tmp")  # a place to look at, not to write
    paths = (root, folder, *fixed, temporary, "/dev/shm")
    return tuple(dict.fromkeys(os.path.normpath(path) for path in paths if os.path.isabs(path)))
