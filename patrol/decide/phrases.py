"""Pieces of messages that several rules use. Pure."""

from __future__ import annotations

import math
from signal import SIGKILL
from typing import TYPE_CHECKING

from onbox.chain.gates.success_gate import OF_HASTE
from onbox.contract.progress import NOTHING, render_progress
from onbox.contract.readings import observed
from onbox.fence import fence, fence_name
from onbox.logs.farewell import is_farewell
from onbox.model.fence_signs import close_fence
from onbox.model.units import format_duration
from onbox.outside import safe_words
from onbox.triage.case_remedies import remedy_of
from onbox.triage.classes import REMEDIES, may_repeat
from onbox.triage.evidence import NO_PROOF_RULES
from patrol.decide.remote_command import here
from patrol.snapshot import NOT_ASKED

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from patrol.decide.box_scene import LinkScene
    from patrol.decide.run_scene import RunScene
    from patrol.snapshot import Cells, Failure

PROOF_LIMIT = 160
CELLS_LIMIT = 90
UNKNOWN = "unknown"
NO_PROGRESS = "no progress was seen"


def clean(text: str, limit: int = PROOF_LIMIT) -> str:
    """A sentence as it may stand in a message: no secrets, no control characters, one line, bounded. What of it a box
    wrote stands in a fence already: `quote`, `word`.
    """
    return close_fence(safe_words(text, limit))


def quote(text: str, limit: int = PROOF_LIMIT) -> str:
    """What a box wrote, in its fence: a log's line, a reason, an engine's message."""
    return fence(text, limit)


def word(text: str, limit: int = PROOF_LIMIT) -> str:
    """A name or a path of a box; in a fence where it is more than one word."""
    return fence_name(text, limit)


def ago(seconds: float | None) -> str:
    """Whole units: nobody needs tenths of a second of something that is over."""
    if seconds is None or not math.isfinite(seconds):
        return "an unknown time"
    return f"{round(seconds)}s" if 0 <= seconds < 60 else format_duration(max(0.0, seconds))


def percent_text(percent: float) -> str:
    """`91%` of 91.9: floored everywhere, so that 100% stands at the limit only and two pages say the same."""
    return f"{int(min(max(percent, 0.0), 999.0))}%"


def sound(progress: Progress) -> Progress:
    """Without numbers that are none: a log may print them, and nothing may fail on them."""
    wrong = [
        name
        for name, value in progress._asdict().items()
        if isinstance(value, float) and not math.isfinite(value) and name != "loss"
    ]
    return progress._replace(**dict.fromkeys(wrong)) if wrong else progress  # type: ignore[arg-type]


def how_far(scene: RunScene) -> str:
    """Progress in words, for the end of a message; without the time left where nothing moves."""
    progress = observed(scene.look.progress)
    if progress is not None and (not scene.alive or scene.all_signals_old):
        progress = progress._replace(eta_seconds=None)
    text = render_progress(sound(progress)) if progress else NOTHING
    return text if text != NOTHING else NO_PROGRESS


def counts_of_cells(cells: Cells) -> str:
    """`2/4, 2 skipped`: how many cells of a sweep stand how."""
    return clean(cells.text, CELLS_LIMIT).partition(" · ")[0]


def failure_words(scene: RunScene) -> str:
    """Class, proof, and how it ended (`exit_code: 137 (SIGKILL), wanted 0`). Where the log does not tell the class its
    newest line proves little: then how it ended comes first.
    """
    failure = scene.failure
    if failure is None:
        return quote(scene.look.reason) or "why is not known"
    proof = "" if is_farewell(failure.proof) else quote(failure.proof, 100)
    words = [proof, how_killed(failure) or quote(scene.look.reason, 100)]
    words = words[::-1] if failure.rule in NO_PROOF_RULES or failure.failure_class == UNKNOWN else words
    said = " · ".join(dict.fromkeys(filter(None, words)))
    if failure.failure_class == UNKNOWN and how_killed(failure):
        return said  # that the class is not known says nothing beside it
    return word(failure.failure_class, 40) + (f": {said}" if said else "")


