"""Ask the success gate about an attempt that ended: look at its artifacts and its log, then judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onbox.chain.artifacts import Look, look_at, picture
from onbox.chain.checks import Ended, Finding, judge
from onbox.contract.readings import Unseen
from onbox.logs.tail import find_in_log
from onbox.system.clock import parse_utc
from onbox.system.limit import TooLong

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onbox.chain.replay import StageHistory
    from onbox.contract.manifest import Stage
    from onbox.contract.readings import Maybe


class Verdict(NamedTuple):
    """looks: what was found of each artifact. findings: what does not hold; empty means success."""

    looks: tuple[Look, ...]
    findings: tuple[Finding, ...]


def ask_gate(stage: Stage, folder: str, log: str, known: StageHistory, ended: Ended) -> Verdict:
    """The verdict on the stage's newest attempt. folder: where it worked. log: of that attempt."""
    looks = _look_at_artifacts(stage, folder, known.before or {}, ended)
    findings = judge(
        stage,
        ended,
        looks,
        log_matches=_log_matches(stage, log, ended),
        earlier_seconds=known.spent_seconds,
    )
    return Verdict(looks, findings)


def picture_of_added(stage: Stage, folder: str, known: StageHistory) -> dict[str, Any]:
    """What lay there before the series began, of artifacts that were added to the configuration since then."""
    if known.pictured is None:
        return {}
    began = parse_utc(known.began_at)  # the one place where a file's time is held against this machine's clock
    until_ns = None if began is None else int(began * 1e9)
    added = tuple(artifact for artifact in stage.artifacts if artifact.pattern not in known.pictured)
    more = picture(added, folder, until_ns) if added else {}
    seen = picture(tuple(one for one in stage.artifacts if one.pattern in known.pictured), folder) if more else {}
    return {path: entry for path, entry in more.items() if path not in seen}


def _look_at_artifacts(stage: Stage, folder: str, before: Mapping[str, Any], ended: Ended) -> tuple[Look, ...]:
    if ended.exit_code != 0 or not stage.artifacts:
        return ()
    return tuple(look_at(artifact, folder, before, stage.checkpoints) for artifact in stage.artifacts)


def _log_matches(stage: Stage, log: str, ended: Ended) -> Maybe[bool] | None:
    if not stage.done_if_log or ended.exit_code != 0:
        return None
    try:
        return find_in_log(log, stage.done_if_log) is not None
    except OSError as error:
        return Unseen(error.strerror or str(error))
    except TooLong:
        return Unseen("the regular expression takes too long on this log")


def ended_from_record(record: Mapping[str, Any]) -> Ended:
    """How an attempt ended, as journaled."""
    return Ended(
        record.get("exit_code"),
        record.get("signal"),
        str(record.get("cause", "exit")),
        record.get("duration_seconds"),
        str(record.get("detail", "")),
    )
