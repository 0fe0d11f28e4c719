"""The result of one check."""

from __future__ import annotations

import os
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from onbox.named_tuple import NamedTuple
from onbox.runs.start_command import StartCommand
from onbox.system.command import run_command
from onbox.system.http import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from onbox.chain.gates.start_gates import GateSight
    from onbox.collectors.gpu.health import Xid
    from onbox.collectors.gpu.nvml import GpuReading
    from onbox.collectors.snapshot import Snapshot
    from onbox.contract.paths import RunPaths
    from onbox.contract.readings import Maybe
    from onbox.model.manifest import Stage
    from onbox.system.command import CommandResult, NotRun
    from onbox.system.http import NoReply, Question, Reply

    Ask = Callable[[Question, float], Reply | NoReply]


class Run(Protocol):
    """As `system.command.run_command`."""

    def __call__(
        self, argv: Sequence[str], *, timeout_seconds: float, env: Mapping[str, str] | None = None
    ) -> CommandResult | NotRun: ...


class CheckVerdict(Enum):
    """FAIL: a run started now would fail or be lost. WARN: it may; or the check could not look."""

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    WARN = "WARN"
    FAIL = "FAIL"


class CheckResult(NamedTuple):
    """seen: what was found. remedy: what to do about it, "" if nothing is to do. looked: False if it could not look."""

    check: str
    verdict: CheckVerdict
    seen: str
    remedy: str = ""
    looked: bool = True


def passed(check: str, seen: str) -> CheckResult:
    return CheckResult(check, CheckVerdict.PASS, seen)


def warned(check: str, seen: str, remedy: str) -> CheckResult:
    return CheckResult(check, CheckVerdict.WARN, seen, remedy)


def failed(check: str, seen: str, remedy: str) -> CheckResult:
    return CheckResult(check, CheckVerdict.FAIL, seen, remedy)


def unseen(check: str, why: str, remedy: str = "") -> CheckResult:
    """Could not look: neither good nor bad is known."""
    return CheckResult(check, CheckVerdict.WARN, f"could not look: {why}", remedy, looked=False)


def unreached(check: str, why: str, remedy: str) -> CheckResult:
    """An engine that cannot be asked: what it has is not known, and a run could not be started now."""
    return CheckResult(check, CheckVerdict.FAIL, f"could not look: {why}", remedy, looked=False)


class EngineCheck(NamedTuple):
    """What is looked at before a chain is handed to an engine. is_here: whether all its nodes are this machine."""

    check: Callable[[CheckFacts], Iterator[CheckResult]]
    is_here: Callable[[CheckFacts], bool] = lambda facts: False


class CheckFacts(NamedTuple):
    """What the checks judge. config_path, config_errors: of onbox.toml ("" if there is none). environ: of the caller,
    as the runner would have it. snapshot: readings of this session. sight: of an environment. gpus, xids: see
    `collectors.gpu`. root: of /etc, /proc and /var, "/" but in tests. engine: what the chain is handed
    to, "local": nothing; engine_settings: its table in onbox.toml, and `grace_seconds`. run, ask: how it is asked.
    not_accepted: what of the file the engine needs and nobody accepted here; "": nothing.
    sweeps: those that lie in the project's state directory. typed: `-c FILE` and `--backend NAME` of the command line.
    python: onbox's own; packages: what else is installed for it.
    """

    folder: str
    config_path: str
    config_errors: str
    stages: Sequence[Stage]
    notify: Sequence[str]
    paths: RunPaths
    environ: Mapping[str, str]
    snapshot: Snapshot
    gpus: Maybe[GpuReading]
    xids: Maybe[list[Xid]]
    sight: Callable[[Mapping[str, str]], GateSight]
    root: str = "/"
    engine: str = "local"
    engine_settings: Mapping[str, Any] = MappingProxyType({})
    run: Run = run_command
    ask: Ask = ask
    not_accepted: str = ""
    sweeps: Sequence[RunPaths] = ()
    typed: tuple[str, ...] = ()
    python: str = ""
    packages: Callable[[], Collection[str]] = tuple

    @property
    def start(self) -> StartCommand:
        """The command that would start what was checked."""
        return StartCommand(os.path.basename(self.paths.root), options=self.typed)
