"""What was seen last of one run, reading by reading: the heads of its charts, and what is known beside them. Pure.

Observed, absent and could not look are three kinds of `CardReading`, and look different.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.progress import words_of_progress
from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.units import counted, format_duration, format_size
from onbox.named_tuple import NamedTuple
from patrol.decide.box_scene import gpu_percent, share
from patrol.decide.phrases import ago, clean, percent_text, sound
from patrol.page.charts import GB, units_of
from patrol.page.forecast import forecast_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.readings import Maybe
    from patrol.page.charts import Chart
    from patrol.page.model import RunHistory
    from patrol.snapshot import BoxLook, DiskLook, RunLook

SEEN, ABSENT, UNSEEN = "seen", "absent", "unseen"
NEVER_SEEN = "no look has seen it yet"


class CardReading(NamedTuple):
    """kind: SEEN, ABSENT (looked, there is none) or UNSEEN (could not look). text: the value, or why there is none."""

    kind: str
    text: str


class Card(NamedTuple):
    """The head of a chart. latest: what was seen last. note: what follows from it; "". drawn: whether there is a line.
    scales: whether it can be drawn with a logarithmic axis.
    """

    key: str
    title: str
    unit: str
    latest: CardReading
    note: str = ""
    drawn: bool = False
    scales: bool = False


def reading(value: Maybe[object], text: str = "") -> CardReading:
    """text: how an observed value reads; "": as it is."""
    if isinstance(value, Absent):
        return CardReading(ABSENT, value.why)
    if isinstance(value, Unseen):
        return CardReading(UNSEEN, value.why)
    return CardReading(SEEN, text or str(value))


def cards_of(run: RunHistory, charts: dict[str, Chart], cadence_seconds: float) -> tuple[Card, ...]:
    """One for each chart that a run can have, drawn or not."""
    found = []
    for key, title, look in _CARDS:
        chart = charts.get(key)
        if chart is None and key in _OF_SERIES:
            continue
        latest, note = look(run)
        if key == "throughput" and chart is not None:
            latest, note = _throughput_of_line(chart, latest)
        if key == "progress" and latest.kind == ABSENT and (step := _last_step(run)) is not None:
            latest, note = step, "as its series ends"
        if key == "memory" and chart is not None and chart.table.name == "series":
            latest = _memory_of_series(run, chart)
        if key == "disk" and (full := forecast_of(run, cadence_seconds)) is not None:
            what = "space" if full.what == "bytes" else "inodes"
            note = f"{what} of {full.mount} used up in {format_duration(full.seconds)}, if it goes on"
        scales = chart is not None and chart.log
        found.append(Card(key, title, chart.unit if chart else "", latest, note, chart is not None, scales))
    return tuple(found)


def _newest(chart: Chart) -> CardReading | None:
    """What the line ends with."""
    values = chart.lines[0].values
    known = next((value for value in reversed(values[-2:]) if value is not None), None)
    by = ", from look to look" if chart.table.name == "ticks" else ""
    return None if known is None else CardReading(SEEN, f"{_plain(known)} {chart.unit}{by}")


def _plain(value: float) -> str:
    """Three digits, and never fewer than the whole number has: `1163`, not `1.16e+03`."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _throughput_of_line(chart: Chart, told: CardReading) -> tuple[CardReading, str]:
    """What the line ends with; beside it what its runner reckons with, which is smoothed."""
    newest = _newest(chart)
    if newest is None:
        return told, ""
    return newest, f"by its runner's readings lately {told.text}" if told.kind == SEEN else ""


def _last_step(run: RunHistory) -> CardReading | None:
    """Of a run whose log shows no counter any more: where its series ends."""
    step = next((point.step for point in reversed(run.series) if point.step is not None), None)
    return None if step is None else CardReading(SEEN, f"{step:.12g}")


def _memory_of_series(run: RunHistory, chart: Chart) -> CardReading:
    """What the line ends with: the runner and a look from outside do not count the same pages."""
    held = next(point.memory_bytes for point in reversed(run.series) if point.memory_bytes is not None)
    limit = round(chart.limit[0] * GB) if chart.limit is not None else None
    of = f" of {format_size(limit)} ({percent_text(share(held, limit) or 0.0)})" if limit else ""
    return CardReading(SEEN, f"{format_size(held)}{of}")


_Seen = tuple[CardReading, str]


