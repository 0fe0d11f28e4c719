"""The page docs/triage.md, rendered from the tables. Pure."""

from __future__ import annotations

from onbox.triage.classes import CLASSES
from onbox.triage.evidence import EVIDENCE
from onbox.triage.rules.table import ROWS
from onbox.triage.weighing.grounds import GROUNDS, PATIENCE

INTRODUCTION = """\
# Triage: why a run died

<!-- Rendered by scripts/gen_docs.py from onbox/triage. Edit the tables there. -->

`onbox triage LOG` reads a log and says which failure class it shows, the line that proves it, whether the run is dead
because of it, and what to do. `--json` gives the same as one object.

How it decides, in this order:

1. What is proven without the log: the stage's own timeout, a counted kill for memory, a scheduler's stated reason.
2. What the log says. Each line gets the first row of the table below that matches it. A fault after which the run went
   on, or finished, does not count. Of the rest, the one that *explains* most is the cause; between equals, the first.
   Launchers' summaries and other ranks' broken connections explain little, so they never hide what provoked them.
   - *It went on* means that a counter rose beyond where it stood, shown by the writer that had the fault: a bar drawn
     once more, a stack's frames or a colleague rank's last step are no life sign. Several runs may share the file; the
     last one counts.
   - *It finished* is a claim. Who was stopped, could not write its results, or gave up waiting for a rank has not, nor
     has a driver whose last lines say that nothing came of it (`0 of 90 answered`).
   - An error that says only that something failed is explained by the lines around it, from the last sign of life to
     the end: the keyword above "FATAL ERROR, leaving", the last `Caused by:`, the line below a panic.
   - A bare complaint of a tool is over when a logger goes on to tell what the program does next, a server answers, or a
     result is saved as the last thing of all. What a full buffer held back, shown behind a death, is no life sign.
   - Which of this holds is decided by the two tables [below](#what-makes-a-fault-count). A tracker's own troubles, a
     configure script's checks and tests that pass end no run; a suite of which some tests failed has failed.
   - A log that ends with a stack of any language (a headline, frames below it) has failed. A figure that is NaN right
     before a crash, and was a number in the same line earlier on, explains the crash.
   - A program's own exceptions and its last words are understood by what they name ("BrokerUnavailable: giving up"): a
     thing and its trouble. A warning of a lower layer (memory, driver, disk) explains the error that follows from it.
   - A sentence that forbids, demands or asks for something is about a setting, unless it speaks of code (a tensor, a
     call); where a sentence names nothing, the name of the exception may (`DownloadError`).
   - Metrics that stay at 0, a gradient norm far above its median and a lost loss are found in the numbers.
   - Confidence is *high* only where no other reading is possible, and the last lines do not speak against it; a
     sentence that names two things alike is `unknown`, with both beside it.
3. How the process ended, where the log says nothing. A disk without room takes no last words: then the free bytes and
   inodes where the run works and logs say it.
   A run whose process lives is never dead: a complaint in its log is shown beside `process-runs`.
4. Silence: a log that just stops is a stall only if its age says so (30 minutes, or ten times its own pace), its
   progress (`onbox progress`) has not ended, and its last line is no new one that reads like a good end.
5. Where nothing is wrong, the run is *done* if the log says so, or if its progress has ended (`onbox progress`). Where
   its last lines count none of what the work was for (`matched 0 files`: `counts-none`), or a result was not kept
   (`final checkpoint not saved`: `result-missing`), it is a failure that is *done*, unless its exit code is known to be
   0: then that is told beside it. Both are *low*.
6. Where nothing but the log tells of the end, its last lines are read once more, by their words
   ([why](decisions/0018-a-second-reading.md)): what they clearly speak against is overruled, with *low* confidence. A
   fault that they make light of (`reads-well`) is shown beside the verdict; where they speak of a failure and no line
   tells of one (`reads-badly`), the words tell its class, too. The last sentence counts by itself, the more the fewer
   lines there are (`the two sides do not line up, nothing trained`). A death in the very last line, a driver's or a
   runtime's own message and a scheduler's word on the job stand as they are.
7. Where a rule tells only that something failed, or guesses by a sentence, the words of the last lines may name another
   class (`reads-as`, *low*); the rule's own is shown beside it. Where the last line tells only that it failed, the line
   above it that tells why is shown. What is read from words makes nothing run again by itself.

Rows of your own in onbox.toml come before all others:

```toml
[[triage]]
regex = "license server .* busy"
class = "license_busy"
remedy = "Wait for a seat."
retry = true
```

A regex is searched in the first 1000 characters of each line.
Rows that take too long on a log are left out, and it is said.

## How often it is right

Of 3,503 logs that it had never seen (programs made to fail, logs that people have committed, what GPUs and clusters
print; half of them healthy), read from their text alone: the class in 94.3 of 100, a healthy run called a failure in
2.3 of 100, a failure called healthy in 3.8 of 100, *high* confidence wrong in 1 of 50. What it misses is mostly a
script's own last sentence, without an error, an exit code or a known word, and a run that is done and whose result is
worthless. So give the exit code where you know it (`--exit-code`; `--run` and each chain do it by themselves): of the
1,893 of these whose code is known, it then called 6 of 938 healthy runs a failure, and 21 of 955 failures healthy.
"""


def render_page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_classes(), *_grounds(), *_rows(), *_ends()])


def _classes() -> list[str]:
    lines = [f"| `{row.key}` | {row.remedy} | {_unchanged(row.never)} |" for row in CLASSES]
    said = (
        "Unchanged: whether the same configuration may run again by itself. What says *never* is refused in "
        "`retry.classes` and in a `[[triage]]` row with `retry = true`, and no patrol resumes it."
    )
    head = ["## Classes", "", said, "", "| class | what to do | unchanged |"]
    return [*head, "|---|---|---|", *lines, ""]


def _unchanged(never: str) -> str:
    return f"never: {never}" if never else "may help"


def _rows() -> list[str]:
    lines = [
        f"| `{row.id}` | `{row.failure_class}` | {row.explains} | {row.source} | `{_cell(row.example)}` |"
        for row in ROWS
    ]
    head = ["## Rules, in the order in which they are asked", "", "| rule | class | explains | worded by | example |"]
    return [*head, "|---|---|---|---|---|", *lines, ""]


def _grounds() -> list[str]:
    verdicts = {True: "counts", False: "does not count"}
    grounds = [f"| {ground.what} | {verdicts[ground.counts]} |" for ground in GROUNDS]
    patience = [f"| {row.what} | {row.signs} |" for row in PATIENCE]
    return [
        "## What makes a fault count",
        "",
        "A fault that the run outlived explains no end. The first row that holds decides; where none does, so many",
        "life signs of the same writer behind the fault mean that the run has outlived it.",
        "",
        *("| what holds | the fault |", "|---|---|", *grounds, ""),
        *("| else: what kind of fault | outlived by |", "|---|---|", *patience, ""),
    ]


def _ends() -> list[str]:
    lines = [f"| `{row.rule}` | `{row.failure_class}` | {row.source} |" for row in EVIDENCE]
    return ["## Ends, where the log says nothing", "", "| rule | class | source |", "|---|---|---|", *lines, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")
