"""What an earlier run in the same place means for the next start: a live runner, results of other commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.command.code_identity import look_at_git
from onbox.chain.state.earlier_results import ResultsPlace, ResultWishes, find_conflicts
from onbox.chain.state.plan import Action
from onbox.chain.state.replay import replay
from onbox.chain.state.stage_code import find_code_changes
from onbox.contract.events import parse_events
from onbox.contract.fingerprint import stage_fingerprint
from onbox.contract.runfile import FrozenStage
from onbox.model.engines import CLUSTERS
from onbox.preflight.report import CheckResult, failed, passed, warned
from onbox.system.journal import read_lines
from onbox.system.lock import is_locked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.chain.state.earlier_results import Conflict
    from onbox.chain.state.replay import History
    from onbox.contract.paths import RunPaths
    from onbox.preflight.report import CheckFacts
    from onbox.runs.start_command import StartCommand


def check_earlier(facts: CheckFacts) -> Iterator[CheckResult]:
    """Whether `onbox chain` would be refused because of what is there already, and which sweeps there are."""
    for sweep in facts.sweeps:
        yield _of_sweep(sweep)
    if facts.paths not in facts.sweeps and (os.path.exists(facts.paths.journal) or not facts.sweeps):
        yield from _of_chain(facts)


def _of_sweep(paths: RunPaths) -> CheckResult:
    name = os.path.basename(paths.root)
    if is_locked(paths.lock):
        return warned("earlier run", f"sweep {name} is at work", f"`onbox sweep status {name}` tells of it")
    return passed("earlier run", f"of a sweep: onbox sweep status {name}")


def _of_chain(facts: CheckFacts) -> Iterator[CheckResult]:
    paths = facts.paths
    if not os.path.exists(paths.journal):
        yield passed("earlier run", f"none at {paths.root}")
        return
    if is_locked(paths.lock):
        yield warned(
            "earlier run",
            f"a runner is at work at {paths.root}",
            "`onbox status` tells of it; the same chain attaches to it",
        )
        return
    frozen = [FrozenStage(stage, stage_fingerprint(stage), at) for at, stage in enumerate(facts.stages, start=1)]
    place = ResultsPlace(paths, facts.folder if facts.engine not in CLUSTERS else None)
    history = replay(parse_events(read_lines(paths.journal)))
    conflicts = find_conflicts(place, frozen, history, ResultWishes())
    yield from _code_changes(facts.start, place, frozen, history)
    for conflict in conflicts:
        yield _judge(conflict, facts.start)
    if not conflicts:
        yield passed("earlier run", f"{paths.root}: what is done there fits the commands")


def _code_changes(
    start: StartCommand, place: ResultsPlace, frozen: list[FrozenStage], history: History
) -> Iterator[CheckResult]:
    for change in find_code_changes(place, frozen, history, look_at_git(place.project or "", looks=True), ()):
        seen = f"stage {change.stage}: the code has changed since {change.since}: {'; '.join(change.differences)}"
        yield warned("earlier run", seen, f"run it again with today's code: `{start.again('--redo', change.stage)}`")


def _judge(conflict: Conflict, start: StartCommand) -> CheckResult:
    name = conflict.frozen.stage.name
    if conflict.action is Action.REFUSE_LIVE:
        return failed("earlier run", f"a command of stage {name} is still alive", "`onbox stop`, or let it finish")
    ways = (
        f"keep its result: `{start.again('--accept-done', name)}`; run it again: `{start.again('--redo', name)}`; "
        f"`{start.again()}` shows the difference"
    )
    if conflict.marker is None:
        return failed("earlier run", f"stage {name}: its DONE file is not a marker: {conflict.reason}", ways)
    if conflict.lost:
        return failed("earlier run", f"stage {name} is DONE, but {'; '.join(conflict.lost)}", ways)
    if conflict.after is not None:
        return failed("earlier run", f"stage {name} is DONE, but {conflict.after} before it will run again", ways)
    return failed("earlier run", f"stage {name} is DONE with another command than it has now", ways)
