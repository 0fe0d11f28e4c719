"""A notice as a person reads it: a title and a few lines, short enough for a phone. Pure.

Each format escapes it for its channel. What is said is folded into lines of 80 columns and cut at its end; what is
copied (a command, a path, a link) is whole. What a log, or the record of another box, says stands in a fence, which
costs two signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.notices import PATROL_DIGEST, PATROL_DONE
from onbox.fence import fence, fence_block, fence_name
from onbox.model.fence_signs import close_fence
from onbox.model.screen import WIDTH, clip, columns, folded, joined
from onbox.model.units import format_duration, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.notices import Notice

COPIED_LIMIT = 1000  # characters
INDENT = "  "

_SIGNS = {
    "stage_done": "✓",
    "chain_done": "✓",
    "stage_failed": "✗",
    "chain_failed": "✗",
    "patrol_recovered": "✓",
    "patrol_back": "✓",
    "patrol_done": "✓",
    "detected_over": "✓",
    "patrol_digest": "·",
}


def title(notice: Notice) -> str:
    """One line: `✗ digits/train FAILED (host_oom) on gpu1`."""
    if notice.event == "test":
        return _short(f"onbox test message of {notice.run} on {notice.host or 'this box'}")
    if notice.is_of_patrol:
        return _short(_of_patrol(notice))
    of_stage = bool(notice.stage and notice.attempt)
    what = f"{notice.run}/{notice.stage}" if of_stage else notice.run
    sign = "!" if notice.warning else _SIGNS.get(notice.event, "!")
    text = f"{sign} {what} {notice.state}" + ("" if of_stage else _in_all(notice))
    text += ", with a warning" if notice.warning else ""
    text += f" ({notice.failure_class})" if notice.failure_class else ""
    text += f" on {notice.host}" if notice.host else ""
    text += f" · relayed from {notice.relayed_from}" if notice.relayed_from else ""
    return _short(text + (f" x{notice.times}" if notice.times > 1 else ""))


def _of_patrol(notice: Notice) -> str:
    """`! gpu1/digits FAILED: disk_full: No space left on device`: the first clause of the reason."""
    what = f"{_SIGNS.get(notice.event, '!')} {notice.run} {notice.state}"
    return what + (f": {notice.reason.partition('; ')[0]}" if notice.reason else "")


def _in_all(notice: Notice) -> str:
    """` 2/2 in 10h12m` of a chain that is done; ` at eval` of one that is not."""
    if notice.event != "chain_done":
        return f" at {notice.stage}" if notice.stage else ""
    took = "" if notice.duration_seconds is None else f" in {format_duration(notice.duration_seconds)}"
    return (f" {notice.stages_total}/{notice.stages_total}" if notice.stages_total else "") + took


def lines(notice: Notice) -> list[str]:
    """The lines below the title, the most important ones first."""
    return list(_lines(notice))


def _lines(notice: Notice) -> Iterator[str]:
    if notice.times > 1:
        yield _short(f"{notice.times} times since {fence_name(notice.since or '?')}")
    yield from _why(notice)
    for warning in (notice.warning or "").split("; "):
        yield from _said("WARNING", fence(warning), 2)
    yield from _said("log", fence(notice.proof or ""), 1)
    yield from _said("do", notice.remedy, 3)
    if notice.event == "chain_done":
        yield from _folded(_progress(notice), 3)  # what each stage came to
    if notice.event == PATROL_DIGEST:
        yield from map(_short, (notice.progress or "").splitlines())
    elif facts := _facts(notice):
        yield joined([" ".join(fact.split()) for fact in facts])
    tracker, log = fence_name(notice.tracker or ""), fence_name(notice.log or "")
    for label, words in (("tracker", tracker), ("next", notice.next_command), ("logs", log)):
        if words:
            yield f"{label}: {' '.join(words.split())}"[:COPIED_LIMIT]
    yield _short(
        f"{fence_name(notice.at)} · "
        + (f"the patrol on {notice.host}" if notice.is_of_patrol else f"run {fence_name(notice.run_id)}")
    )


def _why(notice: Notice) -> Iterator[str]:
    """The reason; of a patrol's notice only where the title has not told all of it."""
    if not notice.reason:
        return
    if notice.event == PATROL_DONE:
        yield from _folded(notice.reason, 3) if columns(_of_patrol(notice)) > WIDTH else ()
    elif notice.is_of_patrol:
        first, _, rest = notice.reason.partition("; ")
        yield from _said("why", rest if columns(_of_patrol(notice)) <= WIDTH else f"{first}; {rest}".rstrip("; "), 3)
    else:
        yield from _said("why", fence_name(notice.reason), 2)


def _said(label: str, text: str | None, count: int) -> Iterator[str]:
    """`label: text`, folded into so many lines."""
    if text:
        yield from _folded(f"{label}: {text}", count)


def _folded(text: str, count: int) -> Iterator[str]:
    first, *more = folded(" ".join(text.split()), WIDTH - len(INDENT), count)
    yield from filter(None, (first, *(INDENT + line for line in more)))


def _facts(notice: Notice) -> list[str]:
    parts = [_progress(notice)] if notice.progress and notice.event != "chain_done" else []
    parts += [f"attempt {notice.attempt}"] if notice.attempt and notice.attempt > 1 else []
    if notice.duration_seconds is not None and notice.event != "chain_done":  # its title says so
        parts.append(f"took {format_duration(notice.duration_seconds)}")
    if notice.artifact_count:
        parts.append(f"{notice.artifact_count} artifacts, {format_size(notice.artifact_bytes or 0)}")
    return [*parts, *_peaks(notice)]


def _progress(notice: Notice) -> str:
    """Our own words of it, or another box's."""
    told = notice.progress or ""
    return fence(told) if notice.relayed_from else told


def _peaks(notice: Notice) -> Iterator[str]:
    peaks = notice.resources or {}
    own, of_group = peaks.get("peak_tree_rss_bytes"), peaks.get("peak_working_set_bytes")
    if isinstance(own, int | float):
        yield f"peak memory {format_size(int(own))}"
    elif isinstance(of_group, int | float):
        yield f"peak memory {format_size(int(of_group))} (whole group)"
    gpus = peaks.get("peak_gpu_memory_bytes")
    if isinstance(gpus, dict):
        yield from (f"GPU {index} {format_size(int(used))}" for index, used in list(gpus.items())[:8])


def _short(line: str) -> str:
    return clip(" ".join(line.split()), WIDTH)


def text(notice: Notice, limit_bytes: int, *, with_title: bool = True) -> str:
    """Title, lines and the end of the log, within so many bytes of UTF-8: the log gives way first, from its beginning,
    then the lines, from the last.
    """
    head = [title(notice)] if with_title else []
    rest = lines(notice)
    while rest and _size(head + rest) > limit_bytes:
        rest.pop()
    whole = clip_bytes("\n".join(head + rest), limit_bytes)
    room = limit_bytes - len(whole.encode()) - 2
    if notice.log_tail and room > 40:
        end = notice.log_tail.encode()[4 - room :].decode("utf-8", "ignore")
        whole += f"\n\n{fence_block(end, room)}"
    return whole


def _size(parts: list[str]) -> int:
    return len("\n".join(parts).encode())


def clip_bytes(whole: str, limit_bytes: int) -> str:
    """The text cut to so many bytes of UTF-8, with a sign that it was."""
    data = whole.encode("utf-8", "replace")
    if len(data) <= limit_bytes:
        return whole
    return close_fence(data[: max(0, limit_bytes - 5)].decode("utf-8", "ignore") + "…")
