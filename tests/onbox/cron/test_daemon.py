"""A line in a crontab that nothing reads is not a watch: whether a cron daemon is at work is seen, or is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.cron import daemon as cron_daemon

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("ps", "runs"),
    [
        ("    1 systemd\n  612 cron\n", True),
        ("    1 systemd\n  612 /usr/sbin/crond\n", True),
        ("    1 init\n  300 sshd\n  900 crontab\n", False),
        ("  900 bash\n  901 python3\n", None),  # hidepid: only one's own
        ("", None),
    ],
)
def test_seen_in_the_process_table(ps: str, *, runs: bool | None) -> None:
    assert cron_daemon.read_ps(ps) is runs


def test_without_ps_it_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert cron_daemon.cron_runs() in {None, True}
