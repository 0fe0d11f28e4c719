"""What a run that must be accounted for promises before its launch, and what of it is open: one ordered table. Pure."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from handbook.page.phrases import safe
from onbox.checkpoints.select import step_of
from onbox.contract.differences import command_text, commit_text
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onbox.config.tables.record import Contract
    from onbox.model.manifest import Stage

# What differs in these cannot touch a training.
HARMLESS = ("docs/", "doc/", "tests/", "test/", "logs/", "logbook/", ".github/")
HARMLESS_ENDS = (".md", ".rst", ".txt", ".log", "handbook.json")
NO_TRACKER = "none"
STATED, INFERRED, MISSING, UNSEEN, REFUSED = "stated", "inferred", "MISSING", "NOT SEEN", "REFUSED"
BLOCKS = (MISSING, REFUSED, UNSEEN)


class World(NamedTuple):
    """What is promised and what is there. git: as `look_at_git` tells it; changed: files that differ from the commit;
    pushed: whether some remote branch holds the commit, None: not looked. owners: of the boxes. source: what is known
    of initialize_from: True: it is there and whole, False: it is not, None: it cannot be seen from here. untracked:
    files that a command names and git does not hold.
    """

    contract: Contract
    stages: Sequence[Stage]
    git: Mapping[str, Any]
    changed: tuple[str, ...]
    pushed: bool | None
    owners: tuple[str, ...]
    configured_max: int | None
    source: bool | None
    untracked: tuple[str, ...] = ()


class Promise(NamedTuple):
    """One item. standing: stated, inferred, MISSING, NOT SEEN or REFUSED; the last three block a launch."""

    name: str
    standing: str
    says: str


def named_files(stages: Sequence[Stage]) -> list[str]:
    """The words of the stages' commands that may be paths, as they stand below each stage's directory."""
    words = ((stage.cwd, word) for stage in stages for word in _words(stage.cmd))
    found = (
        os.path.join(folder, word) for folder, word in words if not word.startswith("-") and not os.path.isabs(word)
    )
    return list(dict.fromkeys(map(os.path.normpath, found)))


def _words(cmd: str | tuple[str, ...]) -> Sequence[str]:
    """An argv, or what a shell would take as words; a line that no shell could read has none."""
    try:
        return shlex.split(cmd) if isinstance(cmd, str) else cmd
    except ValueError:
        return ()


def trajectory_files(changed: Sequence[str]) -> list[str]:
    """Of changed files those that could touch a training."""
    return [one for one in changed if not one.startswith(HARMLESS) and not one.endswith(HARMLESS_ENDS)]


def _text(name: str, key: str, wanted: str) -> Callable[[World], Promise]:
    def read(world: World) -> Promise:
        value = getattr(world.contract, key)
        return Promise(name, STATED, safe(value)) if value else Promise(name, MISSING, f"[contract] {key}: {wanted}")

    return read


def _command(world: World) -> Promise:
    lines = "; ".join(f"{stage.name}: {command_text(stage.cmd)}" for stage in world.stages)
    return Promise("command", STATED, safe(lines, 1000)) if lines else Promise("command", MISSING, "[stages.*] cmd")


def _code(world: World) -> Promise:
    if "commit" not in world.git:
        return Promise("code", UNSEEN, safe(world.git.get("absent") or world.git.get("unknown") or "no git"))
    if world.pushed is False:
        return Promise("code", REFUSED, f"{commit_text(dict(world.git))} is on no remote branch: push it")
    return Promise("code", STATED, commit_text(dict(world.git)))


def _tree(world: World) -> Promise:
    serious = trajectory_files(world.changed)
    patch = str(world.git.get("patch_sha256") or "")[:12]
    if serious:
        more = f" and {len(serious) - 1} more" if len(serious) > 1 else ""
        return Promise(
            "tree", REFUSED, f"{safe(serious[0], 120)}{more} differ (patch {patch}): commit, or --accept-dirty"
        )
    if "commit" not in world.git:
        return Promise("tree", UNSEEN, "there is no commit to compare it with")
    if world.untracked:
        more = f" and {len(world.untracked) - 1} more" if len(world.untracked) > 1 else ""
        return Promise("tree", REFUSED, f"{safe(world.untracked[0], 120)}{more}: in no commit; git add, and commit")
    return Promise("tree", STATED, f"clean but for harmless files (patch {patch})" if world.changed else "clean")


def _output_root(world: World) -> Promise:
    root = world.contract.output_root
    if not root:
        return Promise("output root", MISSING, "[contract] output_root: an absolute path or URL, pinned")
    pinned = root.startswith("/") or "://" in root
    temporary = root.startswith(("/tmp", "/dev/shm", "/var/tmp"))
    if not pinned or temporary or "$" in root:
        return Promise(
            "output root", REFUSED, f"{safe(root)}: wanted an absolute, lasting place, with nothing to derive"
        )
    return Promise("output root", STATED, safe(root))


def _tracker(world: World) -> Promise:
    tracker = world.contract.tracker
    if not tracker:
        return Promise("tracker", MISSING, '[contract] tracker: id or name, and its resume policy; or "none"')
    if tracker == NO_TRACKER:
        return Promise("tracker", STATED, tracker)
    if "resume" not in tracker:
        return Promise("tracker", MISSING, f"{safe(tracker)}: and its resume policy, such as resume=allow")
    return Promise("tracker", STATED, safe(tracker))


def _checkpoints(world: World) -> Promise:
    said = [one for one in (world.contract.retention, world.contract.rollback) if one]
    if len(said) < 2:
        return Promise("checkpoints", MISSING, "[contract] retention and rollback: what is kept, how far back")
    return Promise("checkpoints", STATED, safe("; ".join(said)))


def _source(world: World) -> Promise:
    source = world.contract.initialize_from
    if not source:
        return Promise("initialized from", INFERRED, "nothing: a first launch from the beginning")
    step = step_of(source)
    if step is None:
        return Promise("initialized from", REFUSED, f"{safe(source)}: no step in its name")
    if world.source is False:
        return Promise("initialized from", REFUSED, f"{safe(source)}: not there, or not whole")
    seen = "whole" if world.source else "not to be seen from here: look there whether it is whole"
    return Promise("initialized from", STATED, f"step {step}, {safe(source)}: {seen}")


def _final_step(world: World) -> Promise:
    if world.contract.final_step is not None:
        return Promise("final step", STATED, str(world.contract.final_step))
    if world.configured_max is not None:
        return Promise("final step", INFERRED, f"{world.configured_max}, of [progress] max")
    return Promise("final step", MISSING, "[contract] final_step")


def _dri(world: World) -> Promise:
    if world.contract.dri:
        return Promise("DRI", STATED, safe(world.contract.dri))
    if len(set(world.owners)) == 1:
        return Promise("DRI", INFERRED, f"{safe(world.owners[0])}, owner of the box")
    return Promise("DRI", MISSING, "[contract] dri: who answers for it")


ROWS: tuple[Callable[[World], Promise], ...] = (
    _command, _code, _tree, _output_root, _tracker, _checkpoints, _source, _final_step,
    _text("runtime", "runtime", "image, package or container, pinned"), _dri,
    _text("babysitter", "babysitter", "who or what watches it"),
    _text("goal", "goal", "what it is for"), _text("stop", "stop", "when it is stopped or escalated"),
    _text("issue", "issue", "where it is accounted for"),
)  # fmt: skip


def promises(world: World, *, accept_dirty: bool = False) -> list[Promise]:
    """Every item, in order. accept_dirty: somebody said that the changes go along; they are named all the same."""
    found = [row(world) for row in ROWS]
    if accept_dirty:
        found = [one._replace(standing=STATED) if one.name == "tree" else one for one in found]
    return found
