"""The patrol's own line in a crontab: text in, text out. Pure.

Our line is known by its end, a comment with the id of this patrol's memory. All other lines stay as they are, byte for
byte.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from patrol.schedule import parse_schedule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from patrol.schedule import Schedule

MARK = "# onbox-patrol"
LINE_LIMIT = 990  # Vixie cron cuts a command at 1000 characters
# What `crontab -l` says, with exit code 1, when there simply is none: Vixie, Debian, cronie, macOS and the BSDs, dcron,
# systemd-cron; BusyBox; fcron.
_NONE_YET = ("no crontab for", "can't open '", "has no fcrontab", "has no crontab")


class BadLine(ValueError):
    """A line that no crontab can hold; the text says why."""


class Job(NamedTuple):
    """What cron is to do. words: the program and its arguments, the first one an absolute path. variables: set for it
    alone. log: where its output is appended. id: of this patrol.
    """

    schedule: str
    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    log: str
    id: str


def render_line(job: Job) -> str:
    """The crontab line. Raises BadLine."""
    line = f"{' '.join(job.schedule.split())} {escape(shell_line(job))} {MARK} {job.id}"
    if "\n" in line or "\r" in line or "\0" in line:
        raise BadLine("a path holds a line break, which no crontab can")
    if len(line) > LINE_LIMIT:
        raise BadLine(
            f"the line would have {len(line)} characters, and cron cuts it at {LINE_LIMIT}: use shorter paths"
        )
    return line


def shell_line(job: Job) -> str:
    """What cron's shell is to run: it works in any directory and with cron's bare environment."""
    folder = job.log.rpartition("/")[0]
    variables = "".join(f"{name}={shlex.quote(value)} " for name, value in job.variables)
    return (
        f"umask 077; mkdir -p {shlex.quote(folder)}; cd / && {variables}{shlex.join(job.words)}"
        f" >>{shlex.quote(job.log)} 2>&1"
    )


def escape(command: str) -> str:
    """A bare `%` ends the command in a crontab."""
    return command.replace("%", "\\%")


def is_ours(line: str, id_: str) -> bool:
    """Whether a line (without its end) is this patrol's; one that was commented out is, too."""
    return line.rstrip("\r").endswith(f" {MARK} {id_}")


def our_lines(crontab: str, id_: str) -> list[str]:
    return [line for line in crontab.split("\n") if is_ours(line, id_)]


def ids_in(crontab: str) -> list[str]:
    """Of every patrol that has a line there which cron runs."""
    lines = [line.rstrip("\r") for line in crontab.split("\n") if not line.lstrip().startswith("#")]
    return [line.rpartition(f" {MARK} ")[2] for line in lines if f" {MARK} " in line]


def with_line(crontab: str, line: str, id_: str) -> str:
    """The crontab with our line: in the place of the old one, else at the end."""
    lines = crontab.split("\n")
    places = [number for number, one in enumerate(lines) if is_ours(one, id_)]
    if places:
        lines[places[0]] = line
        return "\n".join(one for number, one in enumerate(lines) if number not in places[1:])
    return (crontab if not crontab or crontab.endswith("\n") else crontab + "\n") + line + "\n"


def without_line(crontab: str, id_: str) -> str:
    """The crontab without our line."""
    return "\n".join(line for line in crontab.split("\n") if not is_ours(line, id_))


def means_no_crontab(exit_code: int, said: str) -> bool:
    """Whether a `crontab -l` that failed means "there is none yet". Any other failure is not an empty crontab: taking
    it for one would wipe what is there.
    """
    return exit_code == 1 and any(words in said for words in _NONE_YET) and "ermission" not in said


def crontab_argv(*words: str) -> list[str]:
    return ["crontab", *words]


def job_words(program: Sequence[str], config_path: str | None, folder: str) -> tuple[str, ...]:
    """The words of the tick that cron is to run, independent of the working directory."""
    where = ("-c", config_path) if config_path else ("--folder", folder)
    return (*program, "tick", "--unattended", *where)


def bare_environment(home: str, user: str, path: str = "/usr/bin:/bin") -> Mapping[str, str]:
    """What cron gives its jobs, and nothing else: no SSH_AUTH_SOCK, no PYTHONPATH, no language."""
    return {"HOME": home, "LOGNAME": user, "USER": user, "SHELL": "/bin/sh", "PATH": path}


def systemd_units(job: Job) -> str:
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
