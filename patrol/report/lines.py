"""The one line per run and tick, and the lines below it where something is wrong. Pure.

What comes from a box has been cleaned where the verdict was made; names are cleaned here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from onbox.contract.progress import words_of_progress
from onbox.contract.readings import Absent, observed
from onbox.contract.states import RunState
from onbox.model.fence_signs import close_fence
from onbox.model.screen import WIDTH, clip, columns, hanging, joined, labelled, whole
from onbox.model.units import counted
from onbox.outside import safe_line, safe_text
from onbox.triage.evidence import NO_PROOF_RULES
from patrol.cost import cost_of, cost_words, idle_words
from patrol.decide.box_scene import gpu_percent, share
from patrol.decide.phrases import ago, clean, percent_text, quote, sound, word
from patrol.decide.remote_command import here
from patrol.memory.update_history import attempt_id
from patrol.report.short import beside_columns, said, took, words_of_cells
from patrol.snapshot import BoxLook
from patrol.verdict import Finding, Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.contract.progress import Progress
    from onbox.contract.readings import Maybe
    from patrol.cost import Cost
    from patrol.decide.decide import Explained
    from patrol.decide.rule import Tried
    from patrol.memory.history import Before
    from patrol.snapshot import DiskLook, ResultFile, RunLook, Snapshot

LINE_LIMIT = 199  # of the wide form
RESULT_LINES = 5  # of each file; --wide and --json have all that was sent
RESULT_WIDTH = 3 * WIDTH  # of a line of it: one line may hold the whole file
REASON_LEAST, REASON_LIMIT = 40, 90
TOLD_ALSO_WHEN_WELL = frozenset({"capacity-wait", "unconfirmed"})  # what it waits for; who says that it runs
OF_PATROL = frozenset({"patrol-stale"})  # rules that say the same of every box
NAME_SHARE = 40  # columns: a longer head gives way to what is said
_SEPARATOR = " · "
_NAME_LIMITS = (48, 24, 14, 8)
_NO_VALUE, _UNKNOWN = "-", "?"


def line(verdict: Verdict, look: RunLook | None, now: float, cost: Cost | None = None) -> str:
    """One run in one line of at most 80 columns: time, run, state, stage, progress, time left, and the one thing that
    matters; nothing of what is not known. Where it is too long the end, which matters least, is cut.

    look: None where nothing was seen. now: shown as this machine's local time. cost: of its box; what it costs while
    nothing runs there is told.
    """
    clock = time.strftime("%H:%M", time.localtime(now))
    head = ""
    for names in _NAME_LIMITS:
        head = f"{clock} {name_of(verdict, names)} {state_word(verdict)}"
        if columns(head) <= NAME_SHARE:
            break
    first, *rest = said(verdict, look) or [""]
    idle = idle_words(cost) if cost is not None else ""
    return clip(joined([f"{head} {first}".rstrip(), *rest, *([idle] if idle else [])]), WIDTH)


def wide_line(
    verdict: Verdict, look: RunLook | None, box: Snapshot | None, now: float, before: Before | None = None
) -> str:
    """All of it in fewer than 200 characters: the same columns every tick, the reason first where it is bad.

    As `line`. box: None where nothing was seen. before: the memory that the verdict was made with: the line says what
    changed since. `-`: looked, there is none; `?`: could not look.
    """
    fields = _columns(look, box, before) if look is not None else []
    if isinstance(box, BoxLook) and (cost := cost_of(box, now)) is not None and (words := cost_words(cost)):
        fields.append(words)
    if fields and look is not None and verdict.state is RunState.DONE:
        fields[0] = took(look)
        fields = [one for one in fields if one != f"loss {_NO_VALUE}"]  # a result tells it, behind the columns
    told = verdict.severity is not Severity.OK or not fields or verdict.finding.rule in TOLD_ALSO_WHEN_WELL
    reason = _worst(verdict).say if told else ""
    limit = LINE_LIMIT - NAME_SHARE - (min(len(reason), REASON_LIMIT) + len(_SEPARATOR) if reason else 0)
    tail = _SEPARATOR.join([*fields, _rule_words(verdict, before)])
    for part in beside_columns(verdict, look) if look is not None else ():
        longer = f"{tail}{_SEPARATOR}{part}"
        tail = longer if len(longer) <= limit else tail
    shown = ""
    for names in _NAME_LIMITS:
        head = f"{time.strftime('%H:%M', time.localtime(now))} {name_of(verdict, names)} {state_word(verdict)}"
        room = LINE_LIMIT - len(head) - len(tail) - len(_SEPARATOR) - 1
        shown = " ".join([head, *_reason(reason, room), tail])
        if len(shown) <= LINE_LIMIT and room >= min(len(reason), REASON_LEAST):
            return shown
    return shown if len(shown) <= LINE_LIMIT else close_fence(shown[: LINE_LIMIT - 1] + "…")


def _reason(reason: str, room: int) -> list[str]:
    """The reason as far as there is room, with the sign that columns follow."""
    return [clean(reason, min(room, REASON_LIMIT)) + _SEPARATOR.rstrip()] if reason and room > 0 else []


def state_word(verdict: Verdict) -> str:
    """`RUNNING`; of a box of which nothing was seen `UNREACHABLE`."""
    if verdict.run:
        return verdict.state.value.upper()
    reached = verdict.state is not RunState.UNKNOWN or verdict.finding.rule == "runs-unseen"
    return verdict.state.value.upper() if reached else "UNREACHABLE"


def name_of(verdict: Verdict, limit: int = 48) -> str:
    """`box/run`, or the box alone; safe for a terminal and bounded."""
    box = clean(verdict.box, limit)
    return f"{box}/{clean(verdict.run, limit)}" if verdict.run else box


def _worst(verdict: Verdict) -> Finding:
    """What the line says: of all findings the worst, the naming one between equals."""
    return max((verdict.finding, *verdict.further), key=lambda finding: finding.severity.rank)


def _rule_words(verdict: Verdict, before: Before | None) -> str:
    words = f"rule {verdict.finding.rule}"
    flags = [finding.rule for finding in verdict.further if finding.severity is not Severity.OK]
    words += f" +{flags[0]}" if flags else ""
    words += f" +{len(flags) - 1}" if len(flags) > 1 else ""
    words += " (soft)" if verdict.soft else ""
    if verdict.changed and before is not None:
        words += f" (was {clean(before.rule, 20)})" if before.rule else " (first look)"
    words += " acked" if verdict.acknowledged else ""
    return words + (" silenced" if verdict.silenced_until is not None else "")


def _columns(look: RunLook, snapshot: Snapshot | None, before: Before | None) -> list[str]:
    """Stage and progress, loss, memory, disk, GPU, log: always in this order, always all."""
    box = snapshot if isinstance(snapshot, BoxLook) else None
    progress, cells = observed(look.progress), observed(look.cells)
    return [
        words_of_cells(cells, words_of_progress(sound(progress)).eta if progress is not None else "")
        if cells
        else " ".join(
            filter(None, (_stage(look), _progress(look.progress, before, attempt_id(look)), _rollback(look)))
        ),
        f"loss {_loss(progress)}",
        *resources(box),
        _log(look),
    ]


def resources(box: BoxLook | None) -> list[str]:
    """`mem 71%`, `disk 62% inodes 8%`, `gpu 96%`: always in this order, always all."""
    return [f"mem {_memory(box)}", _disk(box), f"gpu {_gpu(box)}"]


def _stage(look: RunLook) -> str:
    stage = observed(look.stage)
    return word(stage, 20) if stage else ""


def _rollback(look: RunLook) -> str:
    """What the log shows was given up."""
    return "" if look.rolled_back_to is None else f"rolled back to step {look.rolled_back_to:.12g}"


def _progress(reading: Maybe[Progress], before: Before | None, attempt: str) -> str:
    """`~4600/5155 (89%) +120 eta 1h12m`: counters never rounded; the difference is to the last tick."""
    progress = observed(reading)
    if progress is None:
        return f"~{_sign(reading)}"
    progress = sound(progress)
    words = words_of_progress(progress)
    if not words.counter:
        return f"~{_NO_VALUE}"
    return " ".join(filter(None, [words.counter, words.share, *_difference(progress, before, attempt), words.eta]))


def _difference(progress: Progress, before: Before | None, attempt: str) -> list[str]:
    """Since the last tick, of the same stage and attempt."""
    if before is None or not before.steps or progress.current is None or before.attempt != attempt:
        return []
    more = progress.current - before.steps[-1][1]
    return [f"+{more:.12g}"] if more >= 0 else []


def _loss(progress: Progress | None) -> str:
    if progress is None or progress.loss is None:
        return _NO_VALUE
    return clean(progress.loss, 8) if isinstance(progress.loss, str) else f"{progress.loss:.4g}"


def _memory(box: BoxLook | None) -> str:
    memory = observed(box.memory) if box else None
    if box is None or memory is None:
        return _sign(box.memory if box else None)
    return _percent(share(observed(memory.held_bytes), observed(memory.limit_bytes)), memory.limit_bytes)


def _disk(box: BoxLook | None) -> str:
    """Of each the fullest file system's share in use."""
    disks = observed(box.disks) if box else None
    if box is None or disks is None:
        sign = _sign(box.disks if box else None)
        return f"disk {sign} inodes {sign}"
    used = _fullest(disks, lambda disk: share(disk.bytes_free, disk.bytes_total))
    inodes = _fullest(disks, lambda disk: share(observed(disk.inodes_free), observed(disk.inodes_total)))
    return f"disk {used} inodes {inodes}"


