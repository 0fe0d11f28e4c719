"""A notice as a person reads it: a title and a few lines, bounded. Pure. Each format escapes it for its channel.

What a log, or the record of another box, says stands in a fence: on a telephone that costs two signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.notices import PATROL_DIGEST
from onbox.fence import close_fence, fence, fence_block, fence_name
from onbox.model.units import format_duration, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.notices import Notice

LINE_LIMIT = 300

_SIGNS = {
    "stage_done": "✓",
    "chain_done": "✓",
    "stage_failed": "✗",
    "chain_failed": "✗",
    "patrol_recovered": "✓",
    "patrol_back": "✓",
    "patrol_done": "✓",
    "patrol_digest": "·",
}


def title(notice: Notice) -> str:
    """One line: `✗ digits/train FAILED (host_oom) on gpu1`."""
    if notice.event == "test":
        return _short(f"onbox test message of {notice.run} on {notice.host or 'this box'}")
    if notice.is_of_patrol:
        what = f"{_SIGNS.get(notice.event, '!')} {notice.run} {notice.state}"
        return _short(what + (f": {notice.reason}" if notice.reason else ""))
    of_stage = bool(notice.stage and notice.attempt)
    what = f"{notice.run}/{notice.stage}" if of_stage else notice.run
    sign = "!" if notice.warning else _SIGNS.get(notice.event, "!")
    text = f"{sign} {what} {notice.state}" + ("" if of_stage else _in_all(notice))
    text += ", with a warning" if notice.warning else ""
    text += f" ({notice.failure_class})" if notice.failure_class else ""
    text += f" on {notice.host}" if notice.host else ""
    text += f" · relayed from {notice.relayed_from}" if notice.relayed_from else ""
    return _short(text + (f" x{notice.times}" if notice.times > 1 else ""))


def _in_all(notice: Notice) -> str:
    """` 2/2 in 10h12m` of a chain that is done; ` at eval` of one that is not."""
    if notice.event != "chain_done":
        return f" at {notice.stage}" if notice.stage else ""
    took = "" if notice.duration_seconds is None else f" in {format_duration(notice.duration_seconds)}"
    return (f" {notice.stages_total}/{notice.stages_total}" if notice.stages_total else "") + took


def lines(notice: Notice) -> list[str]:
    """The lines below the title, the most important ones first."""
    return [_short(line) for line in _lines(notice)]


def _lines(notice: Notice) -> Iterator[str]:
    if notice.times > 1:
        yield f"{notice.times} times since {fence_name(notice.since or '?')}"
    if notice.reason and not notice.is_of_patrol:
        yield f"why: {fence_name(notice.reason)}"
    if notice.warning:
        yield f"WARNING: {fence(notice.warning)}"
    if notice.proof:
        yield f"log: {fence(notice.proof)}"
    if notice.remedy:
        yield f"do: {notice.remedy}"
    if notice.event == PATROL_DIGEST:
        yield from (notice.progress or "").splitlines()
    elif facts := _facts(notice):
        yield facts
    if notice.tracker:
        yield f"tracker: {fence_name(notice.tracker)}"
    if notice.next_command:
        yield f"next: {notice.next_command}"
    if notice.log:
        yield f"logs: {fence_name(notice.log)}"
    yield f"{fence_name(notice.at)} · " + (
        f"the patrol on {notice.host}" if notice.is_of_patrol else f"run {fence_name(notice.run_id)}"
    )


def _facts(notice: Notice) -> str:
    parts = ["the chain ends here"] if notice.event == "stage_failed" else []
    parts += [f"attempt {notice.attempt}"] if notice.attempt and notice.attempt > 1 else []
    if notice.duration_seconds is not None and notice.event != "chain_done":  # its title says so
        parts.append(f"took {format_duration(notice.duration_seconds)}")
    if notice.progress:
        parts.append(fence(notice.progress) if notice.relayed_from else notice.progress)
    if notice.artifact_count:
        parts.append(f"{notice.artifact_count} artifacts, {format_size(notice.artifact_bytes or 0)}")
    return " · ".join(parts + list(_peaks(notice)))


def _peaks(notice: Notice) -> Iterator[str]:
    peaks = notice.resources or {}
    own, of_group = peaks.get("peak_tree_rss_bytes"), peaks.get("peak_working_set_bytes")
    if isinstance(own, int | float):
        yield f"peak memory {format_size(int(own))}"
    elif isinstance(of_group, int | float):
        yield f"peak memory {format_size(int(of_group))} of all in its group"
    gpus = peaks.get("peak_gpu_memory_bytes")
    if isinstance(gpus, dict):
        yield from (f"GPU {index} {format_size(int(used))}" for index, used in list(gpus.items())[:8])


def _short(line: str) -> str:
    whole = " ".join(line.split())
    return whole if len(whole) <= LINE_LIMIT else close_fence(whole[: LINE_LIMIT - 1] + "…")


def text(notice: Notice, limit_bytes: int, *, with_title: bool = True) -> str:
    """Title, lines and the end of the log, within so many bytes of UTF-8: the log gives way first, from its beginning,
    then the lines, from the last.
    """
    head = [title(notice)] if with_title else []
    rest = lines(notice)
    while rest and _size(head + rest) > limit_bytes:
        rest.pop()
    whole = clip("\n".join(head + rest), limit_bytes)
    room = limit_bytes - len(whole.encode()) - 2
    if notice.log_tail and room > 40:
        end = notice.log_tail.encode()[4 - room :].decode("utf-8", "ignore")
        whole += f"\n\n{fence_block(end, room)}"
    return whole


def _size(parts: list[str]) -> int:
    return len("\n".join(parts).encode())


def clip(whole: str, limit_bytes: int) -> str:
    """The text cut to so many bytes of UTF-8, with a sign that it was."""
    data = whole.encode("utf-8", "replace")
    if len(data) <= limit_bytes:
        return whole
    return data[: max(0, limit_bytes - 3)].decode("utf-8", "ignore") + "…"
