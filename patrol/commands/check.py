"""`patrol check`: is everything there that a tick needs, box by box, and what is in the way."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from onbox.cli.command import command
from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.units import counted
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import wall
from patrol.commands.options import boxes_argument, common_options
from patrol.config.configured import choose_boxes, load_settings
from patrol.config.ssh_target import target_of
from patrol.engines.look import look_at_cluster
from patrol.memory.run_memory import nothing_remembered
from patrol.probe.take import take
from patrol.snapshot import BoxLook, Unreachable
from patrol.ssh.client import NO_MASTER, Answer, ask
from patrol.ssh.run_parallel import Limits, visit_all
from patrol.ssh.unreachable_reasons import BY_KEY
from patrol.tick import policy_of
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.cli.command import Options
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.snapshot import BoxIdentity
    from patrol.ssh.client import NoAnswer

EXAMPLES = """\
examples:
  patrol check                  every box: key, host key, remote shell, clock, project, runs, speed of the login
  patrol check gpu1 --json
"""
SLOW_LOGIN_SECONDS = 3.0
SKEW_SECONDS = 5.0
AGENT = "SSH_AUTH_SOCK"
DECLARED_SECTIONS = frozenset({"log", "processes", "session", "artifacts", "queue", "jobs", "count", "run_disk"})


class CheckItem(NamedTuple):
    """One thing that was checked. remedy: what to do about it; "" where nothing is to be done. unseen: it could not be
    looked at, and a tick does without it.
    """

    what: str
    severity: Severity
    says: str
    remedy: str = ""
    unseen: bool = False


@command(EXAMPLES)
@boxes_argument
@common_options
def run(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    policy_of(settings)
    boxes = choose_boxes(settings, args.boxes)
    limits = Limits(settings.patrol.at_once, settings.patrol.per_host, settings.patrol.deadline_seconds)
    found = {
        visit.item.name: visit.result or [CheckItem("look", Severity.UNKNOWN, f"{visit.error or 'it did not end'}")]
        for visit in visit_all(boxes, lambda box: list(check_box(settings, box)), limits)
    }
    items = {box.name: found[box.name] for box in boxes}
    severity = max((item.severity for each in items.values() for item in each), key=lambda one: one.rank)
    if args.json:
        rows = {name: [_data(item) for item in each] for name, each in items.items()}
        print(
            json.dumps({"schema": 1, "config": settings.config_path, "severity": severity.name.lower(), "boxes": rows})
        )
        return int(severity)
    print(f"config       ok        {settings.config_path or 'no onbox.toml: defaults'}")
    for name, each in items.items():
        print(name)
        for item in each:
            print(safe_line(f"  {item.what:<10} {_word(item):<9} {item.says}"))
            if item.remedy:
                print(safe_line(f"  {'':<20} -> {item.remedy}"))
    return int(severity)


def _word(item: CheckItem) -> str:
    return "unseen" if item.unseen else item.severity.name.lower()


def _data(item: CheckItem) -> dict[str, Any]:
    return {**item._asdict(), "severity": item.severity.name.lower()}


def check_box(settings: Settings, box: BoxSettings) -> Iterator[CheckItem]:
    """One login, and one without the agent where there is one; of a cluster one look over HTTP."""
    if why := settings.not_trusted(box):
        yield CheckItem("trust", Severity.UNKNOWN, why, BY_KEY["untrusted"].remedy)
        return
    if box.is_cluster:
        yield from check_cluster(settings, box)
        return
    answers: list[Answer | NoAnswer] = []

    def ask_box(stdin: bytes, end_mark: bytes, deadline_seconds: float) -> Answer | NoAnswer:
        answers.append(ask(target_of(settings, box), stdin, end_mark=end_mark, deadline_seconds=deadline_seconds))
        return answers[-1]

    snapshot, _ = take(box, settings, nothing_remembered(), ask_box, wall())
    if isinstance(snapshot, Unreachable):
        reason = BY_KEY.get(snapshot.reason, BY_KEY["unknown"])
        yield CheckItem("login", Severity.CRITICAL, f"{reason.says} ({snapshot.detail})", reason.remedy_for(box.host))
        return
    answer = answers[-1]
    if isinstance(answer, Answer):
        yield _login(box, answer)
    yield from _agent(settings, box)
    yield from _seen(box, snapshot)


def check_cluster(settings: Settings, box: BoxSettings) -> Iterator[CheckItem]:
    """Whether its controller answers, takes the token, and knows each job."""
    snapshot, _ = look_at_cluster(box, settings, nothing_remembered(), wall())
    if isinstance(snapshot, Unreachable):
        reason = BY_KEY.get(snapshot.reason, BY_KEY["unknown"])
        yield CheckItem("controller", Severity.CRITICAL, f"{reason.says} ({snapshot.detail})", reason.remedy)
        return
    yield CheckItem(
        "controller", Severity.OK, f"answers, and takes the token; {snapshot.taken_seconds:.2f} s for all jobs"
    )
    if (box.token or "").startswith("env:"):
        yield CheckItem(
            "token", Severity.WARNING, f"it is {box.token}", "cron does not know your shell's variables: use file:PATH"
        )
    for run in observed(snapshot.runs) or ():
        word = run.scheduler
        if isinstance(word, Unseen | Absent):
            yield CheckItem("job", Severity.WARNING, f"{run.run}: could not be looked at: {word.why}")
        elif word.job_state == "forgotten":
            yield CheckItem(
                "job", Severity.CRITICAL, f"{run.run}: {word.says}", f"is job = {run.place!r} its whole id?"
            )
        else:
            yield CheckItem("job", Severity.OK, f"{run.run}: {word.says}")


def _login(box: BoxSettings, answer: Answer) -> CheckItem:
    way = "" if box.backend == "local" else "key and host key accepted, "
    says = f"{way}a POSIX sh answers; {answer.login_seconds:.2f} s to the first word"
    if answer.login_seconds <= SLOW_LOGIN_SECONDS:
        return CheckItem("login", Severity.OK, says)
    slow = "a start-up file of the account (~/.bashrc, pyenv, conda), its name service, or the link"
    return CheckItem("login", Severity.WARNING, says, f"{slow} is slow: every tick pays for it")


def _agent(settings: Settings, box: BoxSettings) -> Iterator[CheckItem]:
    """Whether the login works without the ssh agent, which cron does not have."""
    if not os.environ.get(AGENT) or box.backend == "local":
        return
    target = target_of(settings, box)
    words = (*target.ssh_command, "-o", "IdentityAgent=none")
    target = target._replace(ssh_command=words, control_path=NO_MASTER)
    answer = ask(target, b"echo ok\n", end_mark=b"ok", deadline_seconds=settings.patrol.deadline_seconds)
    if isinstance(answer, Answer):
        yield CheckItem("agent", Severity.OK, "the login works without an ssh agent, too: cron can do it")
    else:
        yield CheckItem(
            "agent",
            Severity.WARNING,
            "the login works with the ssh agent only, and cron has none",
            "name a key without passphrase with IdentityFile in ~/.ssh/config, best one of its own for this",
        )


def _seen(box: BoxSettings, look: BoxLook) -> Iterator[CheckItem]:
    identity = observed(look.identity)
    if identity is not None:
        yield _clock(identity)
    yield _project(box, look)
    if look.onbox_on_path is False and box.recover == "resume":
        yield CheckItem(
            "onbox", Severity.WARNING, "no onbox on the PATH of a login", 'recover = "resume" looks in .venv, venv, too'
        )
    for section, why in look.sections_unseen:
        if section == "runs":
            continue  # told as the project
        declared = section.partition(".")[0] in DECLARED_SECTIONS
        severity, remedy = (Severity.WARNING, "onbox.toml asks for it") if declared else (Severity.OK, "")
        yield CheckItem(section, severity, f"could not be looked at: {why}", remedy, unseen=True)


def _clock(identity: BoxIdentity) -> CheckItem:
    skew, error = identity.clock_skew_seconds, identity.clock_error_seconds
    if abs(skew) <= error:
        return CheckItem("clock", Severity.OK, f"{identity.hostname}: its clock agrees with ours, within {error:.1f} s")
    says = f"{identity.hostname}: its clock differs from ours by {skew:+.1f} s (within {error:.1f} s)"
    if abs(skew) <= SKEW_SECONDS:
        return CheckItem("clock", Severity.OK, says)
    return CheckItem(
        "clock", Severity.WARNING, says, "ages are by the box's own clock, but times in its logs are off: ntp"
    )


def _project(box: BoxSettings, look: BoxLook) -> CheckItem:
    unseen = look.runs.why if isinstance(look.runs, Unseen | Absent) else dict(look.sections_unseen).get("runs")
    if unseen is not None or isinstance(look.runs, Unseen | Absent):
        remedy = f"is project = {box.project!r} the directory on the box?"
        return CheckItem("project", Severity.CRITICAL, unseen or "", remedy)
    if not look.runs:
        return CheckItem("project", Severity.WARNING, "no run there yet", "start one on the box: onbox chain ...")
    return CheckItem(
        "project", Severity.OK, f"{counted(len(look.runs), 'run')}: " + ", ".join(run.run for run in look.runs)
    )
