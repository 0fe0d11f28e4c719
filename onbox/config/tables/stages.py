"""The stages and gates of a configuration: from tables to `Stage` records. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from onbox.config import values
from onbox.config.fields import ConfigError, Table, Unwanted
from onbox.config.tables.artifacts import merge_artifacts, read_artifacts, read_checkpoints, refuse_shared_artifacts
from onbox.config.tables.engines import merge_options, read_options
from onbox.config.tables.wait_for import read_wait_for
from onbox.contract.names import log_name_clashes, stage_name_problem
from onbox.model.manifest import WARN, CheckpointGate, Gates, GpuGate, Retry, Stage

if TYPE_CHECKING:
    from onbox.config.tables.engine_part import Options

T = TypeVar("T")

Env = Mapping[str, str]

STAGE_KEYS = (
    "cmd",
    "cwd",
    "env",
    "artifacts",
    "checkpoints",
    "timeout",
    "stall_after",
    "min_duration",
    "wait_for",
    "retry",
    "done_if_log",
    "fail_if_log",
    "finite_loss",
    "gates",
    "sbatch",
)
RETRY_KEYS = ("max", "classes", "backoff")
GATES_KEYS = ("disk_free", "inodes_free", "memory_free", "gpu", "checkpoints")
GPU_KEYS = ("count", "max_used_mib")
CHECKPOINT_KEYS = ("size", "keep", "scratch", "files", "path")

RETRY_MAX = 1  # where there is a retry table without `max`


class Shared(NamedTuple):
    """What every stage gets: the environment of [run], the [gates], why each failure class must never be
    retried ("": it may be; None: any may be), and
    the `sbatch` options of the engine's table.
    """

    env: Env
    gates: Gates
    known_classes: Mapping[str, str] | None
    sbatch: Options = ()


def read_stages(value: object, shared: Shared, errors: list[ConfigError]) -> tuple[Stage, ...]:
    """The [stages.*] tables in file order, each with `shared` merged in. Errors are reported into `errors`."""
    tables = Table("stages", value, None, errors)
    stages = []
    for name, table in tables.values.items():
        problem = stage_name_problem(name)
        if problem is not None:
            tables.fail(name, name, problem)
        stages.append(_read_stage(name, Table(tables.path_of(name), table, STAGE_KEYS, errors), shared))
    for stage, other in log_name_clashes(tables.values):
        tables.fail(other, other, f"allowed beside {stage}: attempts of {stage} log to {other}.log too")
    refuse_shared_artifacts(stages, errors)
    return tuple(stages)


def _read_stage(name: str, table: Table, shared: Shared) -> Stage:
    gates = _read_gates(table, shared.gates)
    preset = read_checkpoints(table, gates.checkpoints)
    stage = Stage(
        name=name,
        cmd=table.require("cmd", values.command, "", values.COMMAND_WANTED),
        cwd=table.read("cwd", values.text, "."),
        env=merge_env(shared.env, read_env(table)),
        artifacts=merge_artifacts(read_artifacts(table), preset.artifacts),
        timeout_seconds=table.read("timeout", values.positive_duration, None),
        stall_after_seconds=table.read("stall_after", values.positive_duration, None),
        min_duration_seconds=table.read("min_duration", values.duration, None),
        wait_for=read_wait_for(table),
        retry=_read_retry(table, shared.known_classes),
        done_if_log=table.read("done_if_log", values.optional_regex, None),
        fail_if_log=table.read("fail_if_log", values.optional_regex, None),
        finite_loss=table.read("finite_loss", values.weight, WARN),
        gates=gates,
        sbatch=merge_options(shared.sbatch, read_options(table)),
        checkpoints=preset.kind,
    )
    _refuse_impossible_times(stage, table)
    return stage


def _refuse_impossible_times(stage: Stage, table: Table) -> None:
    shortest, longest = stage.min_duration_seconds, stage.timeout_seconds
    if shortest is not None and longest is not None and shortest > longest:
        table.fail("min_duration", table.values["min_duration"], "shorter than timeout: the stage could never be DONE")


# -- environment


def merge_env(run_env: Env, stage_env: Env) -> tuple[tuple[str, str], ...]:
    """Both environments sorted by name; where both have a name, the stage's value holds."""
    return tuple(sorted({**run_env, **stage_env}.items()))


