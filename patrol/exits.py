"""Exit codes of `patrol`, one table: those of Nagios plugins, and the tool's own trouble as in sysexits.h."""

from __future__ import annotations

from onbox.contract.exits import Exit
from patrol.verdict import Severity

EXIT_MEANINGS: tuple[tuple[int, str], ...] = (
    (int(Severity.OK), "OK: nothing needs you (for reading commands: the answer was printed)"),
    (int(Severity.WARNING), "warning: the worst of all lines"),
    (int(Severity.CRITICAL), "critical: the worst of all lines"),
    (
        int(Severity.UNKNOWN),
        "unknown: a box could not be looked at, another tick is at work, or the patrol is stale (`status`)",
    ),
    (int(Exit.USAGE), "the command line is wrong"),
    (int(Exit.INTERNAL), "a defect in the patrol itself; the report file is named"),
    (int(Exit.STATE_NOT_WRITTEN), "the patrol's own files, or the crontab, could not be read or written"),
    (int(Exit.ANOTHER_RUNNER), "another program is changing the crontab right now"),
    (int(Exit.CONFIG), "the configuration is wrong, or not accepted: `onbox trust`"),
)
