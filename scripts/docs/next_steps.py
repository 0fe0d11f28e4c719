"""docs/next-steps.md, rendered from the table. Pure."""

from __future__ import annotations

from onbox.runs.acts import Act
from onbox.runs.next_step import TABLE

HEADER = """\
# What to do about a run

Rendered from `onbox/runs/next_step.py` by `python scripts/gen_docs.py`.

`onbox status`, `patrol tick` (text and `--json`), notifications, `handbook resume`, `handbook handoff` and HANDBOOK.md
take the next step from this one table: the first row that fits how the run stands. The command in the second column is
safe to type: it looks, or it is the resume that refuses a second copy by itself. What needs a person's word is never
the next command; it is offered beside it (`decide` in text, `with_a_persons_word` in JSON).

| step | next command | then | never | only with a person's word | why |
|---|---|---|---|---|---|
"""


def render_page() -> str:
    """The page's whole text."""
    lines = []
    for row in TABLE:
        step = row.step
        words = ", ".join(word.what for word in step.with_word)
        cells = (step.name, _command(step.act), step.then, step.never, words, row.reason)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return HEADER + "".join(lines)


def _command(act: Act) -> str:
    if act is Act.LOOK:
        return "what the rule says to look at"
    return f"`{act.line('RUN')}`"
