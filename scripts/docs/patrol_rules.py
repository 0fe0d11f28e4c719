"""The page docs/patrol-rules.md, rendered from the tables. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.model.units import format_duration
from patrol.decide.table import GROUPS
from patrol.decide.thresholds import DEFAULTS, THRESHOLDS
from patrol.ssh.unreachable_reasons import REASONS

if TYPE_CHECKING:
    from patrol.decide.rule import Rule
    from patrol.decide.thresholds import Threshold

INTRODUCTION = """\
# The rules of a patrol

*Rendered from the code by `scripts/gen_docs.py`; do not edit. What they say of real situations:
[patrol-truth.md](patrol-truth.md).*

Each tick asks the rules of a run in the order of the first table. The first that fires names the verdict: the run's
state, how bad it is, what to do, what to type next. The flags behind it are asked each, and told beside it: a run can
be healthy while its disk fills. The exit code of a tick is the worst of all that was said.

Three things are never mixed up:

- **finished**: no process of the run *and* the proof of success of this very run;
- **dead**: no process and no proof, seen in two looks, or proven by a reboot or a heartbeat that ended long ago;
- **stalled**: alive, every signal was seen, and all are old.

What could not be looked at is never evidence against a run: its state is then *unknown*, and what else is known is
told. A condition on something that was not seen does not hold.

"Resume" is whether `recover = "resume"` may act on the rule at all; a failure class that forbids a retry, and a
failure that came twice (the same error, or the same step), forbid it in any case.

## Changing them

```toml
[patrol.thresholds]
stall_after = "1h"
memory_percent = 95

[patrol.thresholds."gpu1/digits"]      # for one run: "box/run", or the run's name
stall_after = "3h"

[[patrol.rules]]
name = "gpu-idle"
enabled = false

[[patrol.rules]]
name = "quiet"
severity = "ok"                        # ok, warning, critical, unknown
message = "evaluates ({say})"          # {say}, {box}, {run}
remedy = "Leave it alone."

[[patrol.rules]]
name = "loss-lost"
before = "waiting"                     # ask it earlier (or later)
```

The last rule of a table answers when no other does: it can be neither moved nor switched off.
"""
TITLES = {
    "run": "## A run: the first that fires",
    "flag": "## Flags of a run: each that fires",
    "flag of the box": "## Flags of the box: each that fires",
    "no look": "## What could not be looked at: the first that fires",
    "box": "## A box by itself: the first that fires",
}
HEAD = ["", "| rule | severity | state | fires when | resume | why |", "|---|---|---|---|---|---|"]


def render_page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for name, rules in GROUPS:
        parts.append("\n".join([TITLES[name], *HEAD, *map(_row, rules), ""]))
    return "\n".join([*parts, *_thresholds(), *_reasons()])


def _row(rule: Rule[Any]) -> str:
    when = "; ".join(condition.says for condition in rule.when) or "no other rule fired"
    state = rule.state.value if rule.state else ""
    resume = "may be" if rule.can_resume else ""
    return f"| `{rule.name}` | {rule.severity.name.lower()} | {state} | {cell(when)} | {resume} | {cell(rule.why)} |"


def _thresholds() -> list[str]:
    head = ["## Thresholds", "", "| key | default | unit | what it is for |", "|---|---|---|---|"]
    return [*head, *map(_threshold, THRESHOLDS), ""]


def _threshold(row: Threshold) -> str:
    value = getattr(DEFAULTS, row.field)
    default = f'"{_duration(value)}"' if row.unit == "seconds" else f"{value:g}"
    return f"| `{row.key}` | {default} | {row.unit} | {cell(row.why)} |"


def _duration(seconds: float) -> str:
    """As one writes it: `30m`, not `30m00s`."""
    return format_duration(seconds).replace("h00m", "h").replace("m00s", "m").replace(".0s", "s")


def _reasons() -> list[str]:
    head = ["## Why a box could not be reached", "", "| reason | what it means | what to do | soft at first |"]
    rows = [
        f"| `{one.key}` | {cell(one.says)} | {cell(one.remedy)} | {'no' if one.lasting else 'yes'} |" for one in REASONS
    ]
    return [*head, "|---|---|---|---|", *rows, ""]


def cell(text: str) -> str:
    """Text as it may stand in a table's cell."""
    return text.replace("|", "\\|")
