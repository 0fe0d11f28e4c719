"""The local side of onbox.toml, as values: which boxes there are, and how they are looked at."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from onbox.model.engines import CLUSTERS, NAMES
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

BACKENDS = ("ssh", "local", *NAMES)
RECOVERIES = ("never", "resume")
DEFAULT_SCHEDULE = "3,33 * * * *"
DEFAULT_ALERTS_PER_DAY = 6  # above the resumes of a day: the death after the last one is told
DEFAULT_DIGEST_MINUTE = 8 * 60


class StopAt(NamedTuple):
    """Where a person wants to be told and the patrol to end its watch: at a step, at a time (seconds since the epoch),
    or at a loss that is no higher; the first that comes. None: not given.
    """

    step: float | None = None
    at: float | None = None
    loss: float | None = None


# The last words of a job that nobody has told more of.
USUAL_DONE_REGEX = "QUEUE DONE|Training completed"


class Watch(NamedTuple):
    """A run that onbox did not start. At least one of log, process, session and artifacts is given.

    Paths are the box's; a relative one is below the project. process: a pattern as for `pgrep -f`. session: name of a
    tmux or screen session. done_file: a file whose existence says that it is done; done_count: so many files that match
    `artifacts` say the same. stall_after_seconds, expected_seconds: None: the policy's default; not known.
    job: the id of a job on a cluster (then nothing else of these is given but the two durations). resubmit: the
    command, run here, that submits it anew and prints the new id; None: a patrol never does. resume: the line that
    starts it again on the box, for a person to type.
    """

    name: str
    log: str | None = None
    process: str | None = None
    session: str | None = None
    artifacts: tuple[str, ...] = ()
    done_regex: str | None = None
    done_file: str | None = None
    done_count: int | None = None
    stall_after_seconds: float | None = None
    expected_seconds: float | None = None
    job: str | None = None
    resubmit: tuple[str, ...] | None = None
    stop_at: StopAt | None = None
    resume: str | None = None


class DeclaredCount(NamedTuple):
    """A directory whose number of files on the box must reach that of the local source."""

    local: str
    remote: str


class Price(NamedTuple):
    """What a box costs: so much of a currency in so many seconds."""

    amount: float
    currency: str
    seconds: float

    def of(self, seconds: float) -> float:
        """What so long a time costs."""
        return self.amount * seconds / self.seconds

    def __str__(self) -> str:
        return f"{self.amount:g} {self.currency}/{'h' if self.seconds == HOUR_SECONDS else 'd'}"


HOUR_SECONDS, DAY_SECONDS = 3600.0, 86_400.0


class Billing(NamedTuple):
    """How a rented box is paid for. started_at: since when it is rented; None: not said. budget, idle_budget: amounts
    of which people are told when they are reached, in all, and while nothing runs there; None: they are not.
    """

    price: Price
    started_at: float | None = None
    budget: float | None = None
    idle_budget: float | None = None


class BoxSettings(NamedTuple):
    """One box. project: the project's directory there; None: not given (then only `watch` entries with absolute paths
    can be looked at). state_dir: where its runs live, below the project unless absolute; None: as `[run] state_dir`.
    owner: who answers for its runs, in words. clocks: what ends or costs by itself there, in words, such as a release
    at a fixed time. stop_at: of all its runs that name none of their own; None: nowhere. results: patterns of small
    files there that a report shows as they are, once a run is done. address, token: of a cluster, where they
    differ from those in its engine's table; token is a reference. billing: None: no price is known. provider: the
    profile of who rents it out, or a path of one's own; None: the general one. group: the table's name, where one
    table names several projects; "": it names one.
    """

    name: str
    host: str
    project: str | None = None
    backend: str = "ssh"
    recover: str = "never"
    state_dir: str | None = None
    owner: str | None = None
    clocks: tuple[str, ...] = ()
    deadline_seconds: float | None = None
    watches: tuple[Watch, ...] = ()
    counts: tuple[DeclaredCount, ...] = ()
    stop_at: StopAt | None = None
    results: tuple[str, ...] = ()
    address: str | None = None
    token: str | None = None
    billing: Billing | None = None
    provider: str | None = None
    group: str = ""

    @property
    def is_cluster(self) -> bool:
        return self.backend in CLUSTERS


class PatrolSettings(NamedTuple):
    """[patrol]. deadline_seconds: per box and tick. at_once: boxes in flight at the same time; per_host: logins in
    flight to one host and port or jump host. multiplex: keep a master connection between ticks. ping: reference to the
    URL of a dead-man's switch. textfile: path for Prometheus' node_exporter. report: path of the page that each tick
    makes anew. alerts_per_day: how often one trouble of
    one run is told within a day. digest_minute: when the daily message is due, in minutes of this machine's day; None:
    there is none. thresholds and rules: as they stand in the
    file; `patrol.decide` knows what they may hold.
    """

    schedule: str = DEFAULT_SCHEDULE
    deadline_seconds: float = 30.0
    at_once: int = 16
    per_host: int = 6
    multiplex: bool = False
    ping: str | None = None
    textfile: str | None = None
    report: str | None = None
    restarts_per_day: int = 3
    alerts_per_day: int = DEFAULT_ALERTS_PER_DAY
    digest_minute: int | None = DEFAULT_DIGEST_MINUTE
    thresholds: Mapping[str, object] = MappingProxyType({})
    rules: tuple[Mapping[str, object], ...] = ()
