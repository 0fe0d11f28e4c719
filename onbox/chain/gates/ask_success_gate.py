"""Ask the success gate about an attempt that ended: look at its artifacts and its log, then judge."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING

from onbox.chain.artifacts.on_disk import ArtifactLook, look_at, picture
from onbox.chain.gates.success_gate import Ended, GateFinding, judge, warnings_of
from onbox.contract.readings import Unseen
from onbox.logs.tail import find_in_log, line_before
from onbox.model.manifest import OFF
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc
from onbox.system.files import read_tail
from onbox.system.process import never
from onbox.system.time_limit import TooLong
from onbox.triage.reading import signs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from onbox.chain.observe.progress_watch import ProgressWatch
    from onbox.chain.state.replay import StageHistory
    from onbox.contract.readings import Maybe
    from onbox.model.manifest import Stage


_NOT_FINITE = re.compile(rb"(?i)(?<![a-z])(?:nan|inf)")
_GRADIENT_NORM = re.compile(rb"(?i)grad(?:ient)?[_ ]?norm")
LOSS_TAIL_BYTES = 1 << 18
EARLIER_LOGS = 3
COARSE_SECONDS = 0.1  # a file's times follow a coarser clock than the journal's


class GateAnswer(NamedTuple):
    """looks: what was found of each artifact. findings: what does not hold; empty means success. warnings: what is to
    be told beside it. loss: the last one, if it is not finite.
    """

    looks: tuple[ArtifactLook, ...]
    findings: tuple[GateFinding, ...]
    warnings: tuple[str, ...]
    loss: str = ""


def ask_gate(
    stage: Stage,
    folder: str,
    log: str,
    known: StageHistory,
    ended: Ended,
    progress: ProgressWatch,
    urged: Callable[[], bool] = never,
) -> GateAnswer:
    """The verdict on the stage's newest attempt. folder: where it worked. log: of that attempt; progress: on that.
    Raises StopAsked once `urged` holds.
    """
    if ended.exit_code != 0:
        return GateAnswer((), judge(stage, ended, (), log_matches=None), ())
    before = known.before or {}
    looks = tuple(look_at(artifact, folder, before, stage.checkpoints, urged) for artifact in stage.artifacts)
    loss = "" if stage.finite_loss == OFF else _bad_loss(log, progress, _earlier_logs(log, known))
    findings = judge(
        stage,
        ended,
        looks,
        log_matches=_log_matches(stage, log),
        log_fault=_log_fault(stage, log),
        loss=loss,
        earlier_seconds=known.spent_seconds,
    )
    return GateAnswer(looks, findings, warnings_of(stage, loss), loss)


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


def _log_matches(stage: Stage, log: str) -> Maybe[bool] | None:
    if not stage.done_if_log:
        return None
    found = _find(stage.done_if_log, log)
    return found if isinstance(found, Unseen) else found is not None


def _log_fault(stage: Stage, log: str) -> Maybe[str]:
    """The line that proves the fault; "" where there is none, or none was asked for."""
    if not stage.fail_if_log:
        return ""
    found = _find(stage.fail_if_log, log)
    if found is None or isinstance(found, Unseen):
        return "" if found is None else found
    return line_before(log, found) or "(an empty line)"


def _find(regex: str, log: str) -> int | Unseen | None:
    try:
        return find_in_log(log, regex)
    except OSError as error:
        return Unseen(error.strerror or str(error))
    except TooLong:
        return Unseen("the regular expression takes too long on this log")


def _bad_loss(log: str, progress: ProgressWatch, earlier: Sequence[str]) -> str:
    """The last training loss that is told, where it is not finite; "" where it is, or none is told.

    earlier: logs of the attempts before, the newest first: an attempt that had nothing left to train tells no loss, and
    keeps the weights of the one before it.
    """
    tail = _tail_of(log)
    if not earlier and not _NOT_FINITE.search(tail):  # nearly always; a stage of a moment is not made longer by it
        return ""
    told = _told_loss(tail, lambda: (progress.look() or {}).get("loss"))
    if told is None:
        return _bad_loss_before(earlier)
    return told


def _bad_loss_before(logs: Sequence[str]) -> str:
    """As `_bad_loss`, by the newest of these logs that tells a loss at all."""
    from onbox.logs.progress import ProgressReader  # noqa: PLC0415 - only where an attempt told no loss

    for log in logs:
        tail, reader = _tail_of(log), ProgressReader()
        reader.feed(tail)
        told = _told_loss(tail, lambda reader=reader: reader.result().loss)  # type: ignore[misc]
        if told is not None:
            return f"{told} (of the attempt before; this one tells none)" if told else ""
    return ""


def _told_loss(tail: bytes, read: Callable[[], object]) -> str | None:
    """The last loss where it is not finite, "" where it is; None: none is told. read: what progress makes of it."""
    if _gradient_is_lost(tail):
        return "0 although the gradient norm is not finite"
    loss = read()
    if loss is None:
        return None
    return "" if isinstance(loss, int | float) and math.isfinite(loss) else str(loss)


def _earlier_logs(log: str, known: StageHistory) -> list[str]:
    """Logs of the series' attempts before the newest one, the newest first; a few of them."""
    if known.attempts < 2:
        return []
    began = parse_utc(known.began_at)
    if began is None:
        return []
    stem, _, number = log.removesuffix(".log").rpartition(".")
    newest = int(number) if number.isdigit() else 0
    paths = [f"{stem}.{one}.log" for one in range(newest - 1, max(0, newest - 1 - EARLIER_LOGS), -1)]
    return [path for path in paths if os.path.exists(path) and os.path.getmtime(path) > began - COARSE_SECONDS]


def _tail_of(log: str) -> bytes:
    try:
        return read_tail(log, LOSS_TAIL_BYTES) or b""
    except OSError:
        return b""


def _gradient_is_lost(tail: bytes) -> bool:
    """A trainer that leaves losses of nan out of its mean (transformers does by default) shows 0 beside the gradient
    norm that gives it away. The last line with such a norm tells.
    """
    told = [line for line in re.split(rb"[\r\n]", tail) if _GRADIENT_NORM.search(line)]
    last = told[-1].decode(errors="replace") if told else ""
    return signs.LOST_GRADIENT.search(last) is not None and signs.ZERO_LOSS.search(last) is not None


def ended_from_record(record: Mapping[str, Any]) -> Ended:
    """How an attempt ended, as journaled."""
    return Ended(
        record.get("exit_code"),
        record.get("signal"),
        str(record.get("cause", "exit")),
        record.get("duration_seconds"),
        str(record.get("detail", "")),
    )
