"""What follows the end of a wait: the user's command, and a word to the targets of [notify]."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from onbox.contract.notices import Notice
from onbox.notify.signing import BadSecret
from onbox.notify.targets import NotSet, resolve_target
from onbox.notify.types import TryOutcome as Sent
from onbox.notify.types import Unusable
from onbox.outside import safe_line
from onbox.system.clock import utc_text, wall
from patrol.decide.remote_command import Untypeable, here
from sentinels.judge.outcome import Outcome, WaitFinding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.project import Project

ATTEMPT_SECONDS = 10.0

# The word of `[notify] on` that a message of each outcome goes under, and what it is called in it.
EVENT_OF: Mapping[Outcome, tuple[str, str]] = {
    Outcome.LANDED: ("chain_done", "done"),
    Outcome.FAILED: ("chain_failed", "FAILED"),
    Outcome.GONE: ("interrupted", "GONE"),
    Outcome.STOPPED: ("stopped", "stopped"),
    Outcome.STALLED: ("stalled", "STALLED"),
    Outcome.UNREACHABLE: ("interrupted", "unreachable"),
    Outcome.SUPERSEDED: ("stopped", "superseded"),
    Outcome.TIMED_OUT: ("stalled", "timed out"),
}


def environment_of(finding: WaitFinding) -> dict[str, str]:
    """What the user's command is told."""
    return {
        "SENTINEL_OUTCOME": finding.outcome.value,
        "SENTINEL_EXIT_CODE": str(int(finding.code)),
        "SENTINEL_TARGET": finding.target,
        "SENTINEL_SAY": finding.say,
        "SENTINEL_SINCE": "" if finding.since is None else utc_text(finding.since),
    }


def run_command(command: str, finding: WaitFinding) -> None:
    """Run the shell line to its end. Its exit code is told, and does not change that of the wait."""
    code = subprocess.call(["/bin/sh", "-c", command], env={**os.environ, **environment_of(finding)})
    if code:
        print(f"sentinel: --exec ended with exit code {code}: {safe_line(command, 200)}", file=sys.stderr)


def notice_of(finding: WaitFinding, folder: str) -> Notice:
    """The message of a wait's end."""
    event, state = EVENT_OF[finding.outcome]
    detail = finding.detail
    return Notice(
        id=f"msg_sentinel_{os.urandom(8).hex()}",
        at=utc_text(wall()),
        event=event,
        state=state,
        run=finding.target,
        run_id=str(detail.get("run_id", "")),
        project=folder,
        host=os.uname().nodename,
        stage=detail.get("stage"),
        failure_class=detail.get("failure_class"),
        remedy=detail.get("remedy"),
        proof=detail.get("proof"),
        reason=f"sentinel: {finding.say}",
        next_command=_again(finding.target) if finding.outcome is Outcome.TIMED_OUT else None,
    )


def _again(target: str) -> str | None:
    try:
        return here("sentinel", "wait", target)
    except Untypeable:
        return None


def tell(project: Project, finding: WaitFinding) -> None:
    """One try for each target of [notify] that wants such news; what went wrong is told on stderr."""
    from onbox.notify.send.worker import try_once  # noqa: PLC0415

    notice = notice_of(finding, project.folder)
    for target in project.config.notify.targets:
        if notice.event not in target.on:
            continue
        try:
            verdict = try_once(notice, resolve_target(target, os.environ, project.folder), ATTEMPT_SECONDS)
            trouble = "" if verdict.outcome is Sent.DELIVERED else verdict.reason
        except (NotSet, Unusable, BadSecret) as problem:
            trouble = str(problem)
        if trouble:
            print(f"sentinel: {target.name} was not told: {safe_line(trouble)}", file=sys.stderr)
