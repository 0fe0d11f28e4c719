"""`patrol explain BOX/RUN`: which rule speaks, and why the others before it do not. Looks, and remembers nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.contract.readings import Absent, Unseen
from onbox.errors import Trouble
from onbox.model.screen import hanging
from onbox.outside import safe_line
from onbox.system.clock import wall
from patrol.collect import look_at_all
from patrol.commands.options import common_options, run_name_argument
from patrol.config.configured import choose_boxes, load_settings, split_run
from patrol.decide.decide import explain_run
from patrol.decide.remote_command import way_to
from patrol.judge import Frame, judge
from patrol.memory.history import Before, BoxBefore
from patrol.memory.store import Memory
from patrol.memory.transfers import Register
from patrol.report.lines import details
from patrol.snapshot import BoxLook
from patrol.tick import policy_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.decide.rule import Tried
    from patrol.judge import BoxJudged, Judged

EXAMPLES = """\
example:
  patrol explain gpu1/digits    the rules in order, what each would have needed, and the one that applies
"""


@command(EXAMPLES)
@run_name_argument("BOX[/RUN]", "the run, as `patrol status` shows it")
@common_options
def run(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    box_name, run_name = split_run(args.run_name)
    boxes = choose_boxes(settings, [box_name])
    past = Memory(settings.state).recall()
    frame = Frame(past, policy_of(settings), settings.ssh_command, wall(), Register(settings.state).homes())
    (seen,) = look_at_all(settings, boxes, past)
    judged = judge(seen.box, seen.snapshot, None, frame)
    chosen = [one for one in judged.runs if run_name in (None, one.verdict.run)]
    if not chosen:
        known = ", ".join(one.verdict.run for one in judged.runs) or "none"
        raise Trouble(Exit.USAGE, f"no run {run_name!r} on {box_name}; there are: {known}")
    told = [_explained(one, judged, settings, frame) for one in chosen]
    print(json.dumps({"schema": 1, "runs": told}, indent=2) if args.json else "\n\n".join(map(_text, told)))
    return Exit.DONE


def _explained(one: Judged, judged: BoxJudged, settings: Settings, frame: Frame) -> dict[str, Any]:
    data: dict[str, Any] = {"line": one.line, "details": details(one.verdict, one.look, frame.now)}
    snapshot = judged.snapshot
    if one.look is None or not isinstance(snapshot, BoxLook):
        why = snapshot.runs.why if isinstance(snapshot, BoxLook) and isinstance(snapshot.runs, Absent | Unseen) else ""
        return {**data, "rules": [], "flags": [], "unseen": why or getattr(snapshot, "detail", "the run was not seen")}
    explained = explain_run(
        one.look,
        snapshot,
        frame.past.runs.get((judged.box.name, one.look.run), Before()),
        frame.past.boxes.get(judged.box.name, BoxBefore()),
        frame.now,
        frame.policy,
        way=way_to(judged.box, settings.ssh_command),
    )
    unseen = "; ".join(f"{section}: {why}" for section, why in snapshot.sections_unseen)
    return {**data, "rules": _rows(explained.rules), "flags": _rows(explained.flags), "unseen": unseen}


def _rows(tried: Iterable[Tried]) -> list[dict[str, Any]]:
    return [{"rule": one.rule, "fired": one.fired, "lacks": one.failed or None} for one in tried]


def _text(told: dict[str, Any]) -> str:
    lines = [told["line"], *told["details"], "", "the rules, in their order:"]
    lines += [line for row in told["rules"] for line in _row(row)]
    lines += ["in addition, whatever the run does:"] if told["flags"] else []
    lines += [line for row in told["flags"] for line in _row(row)]
    lines += hanging("could not be looked at: ", safe_line(told["unseen"])) if told["unseen"] else []
    return "\n".join(lines)


def _row(row: dict[str, Any]) -> list[str]:
    if row["fired"]:
        return [f"  SPEAKS  {row['rule']}"]
    return hanging(f"  no      {row['rule']:<24} ", f"it would need: {row['lacks']}", indent=35)
