"""One pull from its first look to its manifest, through links that break: it goes on by itself as long as
bytes come.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.units import format_duration, format_size
from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic, pause, wall
from onbox.system.files import NO_ROOM
from patrol.memory.transfers import Register, Transfer
from patrol.transfer.meter import Meter
from patrol.transfer.names import Refused
from patrol.transfer.pull import FoundFiles, Pulled, PullJob, begun, bring, find
from patrol.transfer.staging import InUse, Staging
from patrol.transfer.stream.talk import LinkLost
from patrol.transfer.stream.tar_read import Odd

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0


class Interrupted(Exception):
    """It did not come to its end; what came stays, and the same command goes on."""

    def __init__(self, why: str, *, done_bytes: int, total_bytes: int) -> None:
        self.why, self.done_bytes, self.total_bytes = why, done_bytes, total_bytes
        super().__init__(why)


class Wishes(NamedTuple):
    """tries: connections that brought nothing before it gives up. command: what goes on with it, as it is told."""

    destination: str
    command: str
    tries: int = 5


def pull(job: PullJob, wishes: Wishes, register: Register, say: Callable[[str], None]) -> Pulled:
    """Bring a run home. say: a line for people, of what went wrong and is tried again. Raises Trouble, Interrupted,
    StateNotWritten.
    """
    lock = register.lock(Transfer("pull", job.box.name, job.run, "", "", 0.0, "").key)
    if lock is None:
        raise Trouble(Exit.ANOTHER_RUNNER, f"{job.box.name}/{job.run} is being pulled already, by another process")
    try:
        with closing(Staging(wishes.destination)) as staging:
            return _keep_on(job, wishes, register, staging, say)
    except InUse:
        raise Trouble(Exit.ANOTHER_RUNNER, f"{wishes.destination}: another transfer writes there now") from None
    finally:
        lock.release()


def _keep_on(job: PullJob, wishes: Wishes, register: Register, staging: Staging, say: Callable[[str], None]) -> Pulled:
    session = _Session(job, wishes, register, staging)
    fruitless, delay = 0, FIRST_PAUSE_SECONDS
    while True:
        before = session.came_bytes
        try:
            return session.attempt()
        except (LinkLost, Odd) as error:
            why = str(error)
            lasting = isinstance(error, LinkLost) and error.lasting
        except Refused as refused:
            raise Trouble(Exit.USAGE, f"{job.box.name}: {refused}; nothing more is taken from it") from refused
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            raise Trouble(Exit.STATE_NOT_WRITTEN, session.no_room()) from error
        finally:
            session.end_try()
        fruitless, delay = (0, FIRST_PAUSE_SECONDS) if session.came_bytes > before else (fruitless + 1, delay)
        if lasting or fruitless >= wishes.tries or wishes.tries <= 1:
            raise Interrupted(why, done_bytes=session.done_bytes, total_bytes=session.total_bytes)
        say(f"{job.box.name}: {why}; going on in {format_duration(delay)}")
        pause(delay)
        delay = min(LONGEST_PAUSE_SECONDS, 2 * delay)


class _Session:
    """What is known from one try to the next."""

    def __init__(self, job: PullJob, wishes: Wishes, register: Register, staging: Staging) -> None:
        self.job, self.wishes, self.register, self.staging = job, wishes, register, staging
        self.came_bytes = self.done_bytes = self.total_bytes = 0
        self.meter: Meter | None = None
        self.transfer: Transfer | None = None
        self.known: Transfer | None = None
        self.began = monotonic()

    def attempt(self) -> Pulled:
        job = self.job
        found = find(job)
        todo = [file for file in found.files.values() if not self.staging.has(file)]
        self._begin(found)
        self.meter = Meter(
            f"{job.box.name}/{job.run}", sum(file.size for file in todo), limit=job.limit, tell=self._tell
        )
        pulled = bring(job, found, self.staging, self.meter)
        assert self.transfer is not None
        now = wall()
        head = pulled.head
        is_complete = head.is_complete and head.files > 0
        self.transfer = self.transfer._replace(
            done_at=now,
            bytes_done=head.bytes_total,
            is_complete=is_complete,
            of_done_run=head.done,
            results_total=pulled.results,
        )
        self.register.write(self._unless_nothing_new(self.transfer, pulled), durable=True)
        return pulled

    def _unless_nothing_new(self, new: Transfer, pulled: Pulled) -> Transfer:
        """The record of an earlier pull where this one brought nothing: what was verified is still verified."""
        known = self.known
        if known is None or pulled.came_bytes or not (known.is_complete and new.is_complete):
            return new
        of_known = (known.destination, known.run_id, known.ended_at, known.of_done_run, known.results_total)
        same = of_known == (new.destination, new.run_id, new.ended_at, new.of_done_run, new.results_total)
        return known if same and known.files_total == new.files_total else new

    def end_try(self) -> None:
        self.staging.flush()
        if self.meter is not None:
            self.meter.end()
            self.came_bytes += self.meter.done_bytes
            self._tell(self.meter.done_bytes)
            self.meter = None

    def no_room(self) -> str:
        free = format_size(self.staging.free_bytes())
        left = f"{format_size(self.done_bytes)} of {format_size(self.total_bytes)} came"
        return (
            f"{self.wishes.destination}: the disk is full ({free} free); {left}. Make room, then: {self.wishes.command}"
        )

    def _begin(self, found: FoundFiles) -> None:
        known = self.known = self.register.read("pull", self.job.box.name, self.job.run)
        destination = self.wishes.destination
        new = begun(self.job, found, destination, self.wishes.command, wall())
        if (
            known is not None
            and known.done_at is None
            and known.destination == destination
            and known.run_id == new.run_id
        ):
            new = new._replace(began_at=known.began_at)
        self.total_bytes = new.bytes_total
        here = sum(file.size for file in found.files.values() if self.staging.has(file))
        self.transfer = new._replace(bytes_done=here)
        self._base = here
        self.register.write(self.transfer)

    def _tell(self, done_bytes: int) -> None:
        """On record for who looks from elsewhere."""
        if self.transfer is None or self.transfer.done_at is not None:
            return
        self.done_bytes = min(self.total_bytes, self._base + done_bytes)
        last = wall() if done_bytes else self.transfer.last_byte_at
        self.transfer = self.transfer._replace(bytes_done=self.done_bytes, last_byte_at=last)
        self.register.write(self.transfer)
