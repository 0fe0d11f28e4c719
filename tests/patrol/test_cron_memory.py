"""A shell and cron remember in one folder, whatever HOME and XDG_STATE_HOME are in the shell."""

from __future__ import annotations

import pytest

from patrol.timer.cron_line import CronJob, render_line
from patrol.timer.cron_memory import other_memory, state_of_line, variables_for_cron

HOME = "/home/ann"
NAME = "digits-0a1b2c3d"


@pytest.mark.parametrize(
    ("state_home", "named"),
    [
        ("/home/ann/.local/state", False),
        ("/data/ann/.local/state", True),
        ("/srv/state", True),
        ("/srv/it's 100% mine", True),
    ],
)
def test_the_line_names_the_folder_where_cron_would_not_find_it(state_home: str, *, named: bool) -> None:
    state = f"{state_home}/onbox/{NAME}"
    variables = variables_for_cron(state, HOME)
    assert bool(variables) is named
    job = CronJob("3,33 * * * *", ("/usr/bin/patrol", "tick"), tuple(variables.items()), f"{state}/tick.log", NAME)
    line = render_line(job)
    assert state_of_line(line, NAME, HOME) == state
    assert other_memory([line], state, HOME) == ""


def test_a_shell_that_reads_another_memory_is_told_which_one_cron_has() -> None:
    line = f"3,33 * * * * cd / && XDG_STATE_HOME=/srv/state /usr/bin/patrol tick # onbox-patrol {NAME}"
    mine = f"{HOME}/.local/state/onbox/{NAME}"
    assert other_memory([line], mine, HOME) == f"/srv/state/onbox/{NAME}"
    assert other_memory([f"#{line}"], mine, HOME) == "", "a line that is commented out has no ticks"
    assert other_memory([], mine, HOME) == ""
