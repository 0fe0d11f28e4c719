"""This patrol's own cron job: what it is, whether it is there, and when it goes."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
from typing import TYPE_CHECKING

from onbox.cron.crontab import NoCrontab, change_crontab, read_crontab
from onbox.cron.crontab_text import our_lines, without_line
from onbox.errors import Trouble
from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported
from onbox.system.self_exec import program_words
from patrol.config.settings import SSH_VARIABLE
from patrol.judge import all_over
from patrol.report.output import log_path
from patrol.timer.claims import drop_claim
from patrol.timer.cron_line import CronJob, job_words, tag
from patrol.timer.cron_memory import other_memory, variables_for_cron

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged

CRON_PATH = "/usr/bin:/bin"  # what cron gives its jobs, on Debian and where nothing else is said


def patrol_id(settings: Settings) -> str:
    """The name of this patrol's folder: one per configuration."""
    return os.path.basename(settings.state)


def job_of(settings: Settings, environ: Mapping[str, str]) -> CronJob:
    """What cron is to run. Variables that decide where the memory lies and which ssh is used go along; no others."""
    words = job_words(program_words("patrol"), settings.config_path, settings.folder)
    variables = variables_for_cron(settings.state, _home_of_cron())
    if environ.get(SSH_VARIABLE):
        variables[SSH_VARIABLE] = environ[SSH_VARIABLE]
    path = _path_for(settings.ssh_command[0], environ)
    if path is not None:
        variables["PATH"] = path
    return CronJob(
        settings.patrol.schedule, words, tuple(variables.items()), log_path(settings.state), patrol_id(settings)
    )


def _path_for(ssh: str, environ: Mapping[str, str]) -> str | None:
    """A PATH for cron on which the ssh client is found; None: it is on cron's own."""
    if shutil.which(ssh, path=CRON_PATH) is not None or os.path.isabs(ssh):
        return None
    found = shutil.which(ssh, path=environ.get("PATH"))
    return None if found is None else f"{os.path.dirname(os.path.abspath(found))}:{CRON_PATH}"


def _home_of_cron() -> str:
    return pwd.getpwuid(os.getuid()).pw_dir


def memory_of_cron(settings: Settings) -> str:
    """What a person has to know where this shell reads another memory than the ticks by cron; "": it does not."""
    other = other_memory(installed_lines(settings) or (), settings.state, _home_of_cron())
    if not other:
        return ""
    home = shlex.quote(os.path.dirname(os.path.dirname(other)))
    return (
        f"the ticks by cron keep their state in {other}: they do not see what you acknowledge here; "
        f"to use theirs: export XDG_STATE_HOME={home}; to make cron use this one: patrol install"
    )


def installed_lines(settings: Settings) -> list[str] | None:
    """This patrol's lines in the crontab; None: that could not be known."""
    try:
        return our_lines(read_crontab(), tag(patrol_id(settings)))
    except Trouble:
        return None


def lock_folder(settings: Settings) -> str:
    """Above all patrols of this user: they share one crontab."""
    return os.path.dirname(settings.state)


def remove_line(settings: Settings) -> bool:
    """Whether there was one. Raises Trouble, StateNotWritten."""
    ours = tag(patrol_id(settings))
    return change_crontab(lock_folder(settings), lambda crontab: without_line(crontab, ours))


def leave_when_all_is_over(settings: Settings, judged: Sequence[BoxJudged]) -> str | None:
    """Remove the own line once every run of every box has ended and was acknowledged; what was done, in words."""
    if not all_over(judged):
        return None
    try:
        if not remove_line(settings):
            return None
    except NoCrontab:
        return None
    except (Trouble, StateNotWritten, LockUnsupported) as error:
        return f"every run has ended and was acknowledged, but the crontab line could not be removed: {error}"
    drop_claim(settings)
    return "every run has ended and was acknowledged: the crontab line was removed; `patrol install` puts it back"
