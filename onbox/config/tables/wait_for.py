"""`wait_for` of a stage: what must appear before it starts, and what means that it never will. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table
from onbox.config.keys import Key, Keys
from onbox.model.manifest import WaitFor

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_TIMEOUT_SECONDS = 7 * 86400.0  # longer than any training that is waited for; every wait tells its limit
ONE_OF = "exactly one of file and log, or a pid"


class WaitForKeys(Keys):
    """`wait_for` of a stage."""

    file = Key(values.text, None, "A file.", '"data/READY"')
    log = Key(values.text, None, "A log, in which a line must appear.", '"up.log"')
    regex = Key(values.regex, None, "The line, as a regular expression; required with log.", '"^listening"')
    fail_regex = Key(values.regex, None, "A line that means it will never come.", '"^Traceback"', usual="none")
    stall_after = Key(
        values.positive_duration,
        None,
        "When the log is quiet for this long, the line will never come.",
        '"30m"',
        usual="never",
    )
    pid = Key(
        values.count_from(1), None, "Wait for the end of this process; beside file or log: it must be alive.", "4711"
    )
    timeout = Key(
        values.positive_duration, WAIT_TIMEOUT_SECONDS, "After so long the stage has failed.", '"7d"', usual='"7d"'
    )


def read_wait_for(stage: Table) -> WaitFor | None:
    """The table of a stage; None: it waits for nothing."""
    if "wait_for" not in stage:
        return None
    table = Table(stage.path_of("wait_for"), stage.values["wait_for"], WaitForKeys, stage.errors)
    wait = WaitFor(
        file=table.get(WaitForKeys.file),
        log=table.get(WaitForKeys.log),
        regex=table.get(WaitForKeys.regex),
        timeout_seconds=table.get(WaitForKeys.timeout),
        fail_regex=table.get(WaitForKeys.fail_regex),
        stall_after_seconds=table.get(WaitForKeys.stall_after),
        pid=table.get(WaitForKeys.pid),
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
