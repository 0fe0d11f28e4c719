"""`onbox boot`: interrupted runs go on by themselves when the box starts again."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import click

from onbox.chain.lock.run_owner import refuse_foreign_run
from onbox.chain.run_status import look_at_run
from onbox.cli.command import command, config_option, group
from onbox.cli.consent import agrees
from onbox.commands.shared.project import load_project_to_read, run_names
from onbox.contract.exits import Exit
from onbox.contract.states import RunState
from onbox.cron.crontab import NoCrontab, change_crontab, read_crontab
from onbox.cron.crontab_text import BadLine, our_lines, render, with_line, without_line
from onbox.cron.daemon import cron_runs
from onbox.errors import Trouble
from onbox.model.units import counted
from onbox.outside import safe_line
from onbox.system.clock import utc_text, wall
from onbox.system.self_exec import program_words

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.project import Project

MARK = "# onbox-boot"
LOG = "boot.log"
LOOKS, LOOK_SECONDS = 120, 5  # how long the line waits for a disk that is mounted late: ten minutes
EXAMPLES = """\
examples:
  onbox boot install            shows the exact line for the crontab (@reboot), and asks
  onbox boot install --print    the line, and what a container's start script or systemd needs instead
  onbox boot run                what that line does: continues every run here that was interrupted

Only interrupted runs continue, not those stopped, failed, done or alive. Gates are checked first, as always.
"""


# -- what happens at a start


@command()
@config_option
def run_boot(args: Options) -> int:
    """One line per run that is not done. Each is continued by a command of its own: none hinders the others."""
    project = load_project_to_read(args.config)
    refuse_foreign_run(project.paths(None))
    worst = int(Exit.DONE)
    for name in run_names(project.state_dir):
        worst = max(worst, _continue(project, name, args.config))
    return worst


def _continue(project: Project, name: str, config: str | None) -> int:
    try:
        view = look_at_run(project.paths(name))
    except (OSError, ValueError) as error:
        _say(f"{name}: could not be looked at: {error}")
        return int(Exit.CONFIG)
    if view is None or view.state is not RunState.INTERRUPTED:
        if view is not None and view.state is not RunState.DONE:
            _say(f"{name}: {view.state.value}, left as it is")
        return int(Exit.DONE)
    if "backend" in view.head.data:
        _say(f"{name}: its jobs are with an engine, left as they are: onbox status {shlex.quote(name)}")
        return int(Exit.DONE)
    where = ["-c", os.path.abspath(config)] if config else []
    words = [*program_words("onbox"), "resume", name, "-d", *where]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, cwd=project.folder)
    said = (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip().splitlines()
    _say(f"{name}: interrupted; onbox resume ended with {done.returncode}: {said[0] if said else 'it said nothing'}")
    return done.returncode


def _say(text: str) -> None:
    print(f"{utc_text(wall())} {safe_line(text)}", flush=True)


# -- the line that asks for it


@command()
@click.option("--yes", is_flag=True, help="do not ask")
@click.option("--print", is_flag=True, help="show the line and its alternatives, and change nothing")
@config_option
def run_install(args: Options) -> int:
    project = load_project_to_read(args.config)
    refuse_foreign_run(project.paths(None))
    command = boot_command(project, args.config)
    try:
        line = render("@reboot", command, _tag(project))
    except BadLine as error:
        raise Trouble(Exit.USAGE, f"this cannot be a line of a crontab: {error}") from error
    if args.print:
        print(_alternatives(line, command))
        return Exit.DONE
    try:
        count = read_crontab().count("\n")
    except NoCrontab as error:
        raise Trouble(Exit.USAGE, f"{error}; instead:\n\n{_alternatives(None, command)}") from error
    print(f"the line for your crontab ({counted(count, 'line')} there now, all others stay as they are):\n\n{line}\n")
    if not (args.yes or agrees("install it?", unasked="onbox boot install --yes")):
        print("nothing was changed")
        return Exit.DONE
    new = change_crontab(project.state_dir, lambda text: with_line(text, line, _tag(project)))
    print("installed" if new else "it was there already")
    if cron_runs() is False:
        print(
            "note: no cron daemon runs on this machine now. In a container nothing starts one by itself: put this into"
            f"\nits start script (on-start, entrypoint) instead:\n\n{_in_start_script(command)}"
        )
    return Exit.DONE


@command()
@config_option
def run_uninstall(args: Options) -> int:
    project = load_project_to_read(args.config)
    tag = _tag(project)
    lines = our_lines(read_crontab(), tag)
    if change_crontab(project.state_dir, lambda text: without_line(text, tag)):
        print("removed from the crontab:\n\n" + "\n".join(lines) + "\n\nall other lines are as they were")
    else:
        print("there is no line for this project in the crontab")
    return Exit.DONE


def boot_command(project: Project, config: str | None) -> str:
    """For sh, in any directory and with cron's bare environment. It waits for project and program: they may lie on a
    disk that is mounted after cron has started.
    """
    program, state_dir = program_words("onbox"), os.path.abspath(project.state_dir)
    log = shlex.quote(os.path.join(state_dir, LOG))
    folder = shlex.quote(project.folder)
    where = ["-c", os.path.abspath(config)] if config else []
    return (
        f"umask 077; i=0; until [ -x {shlex.quote(program[0])} ] && [ -d {shlex.quote(state_dir)} ]"
        f" && [ ! -L {log} ] && cd {folder}; do i=$((i+1)); [ $i -le {LOOKS} ] || exit 1; sleep {LOOK_SECONDS}; done;"
        f" {shlex.join([*program, 'boot', 'run', *where])} >>{log} 2>&1"
    )


def _in_start_script(command: str) -> str:
    """In a subshell of its own, in the background: directory, umask and end of the script are not its to change."""
    return f"( {command} ) &"


def _tag(project: Project) -> str:
    place = os.path.abspath(project.state_dir)
    return f"{MARK} {hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}"


def _alternatives(line: str | None, command: str) -> str:
    parts = [] if line is None else [f"# crontab -e, where a cron daemon runs\n{line}"]
    parts.append(f"# a container's start script (on-start, entrypoint)\n{_in_start_script(command)}")
    if shutil.which("systemctl") is not None or line is not None:
        quoted = command.replace("\\", "\\\\").replace("%", "%%").replace("$", "$$").replace('"', '\\"')
        parts.append(
            "# systemd: ~/.config/systemd/user/onbox-boot.service\n[Service]\nType=oneshot\nKillMode=process\n"
            f'ExecStart=/bin/sh -c "{quoted}"\n[Install]\nWantedBy=default.target\n'
            "# then: systemctl --user enable onbox-boot && loginctl enable-linger"
        )
    return "\n\n".join(parts)


boot = group(EXAMPLES)
boot.add("install", "let cron do it whenever the machine starts", run_install)
boot.add("uninstall", "remove the line; nothing else is touched", run_uninstall)
boot.add("run", "continue every interrupted run of this project, detached", run_boot)
