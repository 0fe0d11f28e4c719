"""Exit codes of `handbook`, one table: of `resume` those of the patrol, and the tool's own trouble as in sysexits.h."""

from __future__ import annotations

from onbox.contract.exits import Exit
from patrol.verdict import Severity

EXIT_MEANINGS: tuple[tuple[int, str], ...] = (
    (int(Severity.OK), "it worked; resume: nothing needs you; verify: nothing is false"),
    (
        int(Severity.WARNING),
        "resume: a warning; verify: something is false; log: it was changed, or git refused",
    ),
    (int(Severity.CRITICAL), "resume: a run needs you"),
    (int(Severity.UNKNOWN), "resume: a box could not be looked at; verify: something could not be checked"),
    (int(Exit.STOPPED), "interrupted"),
    (int(Exit.USAGE), "the command line is wrong"),
    (int(Exit.INTERNAL), "a defect in the handbook itself; the report file is named"),
    (int(Exit.STATE_NOT_WRITTEN), "a file could not be written (disk full, permissions)"),
    (int(Exit.ANOTHER_RUNNER), "another writer does not finish"),
    (int(Exit.CONFIG), "the configuration is wrong, or not accepted: `onbox trust`"),
)
