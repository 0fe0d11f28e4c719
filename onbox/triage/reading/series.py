"""What the newest lines of progress show as a series: metrics that stay at nothing, a gradient that explodes. Pure."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile
from math import isfinite
from statistics import median
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message, readable
from onbox.regex import lazy
from onbox.triage.reading.growth import blown_up
from onbox.triage.reading.record import LOGGED, Fault
from onbox.triage.reading.signs import finite_loss
from onbox.triage.rules.rows import BUG, DIVERGED, RuleRow

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, SeenLine

ALL_ZERO_LINES = 3
LOST_LINES = 2
RESULT_LINES = 6  # the last ones
NEVER_LINES = 10  # so many without one number are more than what comes before the first
LOST_STEPS = 5  # newest lines of one kind
WHOLE_LINES = 3  # newest ones, in which nothing is a number
LOST_NAMES = 2  # figures of such a line: one alone may have had nothing to be computed from
MANY_NAMES, MOST = 3, 0.6
EXPLODED_BY = 50.0  # times the median of the lines before
EXPLODED_LINES = 3  # the last ones: one spike is clipped and forgotten
SPIKE_BY = 20.0  # times the median: a gradient so large early in a run may have decided its end
EARLY_SHARE = 0.34  # of the lines of progress
LINES_FOR_A_MEDIAN = 6

ALL_ZERO = RuleRow(
    "all-metrics-zero", "code_error", BUG, "", "(?!)", "a run that computes nothing: loss and score are 0", ""
)
LOST = RuleRow("metrics-lost", "divergence", DIVERGED, "", "(?!)", "no metric is a number any more", "")
EXPLODING = RuleRow("gradient-exploded", "divergence", DIVERGED, "", "(?!)", "a gradient norm far above its median", "")
EARLY_SPIKE = RuleRow("early-spike", "divergence", DIVERGED, "", "(?!)", "a spike early on, then stopped early", "")

_METRIC = lazy(
    r"(?<![A-Za-z])((?:train|val|valid|test|eval|mean|avg|top\d|mlm|ctc)?[ _/.-]?(?:loss|nll|acc(?:uracy)?|f1|auc|map"
    r"|bleu|kl|entropy|elbo|reward|return|recall|precision|iou|miou|score|psnr|rouge\w?|em))['\"]?\s?[:=|]?\s{0,3}"
    r"(-?\d{1,12}(?:\.\d{1,30})?(?:e[-+]?\d{1,3})?|[-+]?nan|[-+]?inf)%?(?![\w/;]|\.\d)",
    re.IGNORECASE,
)
_GRADIENT = lazy(
    r"grad(?:ient)?[ _-]?norm['\"]?\s?[:=|]?\s{0,3}(\d{1,12}(?:\.\d{1,30})?(?:e[-+]?\d{1,3})?)(?![\w/]|\.\d)",
    re.IGNORECASE,
)
_NAMED = lazy(
    r"(?<![\w/.-])([A-Za-z][\w/.|-]{0,40})['\"]?(?:\s?[=:]\s{0,12}|\s{1,12})"
    r"([-+]?\d{1,12}(?:\.\d{1,30})?(?:e[-+]?\d{1,3})?|[-+]?nan|[-+]?inf)(?![\w/]|\.\d)",
    re.IGNORECASE,
)
# Where a run is and how fast: no figure of what it computes.
_WHERE = lazy(
    r"(?:it|iter\w*|step\w*|epochs?|ep|batch\w*|update|round|t|time|elapsed|eta|lr|learning_rate|fps|speed|mem\w*"
    r"|\S+/s\w*)",
    re.IGNORECASE,
)
# Of a check or of whole episodes: there may be none between two lines.
_AT_TIMES = lazy(r"val|test|eval|dev|best|std|var|ep_|episode|ret|rew|len|success", re.IGNORECASE)
NEAR_A_DEATH = 12  # lines
_OF_A_CANDIDATE = lazy(r"\[CV \d")  # of scikit-learn's search: a setting that gives no score is one of many
_NO_FIGURE = lazy(r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?)(?!\w)|(?<!\*)\*{6,40}(?!\S)", re.IGNORECASE)
_FIGURE = lazy(
    r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?|\d{1,20}(?:\.\d{0,20})?(?:[ed][-+]?\d{1,4})?)(?!\w)|(?<!\*)\*{6,40}(?!\S)",
    re.IGNORECASE,
)
_BETWEEN = lazy(r"\s*[,;|]\s*|\s+")
_CELL = lazy(r"[-+]?(?:nan|inf(?:inity)?|\d{1,20}(?:\.\d{0,20})?(?:e[-+]?\d{1,4})?)", re.IGNORECASE)
# `val_error nan`, `| exact match | nan |`, and nothing behind it.
_RESULT_LOST = lazy(
    r"\W{0,8}(?:\[\w{1,20}\] )?(?!.{0,40}\b(?:no|any|without|zero|drop\w*|fill\w*|skip\w*|are|if|not) [-+]?nan\b)"
    r"[A-Za-z][\w ./=-]{1,40}?[\s=:|\u2502]{1,20}[-+]?nan[\s%|\u2502]{0,20}$",
    re.IGNORECASE,
)
_DECIMALS = lazy(r"(?<![\w.])\d{1,9}\.\d{1,12}(?![\w.])")
_OF_TRAINING = lazy(r"(?<!val)(?<!val.)(?<!valid.)(?<!test.)(?<!eval.)(?:loss|reward|return|kl|elbo)$", re.IGNORECASE)
_STOPPED_EARLY = lazy(r"early[ -]?stopp|stopp\w{1,4} early|no improvement", re.IGNORECASE)


def series_fault(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """What the series of an attempt's metrics tells; None for most. tail: the last lines of the log."""
    tail = tuple(line for line in tail if not _OF_A_CANDIDATE.match(line.text))
    newest = [step for step in attempt.steps.kept if not _OF_A_CANDIDATE.match(readable(step[2]))]
    lines = [(number, readable(line)) for _, number, line in newest]
    before = [(number, readable(line)) for at, number, line in attempt.early if newest and at < newest[0][0]]
    told = [*before, *_with_tail(lines, tail)]
    lost = _all_lost(lines, attempt) or _figures_lost(told, attempt) or _never_any([*before, *lines], attempt)
    lost = (
        lost
        or _nothing_left(told, attempt)
        or _only_one_lost(told, attempt)
        or blown_up(told, tail, attempt)
        or _rows_lost([*before, *lines], tail, attempt)
        or _no_result(lines, tail, attempt)
        or _stands_lost(told, attempt)
    )
    return lost or _all_zero(lines, attempt) or _gradient([*before, *lines], attempt)


