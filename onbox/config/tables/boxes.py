"""[boxes.*], [patrol] and [ssh]: where runs live, and how they are looked at from the local side. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.tables.clusters import read_cluster
from onbox.contract.names import name_problem
from onbox.model.boxes import BACKENDS, RECOVERIES, BoxSettings, Count, PatrolSettings, StopAt, Watch
from onbox.model.engines import CLUSTERS

BOXES_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "boxes.*": (
            "host", "project", "backend", "recover", "state_dir", "owner", "clocks", "deadline", "watch", "counts",
            "stop_at", "results", "address", "token",
        ),
        "boxes.*.watch": (
            "name", "log", "process", "session", "artifacts", "done_regex", "done_file", "done_count",
            "stall_after", "expected", "stop_at", "job", "resubmit",
        ),
        "boxes.*.stop_at": ("step", "time", "loss"),
        "boxes.*.counts[]": ("local", "remote"),
        "patrol": (
            "schedule", "deadline", "at_once", "per_host", "multiplex", "ping", "textfile", "restarts_per_day",
            "thresholds", "rules",
        ),
        "ssh": ("command",),
    }
)  # fmt: skip
_WATCH_NEEDS = "at least one of log, process, session, artifacts"
_COUNTS_WANTED = 'a list such as [{ local = "data/train", remote = "data/train" }]'


def read_boxes(file: Table) -> tuple[BoxSettings, ...]:
    """Every box, in file order; errors go into the file's list."""
    table = Table("boxes", file.values.get("boxes", {}), None, file.errors)
    boxes = []
    for name, value in table.values.items():
        problem = name_problem(name)
        if problem is not None:
            table.fail(name, name, problem)
        boxes.append(_read_box(name, Table(table.path_of(name), value, BOXES_KEYS["boxes.*"], file.errors)))
    return tuple(boxes)


def _read_box(name: str, table: Table) -> BoxSettings:
    backend = table.read("backend", values.one_of(BACKENDS, "a back end"), "ssh")
    if backend in CLUSTERS:
        return read_cluster(name, backend, table, _items)
    for key in ("address", "token"):
        if key in table:
            table.fail(key, key, f"given only where backend is one of {', '.join(CLUSTERS)}")
    return BoxSettings(
        name=name,
        host=table.read("host", values.host, name),
        project=table.read("project", values.text, None),
        backend=backend,
        recover=table.read("recover", values.one_of(RECOVERIES, "a way to recover"), "never"),
        state_dir=table.read("state_dir", values.text, None),
        owner=table.read("owner", values.text, None),
        clocks=table.read_list("clocks", values.text, 'a list such as ["released on Friday at 18:00 UTC"]'),
        deadline_seconds=table.read("deadline", values.positive_duration, None),
        watches=_read_watches(table),
        counts=tuple(_read_count(table, at, item) for at, item in enumerate(_items(table, "counts", _COUNTS_WANTED))),
        stop_at=_read_stop(table),
        results=table.read_list("results", values.text, 'a list such as ["results/*.csv"]'),
    )


def _items(table: Table, key: str, wanted: str) -> tuple[object, ...]:
    value = table.values.get(key, ())
    if not isinstance(value, list | tuple):
        table.fail(key, value, wanted)
        return ()
    return tuple(value)


def _read_watches(table: Table) -> tuple[Watch, ...]:
    """`watch` is one table, or a list of tables with a name each."""
    value = table.values.get("watch", ())
    items = (value,) if isinstance(value, Mapping) else _items(table, "watch", "a table, or a list of tables")
    watches: list[Watch] = []
    for at, item in enumerate(items):
        path = table.path_of("watch") + ("" if isinstance(value, Mapping) else f"[{at}]")
        entry = _read_watch(Table(path, item, BOXES_KEYS["boxes.*.watch"], table.errors))
        if any(entry.name == other.name for other in watches):
            table.fail(f"watch[{at}].name", entry.name, "a name of its own")
        watches.append(entry)
    return tuple(watches)


