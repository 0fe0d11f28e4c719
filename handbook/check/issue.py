"""The issue of a run that must be accounted for: its body, and the short updates under it. Pure.

The logbook holds everything; the issue holds what a reader wants to know at a glance, and each names the other.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from handbook.page.markdown import Markdown, code, joined, md
from handbook.page.phrases import clock
from handbook.page.recovery import advise
from handbook.page.render_run import maybe, state_word
from handbook.which_run import NOT_LAUNCHED
from onbox.contract.readings import observed
from onbox.fence import fence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.log.entry import LogEntry
    from handbook.page.facts import RunFacts

LABELS = ("experiment", "agent-generated")
BY_A_MACHINE = "🤖 "  # what nobody read before it was sent says so
LATEST = 3


def title(run: str) -> str:
    return f"Hero run: {run}"


def body(run: RunFacts, contract: Sequence[tuple[str, str]], logbook: str) -> str:
    """The issue's text. logbook: its path in the repository."""
    lines = [f"Record: `{logbook}` in this repository; it records every check, decision and launch.", ""]
    lines += [md("- **{}**: {}", name, value) for name, value in contract if name != "Issue"]
    return "\n".join([*lines, "", "Status as of the last look:", "", _status(run), ""])


def update(run: RunFacts, entries: Sequence[LogEntry], *, approved: bool) -> str:
    """A comment: the state, and the newest decisions. approved: a person has read this text."""
    told = [one for one in entries if one.kind in ("decision", "escalation", "launch", "seal")][-LATEST:]
    lines = [_status(run), *(md("- {} {}: {}", one.at, one.kind, one.title) for one in told)]
    return ("" if approved else BY_A_MACHINE) + "\n".join(lines) + "\n"


def _status(run: RunFacts) -> Markdown:
    if run.rule == NOT_LAUNCHED:
        return md("**not launched yet**. Next: {}, then {}.", code("handbook contract"), code("onbox chain -d"))
    known = observed(run.resume)
    parts = [md("**{}**", state_word(run)), maybe(run.progress), run.says, f"last contact {clock(run.seen_at)}"]
    parts += [f"checkpoint {fence(known.checkpoint)}"] if known and known.step is not None else []
    return md("{}. Next: {}.", joined("; ", parts), Markdown(advise(run).then))


def command_to_send(run: str, issue: str, path: str) -> str:
    """What puts it there: typed by whoever may. issue: its address; "": there is none yet."""
    if issue:
        return shlex.join(["gh", "issue", "comment", issue, "--body-file", path])
    labels = [word for label in LABELS for word in ("--label", label)]
    return shlex.join(["gh", "issue", "create", "--title", title(run), *labels, "--body-file", path])
