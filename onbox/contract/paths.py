"""Every path of a run directory. Nothing else in the project spells one of these names."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple

CONFIG_FILE = "onbox.toml"
DEFAULT_STATE_DIR = ".onbox"


class RunPaths(NamedTuple):
    """The files of one run below `root` = `<state_dir>/<run>` (an absolute path). See docs/format.md."""

    root: str

    @property
    def manifest(self) -> str:
        return f"{self.root}/run.json"

    @property
    def journal(self) -> str:
        return f"{self.root}/events.jsonl"

    @property
    def status(self) -> str:
        return f"{self.root}/status.json"

    @property
    def samples(self) -> str:
        return f"{self.root}/samples.jsonl"

    @property
    def series(self) -> str:
        return f"{self.root}/series.jsonl"

    @property
    def lock(self) -> str:
        return f"{self.root}/lock"

    @property
    def runner_log(self) -> str:
        return f"{self.root}/runner.log"

    @property
    def stop_request(self) -> str:
        return f"{self.root}/stop.json"

    @property
    def markers(self) -> str:
        return f"{self.root}/markers"

    @property
    def logs(self) -> str:
        return f"{self.root}/logs"

    @property
    def prunes(self) -> str:
        """What was removed of the checkpoints, by whose word: a journal of its own, because a runner may be alive."""
        return f"{self.root}/prunes.jsonl"

    @property
    def jobs(self) -> str:
        """What belongs to jobs of an engine: the script that is handed to it, and what the jobs themselves print."""
        return f"{self.root}/jobs"

    @property
    def outbox(self) -> str:
        """Notices that are not delivered yet, one file per notice and target; dotted names are the deliverer's own."""
        return f"{self.root}/outbox"

    @property
    def sent(self) -> str:
        return f"{self.root}/sent"

    @property
    def dead(self) -> str:
        """Notices that will not be delivered, each with the reason."""
        return f"{self.root}/dead"

    def done(self, stage: str) -> str:
        return f"{self.root}/markers/{stage}_DONE"

    def failed(self, stage: str) -> str:
        return f"{self.root}/markers/{stage}_FAILED"

    def slot(self, stage: str) -> str:
        """The reserved file of a stage's live attempt: lock, exit record, and later the marker itself."""
        return f"{self.root}/markers/.{stage}.slot"

    def log(self, stage: str, attempt: int) -> str:
        return f"{self.root}/logs/{stage}.{attempt}.log"

    def stacks(self, stage: str, attempt: int) -> str:
        """What an attempt's Python processes were doing when it stalled, where py-spy is installed."""
        return f"{self.root}/logs/{stage}.{attempt}.stacks"

    def newest_log(self, stage: str) -> str:
        return f"{self.root}/logs/{stage}.log"


CHAIN = "CHAIN"  # the "stage" whose markers are CHAIN_DONE and CHAIN_FAILED; no real stage may have this name
SWEEP = "SWEEP"  # the one stage of a sweep's run: its markers are SWEEP_DONE and SWEEP_FAILED
CELLS_FOLDER = "cells"  # below a sweep's directory: one run directory for each cell
