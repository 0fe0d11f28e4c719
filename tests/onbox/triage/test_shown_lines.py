"""The line that a verdict shows is the one that tells most: no headline, no advice, no way that a trouble took."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

STEPS = "".join(f"step {at}00, remaining wall clock time: {90 - at} s\n" for at in range(1, 5))
SHOWN = {
    "below a headline": (
        STEPS
        + "\n-----------------------\nProgram:     gmx mdrun, version 2023.3\n\nFatal error:\nStep 431: The total "
        "potential energy is nan, which is not finite. The LJ and\nelectrostatic contributions are 0 and nan.\n",
        "Step 431: The total potential energy is nan, which is not finite. The LJ and",
    ),
    "above an advice": (
        (
            'CMake Warning:\n  Ignoring extra path from command line:\n\n   "."\n\n\nCMake Error: The source directory '
            '"/x/y" has no CMakeLists.txt.\nSpecify --help for usage, or press the help button.\n'
        ),
        'CMake Error: The source directory "/x/y" has no CMakeLists.txt.',
    ),
    "above Lua's own frames": (
        (
            "gen 1/9\ngen 2/9\nlua: (command line):1: population died out\nstack traceback:\n\t[C]: in function "
            "'error'\n\t(command line):1: in main chunk\n\t[C]: in ?\n"
        ),
        "lua: (command line):1: population died out",
    ),
    "the reason, and not that it is over": (
        "step 7113\ncard 3 fell off the bus\nno more steps can be taken\n",
        "card 3 fell off the bus",
    ),
    "who waited for a task, and not the task": (
        (
            'Traceback (most recent call last):\n  File "a.py", line 4\n    f\nasyncio.exceptions.CancelledError\n'
            "\nThe above exception was the direct cause of the following exception:\n\n"
            'Traceback (most recent call last):\n  File "a.py", line 5, in <module>\n    run(m())\nTimeoutError\n'
        ),
        "TimeoutError",
    ),
}


@pytest.mark.parametrize(("log", "line"), SHOWN.values(), ids=SHOWN)
def test_the_line_that_tells_most_is_shown(log: str, line: str) -> None:
    assert classify(log.encode(), Evidence(log_age_seconds=30.0)).line == line