def how_killed(failure: Failure) -> str:
    """By which signal, and whether the kernel counted a kill for memory; "" where it was not killed."""
    if failure.signal != SIGKILL:
        return ""
    kills = failure.oom_kills
    counted = "" if kills is None else f", {kills or 'no'} OOM counted"
    return f"killed by SIGKILL{counted}"


def failure_remedy(scene: RunScene) -> str:
    """The one action of the failure's class; where the class table does not know the class, what the run itself says,
    as a quotation.
    """
    failure = scene.failure
    if failure is None:
        return REMEDIES["unknown"]
    if not scene.look.managed and may_repeat(failure.failure_class, own_word=failure.retry_allowed):
        return "Start it again the way it was started; onbox cannot resume what it did not start."
    own = quote(failure.remedy, 200)
    if failure.failure_class in REMEDIES:
        return remedy_of(failure.failure_class, failure.rule, clean(failure.proof))
    return f"Its own rule says {own}" if own else REMEDIES["unknown"]


def signals(scene: RunScene) -> str:
    """`log 45m00s old, artifacts 50m00s old`."""
    return ", ".join(f"{name} {ago(age)} old" for name, age in scene.signal_ages.items())


_SIGNALS = {"log": "log written", "artifacts": "newest artifact", "tracker": "newest point at its tracker"}


def else_known(scene: RunScene) -> str:
    """What is known beside what could not be looked at."""
    known = [f"{_SIGNALS[name]} {ago(age)} ago" for name, age in scene.signal_ages.items()]
    done, outcome = observed(scene.look.done), scene.outcome
    known += [f"its records say {word(outcome, 30)}"] if outcome else []
    known += [f"proof of success: {quote(done, 60)}"] if done else []
    claimed = observed(scene.look.claimed_state)
    known += [f"its status claimed {word(claimed, 20)}"] if claimed and not outcome else []
    return "; ".join(known) or "nothing else is known"


def last_known(scene: LinkScene) -> str:
    """What was last known of a run that cannot be seen now, and how old that is."""
    before = scene.before
    if before.last_seen_at is None:
        return "never seen before"
    age = ago(max(0.0, scene.now - before.last_seen_at))
    return f"last seen {age} ago: {before.known_state or 'unknown'}" + (
        f" ({before.known_rule})" if before.known_rule else ""
    )


def status_command(scene: RunScene) -> str:
    if scene.look.managed:
        return _of_run(scene, "status", scene.look.run)
    if scene.look.log_words:
        return here("patrol", "explain", f"{scene.box.box}/{scene.look.run}")
    return log_command(scene)


def notices_command(scene: RunScene) -> str:
    return _of_run(scene, "notify", "list", scene.look.run)


def log_command(scene: RunScene) -> str:
    if scene.look.log_words:
        return here(*scene.look.log_words)
    if scene.look.managed:
        return _of_run(scene, "logs", "--run", scene.look.run)
    log = observed(scene.look.log)
    path = log.path if log else scene.look.place
    if scene.look.log == NOT_ASKED and not path.startswith(("/", "~")):
        return ""  # no log is declared: what stands there is a pattern or the name of a session
    return scene.way.there(("tail", "-n", "50", "--", path)) if path else ""


def warned_log_command(scene: RunScene) -> str:
    """The log of the first stage that is done with a warning: the newest log may be of another one."""
    warned = (one.stage for one in scene.look.stage_results if not all(w.endswith(OF_HASTE) for w in one.warnings))
    stage = next(warned, None)
    if stage is None or not scene.look.managed or scene.look.log_words:
        return log_command(scene)
    return _of_run(scene, "logs", stage, "--run", scene.look.run)


def _of_run(scene: RunScene, *words: str) -> str:
    return scene.way.there((*scene.look.onbox, *words))
