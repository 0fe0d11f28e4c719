"""`patrol install` and `patrol uninstall`: the patrol's own line in the crontab, shown before anything is changed."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
from typing import TYPE_CHECKING

import click

from onbox.cli.command import command
from onbox.cli.consent import agrees
from onbox.contract.exits import Exit
from onbox.cron.crontab import NoCrontab, change_crontab, read_crontab
from onbox.cron.crontab_text import BadLine, with_line
from onbox.cron.daemon import cron_runs
from onbox.cron.schedule import BadSchedule, cadence_seconds, parse_schedule
from onbox.errors import Trouble
from onbox.notify.targets import NotSet, resolve_target
from onbox.outside import LINE_LIMIT, safe_line
from onbox.system.clock import wall
from onbox.system.ownership import make_own_folder
from onbox.system.self_exec import program_words
from patrol.commands.options import project_options
from patrol.config.configured import choose_boxes, load_settings
from patrol.cron_job import installed_lines, job_of, lock_folder, remove_line
from patrol.tell.news import wants
from patrol.tick import policy_of, warn
from patrol.timer.claims import doubles, drop_claim, write_claim
from patrol.timer.cron_line import NONE_RUNS, WHAT_TO_DO, bare_environment, ids_in, render_line, systemd_units, tag

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.timer.cron_line import CronJob

INSTALL_EXAMPLES = """\
examples:
  patrol install                        shows the exact crontab line and what works in cron's environment, and asks
  patrol install --yes --schedule '*/10 * * * *'
  patrol install --print                a crontab line and a systemd timer; changes nothing
