"""Looks at jobs of clusters, made of captured answers by the parsers that a tick uses; small to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.base import Job
from onbox.backends.cluster import ClusterJob, Endpoint, JobLog
from onbox.backends.iris import cluster as iris_cluster
from onbox.backends.iris import text as iris_text
from onbox.backends.ray import cluster as ray_cluster
from onbox.model.boxes import Watch
from patrol.engines.watched import look_of
from tests.fake_cluster import case
from tests.patrol.makers import NOW

if TYPE_CHECKING:
    from patrol.memory.run_memory import RunMemory
    from patrol.snapshot import RunLook

RAY = Endpoint("ray", "http://127.0.0.1:8265")
IRIS = Endpoint("iris", "http://127.0.0.1:10000")


def ray_told(name: str, *, logs: str = "", nodes: str = "") -> ClusterJob:
    """What a look at the head brings. name, logs, nodes: of captured answers; name "": it does not know the job."""
    if not name:
        return ray_cluster.read_told("x", 404, "Job x does not exist", "session_2")
    told = ray_cluster.read_told("x", 200, case(name), "session_1")
    if logs:
        told = ray_cluster.with_log(told, 200, case(logs))
    dead = ray_cluster.read_dead_nodes(200, case(nodes)) if nodes else ()
    return ray_cluster.with_nodes(told, dead)


def iris_told(name: str, job_id: str, *, tasks: str = "", logs: str = "") -> ClusterJob:
    text = case(name)
    told = iris_cluster.read_told(job_id, 200, text)
    if tasks and isinstance(told.word, Job):
        word = iris_text.with_tasks(told.word, iris_text.read_tasks(200, case(tasks)), iris_text.memory_limit(text))
        told = told._replace(word=word)
    return iris_cluster.with_log(told, 200, case(logs)) if logs else told


def look_at_job(
    told: ClusterJob, endpoint: Endpoint = RAY, *, session: str = "session_1", ago: float | None = None
) -> RunLook:
    """The look at NOW. ago: seconds since an earlier look at which the job was the same; None: this is the first."""
    watch = Watch("digits", job="x")
    told = _at_our_time(told)
    known: RunMemory | None = None
    if ago is not None:
        earlier = told if isinstance(told.word, Job) else _at_our_time(ray_told("ray_api_job_steps2.json"))
        _, known = look_of(watch, endpoint, earlier, "session_1", None, NOW - ago)
    return look_of(watch, endpoint, told, session, known, NOW)[0]._replace(run_id="r1")


def _at_our_time(told: ClusterJob) -> ClusterJob:
    """As if it had been captured so that the job began 40,000 s before NOW, and printed its last line 100 s before."""
    began = told.began_at or told.submitted_at
    if began is None:
        return told
    move = NOW - 40_000 - began
    times = {
        name: None if at is None else at + move
        for name, at in (("submitted_at", told.submitted_at), ("began_at", told.began_at), ("ended_at", told.ended_at))
    }
    log = told.log
    if isinstance(log, JobLog) and log.written_at is not None:
        log = log._replace(written_at=NOW - 100)
    return told._replace(**times, log=log)  # type: ignore[arg-type]
