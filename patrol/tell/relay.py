"""Notifications that a box could not deliver, delivered from here: with the same ids, to the targets of the same names
in the local onbox.toml. Nothing on the box is touched: what was relayed is remembered here.

What a box says is not trusted with anything of ours. Where a notice goes, and with which secret, only the local
configuration says, and only where the run's own definition names that target, too. It is told in the user's name: so
run and box are those at which it was found, the title says from where it was relayed, texts are bounded and masked,
nothing is to be typed or clicked, and a box is given few words at a tick.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from onbox.contract.json_text import as_number, parse_json
from onbox.contract.names import name_problem, stage_name_problem
from onbox.contract.notices import STATES, TEST_EVENT, notice_from_dict
from onbox.named_tuple import NamedTuple
from onbox.notify.send.send_once import exchange
from onbox.notify.send.worker import try_once
from onbox.notify.signing import BadSecret
from onbox.notify.targets import NotSet, resolve_target
from onbox.notify.types import TryOutcome, Unusable
from onbox.outside import safe_words
from onbox.system.clock import parse_utc
from onbox.triage.classes import REMEDIES
from patrol.ssh.client import NoAnswer, script_with_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onbox.contract.notices import Notice
    from onbox.contract.notify_targets import NotifyTarget
    from onbox.notify.types import HttpAnswer as WireAnswer
    from onbox.notify.types import NoHttpAnswer as WireNoAnswer
    from onbox.notify.types import Outgoing
    from patrol.ssh.client import Answer

KIND = "relay"
LINES_LIMIT = 4096
CLOCK_DIGITS = 12
RUN_DIGITS = 4
OLD_SECONDS = 900.0  # younger ones the box may still deliver by itself
FILES_PER_RUN = 5
SENT_PER_BOX = 5  # at one tick
FILE_LIMIT_BYTES = 65536
READ_SECONDS = 20.0
SEND_SECONDS = 20.0
END_MARK = b"<<<onbox relay end>>>"
WORDS_LIMIT = 300  # characters of one text
PEAKS = ("peak_working_set_bytes", "peak_tree_rss_bytes")
OVER = ("delivered", "refused")  # outcomes after which nothing is sent again

# $1: files per run; $2: bytes per file; then run directories. Every line begins with a letter: a content cannot look
# like a mark. The box's clock, then `F <number of the run> <name>` and `C <content>` per file that is not dealt with.
SCRIPT = r"""
echo "T $(date +%s)"
files=$1 bytes=$2; shift 2
run=0
for root; do
  count=0
  case $root in
    '~/'*) root=$HOME${root#?};;
  esac
  for file in "$root"/outbox/[0-9]*-*.json; do
    name=${file##*/}
    [ -f "$file" ] && [ ! -e "$root/sent/$name" ] && [ ! -e "$root/dead/$name" ] || continue
    count=$((count + 1)); [ "$count" -le "$files" ] || break
    printf 'F %s %s\nC ' "$run" "$name"
    head -n 1 "$file" | head -c "$bytes" | tr -d '\r'
    echo
  done
  run=$((run + 1))
done
echo "<<<onbox relay end>>>"
"""


class Waiting(NamedTuple):
    """A notice that waits on a box. age_seconds: by the box's own clock. target: the name of where it is to go."""

    box: str
    run: str
    target: str
    notice: Notice
    age_seconds: float

    @property
    def subject(self) -> str:
        """What is sent at most once from here. No box can use up the words of another."""
        return f"{self.box}/{self.run} {self.notice.id}>{self.target}"


class Relayed(NamedTuple):
    """outcome: delivered, refused, later (will be tried again at the next tick), unset (cannot be sent from here)."""

    outcome: str
    says: str


def read_stdin(places: Sequence[str]) -> bytes:
    """What goes to the box's sh. places: run directories. Raises ValueError on a NUL."""
    return script_with_values(SCRIPT, (str(FILES_PER_RUN), str(FILE_LIMIT_BYTES), *places))


def parse_waiting(answer: Answer | NoAnswer, box: str, runs: Sequence[str]) -> list[Waiting] | NoAnswer:
    """The notices in an answer, oldest first per run; what is not a notice is left out."""
    if isinstance(answer, NoAnswer):
        return answer
    found: list[Waiting] = []
    clock = 0.0
    name: tuple[str, str] | None = None
    for line in answer.output.split(b"\n", LINES_LIMIT)[:LINES_LIMIT]:
        kind, _, raw = line[: FILE_LIMIT_BYTES + 2].partition(b" ")
        rest = raw.decode("utf-8", "replace")
        if kind == b"T":
            clock = parse_clock(rest) or clock
        elif kind == b"F":
            name = _parse_name(rest, runs)
        elif kind == b"C" and name is not None:
            found += _parse_content(rest, box, *name, clock=clock)
            name = None
    return found


def parse_clock(text: str) -> float | None:
    """Seconds since the epoch, up to the year 9999."""
    text = text.strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) <= CLOCK_DIGITS else None


def _parse_name(text: str, runs: Sequence[str]) -> tuple[str, str] | None:
    number, _, file = text.partition(" ")
    _, _, target = file.removesuffix(".json").partition("-")
    plain = number.isascii() and number.isdigit() and len(number) <= RUN_DIGITS
    if not plain or int(number) >= len(runs) or name_problem(target) is not None:
        return None
    return runs[int(number)], target


def _parse_content(text: str, box: str, run: str, target: str, *, clock: float) -> list[Waiting]:
    try:
        data = parse_json(text)
        notice = notice_from_dict(data["notice"])
        enqueued = parse_utc(str(data.get("enqueued_at"))[:40]) or parse_utc(notice.at[:40]) or clock
    except (ValueError, TypeError, KeyError, AttributeError):
        return []
    said = in_our_words(notice, box, run)
    return [] if said is None else [Waiting(box, run, target, said, clock - enqueued)]


def in_our_words(notice: Notice, box: str, run: str) -> Notice | None:
    """The notice as it may be told in the user's name; None for one that onbox does not write."""
    if notice.event not in STATES or notice.event == TEST_EVENT or not _ID.fullmatch(notice.id):
        return None

    def safe(text: str | None) -> str | None:
        return None if text is None else safe_words(text, WORDS_LIMIT)

    stage = notice.stage if notice.stage and stage_name_problem(notice.stage) is None else None
    peaks = {name: as_number((notice.resources or {}).get(name)) for name in PEAKS}
    return notice._replace(
        at=safe_words(notice.at, 40),
        state=STATES[notice.event],
        run=run,
        run_id=safe_words(notice.run_id, 80),
        project=safe_words(notice.project, WORDS_LIMIT),
        host=None,
        relayed_from=box,
        stage=stage,
        failure_class=notice.failure_class if notice.failure_class in REMEDIES else None,
        remedy=REMEDIES.get(notice.failure_class or ""),
        proof=safe(notice.proof),
        reason=safe(notice.reason),
        progress=safe(notice.progress),
        tracker=None,
        resources={name: peak for name, peak in peaks.items() if peak is not None} or None,
        log=safe(notice.log),
        log_tail=None,
        next_command=None,
        since=None if notice.since is None else safe_words(notice.since, 40),
    )


_ID = re.compile(r"[A-Za-z0-9_-]{1,160}")


def choose(waiting: Iterable[Waiting], known: Mapping[str, str]) -> list[Waiting]:
    """What is old enough and not dealt with yet, as many as one tick may send. known: outcome by subject, of earlier
    ticks.
    """
    due = (one for one in waiting if one.age_seconds >= OLD_SECONDS and known.get(one.subject) not in OVER)
    return list(islice(due, SENT_PER_BOX))


def relay(
    waiting: Waiting,
    targets: Mapping[str, NotifyTarget],
    environ: Mapping[str, str],
    folder: str,
    named: frozenset[str],
    send: Callable[[Outgoing, float], WireAnswer | WireNoAnswer] = exchange,
) -> Relayed:
    """Send one notice. targets: of the local configuration, by name. named: the targets that the run's own definition
    names.
    """
    target = targets.get(waiting.target)
    if target is None:
        return Relayed("unset", f"the local onbox.toml names no target {waiting.target}")
    if waiting.target not in named:
        return Relayed("unset", f"the run's own definition names no target {waiting.target}")
    mine = target._replace(attach_log_bytes=0)  # the log that the notice names is the box's, not a file of ours
    try:
        resolved = resolve_target(mine, environ, folder)
        verdict = try_once(waiting.notice, resolved, SEND_SECONDS, send)
    except (NotSet, Unusable, BadSecret, OSError) as problem:
        return Relayed("unset", str(problem))
    if verdict.outcome is TryOutcome.DELIVERED:
        return Relayed("delivered", verdict.reason)
    return Relayed("refused" if verdict.outcome is TryOutcome.NEVER else "later", verdict.reason)
