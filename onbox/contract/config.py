"""onbox.toml: from plain data to a `Config`, or *every* error of the file at once. Pure.

Open `config_stages.py` for [stages.*] and [gates], `config_notify.py` for [notify], `config_values.py` for what single
values mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from onbox.contract import config_values as values
from onbox.contract.boxes import BoxSettings, PatrolSettings
from onbox.contract.config_artifacts import ARTIFACT_KEYS, CHECKPOINTS_KEYS
from onbox.contract.config_backends import PARTS, general_options, read_backends
from onbox.contract.config_boxes import BOXES_KEYS, read_boxes, read_patrol, read_ssh
from onbox.contract.config_fields import ConfigError, ConfigErrors, Table
from onbox.contract.config_notify import NOTIFY_KEYS, TARGET_KEYS, read_notify
from onbox.contract.config_record import (
    CONTRACT_KEYS,
    LOGBOOK_KEYS,
    Contract,
    LogbookSettings,
    read_contract,
    read_logbook,
)
from onbox.contract.config_stages import (
    CHECKPOINT_KEYS,
    GATES_KEYS,
    GPU_KEYS,
    RETRY_KEYS,
    STAGE_KEYS,
    Shared,
    merge_env,
    read_env,
    read_gates,
    read_stages,
)
from onbox.contract.config_sweep import METRICS_KEYS, SWEEP_KEYS, SweepConfig, read_sweep
from onbox.contract.config_tracker import TRACKER_KEYS, read_tracker
from onbox.contract.config_wait import WAIT_FOR_KEYS
from onbox.contract.engines import CHOICES, NAMES
from onbox.contract.manifest import REFUSE, WARN, Gates, RunSettings, Stage
from onbox.contract.names import run_name_from
from onbox.contract.paths import DEFAULT_STATE_DIR
from onbox.contract.targets import DEFAULT_NOTIFY_EVENTS, NOTIFY_EVENTS, Notify
from onbox.contract.tracker import Intent

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

# Every table of the file and its keys. "*" stands for a name that the user chooses, "[]" for a list of tables.
KNOWN_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "": (
            "run",
            "stages",
            "gates",
            "notify",
            "triage",
            "progress",
            "tracker",
            "sweep",
            "boxes",
            "patrol",
            "ssh",
            "logbook",
            "contract",
            *NAMES,
        ),
        "run": ("name", "state_dir", "env", "sample_every", "grace", "backend", "code_changed"),
        "stages.*": STAGE_KEYS,
        "stages.*.artifacts[]": ARTIFACT_KEYS,
        "stages.*.checkpoints": CHECKPOINTS_KEYS,
        "stages.*.wait_for": WAIT_FOR_KEYS,
        "stages.*.retry": RETRY_KEYS,
        "gates": GATES_KEYS,
        "gates.gpu": GPU_KEYS,
        "gates.checkpoints": CHECKPOINT_KEYS,
        "notify": NOTIFY_KEYS,
        "notify.targets.*": TARGET_KEYS,
        "triage[]": ("regex", "class", "remedy", "retry"),
        "progress": ("regex", "max"),
        "tracker": TRACKER_KEYS,
        "sweep": SWEEP_KEYS,
        "sweep.metrics": METRICS_KEYS,
        **BOXES_KEYS,
        "logbook": LOGBOOK_KEYS,
        "contract": CONTRACT_KEYS,
        **{name: part.keys for name, part in PARTS.items()},
    }
)

Plain = Mapping[str, object]
_NOTHING: Plain = MappingProxyType({})


class Config(NamedTuple):
    """All of onbox.toml, with defaults filled in.

    env: of [run], sorted by name; already merged into each stage's env. gates: of [gates]; already merged into each
    stage's. stages: in file order. triage, progress: checked, as they stand in the file (no defaults filled in),
    read-only, lists as tuples. boxes: in file order.
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
    tracker: Intent = Intent()
    sweep: SweepConfig = SweepConfig()
    logbook: LogbookSettings = LogbookSettings()
    contract: Contract = Contract()
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
    file = Table("", data, KNOWN_KEYS[""], errors)
    run = _sub_table(file, "run")
    triage = _read_triage(file, known_classes or {})
    run_env = read_env(run)
    gates = read_gates(_sub_table(file, "gates"), Gates())
    backends = read_backends(file)
    shared = Shared(run_env, gates, _with_own_classes(known_classes, triage), general_options(backends))
    config = Config(
        run_name=run.read("name", values.run_name, default_name),
        state_dir=run.read("state_dir", values.text, DEFAULT_STATE_DIR),
        settings=_read_settings(run),
        code_changed=run.read("code_changed", values.one_of(("tell", REFUSE), "an answer"), WARN).replace("tell", WARN),
        env=merge_env(run_env, {}),
        gates=gates,
        stages=read_stages(file.values.get("stages", {}), shared, errors),
        notify=read_notify(_sub_table(file, "notify")),
        boxes=read_boxes(file),
        patrol=read_patrol(_sub_table(file, "patrol")),
        ssh_command=read_ssh(_sub_table(file, "ssh")),
        logbook=read_logbook(_sub_table(file, "logbook")),
        contract=read_contract(_sub_table(file, "contract")),
        triage=triage,
        progress=_read_progress(_sub_table(file, "progress")),
        tracker=read_tracker(_sub_table(file, "tracker")),
        sweep=read_sweep(_sub_table(file, "sweep")),
        backend=run.read("backend", values.one_of(CHOICES, "a back end"), "local"),
        backends=backends,
    )
    if errors:
        raise ConfigErrors(errors)
    return config


def _sub_table(file: Table, key: str) -> Table:
    return Table(file.path_of(key), file.values.get(key, {}), KNOWN_KEYS[key], file.errors)


def _read_settings(run: Table) -> RunSettings:
    default = RunSettings()
    return RunSettings(
        sample_every_seconds=run.read("sample_every", values.positive_duration, default.sample_every_seconds),
        grace_seconds=run.read("grace", values.duration, default.grace_seconds),
    )


# -- triage and progress: checked here, used where logs are read


def _read_triage(file: Table, known_classes: Mapping[str, str]) -> tuple[Plain, ...]:
    rows = file.values.get("triage", ())
    if not isinstance(rows, list | tuple):
        file.fail("triage", rows, "a list of tables; write [[triage]]")
        return ()
    for position, row in enumerate(rows):
        table = Table(f"triage[{position}]", row, KNOWN_KEYS["triage[]"], file.errors)
        table.require("regex", values.regex, None, "a regular expression of the line that proves the class")
        name = table.require("class", values.failure_class, None, "a failure class, known or your own")
        table.read("remedy", values.text, None)
        never = known_classes.get(name or "")
        if table.read("retry", values.flag, None) and never:
            table.fail("retry", True, f"false for {name}: {never}")
    return tuple(_read_only(row) for row in rows if isinstance(row, Mapping))


def _with_own_classes(known: Mapping[str, str] | None, triage: tuple[Plain, ...]) -> Mapping[str, str] | None:
    """The known classes and those that the user's own rows allow to retry."""
    if known is None:
        return None
    names = (row.get("class") for row in triage if row.get("retry") is True)
    return {**{name: "" for name in names if isinstance(name, str)}, **known}


def _read_progress(table: Table) -> Plain:
    table.read("regex", values.regex, None)
    table.read("max", values.count_from(1), None)
    return _read_only(table.values)


def _read_only(table: Plain) -> Plain:
    """A copy that nobody can change: tables as read-only mappings, lists as tuples."""
    return MappingProxyType({key: _frozen(value) for key, value in table.items()})


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        return _read_only(value)
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
