"""onbox.toml: from plain data to a `Config`, with every error at once. Pure; reading the file is the caller's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract import fields
from onbox.contract.fields import Unwanted
from onbox.contract.manifest import Gates, RunSettings, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Parsers = Mapping[str, Callable[[Any], Any]]

SEEN_LIMIT = 60

NOTIFY_EVENTS = (
    "stage_done",
    "stage_failed",
    "stalled",
    "chain_done",
    "chain_failed",
    "gate_refused",
    "interrupted",
    "stopped",
)


class ConfigError(NamedTuple):
    """One thing that is wrong: where in the file, what was seen (a secret is not shown), what was wanted."""

    path: str
    seen: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.path}: {self.seen} is not {self.wanted}" if self.seen else f"{self.path}: {self.wanted}"


class ConfigErrors(Exception):
    """Everything that is wrong with a configuration."""

    def __init__(self, errors: list[ConfigError]) -> None:
        self.errors = errors
        super().__init__("\n".join(map(str, errors)))


class Notify(NamedTuple):
    """Who is told (`env:NAME` or `file:PATH`) and of which events."""

    urls: tuple[str, ...] = ()
    on: tuple[str, ...] = ()


class Config(NamedTuple):
    """A whole onbox.toml. `boxes`, `patrol`, `ssh`, `triage`, `progress` are for other layers: checked, kept as data."""

    run_name: str
    state_dir: str
    settings: RunSettings
    stages: tuple[Stage, ...]
    gates: Gates
    env: tuple[tuple[str, str], ...]
    notify: Notify
    boxes: Mapping[str, Mapping[str, Any]]
    patrol: Mapping[str, Any]
    ssh: Mapping[str, Any]
    triage: tuple[Mapping[str, Any], ...]
    progress: Mapping[str, Any]


def run_name_from(directory_name: str) -> str:
    """A run's name made of a directory's: odd characters become '-'; never empty, at most 80 characters."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", directory_name).strip("-.")[:80]
    return name if fields.is_name(name) else "run"


_RUN: Parsers = {
    "name": fields.run_name,
    "state_dir": fields.text,
    "env": fields.environment,
    "sample_every": fields.duration,
    "grace": fields.duration_or_zero,
}
_WATCH: Parsers = {
    "log": fields.text,
    "process": fields.text,
    "artifacts": fields.artifacts,
    "done_regex": fields.regex,
}
_BOX: Parsers = {
    "host": fields.text,
    "project": fields.text,
    "backend": fields.one_of("ssh", "local", "slurm", "ray", "iris"),
    "recover": fields.one_of("never", "resume"),
    "watch": lambda value: fields.table(_as_table(value), _WATCH),
}
_PATROL: Parsers = {"schedule": fields.text, "deadline": fields.duration}
_SSH: Parsers = {"command": fields.text}
_NOTIFY: Parsers = {"urls": fields.references, "on": fields.texts}
_TRIAGE: Parsers = {"regex": fields.regex, "class": fields.text, "remedy": fields.text, "retry": fields.flag}
_PROGRESS: Parsers = {"regex": fields.regex}


def _as_table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Unwanted("a table")
    return value


def _stage_parsers(known_classes: frozenset[str] | None) -> Parsers:
    return {
        "cmd": fields.command,
        "cwd": fields.text,
        "env": fields.environment,
        "artifacts": fields.artifacts,
        "timeout": fields.duration,
        "stall_after": fields.duration,
        "min_duration": fields.duration_or_zero,
        "wait_for": fields.wait_for,
        "retry": fields.retry(known_classes),
        "done_if_log": fields.optional_regex,
        "gates": lambda value: fields.table(_as_table(value), fields.GATES),
    }


