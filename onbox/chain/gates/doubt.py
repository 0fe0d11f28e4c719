"""What speaks against a success that all gates have let through: its own log, as triage and progress read it.

Scripts lose exit codes (`|| true`, a pipe without `set -o pipefail`), programs print an error and leave with 0, and a
loop may end long before its last step. No gate refuses for it, as a log is no proof; it is told beside the DONE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.progress import words_of_progress
from onbox.model.manifest import OFF
from onbox.outside import safe_line
from onbox.regex import lazy
from onbox.system.files import read_tail

if TYPE_CHECKING:
    from onbox.chain.gates.success_gate import Ended
    from onbox.chain.observe.progress_watch import ProgressWatch
    from onbox.model.manifest import Stage

LOSS_IS_TOLD = "divergence"  # by the gate `finite_loss`, or not at all where that is off
SHORT_SECONDS = 20.0  # a stage that took less is examined only where its log holds a word of trouble
END_BYTES = 1 << 16
LINE_LIMIT = 300
_OF_TROUBLE = lazy(
    rb"(?i)err|fail|exception|traceback|abort|panic|fatal|fault|kill|denied|refused|cannot|can't|could not|unable|"
    rb"not found|no such|invalid|missing|incomplete|critical|giving up|lost|diverg"
    rb"|timed? ?out|out of memory|no space|\bnan\b|\binf\b|[\x80-\xff]"
)
_MAY_FALL_SHORT = lazy(
    rb"(?i)\d\W{0,3}(?:/|of)\W{0,3}\d|\d ?%|(?<![\d.,])0 [a-z]|[:=]\s{0,8}0\s|\b(?:not|never|cannot|can't|failed|no) "
)


def doubt(
    stage: Stage, log: str, folder: str, ended: Ended, progress: ProgressWatch, *, loss_is_told: bool
) -> tuple[str, ...]:
    """What the log of an attempt that succeeded says against it, in words; empty: nothing. progress: of that log.
    loss_is_told: a warning about the loss stands beside the DONE already.
    """
    try:
        end: bytes | None = read_tail(log, END_BYTES) or b""
    except OSError:
        end = None  # whoever looks closely tells why it cannot be read
    if (ended.duration_seconds or 0.0) >= SHORT_SECONDS or end is None or _OF_TROUBLE.search(end):
        failure = _failure(log, folder, stage, loss_is_told=loss_is_told)
        if failure:
            return (failure,)
    short = _shortfall(end or b"", progress)
    return (short,) if short else ()


def _failure(log: str, folder: str, stage: Stage, *, loss_is_told: bool) -> str:
    """The failure that the log tells of, in words; "" where it tells of none."""
    from onbox.chain.observe.post_mortem import examine_success  # noqa: PLC0415 - not for a stage of a moment

    found = examine_success(log, folder)
    if found is None:
        return ""
    if isinstance(found, str):
        return f"could not look whether its log tells of a failure: {found}"
    if found.failure_class == LOSS_IS_TOLD and (loss_is_told or stage.finite_loss == OFF):
        return ""
    at = "" if found.line_number is None else f", line {found.line_number}"
    told = f"it ended with 0, yet its log tells of a failure: {found.failure_class}{at}: {found.line or ''}"
    return told.rstrip(": ")


def _shortfall(end: bytes, progress: ProgressWatch) -> str:
    """Where the log stops short of its own maximum, or misses a result, in words; "" where it does not. end: its last
    bytes.
    """
    if progress.newest is None and not _MAY_FALL_SHORT.search(end):
        return ""
    from onbox.logs.in_vain import counts_none, misses_result  # noqa: PLC0415 - not for a stage that counts nothing
    from onbox.logs.short import counts_a_part, last_lines, stops_short  # noqa: PLC0415 - as above

    lines = last_lines(end)
    none, part = counts_none(lines), counts_a_part(lines)
    if none is not None:
        return f"it ended with 0, yet it counts none of its work: {safe_line(none, LINE_LIMIT)}"
    missing = misses_result(lines)
    if missing is not None:
        return f"it ended with 0, yet it says that a result was not kept: {safe_line(missing, LINE_LIMIT)}"
    if part is not None:
        return f"it ended with 0, yet its last line counts a part only: {safe_line(part, LINE_LIMIT)}"
    progress.look(moves=False)
    if progress.newest is None or not stops_short(progress.newest):
        return ""
    counter = words_of_progress(progress.newest).counter
    return f"it ended with 0, yet its log stops at {counter} and does not say why: see whether it was meant to"
