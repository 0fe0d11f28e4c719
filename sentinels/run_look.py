"""What the parts of a run directory say: one look as values, and the table that judges it. Pure.

The files are those of docs/format.md. Whether somebody lives is the kernel's word (pid with start time and boot id, and
file locks), asked on the box; what a file claims is no proof of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.events import CHAIN_ENDS, Event, Unreadable, parse_events
from onbox.contract.markers import Marker, parse_marker
from onbox.contract.runfile import Damaged, parse_head
from onbox.redact import one_line, redact
from onbox.system.clock import parse_utc
from sentinels.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onbox.contract.events import Record

STALL_PROOF_SECONDS = 2.0  # a runner that ends a stalled stage does so at once


class RunFacts(NamedTuple):
    """One look. run_id None: there is no run (yet). launch: number of the newest start that the journal's end tells.

    done, ended: CHAIN_DONE and CHAIN_FAILED, if they are of this very run, chain and launch. last: the journal's newest
    record about the chain's start or end. newest: its newest record. failed: the newest FAILED marker of a stage.
    runner, stage: alive, gone, or why it could not be told. rebooted: the runner signed under another boot.
    """

    run_id: str | None
    fingerprint: str
    stage_count: int
    launch: int | None
    done: Marker | None
    ended: Marker | None
    last: Record | None
    newest: Record | None
    failed: Mapping[str, Any]
    status: Mapping[str, Any]
    runner: str
    stage: str
    rebooted: bool
    clock: float
    trouble: str = ""


def facts_of(parts: Mapping[str, bytes]) -> RunFacts:
    """The facts of the raw parts. Never raises: what cannot be understood is `trouble`, or left out."""
    text = {
        name: parts.get(name, b"").decode("utf-8", "replace") for name in ("runner", "stage", "boot", "now", "unseen")
    }
    run_id, fingerprint, count, trouble = None, "", 0, text["unseen"]
    if parts.get("head"):
        try:
            head = parse_head(parts["head"])
            run_id, fingerprint, count = head.run_id, head.chain_fingerprint, head.stage_count
        except Damaged as error:
            trouble = str(error)
    records = [
        one
        for one in parse_events(parts.get("journal", b"").splitlines(keepends=True))
        if not isinstance(one, Unreadable)
    ]
    last = next(
        (one for one in reversed(records) if one["event"] in CHAIN_ENDS or one["event"] == Event.CHAIN_STARTED), None
    )
    launch = _launch(last)
    lock = _json(parts.get("lock", b""))
    return RunFacts(
        run_id, fingerprint, count, launch,
        _chain_marker(parts.get("done", b""), run_id, fingerprint, launch),
        _chain_marker(parts.get("ended", b""), run_id, fingerprint, launch),
        last,
        records[-1] if records else None,
        _json(parts.get("failed", b"")),
        _json(parts.get("status", b"")),
        text["runner"], text["stage"],
        rebooted=bool(lock.get("boot_id")) and lock.get("boot_id") != text["boot"],
        clock=_number(text["now"]),
        trouble=trouble,
    )  # fmt: skip


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _launch(last: Record | None) -> int | None:
    if last is None:
        return None
    number = last.get("launch") if last["event"] == Event.CHAIN_STARTED else last.get("attempt")
    return number if isinstance(number, int) else None


def _chain_marker(text: bytes, run_id: str | None, fingerprint: str, launch: int | None) -> Marker | None:
    """The marker, if it vouches for this run, this chain and no earlier launch."""
    marker = parse_marker(text)
    if not isinstance(marker, Marker) or marker.run_id != run_id or marker.fingerprint != fingerprint:
        return None
    return None if launch is not None and marker.attempt < launch else marker


def _json(text: bytes) -> dict[str, Any]:
    try:
        data = json.loads(text or b"{}")
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


class Judged(NamedTuple):
    """outcome None: it goes on. proof_needed: it must be seen a second time, some time later, before it is believed.

    say: what is told (or shown meanwhile). at: when it happened, UTC text; "" when not known.
    """

    outcome: Outcome | None
    say: str
    at: str = ""
    proof_needed: bool = False
    row: str = ""


class Row(NamedTuple):
    """when: whether the row applies. verdict: what is said then. reason: why it stands where it stands."""

    name: str
    when: Callable[[RunFacts, Terms], bool]
    verdict: Callable[[RunFacts, Terms], Judged]
    reason: str


class Terms(NamedTuple):
    """bound: id of the run that was first seen; None: none yet. quiet_seconds: since anything was written."""

    bound: str | None = None
    stall_after_seconds: float | None = None
    quiet_seconds: float | None = None


def judge_run(facts: RunFacts, terms: Terms) -> Judged:
    """The first row of the table that applies."""
    row = next(row for row in ROWS if row.when(facts, terms))
    return row.verdict(facts, terms)._replace(row=row.name)


def _since(record: Mapping[str, Any] | None, key: str = "at") -> str:
    return str((record or {}).get(key, ""))


def why_failed(data: Mapping[str, Any]) -> str:
    """Class, remedy and proof of a FAILED marker (or what there is of it), one line, without secrets."""
    findings = [
        f"{one.get('gate')}: {one.get('seen')}, wanted {one.get('wanted')}"
        for one in data.get("findings") or ()
        if isinstance(one, dict)
    ]
    parts = [
        data.get("failure_class"),
        data.get("reason"),
        "; ".join(findings),
        data.get("proof") or data.get("last_line"),
    ]
    text = " · ".join(dict.fromkeys(one_line(str(part))[:300] for part in parts if part))  # the reason may be a finding
    remedy = f" · remedy: {one_line(str(data['remedy']))[:300]}" if data.get("remedy") else ""
    return redact(text + remedy)


def _failed(facts: RunFacts) -> Judged:
    end: Mapping[str, Any] = facts.ended.data if facts.ended is not None else facts.last or {}
    stage = str(end.get("stopped_at") or facts.failed.get("stage") or "?")
    own = facts.failed if facts.failed.get("stage") == stage else {}
    refused = end.get("outcome") == Event.GATE_REFUSED or end.get("event") == Event.GATE_REFUSED
    what = f"a gate refused stage {stage}" if refused else f"stage {stage} failed"
    why = why_failed({**end, **own})
    return Judged(Outcome.FAILED, f"{what}{': ' if why else ''}{why}", _since(end, "ended_at") or _since(end))


def _stopped(facts: RunFacts) -> Judged:
    last = facts.last or {}
    word = "was interrupted" if last.get("event") == Event.CHAIN_INTERRUPTED else "was stopped"
    why = f" ({one_line(str(last['reason']))[:200]})" if last.get("reason") else ""
    return Judged(Outcome.STOPPED, f"the run {word}{why}; `onbox resume` continues it", _since(last))


def _gone(facts: RunFacts) -> Judged:
    why = "the box was rebooted" if facts.rebooted else "runner and stage have gone"
    where = f" during stage {facts.status['stage']}" if facts.status.get("stage") else ""
    say = f"{why}{where}, no marker; `onbox resume` continues it"
    return Judged(Outcome.GONE, say, _since(facts.status), proof_needed=True)


def _stalled(facts: RunFacts) -> Judged:
    stage, line = facts.status.get("stage", "?"), one_line(str(facts.status.get("last_line", "")))[:200]
    say = f"stage {stage} shows no sign of life" + (f"; last line: {redact(line)}" if line else "")
    return Judged(Outcome.STALLED, say, _since(facts.newest))


def _quiet(facts: RunFacts, terms: Terms) -> Judged:
    say = f"nothing was written for {terms.quiet_seconds or 0:.0f} s, and it still lives"
    return Judged(Outcome.STALLED, f"{say} (stage {facts.status.get('stage', '?')})")


def _running(facts: RunFacts) -> Judged:
    status = facts.status
    progress = status.get("progress")
    shown = progress.get("text") if isinstance(progress, dict) else progress
    words = [str(status.get("stage") or ""), str(status.get("stage_state") or status.get("state") or "running")]
    return Judged(None, redact(one_line(" ".join([*words, str(shown or "")]).strip()))[:200])


def _own_stall(facts: RunFacts) -> bool:
    at = parse_utc(_since(facts.newest))
    told = facts.newest is not None and facts.newest["event"] == Event.STAGE_STALLED
    return told and at is not None and facts.clock - at >= STALL_PROOF_SECONDS


def _over(facts: RunFacts, *events: str) -> bool:
    return facts.last is not None and facts.last["event"] in events


ROWS: tuple[Row, ...] = (
    Row("unseen", lambda f, t: bool(f.trouble),
        lambda f, t: Judged(None, f"the run cannot be looked at: {one_line(f.trouble)}"),
        "what could not be looked at proves nothing"),
    Row("vanished", lambda f, t: f.run_id is None and t.bound is not None,
        lambda f, t: Judged(None, f"there is no such run any more: {t.bound} was moved or deleted, or its disk is away"),
        "a folder that is not there is no proof: it may be a mount"),
    Row("no_run", lambda f, t: f.run_id is None, lambda f, t: Judged(None, "there is no such run yet"),
        "a run may be waited for before it begins"),
    Row("replaced", lambda f, t: t.bound is not None and f.run_id != t.bound,
        lambda f, t: Judged(Outcome.SUPERSEDED, f"run {t.bound} was replaced by run {f.run_id}"),
        "the marker of the run that was waited for will never land"),
    Row("landed", lambda f, t: f.done is not None,
        lambda f, t: Judged(Outcome.LANDED, f"CHAIN_DONE of run {f.run_id}, {f.stage_count} stage(s)",
                            _since(f.done.data if f.done else {}, "ended_at")),
        "CHAIN_DONE of this run id, chain and launch is the proof"),
    Row("failed", lambda f, t: f.ended is not None, lambda f, t: _failed(f), "CHAIN_FAILED of this very launch"),
    Row("stopped", lambda f, t: _over(f, Event.CHAIN_STOPPED, Event.CHAIN_INTERRUPTED), lambda f, t: _stopped(f),
        "a stop leaves no marker; it is in the journal only"),
    Row("failed_unmarked", lambda f, t: _over(f, Event.CHAIN_FAILED, Event.GATE_REFUSED) and f.runner == "gone",
        lambda f, t: _failed(f)._replace(proof_needed=True),
        "the marker follows its journal line; if the runner went in between, the line counts"),
    Row("done_unmarked", lambda f, t: _over(f, Event.CHAIN_DONE) and f.runner == "gone",
        lambda f, t: Judged(Outcome.GONE, "the journal says done, and CHAIN_DONE never landed; look: onbox status",
                            _since(f.last), proof_needed=True),
        "only the marker proves success"),
    Row("own_stall", lambda f, t: f.runner == "alive" and _own_stall(f), lambda f, t: _stalled(f),
        "the run's own stall rule (log, artifacts, CPU) fired, and its runner did not end the stage"),
    Row("quiet", lambda f, t: t.stall_after_seconds is not None and (t.quiet_seconds or 0) >= t.stall_after_seconds
        and "alive" in (f.runner, f.stage), _quiet, "the limit that this wait was given"),
    Row("alive", lambda f, t: f.runner == "alive", lambda f, t: _running(f), "it goes on"),
    Row("adopted", lambda f, t: f.stage == "alive",
        lambda f, t: _running(f)._replace(say="the runner has gone, the stage lives and will be continued"),
        "a stage's keeper continues the chain when the stage ends"),
    Row("unsure", lambda f, t: f.runner != "gone" or f.stage not in ("gone", "-"),
        lambda f, t: Judged(None, f"whether it lives cannot be told ({one_line(f.runner + ' ' + f.stage)})"),
        "no verdict without the kernel's word"),
    Row("gone", lambda f, t: True, lambda f, t: _gone(f), "nobody lives and nothing was proved: said after a second look"),
)  # fmt: skip
