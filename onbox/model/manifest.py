"""The definition of a run: its stages, and what must hold for each. Frozen into run.json when the chain starts.

Records are `NamedTuple`s, not dataclasses: the runner loads this module at every start, and `dataclasses` alone
would cost it 10 ms and 1.5 MiB (docs/decisions/0002-light-runner.md).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SCHEMA = 1

# What a sign against a success leads to.
OFF, WARN, REFUSE = "off", "warn", "refuse"


class Artifact(NamedTuple):
    """A file or folder, or those of a glob, that a stage must have written. Paths are relative to the stage's cwd.

    `is_glob`: False means that `pattern` is one literal path. `min_bytes` holds for each; 0 allows empty ones.
    """

    pattern: str
    is_glob: bool = False
    min_count: int = 1
    min_bytes: int = 1

    @property
    def has_wildcard(self) -> bool:
        """A glob without one is a plain artifact: it names one path, and no series of checkpoints."""
        return self.is_glob and any(mark in self.pattern for mark in "*?[")


class WaitFor(NamedTuple):
    """What must appear before a stage starts: a file, or a line in a log, or the end of a process. Bounded by
    `timeout_seconds`.

    Exactly one of `file` and `log` is set, or neither, and then `pid`; `regex`, `fail_regex` and `stall_after_seconds`
    go with `log`. Paths are relative to the stage's cwd. pid: the process that makes it; where it has gone, nothing
    more will appear. process: which one has that pid, "START_TICKS:BOOT_ID", as frozen; "": none had it then.
    """

    file: str | None
    log: str | None
    regex: str | None
    timeout_seconds: float
    fail_regex: str | None = None
    stall_after_seconds: float | None = None
    pid: int | None = None
    process: str | None = None

    def __str__(self) -> str:
        """What is waited for, in words."""
        if self.file is not None:
            return f"the file {self.file}"
        return f"the end of process {self.pid}" if self.log is None else f"/{self.regex}/ in {self.log}"


class Retry(NamedTuple):
    """How often, for which failure classes and after how long a failed stage is started again, unchanged."""

    max: int = 0
    classes: tuple[str, ...] = ()
    backoff_seconds: float = 60.0


class Amount(NamedTuple):
    """A wanted amount of something: an absolute number, or a share of the whole. Exactly one is set.

    `number`: bytes or inodes. `percent`: 0-100 of what the file system (or the memory limit) has in all.
    """

    number: int | None = None
    percent: float | None = None


class GpuGate(NamedTuple):
    """At least `number` GPUs with at most `max_used_mib` MiB in use each (None: any use)."""

    number: int
    max_used_mib: int | None = None


class CheckpointGate(NamedTuple):
    """Room for `keep` checkpoints of `size_bytes` in `files` files each, and for `scratch_bytes` beside them, where
    `path` (relative to the stage's cwd) lies. What already lies below `path` counts towards the checkpoints.
    """

    size_bytes: int
    keep: int
    scratch_bytes: int = 0
    files: int = 1
    path: str = "."


class Gates(NamedTuple):
    """What must be free before a stage starts. None: not asked for."""

    disk_free: Amount | None = None
    inodes_free: Amount | None = None
    memory_free: Amount | None = None
    gpu: GpuGate | None = None
    checkpoints: CheckpointGate | None = None


DEFAULT_STALL_SECONDS = 1800.0


class Stage(NamedTuple):
    """One command and the conditions around it.

    `cmd`: a shell line, or an argv. `env`: added to the stage's environment; a value `env:NAME` or `file:PATH` is
    looked up when the stage starts, so that no secret is ever frozen. Times in seconds; None: no such limit, but for
    stall_after_seconds: DEFAULT_STALL_SECONDS, by which nobody is stopped or ceases to wait. sbatch:
    (option, value) pairs for a Slurm job of this stage, value None for a flag; they have no effect elsewhere.
    checkpoints: the preset that its checkpoints are laid out by; "": what lies in them tells. finite_loss: what follows
    when the last loss in the log is nan or infinite: WARN, REFUSE, or OFF. expected_seconds: how long it should take;
    a stage is never stopped for that.
    """

    name: str
    cmd: str | tuple[str, ...]
    cwd: str = "."
    env: tuple[tuple[str, str], ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    timeout_seconds: float | None = None
    stall_after_seconds: float | None = None
    min_duration_seconds: float | None = None
    wait_for: WaitFor | None = None
    retry: Retry = Retry()
    done_if_log: str | None = None
    gates: Gates = Gates()
    sbatch: tuple[tuple[str, str | None], ...] = ()
    checkpoints: str = ""
    fail_if_log: str | None = None
    finite_loss: str = WARN
    expected_seconds: float | None = None


def folder_of(project: str, stage: Stage) -> str:
    """Where a stage works: its cwd below the project."""
    return os.path.normpath(os.path.join(project, stage.cwd))


class RunSettings(NamedTuple):
    """What holds for the run as a whole. expected_seconds: how long all of it should take; None: not known."""

    sample_every_seconds: float = 30.0
    grace_seconds: float = 30.0
    expected_seconds: float | None = None

    def to_plain(self) -> dict[str, float]:
        """What is not known is left out: an earlier reader takes each value as a number."""
        return {key: value for key, value in self._asdict().items() if value is not None}


def stage_to_dict(stage: Stage) -> dict[str, object]:
    """A stage as JSON-ready data; fields at their default are left out, so that old readers see no noise."""
    out: dict[str, object] = {"name": stage.name, "cmd": list(stage.cmd) if isinstance(stage.cmd, tuple) else stage.cmd}
    default = Stage(stage.name, stage.cmd)
    for field, value in zip(stage._fields[2:], stage[2:], strict=True):
        if value != getattr(default, field):
            out[field] = _plain(value)
    return out


def _plain(value: object) -> object:
    """Nested records as dicts, tuples as lists."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items() if item is not None}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def stage_from_dict(data: Mapping[str, object]) -> Stage:
    """The inverse of `stage_to_dict`. Unknown fields (of a newer writer) are ignored. ValueError on missing ones."""
    missing = [key for key in ("name", "cmd") if key not in data]
    if missing:
        raise ValueError("a stage lacks " + " and ".join(missing))
    fields = {key: _FROM_PLAIN.get(key, _same)(value) for key, value in data.items() if key in Stage._fields}
    return Stage(**fields)  # type: ignore[arg-type]


def _same(value: object) -> object:
    return value


def _cmd(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _fields(kind: type[Any], value: object) -> dict[str, Any]:
    """The fields of a nested record that this version knows; lists as tuples, missing ones without default as None."""
    assert isinstance(value, dict)
    known = kind._fields
    fields = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items() if key in known}
    return {key: None for key in known if key not in kind._field_defaults} | fields


def _gates(value: object) -> Gates:
    assert isinstance(value, dict)
    kinds: dict[str, Any] = {"gpu": GpuGate, "checkpoints": CheckpointGate}
    known = {key: item for key, item in value.items() if key in Gates._fields}
    return Gates(
        **{key: kinds.get(key, Amount)(**_fields(kinds.get(key, Amount), item)) for key, item in known.items()}
    )


_FROM_PLAIN: dict[str, Callable[[Any], object]] = {
    "cmd": _cmd,
    "env": lambda value: tuple((key, item) for key, item in value),
    "sbatch": lambda value: tuple((key, item) for key, item in value),
    "artifacts": lambda value: tuple(Artifact(**_fields(Artifact, item)) for item in value),
    "wait_for": lambda value: WaitFor(**_fields(WaitFor, value)),
    "retry": lambda value: Retry(**_fields(Retry, value)),
    "gates": _gates,
}
