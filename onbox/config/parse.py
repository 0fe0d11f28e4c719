"""onbox.toml: from plain data to a `Config`, or *every* error of the file at once. Pure.

A table's keys are declared in its file of `tables/`; `values.py` says what single values mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from onbox.config import values
from onbox.config.fields import ConfigError, ConfigErrors, Table
from onbox.config.keys import Key, Keys, OwnKey
from onbox.config.tables.artifacts import ArtifactKeys, CheckpointsKeys
from onbox.config.tables.boxes import BoxKeys, CountKeys, StopAtKeys, WatchKeys, read_boxes
from onbox.config.tables.detect import DetectKeys, read_detect
from onbox.config.tables.engines import PARTS, general_options, read_backends
from onbox.config.tables.gates import CheckpointGateKeys, GatesKeys, GpuKeys, read_gates
from onbox.config.tables.notify import NotifyKeys, TargetKeys, read_notify
from onbox.config.tables.patrol import PatrolKeys, SshKeys, read_patrol, read_ssh
from onbox.config.tables.record import (
    Contract,
    ContractKeys,
    LogbookKeys,
    LogbookSettings,
    read_contract,
    read_logbook,
)
from onbox.config.tables.stages import RetryKeys, Shared, StageKeys, merge_env, read_env, read_stages
from onbox.config.tables.sweep import SweepConfig, SweepKeys, SweepMetricsKeys, read_sweep
from onbox.config.tables.tracker import TrackerKeys, read_tracker
from onbox.config.tables.verify import VerifyKeys, read_verify
from onbox.config.tables.wait_for import WaitForKeys
from onbox.contract.names import run_name_from
from onbox.contract.notify_targets import DEFAULT_NOTIFY_EVENTS, NOTIFY_EVENTS, Notify
from onbox.contract.paths import DEFAULT_STATE_DIR
from onbox.model.boxes import BoxSettings, PatrolSettings
from onbox.model.detect import DetectSettings
from onbox.model.engines import CHOICES, NAMES
from onbox.model.manifest import REFUSE, WARN, Gates, RunSettings, Stage
from onbox.model.tracker import Intent
from onbox.named_tuple import NamedTuple

__all__ = [
    "DEFAULT_NOTIFY_EVENTS",
    "NOTIFY_EVENTS",
    "Config",
    "ConfigError",
    "ConfigErrors",
    "Notify",
    "parse_config",
    "run_name_from",
]

_NOTHING: Mapping[str, object] = MappingProxyType({})
_SETTINGS = RunSettings()


class RunKeys(Keys):
    """[run]."""

    HEADER = "[run]"
    name = Key(
        values.run_name,
        "",
        "The run's name: its state lies in <state_dir>/<name>/.",
        '"@NAME@"',
        usual="the directory's name",
    )
    state_dir = Key(
        values.text,
        DEFAULT_STATE_DIR,
        "Where state, logs and markers are kept. Put it on the disk that survives.",
        '".onbox"',
        usual='".onbox"',
    )
    sample_every = Key(
        values.positive_duration,
        _SETTINGS.sample_every_seconds,
        "How often the run is sampled and its status updated.",
        '"30s"',
        usual='"30s"',
    )
    grace = Key(
        values.duration,
        _SETTINGS.grace_seconds,
        "How long a stopped stage may take to end (SIGTERM) before it is killed (SIGKILL).",
        '"30s"',
        usual='"30s"',
    )
    expected = Key(
        values.positive_duration,
        None,
        "How long the whole run should take. You get a message if it is done in less than half of that, or not done after half as long again.",
        '"14h"',
        usual="not known",
    )
    code_changed = Key(
        values.one_of(("tell", REFUSE), "an answer"),
        WARN,
        "Code that has changed (commit, script files of the commands) since a stage ran that would be skipped or resumed: "
        '"tell", or "refuse" until --accept-code is said.',
        '"refuse"',
        usual='"tell"',
    )
    backend = Key(
        values.one_of(CHOICES, "a back end"),
        "local",
        'Where `onbox chain` runs the stages: "local" (this machine), or an engine: '
        + ", ".join(f'"{name}"' for name in NAMES)
        + ".",
        '"local"',
        usual='"local"',
    )
    env = OwnKey(
        'Added to the environment of every stage. Never put a secret into this file: write "env:NAME" (a variable of the '
        'shell that starts the chain) or "file:PATH".',
        '{ WANDB_MODE = "offline", HF_TOKEN = "file:~/.config/hf_token" }',
        usual="nothing is added",
    )


class ProgressKeys(Keys):
    """[progress]."""

    HEADER = "[progress]"
    HELP = "How far a run is, if its log does not say it in a common form."
    regex = Key(
        values.progress_regex,
        None,
        "The line that says it; the named groups `current` and `max` are the numbers.",
        '"step (?P<current>[0-9]+) of (?P<max>[0-9]+)"',
        usual="the common forms",
    )
    max = Key(
        values.count_from(1),
        None,
        "The exact end, where the log shows none or a rounded one.",
        "5155",
        usual="what the log says in full",
    )


class TriageKeys(Keys):
    """[[triage]]."""

    HEADER = "[[triage]]"
    HELP = "Why a stage failed, if onbox cannot know it. As many of these as you like."
    regex = Key(
        values.regex,
        None,
        "A line of its log.",
        '"LicenseServerBusy"',
        wanted="a regular expression of the line that proves the class",
    )
    class_ = Key(
        values.failure_class,
        None,
        "The class that it proves.",
        '"license_busy"',
        wanted="a failure class, known or your own",
    )
    remedy = Key(values.text, None, "What to do.", '"Wait for a free licence, then resume."', usual="nothing is said")
    retry = Key(values.flag, False, "Whether a retry can help.", "true", usual="false")


# Every table of the file. "*" stands for a name that the user chooses, "[]" for a list of tables. In the order of the
# template.
TABLES: Mapping[str, type[Keys]] = MappingProxyType(
    {
        "run": RunKeys,
        "stages.*": StageKeys,
        "stages.*.artifacts[]": ArtifactKeys,
        "stages.*.checkpoints": CheckpointsKeys,
        "stages.*.wait_for": WaitForKeys,
        "stages.*.retry": RetryKeys,
        "gates": GatesKeys,
        "gates.gpu": GpuKeys,
        "gates.checkpoints": CheckpointGateKeys,
        "notify": NotifyKeys,
        "notify.targets.*": TargetKeys,
        "logbook": LogbookKeys,
        "contract": ContractKeys,
        "progress": ProgressKeys,
        "detect": DetectKeys,
        "tracker": TrackerKeys,
        "sweep": SweepKeys,
        "sweep.metrics": SweepMetricsKeys,
        "triage[]": TriageKeys,
        **{name: part.keys for name, part in PARTS.items()},
        "boxes.*": BoxKeys,
        "boxes.*.watch": WatchKeys,
        "boxes.*.stop_at": StopAtKeys,
        "boxes.*.counts[]": CountKeys,
        "patrol": PatrolKeys,
        "ssh": SshKeys,
        "verify[]": VerifyKeys,
    }
)
TOP = tuple(dict.fromkeys(path.partition(".")[0].removesuffix("[]") for path in TABLES))

Plain = Mapping[str, object]


class Config(NamedTuple):
    """All of onbox.toml, with defaults filled in.

    env: of [run], sorted by name; already merged into each stage's env. gates: of [gates]; already merged into each
    stage's. stages: in file order. triage, progress: checked, as they stand in the file (no defaults filled in),
    read-only, lists as tuples. boxes: in file order. verify: pairs of a pattern and the command that loads such files.
    """

    run_name: str
    state_dir: str = DEFAULT_STATE_DIR
    settings: RunSettings = RunSettings()
    env: tuple[tuple[str, str], ...] = ()
    gates: Gates = Gates()
    stages: tuple[Stage, ...] = ()
    notify: Notify = Notify()
    boxes: tuple[BoxSettings, ...] = ()
    patrol: PatrolSettings = PatrolSettings()
    ssh_command: tuple[str, ...] = ("ssh",)
    triage: tuple[Plain, ...] = ()
    progress: Plain = _NOTHING
    detect: DetectSettings = DetectSettings()
    tracker: Intent = Intent()
    sweep: SweepConfig = SweepConfig()
    logbook: LogbookSettings = LogbookSettings()
    contract: Contract = Contract()
    verify: tuple[tuple[str, str], ...] = ()
    code_changed: str = WARN
    backend: str = "local"
    backends: Mapping[str, Plain] = MappingProxyType(dict.fromkeys(NAMES, _NOTHING))


def parse_config(
    data: Mapping[str, object], *, default_name: str, known_classes: Mapping[str, str] | None = None
) -> Config:
    """What a parsed onbox.toml means.

    default_name: the run's name where [run] gives none. known_classes: for each known failure class why
    it must never be retried unchanged ("": it may be), to which those of [[triage]] rows with `retry = true` are added;
    None: any class may be named. Raises ConfigErrors with all
    errors.
    """
    errors: list[ConfigError] = []
    file = Table("", data, TOP, errors)
    run = _sub_table(file, "run")
    triage = _read_triage(file, known_classes or {})
    run_env = read_env(run)
    gates = read_gates(_sub_table(file, "gates"), Gates())
    backends = read_backends(file)
    shared = Shared(run_env, gates, _with_own_classes(known_classes, triage), general_options(backends))
    config = Config(
        run_name=run.get(RunKeys.name) or default_name,
        state_dir=run.get(RunKeys.state_dir),
        settings=_read_settings(run),
        code_changed=run.get(RunKeys.code_changed).replace("tell", WARN),
        env=merge_env(run_env, {}),
        gates=gates,
        stages=read_stages(file.values.get("stages", {}), shared, errors),
        notify=read_notify(_sub_table(file, "notify")),
        boxes=read_boxes(file),
        patrol=read_patrol(_sub_table(file, "patrol")),
        ssh_command=read_ssh(_sub_table(file, "ssh")),
        logbook=read_logbook(_sub_table(file, "logbook")),
        contract=read_contract(_sub_table(file, "contract")),
        verify=read_verify(file),
        triage=triage,
        progress=_read_progress(_sub_table(file, "progress")),
        detect=read_detect(_sub_table(file, "detect")),
        tracker=read_tracker(_sub_table(file, "tracker")),
        sweep=read_sweep(_sub_table(file, "sweep")),
        backend=run.get(RunKeys.backend),
        backends=backends,
    )
    if errors:
        raise ConfigErrors(errors)
    return config


def _sub_table(file: Table, key: str) -> Table:
    return Table(file.path_of(key), file.values.get(key, {}), TABLES[key], file.errors)


def _read_settings(run: Table) -> RunSettings:
    return RunSettings(run.get(RunKeys.sample_every), run.get(RunKeys.grace), run.get(RunKeys.expected))


# -- triage and progress: checked here, used where logs are read


def _read_triage(file: Table, known_classes: Mapping[str, str]) -> tuple[Plain, ...]:
    rows = file.values.get("triage", ())
    if not isinstance(rows, list | tuple):
        file.fail("triage", rows, "a list of tables; write [[triage]]")
        return ()
    for position, row in enumerate(rows):
        table = Table(f"triage[{position}]", row, TriageKeys, file.errors)
        table.get(TriageKeys.regex)
        name = table.get(TriageKeys.class_)
        table.get(TriageKeys.remedy)
        never = known_classes.get(name or "")
        if table.get(TriageKeys.retry) and never:
            table.fail("retry", True, f"false for {name}: {never}")
    return tuple(_read_only(row) for row in rows if isinstance(row, Mapping))


def _with_own_classes(known: Mapping[str, str] | None, triage: tuple[Plain, ...]) -> Mapping[str, str] | None:
    """The known classes and those that the user's own rows allow to retry."""
    if known is None:
        return None
    names = (row.get("class") for row in triage if row.get("retry") is True)
    return {**{name: "" for name in names if isinstance(name, str)}, **known}


def _read_progress(table: Table) -> Plain:
    table.get(ProgressKeys.regex)
    table.get(ProgressKeys.max)
    return _read_only(table.values)


def _read_only(table: Plain) -> Plain:
    """A copy that nobody can change: tables as read-only mappings, lists as tuples."""
    return MappingProxyType({key: _frozen(value) for key, value in table.items()})


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        return _read_only(value)
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