def _of_look(look: Callable[[RunLook], _Seen]) -> Callable[[RunHistory], _Seen]:
    return lambda run: look(run.look) if run.look is not None else (CardReading(UNSEEN, NEVER_SEEN), "")


def _of_box(look: Callable[[BoxLook], _Seen]) -> Callable[[RunHistory], _Seen]:
    return lambda run: look(run.box) if run.box is not None else (CardReading(UNSEEN, NEVER_SEEN), "")


def _progress(look: RunLook) -> _Seen:
    progress = observed(look.progress)
    if progress is None:
        return reading(look.progress), ""
    words = words_of_progress(sound(progress))
    if not words.counter:
        return CardReading(ABSENT, "the log shows no counter"), ""
    end = f"{words.eta}; dotted: at the current speed" if words.eta else ""
    return CardReading(SEEN, " ".join(filter(None, (words.counter, words.share)))), end


def _loss(look: RunLook) -> _Seen:
    progress = observed(look.progress)
    ended = [(one.stage, one.loss) for one in look.stage_results if one.loss is not None]
    if ended and (progress is None or progress.loss is None):
        stage, loss = ended[-1]
        return CardReading(
            SEEN, clean(loss, 8) if isinstance(loss, str) else f"{loss:.4g}"
        ), f"of stage {stage}, when it was done"
    if progress is None:
        return reading(look.progress), ""
    if progress.loss is None:
        return CardReading(ABSENT, "the log shows no loss"), ""
    return CardReading(SEEN, _loss_words(progress.loss)), ""


def _loss_words(loss: float | str) -> str:
    return clean(loss, 8) if isinstance(loss, str) else f"{loss:.4g}"


def _throughput(look: RunLook) -> _Seen:
    """By its runner's own readings; the line is from look to look."""
    pace = observed(look.steps_per_second)
    if pace is None or pace <= 0:
        return reading(look.steps_per_second if pace is None else Absent("it does not move")), ""
    progress = observed(look.progress)
    units = units_of(progress)
    slow = f"one {units.removesuffix('s')} in {format_duration(1 / pace)}"
    return CardReading(SEEN, f"{_plain(pace)} {units} per second" if pace >= 1 else slow), ""


def _memory(box: BoxLook) -> _Seen:
    memory = observed(box.memory)
    if memory is None:
        return reading(box.memory), ""
    held, limit = observed(memory.held_bytes), observed(memory.limit_bytes)
    kills = observed(memory.oom_kills_total)
    note = f"{counted(kills, 'kill')} for memory since the box started it" if kills else ""
    if held is None:
        return reading(memory.held_bytes), note
    if limit is None:
        return CardReading(SEEN, f"{format_size(held)} held"), note or _no_limit(memory.limit_bytes)
    used = percent_text(share(held, limit) or 0.0)
    return CardReading(SEEN, f"{format_size(held)} of {format_size(limit)} ({used})"), note


def _no_limit(limit: Maybe[int]) -> str:
    return f"no limit: {limit.why}" if isinstance(limit, Absent) else f"limit not seen: {getattr(limit, 'why', '')}"


def _disk(box: BoxLook) -> _Seen:
    disks = observed(box.disks)
    if disks is None:
        return reading(box.disks), ""
    if not disks:
        return CardReading(ABSENT, "no file system is named"), ""
    fullest = max(disks, key=lambda disk: max(_used(disk)))
    used, inodes = map(percent_text, _used(fullest))
    counted_inodes = reading(fullest.inodes_total)
    words = f"inodes {inodes}" if counted_inodes.kind == SEEN else f"inodes: {counted_inodes.text}"
    return CardReading(SEEN, f"{fullest.mount} {used}, {words}"), ""


def _used(disk: DiskLook) -> tuple[float, float]:
    """Percent of its space and of its inodes."""
    space = share(disk.bytes_free, disk.bytes_total)
    inodes = share(observed(disk.inodes_free), observed(disk.inodes_total))
    return 100.0 - (100.0 if space is None else space), 100.0 - (100.0 if inodes is None else inodes)


