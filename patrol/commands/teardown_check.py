"""`patrol teardown-check`: whether a rented box may be given back, and what that means. It calls no provider."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import argument, command
from onbox.contract.exits import Exit
from onbox.contract.readings import Absent, Unseen, observed
from onbox.errors import Trouble
from onbox.model.screen import hanging
from onbox.outside import safe_line
from onbox.system.clock import wall
from patrol.collect import look_at_all
from patrol.commands.options import common_options, complete_box
from patrol.config.configured import choose_boxes, load_settings
from patrol.cost import cost_of, cost_words
from patrol.memory.store import Memory
from patrol.memory.transfers import Register
from patrol.snapshot import BoxLook
from patrol.ssh.unreachable_reasons import BY_KEY
from patrol.teardown.conditions import may_be_given_back
from patrol.teardown.look import conditions_of
from patrol.teardown.profile import load_profile
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.teardown.conditions import RunConditions
    from patrol.teardown.profile import Profile, Verb

EXAMPLES = """\
examples:
  patrol teardown-check gpu1                          what must be true first, and what the provider's verbs mean
  patrol teardown-check gpu1 --word "destroy gpu1"    the third condition: your consent to this verb for this box
"""


@command(EXAMPLES)
@argument("box", metavar="BOX", help="the box to give back", shell_complete=complete_box)
@click.option("--word", metavar='"VERB BOX"', help="what you intend to do: the provider's verb and the name of the box")
@common_options
def run(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    (box,) = choose_boxes(settings, [args.box])
    profile = load_profile(box.provider, settings.folder)
    verb = _verb(args.word, profile, box)
    look = _look(settings, box)
    if isinstance(look, str):
        print(f"patrol: {box.name}: {safe_line(look)}", file=sys.stderr)
        return Severity.UNKNOWN
    conditions = conditions_of(look, observed(look.runs) or (), Register(settings.state), verb)
    may = may_be_given_back(conditions)
    cost = cost_of(look, wall())
    words = cost_words(cost) if cost is not None else ""
    if args.json:
        print(json.dumps(_data(box, profile, conditions, words, may=may), indent=2))
        return Exit.DONE if may else Severity.WARNING
    for line in _lines(box, profile, conditions, verb, words):
        print(line)
    return Exit.DONE if may else Severity.WARNING


def _verb(word: str | None, profile: Profile, box: BoxSettings) -> Verb | None:
    """What the person said, if it is a verb of this provider and this box. Raises Trouble for anything else."""
    if word is None:
        return None
    said = word.split()
    verbs = ", ".join(f'"{one.name} {box.name}"' for one in profile.verbs)
    found = profile.verb(said[0]) if len(said) == 2 and said[1] == box.name else None
    if found is None:
        raise Trouble(
            Exit.USAGE, f"--word {safe_line(word, 80)!r} does not name a verb and this box; say one of: {verbs}"
        )
    return found


def _look(settings: Settings, box: BoxSettings) -> BoxLook | str:
    """As it is now, not as the last tick saw it; or why nothing is known of its runs."""
    (seen,) = look_at_all(settings, (box,), Memory(settings.state).recall())
    look = seen.snapshot
    if not isinstance(look, BoxLook):
        why = f"{BY_KEY[look.reason].says} ({look.detail})" if look.reason in BY_KEY else look.detail
        return f"could not look: {why}; nothing is known of its runs"
    if isinstance(look.runs, Absent | Unseen):
        return f"its runs could not be looked at: {look.runs.why}"
    if look.runs_left_out:
        return (
            f"it holds {look.runs_left_out} more runs than are looked at, which nobody judged: `onbox runs` lists them"
        )
    return look


def _lines(
    box: BoxSettings, profile: Profile, conditions: Sequence[RunConditions], verb: Verb | None, cost: str
) -> list[str]:
    lines = [f"{box.name} · {profile.name}" + (f" · {cost}" if cost else "")]
    for one in conditions:
        lines.append(f"  {safe_line(one.run)}")
        for condition in one.conditions:
            answer = {True: "yes", False: "no", None: "?"}[condition.holds]
            head = f"    {condition.name:<9} {answer:<4} "
            lines += hanging(head, safe_line(condition.proof, 300), indent=len(head))
        lines.append(f"    so        {one.ruling.says}" + (f": {one.next_command}" if _types(one) else ""))
    if not conditions:
        lines.append("  no run of it is known: what is there was not looked at, and belongs to nobody here")
    lines += ["  what the provider's words mean"]
    for known in (verb,) if verb is not None else profile.verbs:
        lines += _verb_lines(known)
    rows = [
        *(("mind", clock) for clock in (*box.clocks, *profile.clocks)),
        *(("storage", one) for one in profile.storage),
    ]
    lines += [line for name, text in rows for line in hanging(f"  {name:<9} ", text, indent=12)]
    return [*lines, _end(box, profile, conditions, verb)]


def _types(one: RunConditions) -> bool:
    return bool(one.next_command) and not one.alive and not (one.pulled.holds and one.verified.holds)


def _verb_lines(verb: Verb) -> list[str]:
    rows = (("stops", verb.stops), ("goes on", verb.goes_on), ("survives", verb.survives), ("undo", verb.undo))
    return [
        *hanging(f"    {verb.name}: ", verb.does),
        f"      {'how':<9} {verb.command}",  # to be copied: never folded
        *(line for name, text in rows for line in hanging(f"      {name:<9} ", text, indent=16)),
    ]


def _end(box: BoxSettings, profile: Profile, conditions: Sequence[RunConditions], verb: Verb | None) -> str:
    if may_be_given_back(conditions) and verb is not None:
        return (
            f"YOU MAY: all conditions hold for all runs of {box.name}. Nothing was called; it is yours: {verb.command}"
        )
    open_runs = [one.run for one in conditions if not one.ruling.may]
    if not open_runs:
        return f"NOT YET: no run of {box.name} is known, so nothing proves that its results are home"
    if all(one.pulled.holds and one.verified.holds and not one.alive for one in conditions):
        return f'NOT YET: your word is missing: patrol teardown-check {box.name} --word "{profile.default} {box.name}"'
    return f"NOT YET: {', '.join(map(safe_line, open_runs))}"


def _data(
    box: BoxSettings, profile: Profile, conditions: Sequence[RunConditions], cost: str, *, may: bool
) -> dict[str, Any]:
    return {
        "schema": 1,
        "box": box.name,
        "may": may,
        "cost": cost or None,
        "runs": [
            {
                "run": one.run,
                "may": one.ruling.may,
                "says": one.ruling.says,
                "alive": one.alive or None,
                "conditions": [condition._asdict() for condition in one.conditions],
            }
            for one in conditions
        ],
        "provider": {**profile._asdict(), "verbs": [verb._asdict() for verb in profile.verbs]},
        "clocks": box.clocks,
    }