def _fullest(disks: Sequence[DiskLook], free_percent: Callable[[DiskLook], float | None]) -> str:
    found = [100.0 - free for disk in disks if (free := free_percent(disk)) is not None]
    return _percent(max(found, default=None), Absent(""))


def _gpu(box: BoxLook | None) -> str:
    gpus = observed(box.gpus) if box else None
    if box is None or gpus is None:
        return _sign(box.gpus if box else None)
    return _percent(gpu_percent(box), Absent("") if not gpus else None)


def _log(look: RunLook) -> str:
    log = observed(look.log)
    return f"log {ago(max(0.0, log.written_age_seconds))} ago" if log else f"log {_sign(look.log)}"


def _percent(value: float | None, reading: object) -> str:
    return _sign(reading) if value is None else percent_text(value)


def _sign(reading: object) -> str:
    return _NO_VALUE if isinstance(reading, Absent) else _UNKNOWN


def details(
    verdict: Verdict, look: RunLook | None, now: float, told: set[Any] | None = None, *, wide: bool = False
) -> list[str]:
    """The lines below the one line: for each thing that is wrong its cause, since when, the proving line, the remedy,
    and what to type; what is not wrong, but leaves something to type, until a person has acknowledged it; of a run that
    is done its files of results. [] where there is nothing of that. Folded to 80 columns; what is typed is whole.

    told: what the runs of a box have in common is told below the first one; what is of the patrol itself (`OF_PATROL`),
    below the first of all. wide: nothing is folded or left out.
    """
    width = None if wide else WIDTH
    lines: list[str] = []
    stepped = False
    for finding in (verdict.finding, *verdict.further):
        first = finding is verdict.finding
        if finding.severity is Severity.OK and (first or not finding.command or verdict.acknowledged):
            continue
        if told is not None and not first:
            common = finding.rule if finding.rule in OF_PATROL else finding
            if common in told:
                continue
            told.add(common)
        if first:
            last = f"; the run: {verdict.last_known}" if verdict.last_known else ""
            lines += labelled("cause", clean(finding.say + last, 300), width=width)
            lines += labelled("since", _since(verdict, now), width=width)
            lines += _proof_lines(look, wide=wide) if finding.rule != "put-right" else []  # of what is over
        else:
            word = "note" if finding.severity is Severity.OK else finding.severity.name.lower()
            lines += labelled(word, f"{finding.rule}: {clean(finding.say, 300)}", width=width)
        lines += labelled("remedy", clean(finding.remedy, 300), width=width) if finding.remedy else []
        lines += _next_lines(verdict) if first else _also(finding.command, verdict)
        stepped = stepped or first
    if lines and not stepped and verdict.severity is not Severity.OK:  # the run is well, something beside it is not
        lines += _next_lines(verdict)
    results = look.results if look is not None and verdict.state is RunState.DONE else ()
    for file in results:
        if told is None or file not in told:
            lines += _result_lines(file, verdict.box, wide=wide)
    if told is not None:
        told.update(results)
    if lines and verdict.acknowledged and verdict.acknowledged_by:
        lines += labelled("acked", clean(verdict.acknowledged_by, 300), width=width)
    return lines


