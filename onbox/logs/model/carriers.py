"""What carried a log here put something around each of its lines: a container engine a stream, an orchestrator a time,
a launcher the number of a task. Told by a log's first lines, and taken off before anything is read. Pure.

What a program's own logger writes before a line (a time, a level) stays. The form of a rank stays too, in one spelling:
it tells who wrote the line.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HEAD_LINES = 200  # of a log, from which its carriers are told
FEW_LINES = 3  # of one form, that are no chance
SHARE = 0.6  # of these lines: a script may have spoken before its task was started
DEEP = 3  # carriers around each other


class Carrier(NamedTuple):
    """what: for the reader of this table. form: of a line; `text` is what was carried, `who` wrote it, if that is told.
    bare: of what it found, the line to read. several: the same where several write, so that each must keep its name;
    None: such lines stay as they are. example: such a line, which carries `step 3/9`.
    """

    what: str
    form: re.Pattern[bytes]
    bare: Callable[[re.Match[bytes]], bytes]
    several: Callable[[re.Match[bytes]], bytes] | None
    example: str


def _text(found: re.Match[bytes]) -> bytes:
    return found["text"]


def _as_rank(found: re.Match[bytes]) -> bytes:
    return b"[rank" + found["who"] + b"]: " + found["text"]


def _as_named(found: re.Match[bytes]) -> bytes:
    return _NO_NAME.sub(b".", found["who"]).strip(b".") + b" | " + found["text"]


def _from_json(found: re.Match[bytes]) -> bytes:
    try:
        text = json.loads(b'"' + found["text"] + b'"')
    except ValueError:  # cut, or no UTF-8
        return found[0]
    return str(text).removesuffix("\n").encode("utf-8", "replace").replace(b"\n", b"\r")


def _from_record(found: re.Match[bytes]) -> bytes:
    text = _from_json(found)
    level = _LEVEL.search(found[0])
    return text if level is None or text is found[0] else level[1].upper() + b" " + text


_NO_NAME = lazy(rb"[^\w-]{1,40}")
_PROCESS = lazy(rb"\[\d{1,8}\]$")
# Who starts jobs and watches over them, in a machine's log.
_OF_SYSTEM = lazy(rb"[\w.-]{1,64} (?:systemd|kernel|init|sshd|CRON|sudo|dockerd|containerd|kubelet|slurmd)\[\d{1,8}\]")
_QUOTED = rb'"(?P<text>(?:[^"\\]|\\.)*)"'
_FIELDS = rb'(?:"[^"\\]{1,80}":\s?(?:"[^"\\]{0,200}"|[\w.-]{1,40}|\{[^{}]{0,1000}\}),\s?){0,12}'
# A record with nothing but a line of text, when it came, and from where: no figure of its own.
_PLAIN_FIELD = (
    rb'"(?:ts|t|time|timestamp|@timestamp|asctime|date|level|lvl|levelname|severity|logger|name|app|service|stream|host'
    rb'|hostname|pid|thread|module|source|run|run_id|job|task|stage|fields|labels|kubernetes|container)":\s?'
    rb'(?:"[^"\\]{0,200}"|[\w.:+-]{1,40}|\{[^{}]{0,1000}\})'
)
_LEVEL = lazy(
    rb'"(?:level|lvl|levelname|severity)":\s?"(debug|info|notice|warn(?:ing)?|error|critical|fatal)"', re.IGNORECASE
)
_SECONDS = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_ZONE = rb"(?:Z|[+-]\d\d:?\d\d)"
_MONTH_AND_TIME = rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
_TEXT = rb"(?P<text>.*)"
_MAYBE_SPACE = rb"(?: (?=(?:  )*\S))?"  # of this launcher, and not of an indentation, which is even


def _around(what: str, form: bytes, example: str) -> Carrier:
    return Carrier(what, lazy(form), _text, None, example)


def _of_several(what: str, form: bytes, example: str) -> Carrier:
    return Carrier(what, lazy(form), _text, _as_named, example)


def _of_json(what: str, form: bytes, example: str) -> Carrier:
    return Carrier(what, lazy(form), _from_json, None, example)


def _of_ranks(what: str, form: bytes, example: str) -> Carrier:
    return Carrier(what, lazy(form), _text, _as_rank, example)


CARRIERS = (
    _of_json(
        "Docker's json-file",
        rb'\{"log":' + _QUOTED + rb',"stream":"std(?:out|err)".*\}\s*',
        '{"log":"step 3/9\\n","stream":"stderr","time":"2026-11-28T10:00:00.1Z"}',
    ),
    _of_json(
        "Google Cloud Logging",
        rb"\{" + _FIELDS + rb'"textPayload":\s?' + _QUOTED + rb".*\}\s*",
        '{"insertId":"a1","severity":"ERROR","textPayload":"step 3/9"}',
    ),
    _around(
        "a container's log file (CRI)",
        _SECONDS + rb"[.\d]*" + _ZONE + rb" std(?:out|err) [FP] " + _TEXT,
        "2026-11-28T10:00:00.123456789Z stderr F step 3/9",
    ),
    _around(
        "Kubernetes, Docker and GitHub with time stamps",
        rb"(?:[^\t\r]{1,80}\t[^\t\r]{1,80}\t)?" + _SECONDS + rb"\.\d{7,9}" + _ZONE + rb" " + _TEXT,
        "2026-11-28T10:00:00.123456789Z step 3/9",
    ),
    _around("GitLab", _SECONDS + rb"\.\d{6}Z \d\d[OE][ +]" + _TEXT, "2026-11-28T10:00:00.123456Z 01O step 3/9"),
    _around(
        "Airflow",
        rb"\[" + _SECONDS + rb"\.\d{3}" + _ZONE + rb"\] \{\w{1,40}\.py:\d{1,5}\} (?:INFO|ERROR|WARNING) - "
        rb"(?:\[[\w-]{1,40}\] )?" + _TEXT,
        "[2026-11-28T10:00:00.123+0000] {subprocess.py:93} INFO - step 3/9",
    ),
    _around(
        "CloudWatch",
        _SECONDS + rb"(?:\.\d{3})?" + _ZONE + rb" (?P<who>[\w.-]{1,80}/\S{1,200}) " + _TEXT,
        "2026-11-28T10:00:00+00:00 train/default/a1 step 3/9",
    ),
    Carrier(
        "JSON records of lines",
        lazy(
            rb"\{(?:" + _PLAIN_FIELD + rb",\s?){0,12}"
            rb'"(?:msg|message|line|log|text)":\s?' + _QUOTED + rb"(?:,\s?" + _PLAIN_FIELD + rb"){0,12}\}\s*"
        ),
        _from_record,
        None,
        '{"ts":"2026-11-28T10:00:00","logger":"train","msg":"step 3/9"}',
    ),
    _of_several(
        "journald and syslog",
        _MONTH_AND_TIME + rb" (?P<who>[\w.-]{1,64} [\w./@-]{1,64}\[\d{1,8}\]): " + _TEXT,
        "Nov 28 10:00:00 gpu-3 python3[4242]: step 3/9",
    ),
    _of_several(
        "journalctl -o short-iso",
        _SECONDS + rb"(?:[.,]\d{6})?" + _ZONE + rb" (?P<who>[\w.-]{1,64} [\w./@-]{1,64}\[\d{1,8}\]): " + _TEXT,
        "2026-11-28T10:00:00+0000 gpu-3 python3[4242]: step 3/9",
    ),
    _around(
        "ts of moreutils",
        _MONTH_AND_TIME + rb" (?!\S+ (?:kernel|[\w./()-]{1,60}\[\d+\]): )" + _TEXT,
        "Nov 28 10:00:00 step 3/9",
    ),
    _around("docker compose", rb"(?P<who>[a-z][\w.-]{0,60}\s{1,40})\| ?" + _TEXT, "trainer-1  | step 3/9"),
    _of_several(
        "stern",
        rb"(?P<who>[a-z][a-z0-9-]{0,60}-(?=[a-z]{0,4}\d)[a-z0-9]{5} [a-z][a-z0-9-]{0,40}) " + _TEXT,
        "train-7f9c8-x2klp main step 3/9",
    ),
    _of_several(
        "kubectl logs --prefix", rb"(?P<who>\[pod/[\w.-]{1,253}/[\w.-]{1,63}\]) " + _TEXT, "[pod/train-0/main] step 3/9"
    ),
    _of_several("pm2", rb"(?P<who>\d{1,4}\|[\w.-]{1,40}\s{0,40})\| " + _TEXT, "0|train    | step 3/9"),
    _of_ranks("srun --label", rb" {0,5}(?P<who>\d{1,5}):(?: |$)" + _TEXT, "0: step 3/9"),
    _of_ranks(
        "mpirun --tag-output, SageMaker",
        rb"\[\d{1,5},(?:mpirank:)?(?P<who>\d{1,6})(?:,[\w-]{1,40})?\]<std(?:out|err)>:" + _MAYBE_SPACE + _TEXT,
        "[1,0]<stderr>:step 3/9",
    ),
    _of_ranks("torchrun --tee", rb"\[default(?P<who>\d{1,5})\]:" + _MAYBE_SPACE + _TEXT, "[default0]:step 3/9"),
)
# Who asks which process wrote a line leaves it there.
RAY = _around(
    "Ray",
    rb"(?:\x1b\[\d{1,3}m)?\((?P<who>[^()\r]{0,60}\bpid=\d{1,9}[^()\r]{0,60})\)(?:\x1b\[0m)? " + _TEXT,
    "(Trainer pid=4242, ip=10.0.0.7) step 3/9",
)


class Around(NamedTuple):
    """A carrier of a log. writer: the only one that its first lines tell, without the number of its process; None: they
    tell several, or none.
    """

    carrier: Carrier
    writer: bytes | None

    def bare(self, line: bytes) -> bytes:
        """What it carried; a line that it did not carry stays as it is."""
        found = self.carrier.form.fullmatch(line.rstrip(b"\r"))
        if found is None:
            return line
        if "who" not in self.carrier.form.groupindex or _unit(found) == self.writer:
            return self.carrier.bare(found)
        if self.carrier.several is None or _OF_SYSTEM.fullmatch(found["who"]):
            return line
        return self.carrier.several(found)


class Carried:
    """The carriers of one log, the outermost first, as its first lines tell. processes: whether it is asked which
    process of several wrote a line.
    """

    def __init__(self, *, processes: bool) -> None:
        self.known = CARRIERS if processes else (*CARRIERS, RAY)
        self.around: list[Around] | None = None  # None: that is not known yet

    def state(self) -> list[list[str | None]] | None:
        """JSON-able."""
        if self.around is None:
            return None
        return [[one.carrier.what, None if one.writer is None else one.writer.decode("latin-1")] for one in self.around]

    def take_state(self, state: Sequence[Sequence[str | None]] | None) -> None:
        if state is None:
            return
        writers = {what: None if writer is None else writer.encode("latin-1") for what, writer in state}
        by_what = {carrier.what: carrier for carrier in self.known}
        self.around = [Around(by_what[what], writer) for what, writer in writers.items() if what in by_what]

    def of_first(self, lines: list[bytes]) -> list[bytes]:
        """As `bare`; the first lines that come, up to `HEAD_LINES`, tell what is around them."""
        if self.around is None:
            self.around = _found(self.known, [line for line in lines[:HEAD_LINES] if line.strip()])
        return self.bare(lines)

    def bare(self, lines: list[bytes]) -> list[bytes]:
        """The lines without what is around them."""
        for one in self.around or ():
            lines = list(map(one.bare, lines))
        return lines


def _found(known: Sequence[Carrier], lines: Sequence[bytes]) -> list[Around]:
    around: list[Around] = []
    while len(around) < DEEP:
        left = (carrier for carrier in known if all(carrier is not one.carrier for one in around))
        found = next(filter(None, (_carries(carrier, lines) for carrier in left)), None)
        if found is None:
            break
        around.append(found)
        lines = list(map(found.bare, lines))
    return around


def _carries(carrier: Carrier, lines: Sequence[bytes]) -> Around | None:
    found = [match for match in (carrier.form.fullmatch(line.rstrip(b"\r")) for line in lines) if match]
    if len(found) < FEW_LINES or len(found) < SHARE * len(lines):
        return None
    if "who" not in carrier.form.groupindex:
        return Around(carrier, None)
    found = [match for match in found if not _OF_SYSTEM.fullmatch(match["who"])]
    units = {_unit(match) for match in found}
    if len(units) == 1 and _one_after_the_other([match["who"] for match in found]):
        return Around(carrier, units.pop())
    writers = {match["who"] for match in found}
    return Around(carrier, None) if carrier.several and writers and 2 * len(writers) <= len(found) else None


def _unit(found: re.Match[bytes]) -> bytes:
    """Who wrote a line, whichever of its processes it was: it may have been started anew."""
    return _PROCESS.sub(b"", found["who"])


def _one_after_the_other(writers: Sequence[bytes]) -> bool:
    """Whether each has written all its lines before the next one begins."""
    changes = sum(one != other for one, other in pairwise(writers))
    return changes == len(set(writers)) - 1
