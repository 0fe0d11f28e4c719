"""Where targets lie: from words and the configuration to a host and a full path there, or to a job's id."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from onbox.config.fields import Unwanted
from onbox.config.tables.engines import job_id as read_id
from onbox.contract.exits import Exit
from onbox.contract.names import name_problem
from onbox.contract.paths import RunPaths
from onbox.errors import Trouble
from onbox.model.boxes import USUAL_DONE_REGEX, BoxSettings
from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten
from patrol.engines.endpoint import how_to_name_it, of_cluster, of_run
from patrol.engines.watched import current_job
from patrol.memory.rows import MemoryTrouble
from patrol.memory.run_codec import memories_of
from patrol.memory.store import Memory
from patrol.ssh import client as ssh
from sentinels.judge.conditions.program import WatchedProgram
from sentinels.judge.jobs import Asked
from sentinels.link.channel import LOCAL
from sentinels.targets import BadTarget, Target, TargetKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onbox.backends.cluster import Endpoint
    from onbox.model.boxes import Watch
    from patrol.config.settings import Settings
    from patrol.look_now import RunNow
    from patrol.memory.run_memory import RunMemory


class UnknownBox(ValueError):
    """The configuration does not say what is needed to find the target."""


class TargetPlace(NamedTuple):
    """One target where it lies. key: tells the target from every other one, for the register.

    job: of a target on a cluster; then path is its id. seen_in: the life of the head in which the patrol saw it last;
    None: it never did. endpoint_of: of a run that may be with an engine, from the engine's name and the run's own
    records to where it answers. note: what is to be said of how it is waited for; "" for nothing.
    program: of a job that onbox did not start, whose end is told, too. table: whether such a job is done, as a tick
    says. watched: names that the box's `watch` entries have: what else could be meant.
    """

    target: Target
    box: ssh.SshTarget
    path: str
    job: Asked | None = None
    seen_in: str | None = None
    endpoint_of: Callable[[str, Mapping[str, str]], Endpoint | None] | None = None
    note: str = ""
    program: WatchedProgram | None = None
    table: Callable[[], RunNow] | None = None
    watched: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        fields = (
            self.job.endpoint.address if self.job else self.box.host or "",
            self.target.kind.value,
            self.path,
            self.target.regex,
            str(self.target.fails),
        )
        return "\0".join(fields)


def find_place(target: Target, settings: Settings, folder: str) -> TargetPlace:
    """The target's host and path. folder: where relative paths here begin. Raises UnknownBox, BadTarget,
    Trouble where the way there is not accepted.
    """
    boxes, words = settings.config.boxes, settings.ssh_command
    if target.box is None:
        _refuse_lookalike(target, boxes, folder)
        root = _run_here(target, settings)
        if root is not None:
            own = BoxSettings(LOCAL, LOCAL, settings.folder, "local")
            run = target._replace(kind=TargetKind.RUN)
            return TargetPlace(run, ssh.SshTarget(LOCAL, None), root, endpoint_of=partial(of_run, settings, own))
        return TargetPlace(target, ssh.SshTarget(LOCAL, None), _local_path(target, folder))
    box = next((one for one in boxes if one.name == target.box), None)
    if why := settings.not_trusted(box or BoxSettings(target.box, target.box)):
        raise Trouble(Exit.CONFIG, why)
    if box is None:
        return TargetPlace(target, ssh.SshTarget(target.box, target.box, words), _path_of_host(target, boxes))
    if box.is_cluster:
        return _job_place(target, box, settings)
    host = None if box.backend == "local" else box.host
    watch = next((one for one in box.watches if target.kind is TargetKind.RUN and one.name == target.path), None)
    if watch is not None:
        proof = _proof_of(watch, target)
        path = _path_on_box(proof, box, "")
        program = WatchedProgram(watch.process, box.project or "") if watch.process is not None else None
        note = _watch_note(proof, path, program)
        table = partial(_look_now, settings, box, watch.name)
        return TargetPlace(proof, ssh.SshTarget(box.name, host, words), path, note=note, program=program, table=table)
    path = _path_on_box(target, box, settings.state_dir_of(box))
    names = tuple(watch.name for watch in box.watches)
    where, of_engine = ssh.SshTarget(box.name, host, words), partial(of_run, settings, box)
    return TargetPlace(target, where, path, endpoint_of=of_engine, watched=names)


def _look_now(settings: Settings, box: BoxSettings, watch: str) -> RunNow:
    from patrol.look_now import look_now  # noqa: PLC0415 - 34 ms, and only where a watched job is waited for

    return look_now(settings, box, watch)


def _proof_of(watch: Watch, target: Target) -> Target:
    """What says that a job is done which onbox did not start: the line, or the file, that its entry names. Raises
    BadTarget where it names neither.
    """
    if watch.done_file is not None and (watch.done_regex is None or watch.log is None):
        return target._replace(kind=TargetKind.MARKER, path=watch.done_file)
    if watch.log is None:
        raise BadTarget(
            f"{target.text!r}: onbox did not start this job, and its `watch` entry names no log and no done_file; "
            f"name what ends it: --log {target.box}:PATH --regex RE, or {target.box}:/PATH/MARKER"
        )
    return target._replace(kind=TargetKind.LOG, path=watch.log, regex=watch.done_regex or USUAL_DONE_REGEX)


def _watch_note(proof: Target, path: str, program: WatchedProgram | None) -> str:
    """What is waited for, and whether its death is noticed."""
    what = f"the file {path}" if proof.kind is TargetKind.MARKER else f"/{proof.regex}/ in {path}"
    if program is not None:
        return f"{proof.text}: waits for {what}, or until no process matches /{program.pattern}/ any more"
    return f"{proof.text}: waits for {what}; to hear of its death, too: --pid {proof.box}:PID, or --stall-after 30m"


def _job_place(target: Target, box: BoxSettings, settings: Settings) -> TargetPlace:
    """A job on a cluster: by the name of a `watch` entry, or by its id."""
    if target.kind not in (TargetKind.RUN, TargetKind.MARKER) or target.fails:
        raise BadTarget(f"{target.text!r}: on a cluster only jobs can be waited for: {box.name}:NAME or {box.name}:ID")
    endpoint = of_cluster(settings, box)
    if endpoint is None:
        raise UnknownBox(f"[boxes.{box.name}]: no address is known; {how_to_name_it(box.backend)}")
    watch = next((one for one in box.watches if one.name == target.path), None)
    kept = _kept(watch, box, settings) if watch is not None else None
    job_id = current_job(watch, kept).job_id if watch is not None else target.path
    try:
        job_id = read_id(box.backend, job_id)
    except Unwanted as problem:
        known = ", ".join(one.name for one in box.watches) or "none"
        raise BadTarget(
            f"{target.text!r}: wanted {problem.wanted}, or the name of a watched job ({known})"
        ) from problem
    job = kept.job if kept is not None else None
    seen_in = job.session if job is not None and job.seen and job.job_id == job_id else None
    return TargetPlace(target, ssh.SshTarget(box.name, None), job_id, Asked(endpoint, job_id), seen_in)


def _kept(watch: Watch, box: BoxSettings, settings: Settings) -> RunMemory | None:
    """What the patrol remembers of the job: its id, if it was submitted anew, and whether it was ever seen."""
    memory = Memory(settings.state)
    try:
        texts = memory.recall().memories.get(box.name, {}) if os.path.exists(memory.path) else {}
    except (MemoryTrouble, StateNotWritten):
        texts = {}
    return memories_of(texts).runs.get(watch.name)


def _refuse_lookalike(target: Target, boxes: Sequence[BoxSettings], folder: str) -> None:
    """`gpu1/digits` is how the patrol shows a run; as a path here it would be waited for in vain."""
    box, slash, run = target.path.partition("/")
    if slash and box in {one.name for one in boxes} and not os.path.isdir(os.path.join(folder, box)):
        raise BadTarget(f"{target.text!r}: there is no folder {box!r} here; for the run on the box: {box}:{run}")


def _run_here(target: Target, settings: Settings) -> str | None:
    """The directory of the run that a word alone names where the runs of this project lie; None: it names a file. A run
    that has not begun is known by its name in onbox.toml, where no box is configured that it could be meant for.
    """
    if target.kind is not TargetKind.MARKER or target.fails or name_problem(target.path) is not None:
        return None
    config = settings.config
    root = os.path.join(settings.folder, config.state_dir, target.path)
    named = settings.config_path is not None and not config.boxes and target.path == config.run_name
    return root if named or os.path.isfile(RunPaths(root).manifest) else None


def note_of(place: TargetPlace, boxes: Sequence[BoxSettings], folder: str) -> str:
    """A word alone may be a file here, a run here or a run on a box: which one is waited for. "" where nothing is
    doubtful.
    """
    if place.note:
        return place.note
    target = place.target
    if target.kind is TargetKind.RUN and target.box is None and os.path.lexists(os.path.join(folder, target.path)):
        return f"waits for the run in {place.path}; for the file: ./{target.path}"
    plain = (
        target.kind is TargetKind.MARKER
        and target.box is None
        and target.path.replace("-", "").replace("_", "").isalnum()
    )
    if not (plain and boxes) or os.path.lexists(place.path):
        return ""
    if target.path in {box.name for box in boxes}:
        return f"waits for the file {place.path}; for a run on the box {target.path}: {target.path}:RUN"
    return f"waits for the file {place.path}; for a run on a box: {boxes[0].name}:{target.path}"


def _local_path(target: Target, folder: str) -> str:
    if target.kind is TargetKind.PROCESS:
        return target.path
    return os.path.join(folder, os.path.expanduser(target.path))


def _path_of_host(target: Target, boxes: Sequence[BoxSettings]) -> str:
    """On a host that the configuration does not name: a full path is needed, and enough."""
    if target.kind is TargetKind.RUN:
        known = ", ".join(box.name for box in boxes) or "none"
        raise UnknownBox(
            f"{target.text}: no [boxes.{target.box}] says where its runs are (boxes: {known}); "
            f"add it to onbox.toml, or give a path: {target.box}:/PATH/MARKER"
        )
    return target.path


def _path_on_box(target: Target, box: BoxSettings, state_dir: str) -> str:
    if target.kind is TargetKind.PROCESS or target.path.startswith(("/", "~/")):
        return target.path
    path = f"{state_dir}/{target.path}" if target.kind is TargetKind.RUN else target.path
    if path.startswith(("/", "~/")):
        return path
    if box.project is None:
        raise BadTarget(f"{target.text}: [boxes.{box.name}] has no `project` below which {path!r} could lie")
    return f"{box.project.rstrip('/')}/{path}"