def _also(command: str, verdict: Verdict) -> list[str]:
    """A further command; nothing where it is the next one, too."""
    known = not command or any(line.endswith(f" {command}") for line in _next_lines(verdict))
    return [] if known else whole("also", command)


def _proof_lines(look: RunLook | None, *, wide: bool) -> list[str]:
    """The line that proves it, and with `wide` the whole traceback."""
    label, proof = _proof(look)
    lines = labelled(label, proof, width=None if wide else WIDTH, lines=1) if proof else []
    return lines + ([f"    | {line}" for line in _traceback(look)] if wide else [])


def _next_lines(verdict: Verdict) -> list[str]:
    """What to type, and what only a person decides."""
    lines = whole("next", verdict.finding.command) if verdict.finding.command else []
    return lines + [line for what, command in verdict.asked for line in whole("decide", f"{what}: {command}")]


def _result_lines(file: ResultFile, box: str, *, wide: bool) -> list[str]:
    """Its first lines as they are, nothing rounded or lined up, and what shows the rest; with `wide` all that was sent.
    Of a file that was cut on the box, no line that is not whole.
    """
    lines = safe_text(file.text).splitlines()
    one_long = len(lines) == 1
    if not (file.whole or one_long or file.text.endswith("\n")):
        lines.pop()
    shown = lines if wide else [clip(line, RESULT_WIDTH) for line in lines[:RESULT_LINES]]
    more = shown != lines
    beginning = "beginning" if more else "first 4 KiB"
    part = f" (its {beginning})" if one_long else f" (its first {counted(len(shown), 'line')})"
    head = f"  result   {clean(file.path, 120)}{part if more or not file.whole else ''}"
    rest = whole("more", here("patrol", "tick", "--wide", box)) if more else []
    return [head, *(f"    | {line}" for line in shown), *rest]


