"""The stages of a configuration: from tables to `Stage` records. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from onbox.checkpoints.kinds import PRESETS
from onbox.config import values
from onbox.config.fields import ConfigError, Table, Unwanted
from onbox.config.keys import Key, Keys, OwnKey
from onbox.config.tables.artifacts import merge_artifacts, read_artifacts, read_checkpoints, refuse_shared_artifacts
from onbox.config.tables.engines import merge_options, read_options
from onbox.config.tables.gates import read_stage_gates
from onbox.config.tables.wait_for import read_wait_for
from onbox.contract.names import log_name_clashes, stage_name_problem
from onbox.model.manifest import WARN, Gates, Retry, Stage
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.config.tables.engine_part import Options

Env = Mapping[str, str]

RETRY_MAX = 1  # where there is a retry table without `max`


class RetryKeys(Keys):
    """`retry` of a stage."""

    HELP = "Start a stage again unchanged. Classes that can only fail again (host_oom, divergence, ...) are refused."
    max = Key(values.count_from(0), RETRY_MAX, "At most this many times.", "2", usual="1")
    classes = OwnKey("Only after failures of these classes.", '["preempted", "network_blip"]', usual="required")
    backoff = Key(
        values.duration,
        Retry().backoff_seconds,
        "Wait this long before; twice as long each time.",
        '"60s"',
        usual='"60s"',
    )


class StageKeys(Keys):
    """[stages.*]."""

    HEADER = "[stages.train]"
    HELP = 'The stages run in the order of this file. A name: letters, digits, ".", "_", "-".'
    cmd = Key(
        values.command,
        "",
        "The command: a shell line (for bash -eo pipefail), or a list of words that no shell reads.",
        '"python train.py"',
        wanted=values.COMMAND_WANTED,
    )
    cwd = Key(values.text, ".", "Where it runs.", '"."', usual='"."')
    env = OwnKey("Added to its environment; overrides [run] env.", "{ OMP_NUM_THREADS = 4 }", usual="nothing is added")
    artifacts = OwnKey(
        "Files or folders that must be there, new since the stage began, before it counts as done: a path, or a table "
        "with path or glob, min_count (default 1; with glob) and min_bytes (of each, default 1; of a folder all its "
        "files). One whose weights cannot be read to their end does not count.",
        '["best.npz", { path = "last.npz", min_bytes = "1KB" }, { glob = "epoch_*.npz", min_count = 3 }]',
        usual="none",
    )
    checkpoints = OwnKey(
        f"How its checkpoints are laid out: {', '.join(PRESETS)}; path: where they lie (default: as artifacts or "
        "gates.checkpoints say), of which min_count whole ones (default 1) must be there.",
        '{ kind = "hf", path = "ckpt", min_count = 1 }',
        usual="detected",
    )
    timeout = Key(
        values.positive_duration,
        None,
        "After this long the stage is stopped and has failed.",
        '"12h"',
        usual="no limit",
    )
    stall_after = Key(
        values.duration_or_never,
        None,
        "Stalled when log, artifacts and CPU are all quiet for this long. You get a message; nothing is stopped unless retry.classes "
        'has "hang_stall". If it is not set, a busy GPU is a sign of life, too.',
        '"30m"',
        usual="30m",
    )
    min_duration = Key(
        values.duration,
        None,
        "Done faster than this is suspicious and counts as failed.",
        '"60s"',
        usual="any duration",
    )
    expected = Key(
        values.positive_duration,
        None,
        "How long it should take. Done in less than half of that is a warning beside DONE; after half as long again you get a message. "
        "Nothing is stopped.",
        '"14h"',
        usual="not known; a patrol knows how long it took before",
    )
    wait_for = OwnKey(
        "What must appear before the stage starts: { file = … }, { log = …, regex = … } for a line in a log, or the end "
        'of the process { pid = … }. After timeout (default "7d") the stage has failed. fail_regex, stall_after: the '
        "line never comes.",
        '{ file = "data/READY", timeout = "7d" }',
        usual="it starts at once",
    )
    retry = OwnKey(
        "Start it again unchanged: at most max times, only after failures of these classes, after backoff.",
        '{ max = 2, classes = ["preempted", "network_blip"], backoff = "60s" }',
        usual="never",
    )
    done_if_log = Key(
        values.optional_regex,
        None,
        "A regular expression that a line of the attempt's log must match before the stage counts as done.",
        '"saved .*best"',
        usual='""',
    )
    fail_if_log = Key(
        values.optional_regex,
        None,
        "One that no line may match, whatever the exit code is.",
        '"CHECKSUM MISMATCH"',
        usual='""',
    )
    finite_loss = Key(
        values.weight,
        WARN,
        'If the last loss is nan or inf: true warns beside DONE, false ignores it, "refuse" makes the stage fail.',
        '"refuse"',
        usual="true",
    )
    gates = OwnKey(
        "Gates of this stage alone: each overrides the one of [gates], and false switches it off.",
        '{ disk_free = "20GB", gpu = false }',
        usual="those of [gates]",
    )
    sbatch = OwnKey(
        "What its job asks of the engine: long options of the command that submits it, true for a flag. Each overrides the "
        "one of the engine's own table.",
        '{ partition = "gpu", gres = "gpu:1", time = "12:00:00", cpus_per_task = 8, requeue = true }',
        usual="those of the engine's table",
    )


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
        stages.append(_read_stage(name, Table(tables.path_of(name), table, StageKeys, errors), shared))
    for stage, other in log_name_clashes(tables.values):
        tables.fail(other, other, f"allowed beside {stage}: attempts of {stage} log to {other}.log too")
    refuse_shared_artifacts(stages, errors)
    return tuple(stages)


def _read_stage(name: str, table: Table, shared: Shared) -> Stage:
    gates = read_stage_gates(table, shared.gates)
    preset = read_checkpoints(table, gates.checkpoints)
    stage = Stage(
        name=name,
        cmd=table.get(StageKeys.cmd),
        cwd=table.get(StageKeys.cwd),
        env=merge_env(shared.env, read_env(table)),
        artifacts=merge_artifacts(read_artifacts(table), preset.artifacts),
        timeout_seconds=table.get(StageKeys.timeout),
        stall_after_seconds=table.get(StageKeys.stall_after),
        min_duration_seconds=table.get(StageKeys.min_duration),
        expected_seconds=table.get(StageKeys.expected),
        wait_for=read_wait_for(table),
        retry=_read_retry(table, shared.known_classes),
        done_if_log=table.get(StageKeys.done_if_log),
        fail_if_log=table.get(StageKeys.fail_if_log),
        finite_loss=table.get(StageKeys.finite_loss),
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
    table = Table(stage.path_of("retry"), stage.values["retry"], RetryKeys, stage.errors)
    parse: Callable[[object], str] = values.failure_class
    if known_classes is not None:
        parse = partial(_retried_class, known_classes)
    retry = Retry(
        max=table.get(RetryKeys.max),
        classes=table.read_list("classes", parse, 'a list such as ["preempted", "network_blip"]'),
        backoff_seconds=table.get(RetryKeys.backoff),
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
