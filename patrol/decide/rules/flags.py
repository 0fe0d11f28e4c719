"""Flags of a run: what is to be said beside its verdict. Each one that holds is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.gates.success_gate import OF_HASTE
from onbox.contract.readings import Absent, Unseen, observed
from onbox.series.detectors.table import DETECTORS
from patrol.decide.phrases import (
    ago,
    clean,
    how_far,
    log_command,
    notices_command,
    quote,
    status_command,
    warned_log_command,
    word,
)
from patrol.decide.rules.alive import ALIVE, HEARTBEAT, RUNNER_IS_GONE
from patrol.decide.rules.end import DONE, NO_OUTCOME, NOT_DONE, If, Row
from patrol.decide.trend import longest_gap, risen_loss
from patrol.memory.update_history import artifact_age
from patrol.snapshot import NOT_ASKED
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from patrol.decide.run_scene import RunScene
    from patrol.snapshot import Detected

FAILURE_IN_LOG = If("its log shows a failure", lambda s: s.failure is not None)


def _usual_gap(scene: RunScene) -> float | None:
    return longest_gap(scene.before.artifact_gaps, scene.limits.cadence_seconds)


def _artifacts_late(scene: RunScene) -> bool:
    usual, age = _usual_gap(scene), artifact_age(scene.look)
    return usual is not None and age is not None and age > usual * scene.limits.artifacts_factor


def _says(detector: str, else_: Callable[[RunScene], bool]) -> Callable[[RunScene], bool]:
    """The box's own detector decides where it looked: it sees every sample. Else what the ticks have seen."""
    return lambda scene: else_(scene) if scene.found(detector) is None else bool(scene.found(detector))


def _other_findings(scene: RunScene) -> tuple[Detected, ...]:
    """What the box finds beside what has a rule of its own."""
    return tuple(one for one in observed(scene.look.detected) or () if one.detector not in _OWN_RULE)


def _remedy_of_others(scene: RunScene) -> str:
    """Our own words, not the box's."""
    known = [DETECTORS[one.detector].remedy for one in _other_findings(scene) if one.detector in DETECTORS]
    return known[0] if known else "Look at its log."


_OWN_RULE = frozenset({"slow", "loss-not-finite", "loss-risen", "checkpoints-late"})


def _say_late(scene: RunScene) -> str:
    if proof := scene.found("checkpoints-late"):
        return quote(proof)
    age, usual = artifact_age(scene.look), _usual_gap(scene)
    return f"no new artifact for {ago(age)}, where {ago(usual)} was the longest; {how_far(scene)}"


def _calm_loss(scene: RunScene) -> float | None:
    limits = scene.limits
    return risen_loss(
        scene.losses,
        baseline_ticks=limits.baseline_ticks,
        loss_ticks=limits.loss_ticks,
        loss_percent=limits.loss_percent,
    )


def _say_risen(scene: RunScene) -> str:
    if proof := scene.found("loss-risen"):
        return quote(proof)
    calm, loss = _calm_loss(scene) or 0.0, scene.losses[-1] if scene.losses else 0.0
    more = 100 * (loss / calm - 1) if calm else 0.0
    return f"loss {loss:.4g}, {more:.0f}% above its own {calm:.4g} for {scene.limits.loss_ticks} ticks"


def _say_fast(scene: RunScene) -> str:
    one = scene.fast_finish
    return f"{clean(one.what, 48)} took {ago(one.seconds)} where {ago(one.expected)} was expected" if one else ""


def _warnings(scene: RunScene) -> list[str]:
    """What the box itself says against what is done. That it was done too soon has a rule of its own."""
    cells = observed(scene.look.cells)
    if cells is not None:
        return list(cells.warnings)
    told = ((one.stage, text) for one in scene.look.stage_results for text in one.warnings)
    return [f"{stage}: {text}" for stage, text in told if not text.endswith(OF_HASTE)]


def _say_overdue(scene: RunScene) -> str:
    one = scene.overdue
    return f"{clean(one.what, 48)} has taken {ago(one.seconds)}, expected were {ago(one.expected)}" if one else ""


def _stuck(scene: RunScene) -> bool:
    waiting = observed(scene.look.undelivered) or 0
    return waiting > 0 and (
        bool(scene.look.notify_trouble) or scene.before.undelivered_ticks + 1 >= scene.limits.notices_ticks
    )


