"""What triage answers. Pure."""

from __future__ import annotations

from typing import Any

from onbox.named_tuple import NamedTuple

SCHEMA = 1


class FurtherFault(NamedTuple):
    """A further fault beside the cause."""

    failure_class: str
    line: str
    line_number: int


class Diagnosis(NamedTuple):
    """Why a run died, or that it is fine.

    failure_class: a key of `classes.CLASSES`. terminal: the run is dead because of this fault. state: "dead", "done",
    "running", "stalled" or "unknown" (no evidence of life or death was given). line: the proving line, redacted; for a
    healthy run its latest sign of progress; None for an empty log. line_number: from 1, None if the proof is not in the
    log. confidence: "high", "medium" or "low". rule: id of the row that decided. retry: whether the same configuration
    may run again at all. signature: equal for the same failure twice. where: "file:line" of the innermost frame of the
    user's own code, None without a traceback. small_fix: an obvious slip in code (a name, an import, the syntax, a
    missing key). traceback: the one that the run ended with, or the stack of another language: its lines next to the
    fault and the innermost frame of the user's own code, redacted; empty without one.
    """

    failure_class: str
    terminal: bool
    state: str
    line: str | None
    line_number: int | None
    confidence: str
    rule: str
    remedy: str
    retry: bool
    signature: str
    where: str | None = None
    small_fix: bool = False
    secondary: tuple[FurtherFault, ...] = ()
    traceback: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As `onbox triage --json` prints it."""
        found = [{"class": f.failure_class, "line": f.line, "line_number": f.line_number} for f in self.secondary]
        fields = {"class" if key == "failure_class" else key: value for key, value in self._asdict().items()}
        return {"schema": SCHEMA, **fields, "secondary": found}
