"""The checkpoints of a run, with what its journal knows: which attempt wrote one, and which went on from one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.resume_source import Rollback, lineage_terms, rollbacks, stage_records
from onbox.chain.state.slots import read_marker
from onbox.checkpoints.keep import LEAST_KEEP, Candidate, Retention, Ties, Why, why_kept
from onbox.checkpoints.on_disk import real_path
from onbox.checkpoints.survey import Survey, survey
from onbox.contract.events import Event
from onbox.contract.markers import Marker
from onbox.contract.readings import Absent, Unseen, plain
from onbox.model.manifest import folder_of
from onbox.model.origin import Origin
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc, utc_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.checkpoints.survey import Surveyed
    from onbox.contract.paths import RunPaths
    from onbox.contract.readings import Maybe
    from onbox.contract.runfile import FrozenStage, RunHead
    from onbox.model.manifest import Stage

UNSAID = Origin()
USUAL = Retention()


class Attempt(NamedTuple):
    """began_at: seconds since the epoch. source: the checkpoint that it was told to go on from; "": none."""

    number: int
    began_at: float
    source: str


class StageCheckpoints(NamedTuple):
    """kept: by path, the rows that keep it. selected: what a resume continues from; None: there is none."""

    stage: Stage
    survey: Survey
    ties: Ties
    rollbacks: tuple[Rollback, ...]
    kept: dict[str, tuple[Why, ...]]
    selected: Surveyed | None
    attempts: tuple[Attempt, ...]

    def attempt_of(self, one: Surveyed) -> Attempt | None:
        """The attempt that wrote it, by the time; None: it is from before the first."""
        return next((it for it in reversed(self.attempts) if it.began_at <= one.extent.newest_at), None)


def look_at_stage_checkpoints(
    paths: RunPaths, head: RunHead, stage: Stage, origin: Origin = UNSAID, retention: Retention = USUAL
) -> StageCheckpoints:
    """Everything about the checkpoints of one stage. origin: what is promised of them."""
    seen = survey(stage, head.project, lineage_terms(paths, head, stage, origin))
    attempts = tuple(_attempts(paths, stage.name))
    back = tuple(rollbacks(paths, stage.name))
    ties = _ties(paths, head, stage, origin, seen, attempts)
    ties = ties._replace(rolled_back_to=tuple(one.checkpoint for one in back if one.last != Event.ROLLBACK_UNDONE))
    candidates = [Candidate(one.path, one.step, one.usable, one.names, one.whole is True) for one in seen.found]
    kept = why_kept(candidates, retention, ties)
    usable = [one for one in seen.found if one.usable]
    selected = max(usable, key=lambda one: (one.step, one.whole is True, one.path), default=None)
    return StageCheckpoints(stage, seen, ties, back, kept, selected, attempts)


def _attempts(paths: RunPaths, stage: str) -> list[Attempt]:
    found = []
    for record in stage_records(paths, stage):
        at = parse_utc(str(record.get("at")))
        if record["event"] == Event.ATTEMPT_STARTED and at is not None:
            number = record.get("attempt")
            found.append(Attempt(number if isinstance(number, int) else 0, at, str(record.get("checkpoint") or "")))
    return found


def _ties(
    paths: RunPaths, head: RunHead, stage: Stage, origin: Origin, seen: Survey, attempts: Sequence[Attempt]
) -> Ties:
    return Ties(
        origin.final_step,
        isinstance(read_marker(paths.done(stage.name)), Marker),
        launch_source=_launch_source(folder_of(head.project, stage), origin.initialize_from),
        recovery_source=real_path(attempts[-1].source) if attempts and attempts[-1].source else "",
        best=seen.best,
    )


def _launch_source(folder: str, said: str) -> str:
    return real_path(os.path.join(folder, os.path.expanduser(said))) if said else ""


class RunCheckpoints(NamedTuple):
    """Of all stages that leave any. retention: by which they are kept. current: the stage that a resume would start."""

    head: RunHead
    stages: tuple[StageCheckpoints, ...]
    retention: Retention
    current: str | None

    @property
    def to_resume(self) -> StageCheckpoints | None:
        """The stage whose checkpoint a resume continues from: the current one, else the last that has any."""
        named = next((one for one in self.stages if one.stage.name == self.current), None)
        return named or (self.stages[-1] if self.stages else None)


def look_at_run_checkpoints(
    paths: RunPaths,
    head: RunHead,
    stages: Sequence[FrozenStage],
    origin: Origin = UNSAID,
    retention: Callable[[Retention], Retention] = lambda usual: usual,
) -> RunCheckpoints:
    """Everything about the checkpoints of a run. retention: what is made of the configured one."""
    wanted = retention(configured_retention(stages))
    kept = wanted._replace(keep=max(wanted.keep, least_kept(stages)))
    looked = [look_at_stage_checkpoints(paths, head, one.stage, origin, kept) for one in stages]
    undone = [one.stage.name for one in stages if not isinstance(read_marker(paths.done(one.stage.name)), Marker)]
    there = tuple(one for one in looked if one.survey.found or one.survey.unseen)
    return RunCheckpoints(head, there, kept, undone[0] if undone else None)


def configured_retention(stages: Sequence[FrozenStage]) -> Retention:
    """`keep` of [gates] checkpoints; never under what a rollback needs."""
    keep = [one.stage.gates.checkpoints.keep for one in stages if one.stage.gates.checkpoints is not None]
    return Retention(max(LEAST_KEEP, *keep)) if keep else USUAL


def least_kept(stages: Sequence[FrozenStage]) -> int:
    """So many a success gate asks for (`min_count`): with fewer a stage that is done would be so no more."""
    return max((one.min_count for it in stages for one in it.stage.artifacts if one.has_wildcard), default=0)


def as_data(run: RunCheckpoints, now: float) -> dict[str, Any]:
    """For `--json`, and for whoever reads it in Python."""
    return {
        "schema": 1,
        "run": run.head.run,
        "run_id": run.head.run_id,
        "project": run.head.project,
        "at": utc_text(now),
        "keep": run.retention.keep,
        "milestones": run.retention.milestones,
        "select": plain(selected(run)),
        "next_stage": run.current,
        "stages": [
            {
                "stage": one.stage.name,
                "launch_source": one.ties.launch_source or None,
                "recovery_source": one.ties.recovery_source or None,
                "could_not_look": list(one.survey.unseen),
                "rollbacks": [_rollback_as_data(it) for it in one.rollbacks],
            }
            for one in run.stages
        ],
        "checkpoints": [_one_as_data(run, of, one, now) for of in run.stages for one in of.survey.found],
    }


def _rollback_as_data(it: Rollback) -> dict[str, Any]:
    data = {key: getattr(it, key) for key in ("number", "step", "checkpoint", "reason", "by", "at")}
    states = {Event.ROLLBACK_BEGUN: "begun", Event.ROLLBACK_UNDOING: "undoing", Event.ROLLBACK_UNDONE: "undone"}
    return {**data, "state": states.get(it.last, "done"), "rejected": [[one.path, one.aside] for one in it.moved]}


def selected(run: RunCheckpoints) -> Maybe[dict[str, Any]]:
    """The checkpoint to resume from. Absent: none is whole, or there is none. Unseen: it could not be looked at."""
    of = run.to_resume
    if of is None:
        return Absent("there is no checkpoint yet")
    if of.survey.unseen:
        return Unseen(of.survey.unseen[0])
    if of.selected is None:
        return Absent(_none_whole(of))
    one = of.selected
    return {"stage": of.stage.name, "path": one.path, "step": one.step, "whole": one.whole, "says": one.says}


def _none_whole(of: StageCheckpoints) -> str:
    named = [f"{os.path.basename(one.path)}: {one.against or one.says}" for one in of.survey.found if not one.usable]
    return f"none is whole ({'; '.join(named[:3])})" if named else "there is no checkpoint yet"


def _one_as_data(run: RunCheckpoints, of: StageCheckpoints, one: Surveyed, now: float) -> dict[str, Any]:
    attempt = of.attempt_of(one)
    why = of.kept[one.path]
    return {
        "stage": of.stage.name,
        "step": one.step,
        "path": one.path,
        "name": shown_path(run.head.project, one.path),
        "kind": "link" if one.extent.is_link else "folder" if one.extent.is_folder else "file",
        "bytes": one.extent.bytes,
        "files": one.extent.files,
        "written_at": utc_text(one.extent.newest_at),
        "age_seconds": round(max(0.0, now - one.extent.newest_at), 1),
        "whole": one.whole,
        "says": one.says,
        "against": one.against or None,
        "selected": one is of.selected,
        "attempt": attempt.number if attempt else None,
        "attempt_source": (attempt.source or None) if attempt else None,
        "kept": [row.name for row in why],
        "kept_because": ", ".join(row.says for row in why),
    }


def shown_path(project: str, path: str) -> str:
    """Relative to the project where it lies below it."""
    root = os.path.join(os.path.realpath(project), "")
    return path[len(root) :] if path.startswith(root) else path