def _with_tail(lines: list[tuple[int, str]], tail: tuple[SeenLine, ...]) -> list[tuple[int, str]]:
    """The lines of progress, and behind them the last lines of the log: without its numbers, a line may not have been
    known as one of the loop's.
    """
    last = lines[-1][0] if lines else 0
    return [*lines, *((line.number, line.text) for line in tail if line.number > last)]


def _all_lost(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """No metric is a number any more in the last lines, and all were before."""
    found = [(number, text, _METRIC.findall(text)) for number, text in lines]
    shown = [
        (number, text, [value for name, value in hits if _OF_TRAINING.search(name)]) for number, text, hits in found
    ]
    shown = [item for item in shown if item[2]]
    lost = [all(map(_is_lost, values)) for _, _, values in shown]
    if len(shown) <= LOST_LINES or not all(lost[-LOST_LINES:]) or lost[0]:
        return None
    first = max(at for at, is_lost in enumerate(lost) if not is_lost) + 1
    number, text, _ = shown[first]
    return Fault(LOST, number, text, LOGGED, attempt.progress)


def _figures_lost(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """Several figures that were numbers are none in each of the newest steps, whatever their names, and no loss is a
    number there.
    """
    if attempt.success is not None or not any("nan" in text.lower() for _, text in lines[-LOST_STEPS:]):
        return None
    shown = [(number, text, dict(_NAMED.findall(text))) for number, text in lines]
    newest = next((figures for _, _, figures in reversed(shown) if len(figures) > LOST_NAMES), {})
    alike = [item for item in shown if item[2].keys() == newest.keys()][-LOST_STEPS:]
    lost = {name for name in newest if not _AT_TIMES.search(name) and all(_is_lost(item[2][name]) for item in alike)}
    if len(lost) < LOST_NAMES or any(finite_loss(text) for _, text, _ in alike):
        return None
    were = [at for at, item in enumerate(shown) if any(not _is_lost(item[2].get(name, "nan")) for name in lost)]
    if not were:
        return None  # never were numbers: they may have nothing to be computed from
    since = [item for item in shown[were[-1] + 1 :] if item[2].keys() == newest.keys()]
    if len(since) < LOST_STEPS:
        return None
    number, text, _ = since[0]
    return Fault(LOST, number, text, LOGGED, attempt.progress)


def _nothing_left(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """No figure at all is a number any more in the newest lines of the loop, of training and of checks alike, and all
    were in the lines before.
    """
    if not any("nan" in text.lower() for _, text in lines[-LOST_STEPS:]):
        return None
    shown = [(number, text, _named_figures(text)) for number, text in lines]
    shown = [item for item in shown if len(item[2]) >= LOST_NAMES]
    shown = [item for item in shown if item[2].keys() == shown[-1][2].keys()]
    lost = [all(map(_is_lost, figures.values())) for _, _, figures in shown]
    if len(lost) < WHOLE_LINES + LOST_NAMES or not all(lost[-WHOLE_LINES:]) or any(lost[:LOST_NAMES]):
        return None
    first = max(at for at, is_lost in enumerate(lost) if not is_lost) + 1
    number, text, _ = shown[first]
    return Fault(LOST, number, text, LOGGED, attempt.progress)


def _named_figures(text: str) -> dict[str, str]:
    """The figures of a line by name, without those that only tell where the run is and how fast."""
    return {name: value for name, value in _NAMED.findall(text) if not _WHERE.fullmatch(name)}


def _only_one_lost(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """The only figure that moves, of those that each line shows of training, was a number in the first lines, and is
    none in the newest.
    """
    shown = [(number, text, figures) for number, text in lines if (figures := _measures(text))]
    times = Counter(tuple(figures) for _, _, figures in shown)  # what is said once behind the loop is none of its lines
    names_of_loop = next((tuple(one) for _, _, one in reversed(shown) if times[tuple(one)] > LOST_STEPS), ())
    newest = [item for item in shown if tuple(item[2]) == names_of_loop]
    last = [figures for _, _, figures in newest[-LOST_STEPS:]]
    names = last[0] if last else {}
    moving = [name for name in names if _is_lost(last[-1][name]) or len({one[name] for one in last}) > 1]
    if len(moving) != 1:
        return None
    lost = [_is_lost(figures[moving[0]]) for _, _, figures in newest]
    first = 1 if len(newest) > 2 * LOST_STEPS else LOST_NAMES
    if len(newest) <= LOST_STEPS + LOST_NAMES or not all(lost[-LOST_STEPS:]) or any(lost[:first]):
        return None
    number, text, _ = newest[lost.index(True)]
    return Fault(LOST, number, text, LOGGED, attempt.progress)


def _measures(text: str) -> dict[str, str]:
    """The figures of training that a line shows, by name, without those that only tell where it is and how fast."""
    return {} if _AT_TIMES.search(text) else _named_figures(text)


def _rows_lost(steps: list[tuple[int, str]], tail: tuple[SeenLine, ...], attempt: LogAttempt) -> Fault | None:
    """A table without names: a column that held numbers holds none in the newest rows, and what the others still hold
    only counts on or stands still. Where most of them are lost, what is left may be a rate.
    """
    rows = [(line, cells) for line in tail if (cells := _cells(line.text))]
    newest = rows[-LOST_STEPS:]
    if len(newest) < LOST_STEPS or len({len(cells) for _, cells in newest}) > 1:
        return None
    columns = list(zip(*(cells for _, cells in newest), strict=True))
    lost = [at for at, column in enumerate(columns) if not any(map(isfinite, column))]
    told = [column for at, column in enumerate(columns) if at not in lost]
    most_are = len(lost) >= max(LOST_NAMES, len(told))
    if not lost or (not most_are and any(len(set(column)) > 1 and list(column) != sorted(column) for column in told)):
        return None
    steps_before = [cells for _, text in steps if len(cells := _cells(text)) == len(columns)]
    before = [*steps_before, *(cells for _, cells in rows[:-LOST_STEPS] if len(cells) == len(columns))]
    if len(before) + LOST_STEPS >= NEVER_LINES and len(lost) >= LOST_NAMES and not _any_finite(before, lost):
        return Fault(LOST, *rows[0][0], LOGGED, attempt.progress)
    long_lost = len(rows) >= 2 * LOST_STEPS and not _any_finite([cells for _, cells in rows[-2 * LOST_STEPS :]], lost)
    numbers = 1 if most_are else LOST_NAMES if long_lost else LOST_STEPS
    if not any(sum(isfinite(cells[at]) for cells in before) >= numbers for at in lost):
        return None
    first = max(
        (at for at, (_, cells) in enumerate(rows) if len(cells) == len(columns) and isfinite(cells[lost[0]])),
        default=-1,
    )
    return Fault(LOST, *rows[first + 1][0], LOGGED, attempt.progress)


def _no_result(lines: list[tuple[int, str]], tail: tuple[SeenLine, ...], attempt: LogAttempt) -> Fault | None:
    """The last lines hold results, none of which is a number. lines: those of the loop, which may be results, too."""
    newest = tail[-RESULT_LINES:]
    results = [line for line in newest if _RESULT_LOST.match(message(line.text).text)]
    beside = [text for number, text in lines if results and number >= results[0].number - RESULT_LINES]
    if not results or any(_DECIMALS.search(message(text).text) for text in (*(one.text for one in newest), *beside)):
        return None
    return Fault(LOST, *results[0], LOGGED, attempt.progress)


def _stands_lost(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """In the newest lines of the loop figures of training are none and all others are 0: they were some in the first,
    or are none in more lines than what comes before the first number, or many of them are at once.
    """
    shown = [(number, text, _named_figures(" ".join(text.split()))) for number, text in lines]
    times = Counter(tuple(figures) for _, _, figures in shown)  # what is said once behind the loop is none of its lines
    shown = [item for item in shown if item[2] and times[tuple(item[2])] > 1]
    if not shown or not any(map(_is_lost, shown[-1][2].values())):
        return None
    alike = [item for item in shown if item[2].keys() == shown[-1][2].keys()]
    lost = list(takewhile(lambda item: _has_nothing(item[2]), reversed(alike)))
    many = len(lost) > 1 and all(len(list(filter(_is_lost, item[2].values()))) >= MANY_NAMES for item in lost)
    if not many and len(lost) < (LOST_STEPS if len(lost) < len(alike) else NEVER_LINES):
        return None
    number, text, _ = lost[-1]
    if any(not _has_nothing(figures) for at, _, figures in shown if at >= number):
        return None  # they are remarks beside the loop
    return Fault(LOST, number, text, LOGGED, attempt.progress)


def _has_nothing(figures: dict[str, str]) -> bool:
    """Whether one of training's is no number, and the others are 0."""
    lost = [name for name, value in figures.items() if _is_lost(value) and not _AT_TIMES.search(name)]
    return bool(lost) and all(_is_lost(value) or float(value) == 0 for value in figures.values())


def _any_finite(rows: list[list[float]], columns: list[int]) -> bool:
    return any(isfinite(cells[at]) for cells in rows for at in columns)


def _cells(text: str) -> list[float]:
    """The cells of a row of figures; none if it is not one."""
    cells = [cell for cell in _BETWEEN.split(text.strip(" |\t")) if cell]
    return [float(cell) for cell in cells] if len(cells) > 1 and all(_CELL.fullmatch(cell) for cell in cells) else []


def _never_any(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """Each line of progress shows several figures, and none of them ever was a number; or most of training were none,
    the loss among them.
    """
    told = [(line, _figures(message(line[1]).text)) for line in lines]
    told = [(line, values) for line, values in told if values]
    few = [values for _, values in told if len(values) < LOST_NAMES]
    told = [(line, values) for line, values in told if len(values) >= LOST_NAMES]
    if len(told) < NEVER_LINES or len(few) * NEVER_LINES > len(told):
        return None
    if not all(map(_is_lost, (value for _, values in told for value in values))) and not all(
        _lost_most_of_training(line[1]) for line, _ in told
    ):
        return None
    return Fault(LOST, *told[0][0], LOGGED, attempt.progress)


def _lost_most_of_training(text: str) -> bool:
    """Whether the loss of a line of progress is no number, and few other figures of training are some."""
    figures = {name: value for name, value in _named_figures(text).items() if not _AT_TIMES.search(name)}
    lost = [name for name, value in figures.items() if _is_lost(value)]
    return "loss" in lost and len(lost) >= MANY_NAMES and len(lost) > MOST * len(figures)


def _figures(text: str) -> list[str]:
    """The figures with a name that a line shows, without those that only tell where it is and how fast."""
    return [value for name, value in _NAMED.findall(text) if not _WHERE.fullmatch(name)]


def lost_figures(tail: tuple[SeenLine, ...], before: Fault) -> Fault | None:
    """The line near a death in which a figure is none any more that was one in the same line earlier on."""
    lines = [line for line in tail if line.number < before.number]
    known = {_shape(line.text) for line in lines if not _NO_FIGURE.search(line.text)}
    near = [line for line in lines[-NEAR_A_DEATH:] if _NO_FIGURE.search(line.text)]
    first = next((line for line in near if _shape(line.text) in known), None)
    return Fault(LOST, first.number, first.text, LOGGED, before.progress_before) if first else None


def _shape(text: str) -> str:
    return " ".join(_FIGURE.sub("1", text).split())


def _is_lost(value: str) -> bool:
    return not isfinite(float(value))


def _all_zero(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """Loss and score are nothing in every line. A loss alone may be too small for its digits, a score alone may start
    at 0.
    """
    shown = [(number, text, hits) for number, text in lines if (hits := _METRIC.findall(text))]
    if len(shown) < ALL_ZERO_LINES or any(float(value) != 0 for _, _, hits in shown for _, value in hits):
        return None
    if len({name.strip(" _/.-").lower() for _, _, hits in shown for name, _ in hits}) < 2:
        return None
    number, text, _ = shown[-1]
    return Fault(ALL_ZERO, number, text, LOGGED, attempt.progress)


def _gradient(lines: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    norms = [(number, text, float(hit[1])) for number, text in lines if (hit := _GRADIENT.search(text))]
    if len(norms) < LINES_FOR_A_MEDIAN + EXPLODED_LINES:
        return None
    usual = median(value for _, _, value in norms[:-EXPLODED_LINES])
    number, text, _ = norms[-1]
    if usual > 0 and all(value > EXPLODED_BY * usual for _, _, value in norms[-EXPLODED_LINES:]):
        return Fault(EXPLODING, number, text, LOGGED, attempt.progress)
    early = norms[: max(1, int(len(norms) * EARLY_SHARE))]
    number, text, top = max(early, key=lambda item: item[2])
    stopped = attempt.success is not None and _STOPPED_EARLY.search(attempt.success.text)
    if usual > 0 and stopped and top > SPIKE_BY * usual:
        return Fault(EARLY_SPIKE, number, text, LOGGED, attempt.progress)
    return None
