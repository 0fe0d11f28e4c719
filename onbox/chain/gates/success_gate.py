"""The success gate: what must hold before DONE. Pure: an attempt's end and what was looked at in, findings out.

Every row is asked, so that a refusal names all that is missing at once, with the numbers seen and wanted.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.model.manifest import REFUSE, WARN
from onbox.model.units import format_duration, format_size
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.chain.artifacts.on_disk import ArtifactLook
    from onbox.contract.readings import Maybe
    from onbox.model.manifest import Stage

FAST_SHARE = 0.5  # of the expected time
OF_HASTE = "was expected: look at the results"


FOUND = ("diverged", "detected")  # by on_detect = "stop": a person decides how it goes on


class Ended(NamedTuple):
    """How an attempt ended.

    exit_code: the shell's, None when nobody recorded it. signal: number of the signal that ended it, None if none is
    known. cause: why it ended: "exit" by itself, or what onbox did or found: "timeout", "stalled", "diverged" and
    "detected" (by on_detect = "stop"), "stopped",
    "keeper_lost" (the keeper was killed, the true exit code is unknown), "unobserved" (runner and keeper were killed
    while the command lived on, and its log does not say that it is done: it counts as interrupted), "not_started".
    duration_seconds: None when its start or end was not seen. max_rss_bytes: resident memory of its biggest process (at
    least the runner's own, a quirk of vfork);
    cpu_seconds: of all its processes; both as the kernel told when it was reaped (getrusage(2)), None when this runner
    did not reap it.
    """

    exit_code: int | None
    signal: int | None
    cause: str
    duration_seconds: float | None
    detail: str = ""
    max_rss_bytes: int | None = None
    cpu_seconds: float | None = None


class GateFinding(NamedTuple):
    """One condition that does not hold: its name, what was seen, what was wanted ("": nothing more is to be said)."""

    gate: str
    seen: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.gate}: {self.seen}" + (f", wanted {self.wanted}" if self.wanted else "")


def judge(
    stage: Stage,
    ended: Ended,
    looks: tuple[ArtifactLook, ...],
    *,
    log_matches: Maybe[bool] | None,
    log_fault: Maybe[str] = "",
    loss: str = "",
    earlier_seconds: float = 0.0,
) -> tuple[GateFinding, ...]:
    """All conditions of the success gate that do not hold; empty means success.

    log_matches: whether the attempt's log holds `done_if_log`; None if that was not asked for or not looked at.
    log_fault: the line of it that `fail_if_log` matches; "" if none does. loss: the last one, if it is not finite.
    earlier_seconds: what the earlier attempts of its series took. A resumed training with little left to do is quick.
    """
    findings = list(_judge_end(stage, ended, earlier_seconds))
    if ended.exit_code == 0:
        for look in looks:
            findings.extend(_judge_artifact(look))
        if stage.done_if_log is not None and log_matches is not True:
            why = f"could not look ({log_matches.why})" if isinstance(log_matches, Absent | Unseen) else ""
            findings.append(
                GateFinding("done_if_log", why or "no such line in the attempt's log", f"/{stage.done_if_log}/")
            )
        findings += _judge_signs(stage, log_fault, loss)
    return tuple(findings)


def _judge_end(stage: Stage, ended: Ended, earlier_seconds: float) -> list[GateFinding]:
    if ended.cause == "not_started":
        return [GateFinding(ended.cause, ended.detail, "")]
    if ended.cause != "exit":
        return [GateFinding(ended.cause, ended.detail or "ended by onbox", "a normal end with exit code 0")]
    if ended.exit_code is None:
        return [GateFinding("exit_code", "not recorded", "0")]
    if ended.exit_code != 0:
        return [GateFinding("exit_code", _exit_text(ended), "0")]
    shortest = stage.min_duration_seconds
    if shortest is None:
        return []
    if ended.duration_seconds is None:
        return [GateFinding("min_duration", "unknown duration", f"at least {format_duration(shortest)}")]
    if ended.duration_seconds + earlier_seconds < shortest:
        seen = f"ended after {format_duration(ended.duration_seconds)}"
        return [GateFinding("min_duration", seen, f"at least {format_duration(shortest)}")]
    return []


def _judge_signs(stage: Stage, log_fault: Maybe[str], loss: str) -> list[GateFinding]:
    found = []
    if isinstance(log_fault, Absent | Unseen):
        found.append(
            GateFinding("fail_if_log", f"could not look ({log_fault.why})", f"no line with /{stage.fail_if_log}/")
        )
    elif log_fault:
        found.append(GateFinding("fail_if_log", f"the log says: {log_fault}", f"no line with /{stage.fail_if_log}/"))
    if loss and stage.finite_loss == REFUSE:
        found.append(GateFinding("finite_loss", f"the last loss in the log is {loss}", "a finite number"))
    return found


def warnings_of(stage: Stage, loss: str) -> tuple[str, ...]:
    """What is told beside a DONE, in words."""
    return (f"the last loss in its log is {loss}",) if loss and stage.finite_loss == WARN else ()


def haste_warning(what: str, took_seconds: float | None, expected_seconds: float | None) -> tuple[str, ...]:
    """What is told beside a DONE that came much too soon. took_seconds None: the end of an attempt was not seen."""
    if took_seconds is None or expected_seconds is None or took_seconds >= FAST_SHARE * expected_seconds:
        return ()
    took, expected = format_duration(took_seconds), format_duration(expected_seconds)
    return (f"{what} took {took} where {expected} {OF_HASTE}",)


def _exit_text(ended: Ended) -> str:
    if not ended.signal:
        return f"{ended.exit_code}"
    try:
        return f"{ended.exit_code} ({signal.Signals(ended.signal).name})"
    except ValueError:
        return f"{ended.exit_code} (signal {ended.signal})"


def _judge_artifact(look: ArtifactLook) -> list[GateFinding]:
    artifact, gate = look.artifact, f"artifact {look.artifact.pattern}"
    if look.problem:
        return [GateFinding(gate, f"could not look ({look.problem})", "a readable file or folder")]
    if look.newest_is_broken is not None:
        return [
            GateFinding(gate, f"the newest is incomplete ({look.newest_is_broken})", "one that can be read to its end")
        ]
    if len(look.new) >= artifact.min_count:
        return []
    seen = [f"{len(look.new)} new"]
    if look.old:
        seen.append(f"{len(look.old)} old (from before the stage's first attempt)")
    if look.small:
        smallest = min(found.size_bytes for found in look.small)
        seen.append(f"{len(look.small)} too small (from {format_size(smallest)})")
    if look.broken:
        seen.append(f"{len(look.broken)} incomplete (such as {look.broken[0].path})")
    if not look.old and not look.small and not look.new and not look.broken:
        seen = ["missing"]
    wanted = f"{artifact.min_count} new" if artifact.is_glob or artifact.min_count > 1 else "a new file or folder"
    return [GateFinding(gate, ", ".join(seen), f"{wanted} of at least {format_size(artifact.min_bytes)}")]


def signal_of(exit_code: int | None) -> int | None:
    """The signal behind a shell's exit code (128 + n, sh(1)); None if there is none."""
    return exit_code - 128 if exit_code is not None and 128 < exit_code <= 192 else None
