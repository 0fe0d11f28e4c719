"""[patrol] and [ssh]: when and how boxes are looked at. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys, OwnKey
from onbox.config.tables.boxes import items_of
from onbox.model.boxes import PatrolSettings

_USUAL = PatrolSettings()


def _metrics_path(value: object) -> str:
    """A file that node_exporter would take; any other file is not ours to replace."""
    path = values.text(value)
    if not path.endswith(".prom"):
        raise Unwanted('a path that ends in ".prom"')
    return path


def _page_path(value: object) -> str:
    path = values.text(value)
    if not path.endswith(".html"):
        raise Unwanted('a path that ends in ".html"')
    return path


def _ssh_words(value: object) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(values.text(value)))
    except ValueError as error:
        raise Unwanted(f"a command whose quotes are closed ({error})") from error
    if not words:
        raise Unwanted('a command such as "ssh -F ./ssh_config"')
    return words


def _time_of_day(value: object) -> int | None:
    """Minutes since midnight; None: never."""
    if value == "never":
        return None
    hour, colon, minute = value.partition(":") if isinstance(value, str) else ("", "", "")
    digits = all(part.isascii() and part.isdigit() and len(part) <= 2 for part in (hour, minute))
    if not colon or not digits or int(hour) > 23 or len(minute) != 2 or int(minute) > 59:
        raise Unwanted('a time of day such as "08:00", or "never"')
    return int(hour) * 60 + int(minute)


class PatrolKeys(Keys):
    """[patrol]."""

    HEADER = "[patrol]"
    HELP = "How the patrol looks at the boxes."
    schedule = Key(
        values.cron_schedule,
        _USUAL.schedule,
        "When to look, as in a crontab.",
        '"3,33 * * * *"',
        usual='"3,33 * * * *"',
    )
    deadline = Key(
        values.positive_duration,
        _USUAL.deadline_seconds,
        "How long one box may take in one look.",
        '"30s"',
        usual='"30s"',
    )
    at_once = Key(
        values.count_from(1), _USUAL.at_once, "How many boxes are looked at at the same time.", "16", usual="16"
    )
    per_host = Key(
        values.count_from(1), _USUAL.per_host, "How many logins to one host may be in progress.", "6", usual="6"
    )
    multiplex = Key(
        values.flag,
        _USUAL.multiplex,
        "Keep a connection open between looks (ssh's ControlMaster).",
        "false",
        usual="false",
    )
    ping = Key(
        values.secret_reference,
        None,
        'A URL to call after each look that went well, for a dead-man\'s switch: "env:NAME" or "file:PATH".',
        '"env:ONBOX_PING"',
        usual="none",
    )
    textfile = Key(
        _metrics_path,
        None,
        "A file for the textfile collector of Prometheus' node_exporter.",
        '"/var/lib/node_exporter/onbox.prom"',
        usual="none",
    )
    report = Key(
        _page_path,
        None,
        "A page with charts of every run, rewritten after each look (`patrol report`; needs `onbox[report]`).",
        '"report.html"',
        usual="none",
    )
    restarts_per_day = Key(
        values.count_from(0),
        _USUAL.restarts_per_day,
        'How often a day a run may be resumed, with recover = "resume".',
        "3",
        usual="3",
    )
    alerts_per_day = Key(
        values.count_from(1),
        _USUAL.alerts_per_day,
        "How many messages a day about one problem of one run.",
        "6",
        usual="6",
    )
    digest = Key(
        _time_of_day,
        _USUAL.digest_minute,
        'When a daily message says what runs and what waits, by this machine\'s clock; "never": none.',
        '"08:00"',
        usual='"08:00"',
    )
    thresholds = OwnKey(
        "Numbers of the decision table; docs/patrol-rules.md lists them all.", "{ disk_free_warning_percent = 10 }"
    )
    rules = OwnKey("Changes of its rules.", '[{ name = "gpu-idle", enabled = false }]')


class SshKeys(Keys):
    """[ssh]."""

    HEADER = "[ssh]"
    HELP = "How boxes are reached."
    command = Key(
        _ssh_words,
        ("ssh",),
        "The ssh command. The variable ONBOX_SSH_COMMAND overrides it.",
        '"ssh -F ./ssh_config"',
        usual='"ssh"',
    )


def read_patrol(table: Table) -> PatrolSettings:
    """[patrol]. What thresholds and rules hold is checked by who knows them."""
    thresholds = Table(table.path_of("thresholds"), table.values.get("thresholds", {}), None, table.errors)
    rules = items_of(table, "rules", "a list of tables; write [[patrol.rules]]")
    return PatrolSettings(
        schedule=table.get(PatrolKeys.schedule),
        deadline_seconds=table.get(PatrolKeys.deadline),
        at_once=table.get(PatrolKeys.at_once),
        per_host=table.get(PatrolKeys.per_host),
        multiplex=table.get(PatrolKeys.multiplex),
        ping=table.get(PatrolKeys.ping),
        textfile=table.get(PatrolKeys.textfile),
        report=table.get(PatrolKeys.report),
        restarts_per_day=table.get(PatrolKeys.restarts_per_day),
        alerts_per_day=table.get(PatrolKeys.alerts_per_day),
        digest_minute=table.get(PatrolKeys.digest),
        thresholds=MappingProxyType(dict(thresholds.values)),
        rules=tuple(MappingProxyType(dict(rule)) for rule in rules if isinstance(rule, Mapping)),
    )


def read_ssh(table: Table) -> tuple[str, ...]:
    """The words of the ssh command."""
    return table.get(SshKeys.command)