class _Reader:
    """Collects errors while tables are read."""

    def __init__(self) -> None:
        self.errors: list[ConfigError] = []

    def wrong(self, path: str, value: Any, wanted: str, *, secret: bool = False) -> None:
        shown = "what is given" if secret else _shown(value)
        self.errors.append(ConfigError(path, shown, wanted))

    def table(self, data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """The table `key` of `data`; empty if it is missing or no table."""
        value = data.get(key, {})
        if isinstance(value, dict):
            return value
        self.wrong(key, value, f"a table: write [{key}]")
        return {}

    def fields(self, path: str, table: Mapping[str, Any], parsers: Parsers) -> dict[str, Any]:
        """Every field of a table, parsed; what is wrong is collected, and left out."""
        out = {}
        for key, raw in table.items():
            at = f"{path}.{key}" if path else key
            if key not in parsers:
                self.errors.append(ConfigError(at, "", f"unknown key{fields.nearest(key, parsers)}"))
                continue
            try:
                out[key] = parsers[key](raw)
            except Unwanted as unwanted:
                where, value = at, raw
                if unwanted.key:
                    where = at + (unwanted.key if unwanted.key.startswith("[") else f".{unwanted.key}")
                    value = _below(raw, unwanted.key)
                self.wrong(where, value, unwanted.wanted, secret=unwanted.secret)
        return out


def _below(value: Any, key: str) -> Any:
    """The value at a path such as `[1].min_count` or `classes`."""
    for part in re.findall(r"\[(\d+)\]|([^.\[\]]+)", key):
        try:
            value = value[int(part[0])] if part[0] else value[part[1]]
        except (KeyError, IndexError, TypeError):
            return value
    return value


def _shown(value: Any) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= SEEN_LIMIT else text[: SEEN_LIMIT - 1] + "…"


_SECTIONS = ("run", "stages", "gates", "notify", "boxes", "patrol", "ssh", "triage", "progress")


def parse_config(
    data: Mapping[str, Any], *, default_name: str, known_classes: frozenset[str] | None = None
) -> Config:
    """A configuration from the data of its TOML file. known_classes: what `retry.classes` may name (None: anything).

    Raises ConfigErrors with all that is wrong.
    """
    reader = _Reader()
    for key in data:
        if key not in _SECTIONS:
            reader.errors.append(ConfigError(key, "", f"unknown table{fields.nearest(key, _SECTIONS)}"))
    run = reader.fields("run", reader.table(data, "run"), _RUN)
    gates = reader.fields("gates", reader.table(data, "gates"), fields.GATES)
    stages = _read_stages(reader, data, run.get("env", ()), gates, known_classes)
    config = Config(
        run_name=run.get("name", default_name),
        state_dir=run.get("state_dir", ".onbox"),
        settings=RunSettings(run.get("sample_every", 30.0), run.get("grace", 30.0)),
        stages=stages,
        gates=Gates(**gates),
        env=run.get("env", ()),
        notify=_read_notify(reader, data),
        boxes={
            name: reader.fields(f"boxes.{name}", box, _BOX) if isinstance(box, dict) else {}
            for name, box in reader.table(data, "boxes").items()
        },
        patrol=reader.fields("patrol", reader.table(data, "patrol"), _PATROL),
        ssh=reader.fields("ssh", reader.table(data, "ssh"), _SSH),
        triage=_read_triage(reader, data),
        progress=reader.fields("progress", reader.table(data, "progress"), _PROGRESS),
    )
    if reader.errors:
        raise ConfigErrors(reader.errors)
    return config


def _read_stages(
    reader: _Reader,
    data: Mapping[str, Any],
    run_env: Iterable[tuple[str, str]],
    run_gates: Mapping[str, Any],
    known_classes: frozenset[str] | None,
) -> tuple[Stage, ...]:
    stages = []
    parsers = _stage_parsers(known_classes)
    for name, table in reader.table(data, "stages").items():
        path = f"stages.{name}"
        problem = stage_name_problem(name)
        if problem:
            reader.errors.append(ConfigError(path, _shown(name), problem))
        if not isinstance(table, dict):
            reader.wrong(path, table, f"a table: write [stages.{name}] and below it cmd = …")
            continue
        if "cmd" not in table:
            reader.errors.append(ConfigError(path, "", "lacks `cmd`, the command to run"))
        raw = reader.fields(path, table, parsers)
        if "cmd" in raw:
            stages.append(_make_stage(name, raw, run_env, run_gates))
    _refuse_shared_artifacts(reader, stages)
    return tuple(stages)


def _make_stage(
    name: str, raw: Mapping[str, Any], run_env: Iterable[tuple[str, str]], run_gates: Mapping[str, Any]
) -> Stage:
    return Stage(
        name=name,
        cmd=raw["cmd"],
        cwd=raw.get("cwd", "."),
        env=tuple(sorted({**dict(run_env), **dict(raw.get("env", ()))}.items())),
        artifacts=raw.get("artifacts", ()),
        timeout_seconds=raw.get("timeout"),
        stall_after_seconds=raw.get("stall_after"),
        min_duration_seconds=raw.get("min_duration"),
        wait_for=raw.get("wait_for"),
        done_if_log=raw.get("done_if_log"),
        gates=Gates(**{**run_gates, **raw.get("gates", {})}),
        **({"retry": raw["retry"]} if "retry" in raw else {}),
    )


def stage_name_problem(name: str) -> str | None:
    """Why `name` cannot be a stage's name; None if it can. Completes "<name> is not …"."""
    if not fields.is_name(name):
        return "a stage's name: letters, digits, '.', '_' and '-', at most 80, beginning with a letter or digit"
    if name.upper() == "CHAIN" or name.endswith(("_DONE", "_FAILED")):
        return "allowed as a stage's name: its markers would be mistaken for others"
    return None


def _refuse_shared_artifacts(reader: _Reader, stages: Iterable[Stage]) -> None:
    """Two stages that write one file would each take the other's work for their own."""
    writers: dict[str, str] = {}
    for stage in stages:
        for artifact in stage.artifacts:
            if artifact.is_glob:
                continue
            file = fields.same_file(stage.cwd, artifact.pattern)
            other = writers.setdefault(file, stage.name)
            if other != stage.name:
                path = f"stages.{stage.name}.artifacts"
                wanted = f"free: stage {other} writes it too; give each stage its own file"
                reader.wrong(path, artifact.pattern, wanted)


def _read_notify(reader: _Reader, data: Mapping[str, Any]) -> Notify:
    raw = reader.fields("notify", reader.table(data, "notify"), _NOTIFY)
    for event in raw.get("on", ()):
        if event not in NOTIFY_EVENTS:
            reader.wrong("notify.on", event, f"an event{fields.nearest(event, NOTIFY_EVENTS)}")
    return Notify(raw.get("urls", ()), raw.get("on", NOTIFY_EVENTS[:6]))


def _read_triage(reader: _Reader, data: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    rows = data.get("triage", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        reader.wrong("triage", rows, "a list of tables: write [[triage]]")
        return ()
    out = []
    for index, row in enumerate(rows):
        path = f"triage[{index}]"
        out.append(reader.fields(path, row, _TRIAGE))
        for key in ("regex", "class"):
            if key not in row:
                reader.errors.append(ConfigError(path, "", f"lacks `{key}`"))
    return tuple(out)