def _read_watch(table: Table) -> Watch:
    for key in ("job", "resubmit"):
        if key in table:
            table.fail(key, key, f"given only where the box's backend is one of {', '.join(CLUSTERS)}")
    if table.is_table and not any(key in table for key in ("log", "process", "session", "artifacts")):
        table.missing("log", _WATCH_NEEDS)
    if "done_count" in table and "artifacts" not in table:
        table.missing("artifacts", "the files that done_count counts")
    return Watch(
        name=table.read("name", values.run_name, "watched"),
        log=table.read("log", values.text, None),
        process=table.read("process", values.text, None),
        session=table.read("session", values.text, None),
        artifacts=table.read_list("artifacts", values.text, 'a list such as ["ckpt/epoch_*.npz"]'),
        done_regex=table.read("done_regex", values.regex, None),
        done_file=table.read("done_file", values.text, None),
        done_count=table.read("done_count", values.count_from(1), None),
        stall_after_seconds=table.read("stall_after", values.positive_duration, None),
        expected_seconds=table.read("expected", values.positive_duration, None),
        stop_at=_read_stop(table),
    )


def _read_stop(table: Table) -> StopAt | None:
    if "stop_at" not in table:
        return None
    inner = Table(table.path_of("stop_at"), table.values["stop_at"], BOXES_KEYS["boxes.*.stop_at"], table.errors)
    if inner.is_table and not any(key in inner for key in ("step", "time", "loss")):
        inner.missing("step", "at least one of step, time, loss")
    return StopAt(
        inner.read("step", values.number, None),
        inner.read("time", values.local_time, None),
        inner.read("loss", values.number, None),
    )


def _read_count(table: Table, at: int, item: object) -> Count:
    entry = Table(f"{table.path_of('counts')}[{at}]", item, BOXES_KEYS["boxes.*.counts[]"], table.errors)
    local = entry.require("local", values.text, "", "the directory of the source, here")
    return Count(local, entry.require("remote", values.text, "", "the directory on the box"))


def read_patrol(table: Table) -> PatrolSettings:
    """[patrol]. What thresholds and rules hold is checked by who knows them."""
    default = PatrolSettings()
    thresholds = Table(table.path_of("thresholds"), table.values.get("thresholds", {}), None, table.errors)
    rules = _items(table, "rules", "a list of tables; write [[patrol.rules]]")
    return PatrolSettings(
        schedule=table.read("schedule", values.cron_schedule, default.schedule),
        deadline_seconds=table.read("deadline", values.positive_duration, default.deadline_seconds),
        at_once=table.read("at_once", values.count_from(1), default.at_once),
        per_host=table.read("per_host", values.count_from(1), default.per_host),
        multiplex=table.read("multiplex", values.flag, default.multiplex),
        ping=table.read("ping", values.secret_reference, None),
        textfile=table.read("textfile", _metrics_path, None),
        restarts_per_day=table.read("restarts_per_day", values.count_from(0), default.restarts_per_day),
        thresholds=MappingProxyType(dict(thresholds.values)),
        rules=tuple(MappingProxyType(dict(rule)) for rule in rules if isinstance(rule, Mapping)),
    )


def _metrics_path(value: object) -> str:
    """A file that node_exporter would take; any other file is not ours to replace."""
    path = values.text(value)
    if not path.endswith(".prom"):
        raise Unwanted('a path that ends in ".prom"')
    return path


def read_ssh(table: Table) -> tuple[str, ...]:
    """The words of the ssh command."""
    return table.read("command", _ssh_words, ("ssh",))


def _ssh_words(value: object) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(values.text(value)))
    except ValueError as error:
        raise Unwanted(f"a command whose quotes are closed ({error})") from error
    if not words:
        raise Unwanted('a command such as "ssh -F ./ssh_config"')
    return words
