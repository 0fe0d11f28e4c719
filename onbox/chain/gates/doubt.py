"""What speaks against a success that all gates have let through: its own log, as triage reads it.

Scripts lose exit codes (`|| true`, a pipe without `set -o pipefail`), and programs print an error and leave with 0. No
gate refuses for it, as a log is no proof; it is told beside the DONE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.manifest import OFF
from onbox.regex import lazy
from onbox.system.files import read_tail

if TYPE_CHECKING:
    from onbox.chain.gates.success_gate import Ended
    from onbox.model.manifest import Stage

LOSS_IS_TOLD = "divergence"  # by the gate `finite_loss`, or not at all where that is off
SHORT_SECONDS = 20.0  # a stage that took less is examined only where its log holds a word of trouble
SHORT_BYTES = 1 << 16  # of its end
_OF_TROUBLE = lazy(
    rb"(?i)err|fail|exception|traceback|abort|panic|fatal|fault|kill|denied|refused|cannot|can't|could not|unable|"
    rb"not found|no such|invalid|missing|incomplete|critical|giving up|lost|diverg"
    rb"|timed? ?out|out of memory|no space|\bnan\b|\binf\b|[\x80-\xff]"
)


def doubt(stage: Stage, log: str, folder: str, ended: Ended, *, loss_is_told: bool) -> tuple[str, ...]:
    """What the log of an attempt that succeeded tells of a failure, in words; empty: nothing. loss_is_told: a warning
    about the loss stands beside the DONE already.
    """
    if (ended.duration_seconds or 0.0) < SHORT_SECONDS and not _holds_a_word_of_trouble(log):
        return ()
    from onbox.chain.observe.post_mortem import examine_success  # noqa: PLC0415 - not for a stage of a moment

    found = examine_success(log, folder)
    if found is None:
        return ()
    if isinstance(found, str):
        return (f"could not look whether its log tells of a failure: {found}",)
    if found.failure_class == LOSS_IS_TOLD and (loss_is_told or stage.finite_loss == OFF):
        return ()
    at = "" if found.line_number is None else f", line {found.line_number}"
    return (
        f"it ended with 0, yet its log tells of a failure: {found.failure_class}{at}: {found.line or ''}".rstrip(": "),
    )


def _holds_a_word_of_trouble(log: str) -> bool:
    try:
        return _OF_TROUBLE.search(read_tail(log, SHORT_BYTES) or b"") is not None
    except OSError:
        return True  # and whoever looks closely tells why it cannot be read