"""
TRIAL_SECONDS = 120.0


@command(INSTALL_EXAMPLES)
@click.option("--yes", is_flag=True, help="do not ask")
@click.option("--test-message", is_flag=True, help="send a test message to every target, in cron's environment")
@click.option("--schedule", metavar="'M H D M W'", help="five fields (default: [patrol] schedule)")
@click.option("--print", is_flag=True, help="show the line and a systemd timer, and change nothing")
@click.option("--untried", is_flag=True, hidden=True, help="do not look at the boxes in cron's environment first")
@project_options
def run_install(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    policy_of(settings)
    choose_boxes(settings, [])
    job = _job(settings, args.schedule)
    line = _line(job)
    if args.print:
        print(f"# crontab -e\n{line}\n\n{systemd_units(job)}")
        return Exit.DONE
    try:
        crontab = read_crontab()
    except NoCrontab as error:
        raise Trouble(Exit.USAGE, f"{error}; as a timer of systemd:\n\n{systemd_units(job)}") from error
    now = wall()
    others = doubles(settings, lambda: ids_in(crontab), now)
    if others:
        raise Trouble(Exit.USAGE, "one patrol per run, nothing was changed\n  " + "\n  ".join(others))
    make_own_folder(settings.state)
    if not args.untried:
        _try_as_cron_would(job)
    count = crontab.count("\n")
    for said in _who_is_not_told(settings, job):
        print(said)
    print(f"the line for your crontab ({count} lines there now, all others stay as they are):\n\n{line}\n")
    if not (args.yes or agrees("install it?", unasked="patrol install --yes")):
        print("nothing was changed")
        return Exit.DONE
    new = change_crontab(lock_folder(settings), lambda text: with_line(text, line, tag(job.id)))
    write_claim(settings, now, cadence_seconds(parse_schedule(settings.patrol.schedule), now))
    print("installed" if new else "it was there already")
    print(f"output goes to {job.log} (kept below 1 MB); patrol status tells when the last tick was")
    print("cron does nothing while this machine sleeps or is off, and nothing is made up for afterwards")
    if cron_runs() is False:
        warn(f"{NONE_RUNS}: {WHAT_TO_DO}")
    targets = any(wants(target) for target in settings.config.notify.targets)
    if args.test_message or (
        targets and not args.yes and agrees("send a test message now?", unasked="onbox notify test")
    ):
        return _send_test_message(settings, job)
    return Exit.DONE


def _send_test_message(settings: Settings, job: CronJob) -> int:
    """As the ticks by cron will send theirs: what works in a shell may not work there."""
    where = ("-c", settings.config_path) if settings.config_path else ()
    command = [*program_words("onbox"), "notify", "test", *where]
    try:
        done = subprocess.run(
            command,
            env=_cron_environment(job),
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            timeout=TRIAL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble(Exit.USAGE, f"no test message could be sent as cron would send it: {error}") from error
    for line in (done.stdout + done.stderr).strip().splitlines():
        print(f"  {safe_line(line)}")
    return Exit.DONE if done.returncode == 0 else Exit.FAILED


def _cron_environment(job: CronJob) -> dict[str, str]:
    me = pwd.getpwuid(os.getuid())
    return {**bare_environment(me.pw_dir, me.pw_name), **dict(job.variables)}


def _job(settings: Settings, schedule: str | None) -> CronJob:
    job = job_of(settings, os.environ)
    if schedule is None:
        return job
    try:
        parse_schedule(schedule)
    except BadSchedule as error:
        raise Trouble(Exit.USAGE, f"--schedule: {error}") from error
    if " ".join(schedule.split()) != " ".join(settings.patrol.schedule.split()):
        where = settings.config_path or "onbox.toml"
        print(f'write schedule = "{schedule}" under [patrol] in {where}, too: staleness is judged by it')
    return job._replace(schedule=schedule)


def _line(job: CronJob) -> str:
    try:
        return render_line(job)
    except BadLine as error:
        raise Trouble(Exit.USAGE, f"this cannot be a line of a crontab: {error}") from error


def _try_as_cron_would(job: CronJob) -> None:
    """One look at every box in cron's environment: no agent, no profile, another PATH. Says what it meets; the line may
    be installed all the same.
    """
    env = _cron_environment(job)
    words = [word for word in job.words if word != "--unattended"]
    at = words.index("tick")
    command = [*words[: at + 1], "--look-only", "--json", *words[at + 1 :]]
    print("one look at every box in cron's environment ...", flush=True)
    try:
        done = subprocess.run(
            command, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=TRIAL_SECONDS
        )
        data = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble(Exit.USAGE, f"this does not run as cron would run it: {error}") from error
    except ValueError as error:
        said = safe_line(done.stderr.strip()[-LINE_LIMIT:])[-500:] or "it said nothing"
        text = f"this does not run as cron would run it (exit code {done.returncode}): {said}"
        raise Trouble(Exit.USAGE, text) from error
    for entry in data["runs"]:
        print(f"  {safe_line(entry['line'])}")
    if os.environ.get("SSH_AUTH_SOCK") and any("auth" in str(entry.get("say")) for entry in data["runs"]):
        print("  cron has no ssh agent: a key that needs one is of no use to it. Name a key without passphrase with")
        print("  IdentityFile in ~/.ssh/config, best one that may do nothing else")


def _who_is_not_told(settings: Settings, job: CronJob) -> list[str]:
    """What is missing before people are told of what this patrol sees."""
    where = settings.config_path or "onbox.toml"
    targets = [target for target in settings.config.notify.targets if wants(target)]
    withheld = [one.key for one in settings.withheld if one.key.partition(".")[0] == "notify"]
    if not targets:
        why = "names no target for messages of the patrol"
        why = "is not accepted here yet: onbox trust" if withheld else why
        return [
            f"no message can be sent: [notify] in {where} {why}",
            '  for example urls = ["file:~/.config/onbox/webhook"]; send a test message: onbox notify test',
        ]
    said = []
    for target in targets:
        try:
            resolve_target(target, dict(job.variables), settings.folder)
        except NotSet as problem:
            said.append(f"{target.name} will not be told by cron: {problem}; cron knows file:PATH only")
    if len(said) == len(targets):
        said.append("so no message will be sent")
    return [safe_line(line) for line in said] or ["a test message to every target: onbox notify test"]


@command()
@project_options
def run_uninstall(args: Options) -> int:
    settings = load_settings(args, os.environ)
    lines = installed_lines(settings)
    drop_claim(settings)
    if remove_line(settings):
        print("removed from the crontab:\n\n" + "\n".join(lines or []) + "\n\nall other lines are as they were")
    else:
        print("there is no line of this patrol in the crontab")
    return Exit.DONE
