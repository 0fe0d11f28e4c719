"""The conditions of a box's runs, from a look at it now and from what lies here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.names import name_problem
from onbox.contract.readings import observed
from onbox.model.units import counted, format_size
from onbox.system.clock import local_text
from patrol.decide.remote_command import here
from patrol.judge import ended_at
from patrol.memory.transfers import is_same_end
from patrol.teardown.conditions import RunConditions, TeardownCondition
from patrol.transfer.manifest import NotOne
from patrol.transfer.wanted import name_results
from patrol.verify.check import read_manifest

if TYPE_CHECKING:
    from patrol.memory.transfers import Register, Transfer
    from patrol.snapshot import BoxLook, RunLook
    from patrol.teardown.profile import Verb
    from patrol.transfer.manifest import HomeManifest


def conditions_of(
    box: BoxLook, runs: tuple[RunLook, ...], register: Register, verb: Verb | None
) -> list[RunConditions]:
    """One entry for each run. verb: what a person said of this very box; None: nothing."""
    return [_of_run(box, run, register, verb) for run in runs]


def _of_run(box: BoxLook, run: RunLook, register: Register, verb: Verb | None) -> RunConditions:
    name = f"{box.box}/{run.run}"
    transfer = register.read("pull", box.box, run.run) if name_problem(run.run) is None else None
    alive = _alive(run)
    pulled = _pulled(box, run, transfer, name, alive)
    verified = _verified(transfer, name, is_pulled=pulled.holds is True)
    said = f"you said: {verb.name} {box.box}" if verb is not None else "nobody has said which box and which verb"
    word = TeardownCondition(
        "word", verb is not None, said, "" if verb else here("patrol", "teardown-check", box.box, "--word")
    )
    return RunConditions(run.run, pulled, verified, word, alive)


def _alive(run: RunLook) -> str:
    if run.runner_alive is True or run.stage_alive is True:
        return "it runs"
    if observed(run.runner_alive) is None and run.managed:
        return "whether it runs could not be seen"
    if observed(run.stage_alive) is None:
        return "whether it runs could not be seen"
    return ""


def _pulled(box: BoxLook, run: RunLook, transfer: Transfer | None, name: str, alive: str) -> TeardownCondition:
    again = here("patrol", "pull", name)
    if transfer is None:
        return TeardownCondition("pulled", holds=False, proof="nobody has pulled it", command=again)
    again = transfer.command or again
    if transfer.done_at is None:
        return TeardownCondition("pulled", holds=False, proof="its pull was not ended", command=again)
    if transfer.run_id != (observed(run.run_id) or ""):
        return TeardownCondition(
            "pulled", holds=False, proof="what was pulled is another run of this name", command=again
        )
    if alive and not transfer.of_done_run:
        proof = f"{alive}: what it has written since the pull is not here"
        return TeardownCondition("pulled", holds=False, proof=proof, command=again)
    ended = ended_at(box, run)
    if not is_same_end(transfer.ended_at, ended) or (ended is not None and transfer.ended_at is None):
        return TeardownCondition("pulled", holds=False, proof="it ended after it was pulled", command=again)
    if not transfer.is_complete:
        return TeardownCondition("pulled", holds=False, proof="not everything came", command=again)
    if not transfer.results_total:
        return TeardownCondition("pulled", holds=False, proof=_no_results(box, run, transfer), command=again)
    try:
        manifest = read_manifest(transfer.destination)
    except (OSError, NotOne) as error:
        return TeardownCondition("pulled", holds=False, proof=f"its manifest cannot be read: {error}", command=again)
    absent = _absent(manifest, transfer.destination)
    if absent:
        return TeardownCondition(
            "pulled", holds=False, proof=f"{counted(absent, 'file')} of it not here any more", command=again
        )
    size = format_size(manifest.head.bytes_total)
    proof = f"{counted(manifest.head.files, 'file')}, {size} in {transfer.destination}, {local_text(transfer.done_at)}"
    return TeardownCondition("pulled", holds=True, proof=proof)


def _no_results(box: BoxLook, run: RunLook, transfer: Transfer) -> str:
    if transfer.results_total is None:
        return "an earlier version pulled it, which did not note whether results came"
    return f"only its log and its records came; {name_results(box.box, is_watched=not run.managed)}"


def _absent(manifest: HomeManifest, folder: str) -> int:
    """How many of its files do not lie there with their bytes."""
    count = 0
    for entry in manifest.entries:
        try:
            count += os.lstat(os.path.join(folder, entry.path)).st_size != entry.size
        except OSError:
            count += 1
    return count


def _verified(transfer: Transfer | None, name: str, *, is_pulled: bool) -> TeardownCondition:
    command = here("patrol", "verify", name) if is_pulled else ""
    if transfer is None or transfer.verified_at is None:
        return TeardownCondition("verified", holds=False, proof="nobody has loaded its files", command=command)
    if transfer.verified_run_id != transfer.run_id or transfer.verified_at < (transfer.done_at or 0.0):
        return TeardownCondition(
            "verified", holds=False, proof="its files were loaded before the last pull", command=command
        )
    return TeardownCondition(
        "verified", holds=True, proof=f"each file loaded or compared, {local_text(transfer.verified_at)}"
    )