def _gpu(box: BoxLook) -> _Seen:
    gpus = observed(box.gpus)
    if not gpus:
        return reading(box.gpus if gpus is None else Absent("the box has none")), ""
    busy = gpu_percent(box)
    shown = [gpu for gpu in gpus if observed(gpu.utilization_percent) == busy] or list(gpus)
    held, total = observed(shown[0].memory_used_bytes), observed(shown[0].memory_total_bytes)
    memory = f", {format_size(held)} of {format_size(total)}" if held is not None and total else ""
    celsius = observed(shown[0].temperature_celsius)
    note = "; ".join(filter(None, (f"{celsius} °C" if celsius is not None else "", *(gpu.trouble for gpu in gpus))))
    if busy is None:
        return CardReading(UNSEEN, "the driver tells no utilisation"), note
    return CardReading(SEEN, f"{busy}%{memory}" + (f", busiest of {len(gpus)}" if len(gpus) > 1 else "")), note


def _metric(run: RunHistory) -> _Seen:
    known = next((point for point in reversed(run.series) if point.metric is not None), None)
    if known is None:
        return CardReading(ABSENT, "its log shows none"), ""
    return CardReading(SEEN, f"{known.metric_name or ''} {known.metric:.4g}".strip()), ""


def _last_of_series(name: str) -> Callable[[RunHistory], _Seen]:
    """As the newest point that has it tells."""

    def look(run: RunHistory) -> _Seen:
        known = next((one for one in (getattr(point, name) for point in reversed(run.series)) if one is not None), None)
        if known is None:
            return CardReading(ABSENT, "its log shows none"), ""
        return CardReading(SEEN, known if isinstance(known, str) else f"{known:.4g}"), ""

    return look


_CARDS: tuple[tuple[str, str, Callable[[RunHistory], _Seen]], ...] = (
    ("progress", "Progress", _of_look(_progress)),
    ("loss", "Loss", _of_look(_loss)),
    ("throughput", "Throughput", _of_look(_throughput)),
    ("memory", "Memory against its limit", _of_box(_memory)),
    ("disk", "Fullest disk: space and inodes", _of_box(_disk)),
    ("gpu", "GPU", _of_box(_gpu)),
    ("metric", "Metric", _metric),
    ("learning_rate", "Learning rate", _last_of_series("learning_rate")),
    ("grad_norm", "Gradient norm", _last_of_series("grad_norm")),
)
_OF_SERIES = frozenset(("metric", "learning_rate", "grad_norm"))  # most logs show none: then nothing is said of them


def facts_of(run: RunHistory) -> tuple[tuple[str, CardReading], ...]:
    """What is known beside the charts."""
    look = run.look
    if look is None:
        return ()
    log, written = observed(look.log), observed(look.artifacts)
    before = "before the look"
    log_words = f"written {ago(log.written_age_seconds)} {before}, {format_size(log.bytes_total)}" if log else ""
    found = [
        ("stage", reading(look.stage, _stage_words(look))),
        ("attempt", reading(look.attempt)),
        ("log", reading(look.log, log_words)),
        ("place", CardReading(SEEN, look.place)),
    ]
    if written is not None:
        age = observed(written.newest_age_seconds)
        newest = f", newest {ago(age)} {before}" if age is not None else ""
        text = f"{counted(written.files, 'file')}, {format_size(written.bytes_total)}{newest}"
        found.insert(3, ("artifacts", CardReading(SEEN, text)))
    if (checkpoint := _newest_checkpoint(run)) is not None:
        found.insert(3, ("newest whole checkpoint", checkpoint))
    identity = observed(run.box.identity) if run.box is not None else None
    if identity is not None:
        found.append(("host", CardReading(SEEN, identity.hostname)))
    if observed(look.run_id) is not None:
        found.append(("run id", reading(look.run_id)))
    return tuple(found)


def _newest_checkpoint(run: RunHistory) -> CardReading | None:
    """As its runner's series tells; None: it tells of none."""
    newest = next((point for point in reversed(run.series) if point.checkpoint_at is not None), None)
    if newest is None or newest.checkpoint_at is None:
        return None
    step = f"step {newest.checkpoint_step}, " if newest.checkpoint_step is not None else ""
    age = ago(max(0.0, (run.seen_at or newest.at) - newest.checkpoint_at))
    kept = f", {newest.checkpoints} are kept" if newest.checkpoints is not None else ""
    return CardReading(SEEN, f"{step}{age} before the look{kept}")


def _stage_words(look: RunLook) -> str:
    of = f" ({look.stages_done} of {look.stages_total} done)" if look.stages_total else ""
    return f"{observed(look.stage)}{of}"