def read_env(table: Table) -> Env:
    """The `env` table below a table, without its wrong entries."""
    if "env" not in table:
        return {}
    env = Table(table.path_of("env"), table.values["env"], None, table.errors, secret=True)
    found = {}
    for name in env.values:
        if not values.is_variable_name(name):
            env.fail(name, name, "the name of a variable: letters, digits and _, no digit first")
        value = env.read(name, partial(values.env_value, name), None)
        if value is not None:
            found[name] = value
    return found


# -- retry


def _read_retry(stage: Table, known_classes: Mapping[str, str] | None) -> Retry:
    if "retry" not in stage:
        return Retry()
    table = Table(stage.path_of("retry"), stage.values["retry"], RETRY_KEYS, stage.errors)
    parse: Callable[[object], str] = values.failure_class
    if known_classes is not None:
        parse = partial(_retried_class, known_classes)
    retry = Retry(
        max=table.read("max", values.count_from(0), RETRY_MAX),
        classes=table.read_list("classes", parse, 'a list such as ["preempted", "network_blip"]'),
        backoff_seconds=table.read("backoff", values.duration, Retry().backoff_seconds),
    )
    if retry.max and not table.values.get("classes"):
        table.missing("classes", "the failure classes to retry, as no other is retried")
    return retry


def _retried_class(known: Mapping[str, str], value: object) -> str:
    never = known.get(value) if isinstance(value, str) else None
    if never:
        raise Unwanted(f"a class that may be retried unchanged ({never})")
    allowed = [name for name, why in known.items() if not why]
    return values.one_of(allowed, "a failure class that may be retried")(value)


# -- gates


def _read_gates(stage: Table, inherited: Gates) -> Gates:
    if "gates" not in stage:
        return inherited
    return read_gates(Table(stage.path_of("gates"), stage.values.get("gates", {}), GATES_KEYS, stage.errors), inherited)


def read_gates(table: Table, inherited: Gates) -> Gates:
    """The gates of a table: a key overrides the inherited gate, `false` switches it off."""
    return Gates(
        disk_free=_gate(table, "disk_free", values.byte_amount, inherited.disk_free),
        inodes_free=_gate(table, "inodes_free", values.inode_amount, inherited.inodes_free),
        memory_free=_gate(table, "memory_free", values.byte_amount, inherited.memory_free),
        gpu=_gate(table, "gpu", lambda value: _gpu(table, value), inherited.gpu),
        checkpoints=_gate(table, "checkpoints", lambda value: _checkpoints(table, value), inherited.checkpoints),
    )


def _gate(table: Table, key: str, parse: Callable[[object], T], inherited: T | None) -> T | None:
    return None if table.values.get(key) is False else table.read(key, parse, inherited)


def _gpu(gates: Table, value: object) -> GpuGate:
    table = Table(gates.path_of("gpu"), value, GPU_KEYS, gates.errors)
    return GpuGate(
        number=table.read("count", values.count_from(1), 1),
        max_used_mib=table.read("max_used_mib", values.count_from(0), None),
    )


def _checkpoints(gates: Table, value: object) -> CheckpointGate:
    table = Table(gates.path_of("checkpoints"), value, CHECKPOINT_KEYS, gates.errors)
    return CheckpointGate(
        size_bytes=table.require("size", values.size, 0, "the size of one checkpoint, such as 4GB"),
        keep=table.require("keep", values.count_from(1), 1, "how many checkpoints lie there at once"),
        scratch_bytes=table.read("scratch", values.size, 0),
        files=table.read("files", values.count_from(1), 1),
        path=table.read("path", values.text, "."),
    )
