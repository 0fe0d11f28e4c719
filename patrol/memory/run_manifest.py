"""The facts of run.json that a look needs: kept, because the file is sent only when it has changed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, as_object, as_whole, parse_object
from onbox.contract.names import name_problem
from onbox.contract.notify_targets import NOTIFY_EVENTS
from onbox.contract.runfile import is_apart
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping

TARGETS_LIMIT = 32
STAGES_LIMIT = 200
NAME_LIMIT = 80
PROMISES_LIMIT = 50  # artifacts of one stage
EVERY_SECONDS = 30.0
NOT_READ = "0"  # the id of a file that was not read, or by another version: it is asked for whole
_ENGINE_KEYS = ("address", "controller", "token")


class DeclaredStage(NamedTuple):
    """What run.json declares of a stage; None: it does not."""

    stall_after_seconds: float | None = None
    has_artifacts: bool = False
    timeout_seconds: float | None = None
    expected_seconds: float | None = None


class ArtifactPromise(NamedTuple):
    """An artifact that a stage declares: as in run.json."""

    pattern: str
    is_glob: bool
    min_count: int


class Manifest(NamedTuple):
    """id: INODE.SIZE.MTIME of the file. run_id: "" where the file was not understood; why: then the reason. python: of
    the run, an absolute path, or "". engine: that the run was handed to, or "". engine_settings: where it answers and
    what its token is called, as the run's own records say; believed by nobody yet. is_apart: its jobs write to another
    disk. targets: whom the run tells: what is relayed goes nowhere else. news: what it tells
    each of them. promises: the artifacts of each stage. is_whole: every stage was read. expected_seconds: of all of
    it. same_step: as in [detect].
    """

    id: str = NOT_READ
    run_id: str = ""
    python: str = ""
    engine: str = ""
    engine_settings: Mapping[str, str] = {}
    is_apart: bool = False
    targets: tuple[str, ...] = ()
    news: Mapping[str, tuple[str, ...]] = {}
    every_seconds: float = EVERY_SECONDS
    expected_seconds: float | None = None
    stage_count: int = 0
    stages: Mapping[str, DeclaredStage] = {}
    promises: Mapping[str, tuple[ArtifactPromise, ...]] = {}
    is_whole: bool = False
    same_step: float | None = None
    why: str = "no run.json"

    def has(self, stage: str) -> bool:
        """Whether its chain has such a stage: beside it may lie what another chain of the same name left. Where not
        every name was kept, any may be one of it.
        """
        knows_all = bool(self.stages) and len(self.stages) == self.stage_count
        return not knows_all or stage[:NAME_LIMIT] in self.stages


def parse(text: bytes, identity: str) -> Manifest:
    """What the box sent of the file: its head, and below it as many stages as there was room for."""
    first, _, rest = text.partition(b"\n")
    head = parse_object(first.rpartition(b', "stages": [')[0] + b"}")
    if head is None or not isinstance(head.get("run_id"), str):
        return Manifest(why="run.json is damaged or too long")
    stage_count = head.get("stage_count")
    stages = _stages(rest)
    is_whole = stage_count == len(stages)
    if len(stages) > STAGES_LIMIT:
        stages = {name: one for name, one in stages.items() if one != DeclaredStage()}
    backend = as_object(head.get("backend"))
    news, settings = _news(head), as_object(head.get("settings"))
    return Manifest(
        id=identity,
        run_id=safe_line(head["run_id"], 80),
        python=_program(head.get("python")),
        engine=safe_line(backend.get("name") or "", 40),
        engine_settings=_settings(backend),
        is_apart=bool(backend) and is_apart(backend),
        targets=tuple(news),
        news=news,
        every_seconds=as_number(settings.get("sample_every_seconds")) or EVERY_SECONDS,
        expected_seconds=as_number(settings.get("expected_seconds")),
        stage_count=stage_count if isinstance(stage_count, int) and 0 <= stage_count < 10**9 else 0,
        stages=stages,
        promises=_promises(rest),
        is_whole=is_whole,
        same_step=as_number(as_object(head.get("detect")).get("same_step")),
        why="",
    )


def _stages(lines: bytes) -> dict[str, DeclaredStage]:
    stages = {}
    for line in lines.split(b"\n"):
        stage = parse_object(line.strip().removesuffix(b","))
        if stage is not None and isinstance(stage.get("name"), str):
            stages[stage["name"][:NAME_LIMIT]] = DeclaredStage(
                as_number(stage.get("stall_after_seconds")),
                bool(stage.get("artifacts")),
                as_number(stage.get("timeout_seconds")),
                as_number(stage.get("expected_seconds")),
            )
    return stages


def _promises(lines: bytes) -> dict[str, tuple[ArtifactPromise, ...]]:
    found: dict[str, tuple[ArtifactPromise, ...]] = {}
    for line in lines.split(b"\n"):
        stage = parse_object(line.strip().removesuffix(b",")) or {}
        listed = stage.get("artifacts")
        if isinstance(stage.get("name"), str) and isinstance(listed, list) and len(found) < STAGES_LIMIT:
            items = [as_object(one) for one in listed[:PROMISES_LIMIT]]
            found[stage["name"][:NAME_LIMIT]] = tuple(
                ArtifactPromise(one["pattern"][:1000], one.get("is_glob") is True, as_whole(one.get("min_count")) or 1)
                for one in items
                if isinstance(one.get("pattern"), str)
            )
    return found


def _settings(backend: dict[str, Any]) -> dict[str, str]:
    return {key: value for key in _ENGINE_KEYS if isinstance(value := backend.get(key), str) and len(value) < 500}


def _news(head: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Of what each target is told, by its name."""
    found = as_object(head.get("notify")).get("targets")
    news = {}
    for one in map(as_object, found[:TARGETS_LIMIT] if isinstance(found, list) else ()):
        name, on = one.get("name"), one.get("on")
        if isinstance(name, str) and name_problem(name) is None:
            news[name] = tuple(word for word in NOTIFY_EVENTS if isinstance(on, list) and word in on)
    return news


def _program(path: object) -> str:
    """An absolute path that may stand in a command and be shown as it is; "" for anything else."""
    if not isinstance(path, str) or not path.startswith("/") or len(path) > 1000:
        return ""
    return path if path == safe_line(path) else ""


# -- kept between two looks


def to_plain(manifest: Manifest) -> dict[str, Any]:
    promises = {name: [list(one) for one in listed] for name, listed in manifest.promises.items()}
    stages = {name: list(one) for name, one in manifest.stages.items()}
    return {**manifest._asdict(), "stages": stages, "promises": promises}


def from_plain(data: dict[str, Any]) -> Manifest:
    """The inverse. Raises TypeError, AttributeError, KeyError for what is of another shape."""
    if set(data) != set(Manifest._fields):
        raise KeyError("the manifest of another version")
    stages = {name: DeclaredStage(*one) for name, one in data["stages"].items()}
    news = {name: tuple(words) for name, words in data["news"].items()}
    promises = {name: tuple(ArtifactPromise(*one) for one in listed) for name, listed in data["promises"].items()}
    data = {**data, "promises": promises}
    return Manifest(**{**data, "targets": tuple(data["targets"]), "news": news, "stages": stages})