def _since(verdict: Verdict, now: float) -> str:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(verdict.since))
    at = at if verdict.happened else f"first seen {at}"
    soft = " · soft: the next looks decide" if verdict.soft else ""
    rule = f"{verdict.finding.severity.name.lower()}, rule {verdict.finding.rule}"
    return f"{at} ({ago(max(0.0, now - verdict.since))} ago) · {rule}{soft}"


def _proof(look: RunLook | None) -> tuple[str, str]:
    """The line that proves it, with the place; else the last line of the log, which proves nothing."""
    failure = observed(look.failure) if look else None
    if failure is not None and failure.proof and failure.rule not in NO_PROOF_RULES:
        return "proof", quote(failure.proof, 200) + (f"  [{word(failure.where, 80)}]" if failure.where else "")
    log = observed(look.log) if look else None
    return "last", quote(log.last_line, 160) if log and log.last_line else ""


def _traceback(look: RunLook | None) -> tuple[str, ...]:
    failure = observed(look.failure) if look else None
    return tuple(map(safe_line, failure.traceback)) if failure is not None else ()


def explanation(explained: Explained) -> list[str]:
    """Which rows were asked and why each did not fire: for a dry run."""
    rules = [line for tried in explained.rules for line in _tried(tried, "names the verdict")]
    return ["rules, in the order in which they were asked:", *rules, "flags:", *_flags_tried(explained.flags)]


def _flags_tried(flags: Sequence[Tried]) -> list[str]:
    return [line for tried in flags for line in _tried(tried, "is told")]


def _tried(tried: Tried, fired: str) -> list[str]:
    return hanging(f"  {tried.rule:<22} ", fired if tried.fired else f"not so: {tried.failed}", indent=25)
