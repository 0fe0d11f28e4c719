"""Notifications that a box could not deliver, delivered from here: with the same ids, to the targets of the same names
in the local onbox.toml. Nothing on the box is touched: what was relayed is remembered here.

What a box says is not trusted with anything of ours: where a notice goes, and with which secret, only the local
configuration says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from onbox.contract.notices import notice_from_dict
from onbox.notify.exchange import exchange
from onbox.notify.signing import BadSecret
from onbox.notify.targets import NotSet, resolve_target
from onbox.notify.wire import Outcome, Unusable
from onbox.notify.worker import try_once
from onbox.system.clock import parse_utc
from patrol.ssh import NoAnswer, script_with_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onbox.contract.notices import Notice
    from onbox.contract.targets import Target
    from onbox.notify.wire import Answer as WireAnswer
    from onbox.notify.wire import NoAnswer as WireNoAnswer
    from onbox.notify.wire import Outgoing
    from patrol.ssh import Answer

KIND = "relay"
OLD_SECONDS = 900.0  # younger ones the box may still deliver by itself
FILES_PER_RUN = 20
FILE_LIMIT_BYTES = 65536
READ_SECONDS = 20.0
SEND_SECONDS = 20.0
END_MARK = b"<<<onbox relay end>>>"
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

    run: str
    target: str
    notice: Notice
    age_seconds: float

    @property
    def subject(self) -> str:
        """What is sent at most once from here."""
        return f"{self.notice.id}>{self.target}"


class Relayed(NamedTuple):
    """outcome: delivered, refused, later (will be tried again at the next tick), unset (cannot be sent from here)."""

    outcome: str
    says: str


def read_stdin(places: Sequence[str]) -> bytes:
    """What goes to the box's sh. places: run directories. Raises ValueError on a NUL."""
    return script_with_values(SCRIPT, (str(FILES_PER_RUN), str(FILE_LIMIT_BYTES), *places))


def parse_waiting(answer: Answer | NoAnswer, runs: Sequence[str]) -> list[Waiting] | NoAnswer:
    """The notices in an answer, oldest first per run; what is no notice is left out."""
    if isinstance(answer, NoAnswer):
        return answer
    found: list[Waiting] = []
    clock = 0.0
    name: tuple[str, str] | None = None
    for line in answer.output.decode("utf-8", "replace").split("\n"):
        kind, _, rest = line.partition(" ")
        if kind == "T" and rest.strip().isdigit():
            clock = float(rest)
        elif kind == "F":
            name = _parse_name(rest, runs)
        elif kind == "C" and name is not None:
            found += _parse_content(rest, *name, clock=clock)
            name = None
    return found


def _parse_name(text: str, runs: Sequence[str]) -> tuple[str, str] | None:
    number, _, file = text.partition(" ")
    _, _, target = file.removesuffix(".json").partition("-")
    if not (number.isascii() and number.isdigit() and int(number) < len(runs) and target):
        return None
    return runs[int(number)], target


def _parse_content(text: str, run: str, target: str, *, clock: float) -> list[Waiting]:
    try:
        data = json.loads(text)
        notice = notice_from_dict(data["notice"])
        enqueued = parse_utc(str(data.get("enqueued_at"))) or parse_utc(notice.at) or clock
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    return [Waiting(run, target, notice, clock - enqueued)]


def choose(waiting: Iterable[Waiting], known: Mapping[str, str]) -> list[Waiting]:
    """What is old enough and not dealt with yet. known: outcome by subject, of earlier ticks."""
    return [one for one in waiting if one.age_seconds >= OLD_SECONDS and known.get(one.subject) not in OVER]


def relay(
    waiting: Waiting,
    targets: Mapping[str, Target],
    environ: Mapping[str, str],
    folder: str,
    send: Callable[[Outgoing, float], WireAnswer | WireNoAnswer] = exchange,
) -> Relayed:
    """Send one notice. targets: of the local configuration, by name."""
    target = targets.get(waiting.target)
    if target is None:
        return Relayed("unset", f"the local onbox.toml names no target {waiting.target}")
    mine = target._replace(attach_log_bytes=0)  # the log that the notice names is the box's, not a file of ours
    notice = waiting.notice._replace(log_tail=None)
    try:
        resolved = resolve_target(mine, environ, folder)
        verdict = try_once(notice, resolved, SEND_SECONDS, send)
    except (NotSet, Unusable, BadSecret, OSError) as problem:
        return Relayed("unset", str(problem))
    if verdict.outcome is Outcome.DELIVERED:
        return Relayed("delivered", verdict.reason)
    return Relayed("refused" if verdict.outcome is Outcome.NEVER else "later", verdict.reason)
