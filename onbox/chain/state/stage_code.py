"""Which code a stage ran with, and whether it is the same now: the commit, and the scripts and configuration files that
its command names.

A file is known by size and checksum: a change is to be told, not to be proven, and the runner is spared OpenSSL.
"""

from __future__ import annotations

import binascii
import os
from typing import TYPE_CHECKING, Any

from onbox.chain.command.command_files import files_of
from onbox.chain.state.slots import read_marker
from onbox.contract.differences import commit_text
from onbox.contract.events import Event
from onbox.contract.markers import Marker
from onbox.contract.runfile import parse_head
from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple
from onbox.system.files import LINE_LIMIT_BYTES, open_plain, read_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from onbox.chain.gates.success_gate import GateFinding
    from onbox.chain.observe.post_mortem import Cause
    from onbox.chain.state.earlier_results import ResultsPlace
    from onbox.chain.state.replay import History
    from onbox.contract.runfile import FrozenStage
    from onbox.model.manifest import Stage

SCRIPT_LIMIT_BYTES = 4 << 20
SHELL_SCRIPTS = (".sh", ".bash", ".zsh")
_UNFINISHED = (Event.ATTEMPT_STARTED, Event.STAGE_FAILED, Event.STAGE_INTERRUPTED, Event.STAGE_RETRYING)


SCRIPT_GATE = "script "  # before the name, in a finding
CHANGED = "was changed while it ran"
_MAY_FOLLOW = frozenset({"config_error", "code_error", "unknown"})


class CodeChange(NamedTuple):
    """Of one stage: since what the code is another one, and each difference as one line, not redacted yet."""

    stage: str
    since: str
    differences: tuple[str, ...]


def look_at_scripts(stage: Stage, folder: str) -> dict[str, list[int]]:
    """{script or configuration as the command names it: [bytes, checksum]}, of those that are there now."""
    found = {}
    for name in files_of(stage, folder):
        try:
            text = read_file(os.path.join(folder, name), SCRIPT_LIMIT_BYTES) or b""
        except OSError:
            continue
        found[name] = [len(text), binascii.crc32(text)]
    return found


class FrozenGit:
    """The git state of one run, read from its run.json until it is there."""

    def __init__(self, manifest: str) -> None:
        self._manifest = manifest
        self._known: dict[str, Any] = {}

    def look(self) -> dict[str, Any]:
        """As `frozen_git`."""
        self._known = self._known or frozen_git(self._manifest)
        return self._known


def frozen_git(manifest: str) -> dict[str, Any]:
    """The git state in run.json as it is now: it is looked at while the first stage starts. {}: not known."""
    try:
        with open_plain(manifest) as file:
            git = parse_head(file.readline(LINE_LIMIT_BYTES)).data.get("git")
    except (OSError, ValueError):
        return {}
    return dict(git) if isinstance(git, dict) and "unknown" not in git else {}


def changed_scripts(then: Mapping[str, Any], stage: Stage, folder: str) -> tuple[str, ...]:
    """Scripts that are not as they were. then: of `look_at_scripts`, before."""
    if not then:
        return ()
    now = look_at_scripts(stage, folder)
    return tuple(name for name, seen in then.items() if now.get(name) != list(seen))


def blame_changed_script(cause: Cause, findings: Sequence[GateFinding]) -> Cause:
    """The cause, or the script that was replaced under a shell, where that explains it as well."""
    names = [one.gate.removeprefix(SCRIPT_GATE) for one in findings if one.gate.startswith(SCRIPT_GATE)]
    shells = [name for name in names if name.endswith(SHELL_SCRIPTS)]
    if not shells or cause.failure_class not in _MAY_FOLLOW:
        return cause
    remedy = f"Start it again: {shells[0]} {CHANGED}, and a shell reads its script as it goes."
    return cause._replace(failure_class="unknown", rule="script-changed", remedy=remedy, confidence="medium")


def find_code_changes(
    place: ResultsPlace,
    stages: Sequence[FrozenStage],
    history: History,
    git_now: Mapping[str, Any],
    redo: Collection[str],
) -> Iterator[CodeChange]:
    """Of every stage that would be skipped or resumed with other code than it ran with. redo: stages that run anew."""
    if place.project is None:
        return
    before = frozen_git(place.paths.manifest)
    for frozen in stages:
        stage, known = frozen.stage, history.of(frozen.stage.name)
        marker = read_marker(place.paths.done(stage.name))
        if stage.name in redo:
            continue
        if isinstance(marker, Marker):
            code, since = marker.data.get("code"), f"it was DONE ({marker.data.get('ended_at', '?')})"
        elif known.last in _UNFINISHED and known.attempts:
            code = {"git": before, **((known.started or {}).get("code") or {})}
            since = f"its attempt {known.attempts} began"
        else:
            continue
        found = _differences(code, stage, folder_of(place.project, stage), git_now)
        if found:
            yield CodeChange(stage.name, since, found)


def _differences(code: object, stage: Stage, folder: str, git_now: Mapping[str, Any]) -> tuple[str, ...]:
    if not isinstance(code, dict):
        return ()
    found = []
    git, scripts = code.get("git") or {}, code.get("scripts") or {}
    if "commit" in git and "commit" in git_now and commit_text(git) != commit_text(git_now):
        found.append(f"commit: {commit_text(git)} → {commit_text(git_now)}")
    for name in changed_scripts(scripts, stage, folder):
        there = os.path.exists(os.path.join(folder, name))
        found.append(f"{name}: has changed" if there else f"{name}: not there any more")
    return tuple(found)
