"""The run at an experiment tracker that is meant, and the one that was seen: as onbox.toml and run.json say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = ("wandb", "trackio")
RESUMES = ("allow", "must", "never")
TEXT_LIMIT = 500  # characters of one field that a log or a file told


class Intent(NamedTuple):
    """`[tracker]`: the run that is meant. None in a field: nothing is said of it.

    kind: `wandb` or `trackio`. entity: W&B's user or team. run_id: as in the run's URL. name: as people see it.
    resume, in W&B's words, of a stage's later attempts: "must" go on in the run of the attempt before, "never" may,
    "allow": both will do. stages: whose runs are meant; (): every stage's. api, key: of the local side only: the
    server's address, and the reference (`env:NAME`, `file:PATH`) of the key to ask it with.
    """

    kind: str | None = None
    entity: str | None = None
    project: str | None = None
    run_id: str | None = None
    name: str | None = None
    resume: str = "allow"
    stages: tuple[str, ...] = ()
    api: str | None = None
    key: str | None = None

    def is_about(self, stage: str) -> bool:
        return not self.stages or stage in self.stages


_FROZEN = ("kind", "entity", "project", "run_id", "name", "resume", "stages")


def intent_to_dict(intent: Intent) -> dict[str, Any]:
    """The field `tracker` of run.json: what is at its default, and what is the local side's, is left out."""
    default = Intent()._asdict()
    kept = {key: value for key, value in intent._asdict().items() if key in _FROZEN and value != default[key]}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in kept.items()}


def intent_from_dict(data: object) -> Intent:
    """The inverse; what is no such field, or of another type, says nothing."""
    if not isinstance(data, dict):
        return Intent()
    texts = {key: data[key] for key in _FROZEN[:-1] if isinstance(data.get(key), str)}
    stages = data.get("stages")
    return Intent(**texts, stages=tuple(map(str, stages)) if isinstance(stages, list) else ())


class TrackerIdentity(NamedTuple):
    """A run at a tracker, as the journal records it when a stage's attempt is first seen to log to it. None: not told.

    tracker: `wandb`, `mlflow`, ... url: of the run, or of its project where it has no page. place: where it
    lies on the box: the directory of a W&B run, the database of a trackio project.
    """

    tracker: str
    run_id: str | None = None
    name: str | None = None
    entity: str | None = None
    project: str | None = None
    url: str | None = None
    place: str | None = None
    stage: str | None = None
    attempt: int | None = None

    @property
    def key(self) -> tuple[str | None, ...]:
        """What tells two runs apart: the id; without one, the project and the name."""
        return (self.tracker, self.run_id) if self.run_id else (self.tracker, self.project, self.name, self.url)


def identity_from_record(record: Mapping[str, Any]) -> TrackerIdentity | None:
    """Of a `tracker_run` record of the journal, which may be damaged; None: it names no tracker."""
    tracker = record.get("tracker")
    if not isinstance(tracker, str) or not tracker:
        return None
    texts = {
        field: value[:TEXT_LIMIT]
        for field in ("run_id", "name", "entity", "project", "url", "place", "stage")
        if isinstance(value := record.get(field), str) and value
    }
    attempt = record.get("attempt")
    whole = attempt if isinstance(attempt, int) and not isinstance(attempt, bool) else None
    return TrackerIdentity(tracker[:TEXT_LIMIT], **texts, attempt=whole)


def describe_identity(identity: TrackerIdentity) -> str:
    """`wandb abc123 "misty-sun-7" · https://…`: what is known of it, in one line. Texts of a box: redact it."""
    words = [identity.tracker]
    words += [identity.run_id] if identity.run_id else []
    words += [f'"{identity.name}"'] if identity.name and identity.name != identity.run_id else []
    where = identity.url or identity.place
    return " ".join(words) + (f" · {where}" if where else "")
