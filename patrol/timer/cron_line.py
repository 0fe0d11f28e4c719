"""The patrol's own line for a crontab, or its units for systemd. Pure. Its tag holds the id of this patrol's memory."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from onbox.cron.crontab_text import render
from onbox.cron.schedule import parse_schedule
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.cron.schedule import Schedule

NONE_RUNS = "no cron daemon is at work on this machine, so nothing begins the ticks"
WHAT_TO_DO = (
    "start one (`service cron start`; WSL: systemd=true in /etc/wsl.conf), or use the timer of `patrol install --print`"
)
MARK = "# onbox-patrol"


class CronJob(NamedTuple):
    """What cron is to do. words: the program and its arguments, the first one an absolute path. variables: set for it
    alone. log: where its output is appended. id: of this patrol.
    """

    schedule: str
    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    log: str
    id: str


def tag(id_: str) -> str:
    """The comment that our line ends with."""
    return f"{MARK} {id_}"


def render_line(job: CronJob) -> str:
    """The crontab line. Raises BadLine."""
    return render(job.schedule, shell_line(job), tag(job.id))


def shell_line(job: CronJob) -> str:
    """What cron's shell is to run: it works in any directory and with cron's bare environment. Where the log cannot be
    written, the tick is done all the same, and cron mails what it says.
    """
    folder, log = shlex.quote(job.log.rpartition("/")[0]), shlex.quote(job.log)
    variables = "".join(f"{name}={shlex.quote(value)} " for name, value in job.variables)
    return (
        f"umask 077; mkdir -p {folder}; cd /; if echo >>{log}; then exec >>{log} 2>&1; fi;"
        f" {variables}{shlex.join(job.words)}"
    )


def ids_in(crontab: str) -> list[str]:
    """Of every patrol that has a line there which cron runs."""
    lines = [line.rstrip("\r") for line in crontab.split("\n") if not line.lstrip().startswith("#")]
    mark = f" {tag('')}"
    return [line.rpartition(mark)[2] for line in lines if mark in line]


def job_words(program: Sequence[str], config_path: str | None, folder: str) -> tuple[str, ...]:
    """The words of the tick that cron is to run, independent of the working directory."""
    where = ("-c", config_path) if config_path else ("--folder", folder)
    return (*program, "tick", "--unattended", *where)


def bare_environment(home: str, user: str, path: str = "/usr/bin:/bin") -> Mapping[str, str]:
    """What cron gives its jobs, and nothing else: no SSH_AUTH_SOCK, no PYTHONPATH, no language."""
    return {"HOME": home, "LOGNAME": user, "USER": user, "SHELL": "/bin/sh", "PATH": path}


def systemd_units(job: CronJob) -> str:
    """For a machine without crontab: a user's timer, as text for two files."""
    calendar = calendar_of(parse_schedule(job.schedule)) or f"???  # {job.schedule!r} in the words of systemd.time(7)"
    command = shell_line(job).replace("\\", "\\\\").replace("%", "%%").replace("$", "$$")
    return (
        f"# ~/.config/systemd/user/{job.id}.service\n[Service]\nType=oneshot\n"
        f"ExecStart=/bin/sh -c {_unit_quote(command)}\n\n"
        f"# ~/.config/systemd/user/{job.id}.timer\n[Timer]\nOnCalendar={calendar}\nPersistent=true\n\n"
        f"[Install]\nWantedBy=timers.target\n\n"
        f"# then: systemctl --user daemon-reload && systemctl --user enable --now {job.id}.timer"
        " && loginctl enable-linger\n"
    )


def calendar_of(schedule: Schedule) -> str | None:
    """A schedule of every day in the words of systemd.time(7); None: it is not one of every day."""
    if not (schedule.any_day and schedule.any_weekday and len(schedule.months) == 12):
        return None
    hours = "*" if len(schedule.hours) == 24 else ",".join(map(str, sorted(schedule.hours)))
    return f"{hours}:{','.join(map(str, sorted(schedule.minutes)))}"


def _unit_quote(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
