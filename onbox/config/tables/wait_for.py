"""`wait_for` of a stage: what must appear before it starts, and what means that it never will. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table
from onbox.model.manifest import WaitFor

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_FOR_KEYS = ("file", "log", "regex", "fail_regex", "stall_after", "pid", "timeout")
WAIT_TIMEOUT_SECONDS = 7 * 86400.0  # longer than any training that is waited for; every wait tells its limit
ONE_OF = "exactly one of file and log, or a pid"


def read_wait_for(stage: Table) -> WaitFor | None:
    """The table of a stage; None: it waits for nothing."""
    if "wait_for" not in stage:
        return None
    table = Table(stage.path_of("wait_for"), stage.values["wait_for"], WAIT_FOR_KEYS, stage.errors)
    wait = WaitFor(
        file=table.read("file", values.text, None),
        log=table.read("log", values.text, None),
        regex=table.read("regex", values.regex, None),
        timeout_seconds=table.read("timeout", values.positive_duration, WAIT_TIMEOUT_SECONDS),
        fail_regex=table.read("fail_regex", values.regex, None),
        stall_after_seconds=table.read("stall_after", values.positive_duration, None),
        pid=table.read("pid", values.count_from(1), None),
    )
    _check(table, table.fail)
    return wait


def _check(table: Table, fail: Callable[[str, object, str], None]) -> None:
    """What goes with what."""
    if "file" in table and "log" in table:
        fail("log", table.values["log"], f"allowed beside file: {ONE_OF}")
    if "log" in table and "regex" not in table:
        table.missing("regex", "a regular expression of the line to wait for in log")
    for key in ("regex", "fail_regex", "stall_after"):
        if key in table and "log" not in table:
            fail(key, table.values[key], "allowed without log")
    if not {"file", "log", "pid"} & set(table.values):
        table.missing("file", ONE_OF)
