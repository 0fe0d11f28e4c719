"""The page docs/progress.md, rendered from the tables. Pure."""

from __future__ import annotations

from onbox.logs.judge.picking.grounds import GROUNDS, NEEDED
from onbox.logs.line.shapes import SHAPES
from onbox.logs.links import RULES
from onbox.logs.model.carriers import CARRIERS, RAY

HEAD = """\
# How `onbox progress` reads a log

*Rendered from the code by `scripts/gen_docs.py`; do not edit.*

`onbox progress LOG` prints `~4600/5155 (89%) eta 1h12m loss 0.41`, `~4600/unknown` where the log never gives the
maximum
exactly, and `no progress shown` where there is none. `· finished` stands behind it where the log
shows an end of the run's own. `~` says that the number was read from a log: the work itself may be further.

- Only the last run in a log counts: a restart line, or the first line once more after ten minutes (cron) or below a
  headline (`=== run 2 ===`), drops the
  counters before it as soon as the new run shows its own.
- The primary counter is the outermost one of the whole run. One with an exact maximum wins; an epoch with a maximum
  wins over
  the batches inside it; what goes back to its start while the epoch goes on is inside the epoch.
- A rounded maximum (`5.16k`, `10K`) is never shown. The exact one may stand elsewhere (`Total optimization steps =
  5,155`).
- Bars named after validation, prediction, loading, downloading, tokenising are the progress only if nothing else is
  shown.
- A repetition of the whole work is around its loop: `Fold 2/5` around epochs, `Trial 4/12` in a bar's label, a bar
  of seeds around bars of steps. Alone (`fold 3 of 5: 0.91`) it is a remark, unless it goes on.
- What begins again and again with nothing known around it never gives the run's maximum.
- The heading of a stage (`phase 2 (10 epochs)`) tells the maximum as soon as the counter begins again below it.
- What the head knows the number of (`200 evaluations`, `12 subjects`) is a counter where its lines go on (`eval 63`,
  `S07`), however unevenly.
- Where no rule knows the words of the head, the number is taken that is clearly likely to be the counter's end
  (`GA popsize=128 gens=900 seed=7` above `gen 8`). How strongly its size and the words beside it speak for that was
  learned from labelled logs (`onbox/logs/totals/weights.txt`, by `scripts/learn_totals.py`).
- Behind the last counter, lines that sum up (`Saved final model to`, `took 3 min`) tell that the run is finished,
  unless a
  counter stands before its end.
- Where no counter has a name, rows tell: a number that goes on evenly, in lines of one form, beside a measure that does
  not (`17  -9732.25  +0.0004`).
- What ends an epoch, a fold or a stage (`Epoch train finished`) is no end of the run. Nor is a full counter of a
  chain's stage whose process still runs.
- Ranks, attempts, patience counters, accuracies and sizes of memory are not progress, nor is a shard, layer or part
  that is only named: one that goes on and on is (`shard 5/16`). Nor are settings of a dumped
  configuration, and downloads after which the log went on.
- `[progress]` in onbox.toml: `regex` (named groups `current`, `max`) for a form of your own, `max` for the exact
  maximum.

- A smaller number that another kind of line tells (`Best model found at step 1200`) is not believed before the next
  line goes on from there.

## What is read of a log that grows fast

The runner looks once per `sample_every`, and `onbox chain` once a second while you watch. Each look may cost about 1 %
of a core of the time since the last one. What was written since then is read whole as long as that is affordable (8 KB
a second, up to 384 KB). Of more than that:

- The newest lines are read whole, and at the first look the first 64 KB too: maxima stand there.
- All that lies between is skimmed, up to 2 MB a second, and at least 32 MB a look. Of lines that are alike but for
  their digits the newest is read, unless the end has one like it: an epoch told once a minute, a loss of `nan`, a
  tracker's address, the end of the training. If there are more than 8 such kinds for each second, the newest count.
- Where hardly two lines are alike, the newest line with `nan`, `epoch`, `step`, `loss`, with a word of a start or an
  end, and with an address is read instead.

So the newest line of each kind is known, and a loss in the series is the newest one at that time. How often a line came
in between is not known. `fail_if_log` and `done_if_log` search the whole log.

## What counts

A number that the log shows is one of the run's if these points add up to NEEDED or more. Which of them is the run's own
is told above.

| points | ground |
| --- | --- |
"""
CARRIED = """
## What carried a log

What a container engine, an orchestrator or a launcher puts around each line is taken off, for `onbox triage` too; its
first lines tell it. Several may stand around each other. Where several ranks or services write, each line keeps its
name, a rank in one spelling (`[rank2]: `); triage leaves Ray's.

| from | example |
| --- | --- |
"""
FORMS = """
## Displays made for progress

| id | what it is | seen in | example |
| --- | --- | --- | --- |
"""
MIDDLE = """
Besides these: a word for what is counted and a number (`epoch 5 of 20`, `"current_steps": 1000`), tables below a
head whose
first column counts, rows of boosting libraries, and percentages alone.

## Tracker links

| tracker | example |
| --- | --- |
"""


def render_page() -> str:
    """The whole page."""
    shapes = "".join(f"| {s.id} | {s.meaning} | {s.source} | {_code(s.example)} |\n" for s in SHAPES)
    links = "".join(f"| {rule.tracker} | {_code(rule.example)} |\n" for rule in RULES)
    grounds = "".join(f"| {ground.points:+} | {ground.what} |\n" for ground in GROUNDS)
    carried = "".join(f"| {one.what} | {_code(one.example)} |\n" for one in (*CARRIERS, RAY))
    return HEAD.replace("NEEDED", str(NEEDED)) + grounds + CARRIED + carried + FORMS + shapes + MIDDLE + links


def _code(text: str) -> str:
    return "`" + text.strip().replace("|", "\\|") + "`"
