"""A line in a crontab that nothing reads is not a watch: whether a cron daemon is at work is seen, or is not known."""

from __future__ import annotations

import pytest

from onbox.cron.daemon import cron_runs, has_daemon
from onbox.local.processes import running_names


@pytest.mark.parametrize(
    ("names", "runs"),
    [
        ({1: "systemd", 612: "cron"}, True),
        ({1: "init", 612: "crond"}, True),
        ({1: "init", 300: "sshd", 900: "crontab"}, False),
        ({900: "bash", 901: "python3"}, None),  # hidepid: only one's own
        ({}, None),
    ],
)
def test_seen_in_the_process_table(names: dict[int, str], *, runs: bool | None) -> None:
    assert has_daemon(names) is runs


def test_without_a_process_table_it_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError("no table")

    monkeypatch.setattr("onbox.local.processes.running_names", refuse)
    monkeypatch.setattr("os.path.isdir", lambda _: False)
    monkeypatch.setattr("sys.platform", "linux")
    assert cron_runs() is None


def test_the_real_table_has_this_process() -> None:
    assert any("py" in name for name in running_names().values())