def _gpus_below(scene: RunScene, percent: float) -> bool:
    last = scene.gpu_percents[-scene.limits.gpu_ticks :]
    return len(last) == scene.limits.gpu_ticks > 1 and max(last) < percent + (percent == scene.limits.gpu_idle_percent)


def _steps_go_on(scene: RunScene) -> str:
    age = scene.signal_ages.get("log")
    if age is not None and age <= scene.stall_seconds:
        return f"its log advances ({ago(age)} ago): bound by CPU or data"
    return "its log does not advance either"


RUN_FLAGS: tuple[Row, ...] = (
    HEARTBEAT,
    RUNNER_IS_GONE,
    Row(
        "failure-survived", Severity.WARNING, None, (ALIVE, FAILURE_IN_LOG, NO_OUTCOME),
        lambda s: f"its log shows {word(s.failure.failure_class, 40)}: {quote(s.failure.proof, 80)}, but it is still alive" if s.failure else "",
        "an exception in a log is not a death; only the process's end is",
        remedy=lambda s: "Read it; it may be one rank of many.", command=log_command,
    ),
    Row(
        "artifacts-late", Severity.WARNING, None,
        (ALIVE, If("its steps go on", lambda s: s.steps_go_on),
         If("its box finds its checkpoints late; where none looks, its newest artifact is older than artifacts_factor times the"
            " longest gap between them", _says("checkpoints-late", _artifacts_late))),
        _say_late,
        "steps without checkpoints cannot be resumed: a save that hangs or fails is seen before it is needed",
        remedy=lambda s: "See whether its saves fail or hang, and whether there is room.", command=log_command,
    ),
    Row(
        "loss-risen", Severity.WARNING, None,
        (ALIVE, If("its box finds that; where none looks, the last loss_ticks losses are all above the baseline",
                   _says("loss-risen", lambda s: _calm_loss(s) is not None))),
        _say_risen,
        "compared with its own last ticks, more than once: a single batch, or the first steps, are not divergence",
        remedy=lambda s: "Look at the curve; a resume repeats it. Lower the rate or go back to an earlier checkpoint.",
        command=log_command,
    ),
    Row(
        "detected", Severity.WARNING, None, (ALIVE, If("its box finds something else in its series", lambda s: bool(_other_findings(s)))),
        lambda s: "; ".join(f"{word(one.detector)}: {quote(one.proof)}" for one in _other_findings(s)[:3]),
        "the runner looks at every sample: gradients, zeros, a resume that goes on elsewhere, too few checkpoints, a buffered log",
        remedy=_remedy_of_others, command=log_command,
    ),
    Row(
        "fast-finish", Severity.WARNING, None,
        (If("a stage, or all of it, is done after less than fast_finish_percent of the expected time", lambda s: s.fast_finish is not None),),
        _say_fast,
        "in less than half the expected time it probably failed; a flag, never a verdict",
        remedy=lambda s: "Check its results and its log before believing them.", command=log_command,
    ),
    Row(
        "done-with-warning", Severity.WARNING, None,
        (If("what is done of it has a warning beside its DONE", lambda s: bool(_warnings(s))),),
        lambda s: "; ".join(quote(text, 120) for text in _warnings(s)[:3]),
        "a stage or a cell is done by its exit code and its files; a loss that is not a number makes its results worthless",
        remedy=lambda s: "Look at its log and its results before they are used.", command=warned_log_command,
    ),
    Row(
        "overdue", Severity.WARNING, None,
        (ALIVE, NOT_DONE, If("its stage, or all of it, has taken more than overdue_percent of the declared time", lambda s: s.overdue is not None)),
        _say_overdue,
        "it may be slow, or wait for something, and somebody pays for it",
        remedy=lambda s: "Look at its pace and its time left; nothing is stopped for that.", command=status_command,
    ),
    Row(
        "results-missing", Severity.CRITICAL, None,
        (DONE, If("a stage's conditions do not hold any more for what it left", lambda s: bool(observed(s.look.lost))),
         If("they are not home, each loaded once", lambda s: s.look.home is None or not s.look.home.verified)),
        lambda s: "its results are not as its DONE markers say: " + quote("; ".join((observed(s.look.lost) or ())[:5]), 250),
        "a marker vouches for files; when they are gone the run is done and its results are not there",
        remedy=lambda s: "Find the files, or make them again.", command=status_command,
    ),
    Row(
        "results-unseen", Severity.OK, None, (DONE, If("its files could not be looked at", lambda s: isinstance(s.look.lost, Unseen))),
        lambda s: f"whether its results are still there could not be seen: {quote(s.look.lost.why, 80)}" if isinstance(s.look.lost, Unseen) else "",
        "what was not seen is never taken for health",
    ),
    Row(
        "notifications-stuck", Severity.WARNING, None,
        (If("notices wait for several ticks, or delivery fails", _stuck),),
        lambda s: f"{observed(s.look.undelivered) or 0} notices undelivered" + (f": {quote(s.look.notify_trouble, 80)}" if s.look.notify_trouble else ""),
        "what the box cannot deliver nobody hears of; the patrol relays it",
        remedy=lambda s: "Fix the target; what waits is kept and sent later.",
        command=notices_command,
    ),
    Row(
        "replaced", Severity.OK, None, (If("its run id differs from the last look", lambda s: s.replaced),),
        lambda s: f"a new run of the same name ({word(observed(s.look.run_id) or '?', 40)}); what was known of the old one is set aside",
        "history of another run would be taken for its own",
    ),
    Row(
        "gpu-idle", Severity.WARNING, None,
        (ALIVE, If("no GPU above gpu_idle_percent for gpu_ticks ticks in a row", lambda s: _gpus_below(s, s.limits.gpu_idle_percent))),
        lambda s: f"no GPU above {s.limits.gpu_idle_percent:g}% for {s.limits.gpu_ticks} ticks; {_steps_go_on(s)}",
        "a flag, never from one snapshot; with an advancing log it is bound by CPU or data, not idle",
        remedy=lambda s: "Look at data loading and at which device it really uses.", command=status_command,
    ),
    Row(
        "gpu-underused", Severity.OK, None,
        (ALIVE,
         If("the busiest GPU below gpu_busy_percent for gpu_ticks ticks in a row", lambda s: _gpus_below(s, s.limits.gpu_busy_percent)),
         If("it is not idle", lambda s: not _gpus_below(s, s.limits.gpu_idle_percent))),
        lambda s: f"the busiest GPU stays below {s.limits.gpu_busy_percent:g}%: bound by CPU or data",
        "told, because it costs; no trouble",
    ),
    Row(
        "signal-unseen", Severity.WARNING, None,
        (ALIVE, If("a signal could not be looked at, another was seen", lambda s: bool(s.unseen_signals) and bool(s.signal_ages))),
        lambda s: f"could not look at {', '.join(s.unseen_signals)}: a stall cannot be told",
        "what was not seen is never taken for health",
    ),
    Row(
        "engine-unseen", Severity.WARNING, None,
        (ALIVE, If("its engine could not be asked, or has lost its job", lambda s: isinstance(s.look.scheduler, Unseen))),
        lambda s: f"it is seen to live; of its engine: {quote(s.look.scheduler.why, 120)}" if isinstance(s.look.scheduler, Unseen) else "",
        "what runs is well whatever its engine says; but nobody but the engine would start it again",
        remedy=lambda s: "See whether the engine is up; never submit it again while this one is alive.", command=status_command,
    ),
    Row(
        "log-absent", Severity.WARNING, None,
        (ALIVE, If("the log that is declared is not there",
                   lambda s: not s.look.managed and not s.look.log_words and isinstance(s.look.log, Absent)
                   and s.look.log != NOT_ASKED)),
        lambda s: f"there is no {word(s.look.place, 80)}: its progress, its errors and a stall cannot be seen",
        "a life without the declared log is half a look, be the path wrong or the file moved away",
        remedy=lambda s: "See where it writes; fix `log` or the run.",
        command=lambda s: s.way.there(("ls", "-lat", "--", s.look.place.rpartition("/")[0] or "/")),
    ),
    Row(
        "no-onbox", Severity.WARNING, None,
        (If("onbox is not on the PATH of such a login", lambda s: s.look.managed and observed(s.box.onbox_on_path) is False),
         If("the interpreter that started the run was not recorded", lambda s: observed(s.look.python) is None),
         If("its runner was not seen to live", lambda s: observed(s.look.runner_alive) is not True), NOT_DONE),
        lambda s: "onbox is not on the PATH of a login without a terminal: the next command may not be found",
        "start-up files often set PATH for terminals only",
        remedy=lambda s: "Write the full path of onbox, or set PATH in the account's start-up file.",
    ),
)  # fmt: skip
