"""A remark of a lower layer that explains the error at the end. Pure.

Device and kernel lie below the runtime, the runtime below libraries, those below the user's code. What fails below is
often told as a warning only, and what it breaks above says nothing of it: an allocator is out of memory, and later an
attribute is missing on what was not allocated. The remark counts if nothing went on in between and the error is one
that such a trouble leads to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.reading.record import PROVEN
from onbox.triage.rules.rows import CAUSE, DEATH
from onbox.triage.stacks import THROWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.triage.reading.record import Fault, LogAttempt


class Layer(NamedTuple):
    """classes: of the remark. leads_to: what the error above, with its last line of code, then says."""

    classes: tuple[str, ...]
    leads_to: re.Pattern[str]


_NOTHING_THERE = (
    r"NoneType|(?<![\[,:])(?<!, )\bNone\b(?!\])"
    r"|null|nullptr|not (?:been )?(?:allocated|initiali[sz]ed|created|set)|uninitiali[sz]ed|is empty"
    r"|0x0\b|segmentation|signal"
)
_OF_DEVICES = Layer(
    ("cuda_env", "gpu_hardware", "tpu_bad_node"),
    lazy(
        r"\b(?:gpus?|cuda|rocm|accelerators?|cudnn|hip|nccl|devices?|n_?(?:dev|gpu|devices|gpus)"
        r"|num_?(?:gpus|devices)|device_count|world_size"
        r"|nproc|local_rank|backend|kernel|launch failure|driver)\b|is_available|^AssertionError\s*$"
        rf"|cuda|{_NOTHING_THERE}",
        re.IGNORECASE,
    ),
)
_LAYERS = (
    Layer(
        ("cuda_oom", "host_oom", "shm_too_small", "tpu_hbm_oom"),
        lazy(
            rf"{_NOTHING_THERE}|alloc|memory|buffer|workspace|cache|pool|killed|died|exited unexpectedly|broken pipe"
            r"|connection (?:reset|closed)|EOFError|engine"
            r"|core (?:initiali[sz]ation|process)|init\w{0,24} failed|CUDA error|cublas|cudnn|internal error",
            re.IGNORECASE,
        ),
    ),
    _OF_DEVICES,
    Layer(
        ("disk_full", "quota_exceeded", "inode_exhausted", "permission_error"),
        lazy(
            r"no such file|does not exist|not found|no module named|unexpected eof|truncat|empty|corrupt|too short"
            r"|sav(?:e|ing)|writ(?:e|ing)|cache|database|flush|iostream|\bglob\(|\blistdir\(",
            re.IGNORECASE,
        ),
    ),
    Layer(
        ("nccl_or_distributed",),
        lazy(r"\babort|SIGABRT", re.IGNORECASE),
    ),
    Layer(
        ("port_in_use",),
        lazy(r"process group|rendezvous|init_process|\bbind|\blisten|connect|\bserver\b|\bstore\b", re.IGNORECASE),
    ),
    Layer(
        ("network_blip", "auth_error"),
        lazy(
            rf"no such file|does not exist|not found|no module named|offline|download|installed|{_NOTHING_THERE}"
            r"|can't load|cannot load|could(?:n't| not) find|unable to locate|\bglob\(|\blistdir\(",
            re.IGNORECASE,
        ),
    ),
)


# Of an error that says only that something failed, whatever trouble was told so shortly before is the reason.
_RIGHT_BEFORE = 12  # lines
_SAYS_NOTHING = ("exception", "said-error", "error-line", "fatal-level", "launcher", "says-it-failed", "aborted")


# Of these the message tells what is wrong, and the code on its line may speak of a device all the same.
_SLIP = lazy(r"(?:Type|Name|UnboundLocal|ZeroDivision|Syntax)Error: \S")
_OF_SHAPES = lazy(
    r"(?i)\b(?:expected|must|should|same|mismatch)\b.{0,60}\b(?:dtypes?|shapes?|scalar types?|dimensions?)\b"
    r".{0,24}\b(?:but|in)\b"
    r"|\b(?:shapes?|dimensions?)\b.{0,60}\b(?:cannot be (?:multiplied|broadcast)|(?:do not|must) match)\b"
)

# Who was killed for memory was restarted, and killed again.
_ALL_DIED = lazy(r"\bworkers? (?:\w{1,12} )?(?:died|killed|lost)\b", re.IGNORECASE)
# Of pip and apt: an index that could not be reached offers nothing.
_NOTHING_OFFERED = lazy(
    r"\(from versions: none\)|No matching distribution|Unable to locate package|could not be installed"
)


def explained_by(cause: Fault, attempt: LogAttempt, *, near: int) -> Fault | None:
    """The remark that explains the cause; None where nothing below does. near: signs of life that may lie between."""
    if not DEATH - 1 <= cause.row.explains < CAUSE and not _NOTHING_OFFERED.search(cause.text):
        return None
    said = _with_code(cause)
    return next(
        (
            remark
            for remark in _remarks(cause, attempt, near)
            for layer in _LAYERS
            if remark.row.failure_class in layer.classes
            and (layer.leads_to.search(said) or _is_right_before(remark, cause))
        ),
        None,
    )


def thrown_by(cause: Fault, attempt: LogAttempt) -> Fault | None:
    """The exception that a program in C++ aborted for, of which a launcher tells only the signal."""
    if cause.row.id != "aborted":
        return None
    above = (one for one in reversed(attempt.faults) if one.number < cause.number and one.row.explains > DEATH)
    return next((one for one in above if THROWN.match(one.text)), None)


def looked_in_vain(look: Fault, later: Iterable[Fault]) -> bool:
    """Whether a script only looked for a tool of the driver that is not there, and what it did then failed of something
    else.
    """
    if look.row.id != "no-driver-tool":
        return False
    others = [one for one in later if one.number > look.number and not one.handled and one.row.explains > DEATH]
    return bool(others) and not any(
        one.row.failure_class in _OF_DEVICES.classes
        or (one.row.explains < CAUSE and _OF_DEVICES.leads_to.search(_with_code(one)))
        for one in others
    )


def _with_code(cause: Fault) -> str:
    """What an error says, with its last line of code."""
    tells = _SLIP.match(message(cause.text).text) or _OF_SHAPES.search(cause.text)
    code = cause.trace.code[-1:] if cause.trace and not tells else ()
    return " ".join([cause.text, *code])


def _is_right_before(remark: Fault, cause: Fault) -> bool:
    began = cause.trace.number if cause.trace else cause.number
    return (
        cause.row.id in _SAYS_NOTHING
        and not _OF_SHAPES.search(cause.text)
        and 0 < began - remark.number <= _RIGHT_BEFORE
        and cause.progress_before == remark.progress_before
    )


def _was_in_vain(remark: Fault, cause: Fault) -> bool:
    """Whether what was tried again came to nothing."""
    if remark.row.failure_class == "network_blip":
        return bool(_NOTHING_OFFERED.search(cause.text))
    return remark.row.failure_class == "host_oom" and bool(_ALL_DIED.search(cause.text))


def _remarks(cause: Fault, attempt: LogAttempt, near: int) -> Iterable[Fault]:
    for fault in attempt.faults:
        if fault.number >= cause.number:
            return
        in_vain = _was_in_vain(fault, cause)
        if fault.handled and not in_vain:
            continue
        level = message(fault.text).level
        ends_it = in_vain or level == "FATAL"  # a runtime that writes so aborts then
        if (fault.row.explains < CAUSE - 2 and not ends_it) or fault.row.failure_class == cause.row.failure_class:
            continue
        if level == "DEBUG":
            continue  # what somebody who searches for a defect is told
        if fault.severity < PROVEN and cause.progress_before - fault.progress_before <= near:
            yield fault
