"""The runner's part: what is in the journal gets into the outbox, once, in order, with the same ids whoever does it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.events import Event, render_event
from onbox.contract.notify_targets import Notify, NotifyTarget, notify_to_dict
from onbox.contract.paths import RunPaths
from onbox.contract.runfile import RunHead
from onbox.model.manifest import RunSettings
from onbox.notify.queue.enqueue import Courier
from onbox.notify.queue.outbox import Message, Outbox

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

A = NotifyTarget("a", "env:A", ("stage_done", "chain_done"))
B = NotifyTarget("b", "env:B", ("chain_done",))


class Run:
    """A run directory with a journal, and what its runner would do."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        self.paths = RunPaths(os.fspath(root))
        self.started: list[Mapping[str, str]] = []

    def journal(self, *events: str, **fields: Any) -> list[dict[str, Any]]:
        records = [{"at": "2026-11-21T05:10:24.123Z", "event": event, "stage": "s", **fields} for event in events]
        with open(self.paths.journal, "ab") as file:
            file.writelines(map(render_event, records))
        return records

    def launch(self, *targets: NotifyTarget) -> Courier:
        self.journal(Event.CHAIN_STARTED, notify=[target.name for target in targets])
        return self.courier(*targets)

    def courier(self, *targets: NotifyTarget) -> Courier:
        data = {"notify": notify_to_dict(Notify(targets)), "host": "gpu1"}
        head = RunHead("digits", "20261121-aa", "/root/digits", "f", 2, RunSettings(), data)
        return Courier(self.paths, head, {}, start=self.start)

    def start(self, paths: RunPaths, environ: Mapping[str, str]) -> int:
        self.started.append(environ)
        raise OSError(11, "no more processes")

    def waiting(self, target: str = "a") -> list[str]:
        outbox = Outbox(self.paths)
        messages = [outbox.read(name) for name in outbox.pending(target)]
        return [one.notice.event for one in messages if isinstance(one, Message)]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "digits")


def test_each_target_gets_what_it_asked_for(run: Run) -> None:
    courier = run.launch(A, B)
    courier.enqueue(run.journal(Event.STAGE_DONE, Event.STAGE_FAILED, Event.CHAIN_DONE))
    assert (run.waiting("a"), run.waiting("b")) == (["stage_done", "chain_done"], ["chain_done"])
    assert courier.trouble is not None, "the deliverer did not start, and that is said"
    assert len(run.started) == 1


def test_a_failure_is_one_message_whatever_a_target_asked_for(run: Run) -> None:
    both = NotifyTarget("both", "env:A", ("stage_failed", "chain_failed"))
    stage, chain = both._replace(name="stage", on=both.on[:1]), both._replace(name="chain", on=both.on[1:])
    courier = run.launch(both, stage, chain)
    courier.enqueue(run.journal(Event.STAGE_RETRYING, Event.STAGE_FAILED, Event.CHAIN_FAILED))
    assert run.waiting("both") == run.waiting("stage") == ["stage_failed"]
    assert run.waiting("chain") == ["chain_failed"]


def test_a_runner_that_dies_between_both_ends_makes_no_second_message(run: Run) -> None:
    both = A._replace(on=("stage_failed", "chain_failed"))
    run.launch(both).enqueue(run.journal(Event.STAGE_FAILED))
    run.courier(both).enqueue(run.journal(Event.CHAIN_FAILED))
    assert run.waiting("a") == ["stage_failed"]
    run.launch(both).enqueue(run.journal(Event.CHAIN_FAILED))
    assert run.waiting("a") == ["stage_failed", "chain_failed"], "a launch that fails without a stage is told"


def test_what_nobody_asked_for_touches_nothing(run: Run) -> None:
    courier = run.launch(A)
    courier.enqueue(run.journal(Event.STAGE_DONE))
    before = os.stat(run.paths.outbox).st_mtime_ns
    courier.enqueue(run.journal(Event.ATTEMPT_STARTED, Event.STAGE_FAILED))
    assert os.stat(run.paths.outbox).st_mtime_ns == before


def test_the_next_one_finds_what_its_predecessor_did_not_put_in(run: Run) -> None:
    run.launch(A, B).enqueue(run.journal(Event.STAGE_DONE))
    run.journal(Event.CHAIN_DONE)  # and died
    run.courier(A, B).catch_up()
    assert (run.waiting("a"), run.waiting("b")) == (["stage_done", "chain_done"], ["chain_done"])


def test_ids_are_the_same_whoever_makes_them(run: Run) -> None:
    run.launch(A).enqueue(run.journal(Event.STAGE_DONE))
    outbox = Outbox(run.paths)
    (name,) = outbox.pending()
    first = outbox.read(name)
    os.unlink(f"{run.paths.outbox}/{name.text}")
    run.courier(A).catch_up()
    again = outbox.read(name)
    assert isinstance(first, Message)
    assert isinstance(again, Message)
    assert first.notice == again.notice


def test_what_was_delivered_is_not_put_in_again(run: Run) -> None:
    run.launch(A).enqueue(run.journal(Event.STAGE_DONE))
    outbox = Outbox(run.paths)
    (name,) = outbox.pending()
    outbox.set_aside(name, run.paths.sent)
    run.courier(A).catch_up()
    assert run.waiting() == []


def test_a_new_target_hears_nothing_of_the_past(run: Run) -> None:
    run.journal(Event.CHAIN_STARTED)
    run.journal(Event.STAGE_DONE, Event.CHAIN_DONE)
    courier = run.launch(A)
    courier.enqueue(run.journal(Event.STAGE_DONE))
    assert run.waiting() == ["stage_done"]


def test_launches_without_notifications_stay_untold(run: Run) -> None:
    run.launch(A).enqueue(run.journal(Event.STAGE_DONE))
    run.launch()
    run.journal(Event.STAGE_DONE, Event.CHAIN_DONE)
    run.launch(A).enqueue(run.journal(Event.CHAIN_DONE))
    assert run.waiting() == ["stage_done", "chain_done"]


def test_files_of_another_journal_do_not_hide_this_one(run: Run) -> None:
    run.launch(A).enqueue(run.journal(*[Event.STAGE_DONE] * 50))
    os.unlink(run.paths.journal)
    run.launch(A).enqueue(run.journal(Event.CHAIN_DONE))
    assert "chain_done" in run.waiting()


def test_secrets_do_not_get_into_the_outbox(run: Run) -> None:
    courier = run.launch(A._replace(on=("stage_failed",)))
    courier.enqueue(run.journal(Event.STAGE_FAILED, last_line="HF_TOKEN=hunter2hunter2", reason="\x1b[31mred"))
    (path,) = [entry for entry in os.scandir(run.paths.outbox) if entry.name.endswith(".json")]
    with open(path, encoding="ascii") as file:
        text = file.read()
    assert "hunter2" not in text
    assert "u001b" not in text


def test_the_deliverer_gets_the_environment_but_not_the_stage_s(run: Run) -> None:
    from onbox.notify.queue import enqueue as module

    words = module.deliverer_words("/x/run")
    assert words[-1] == "/x/run"
    assert "-S" not in words, "requests lies in site-packages"


def test_the_runner_s_part_loads_no_heavy_module() -> None:
    import subprocess
    import sys

    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import onbox.chain.runner.runner; before = set(sys.modules)\n"
        "import onbox.notify.queue.enqueue; print(' '.join(sorted(set(sys.modules) - before)))"
    )
    words = [sys.executable, "-I", "-S", "-c", code, os.getcwd()]
    loaded = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    heavy = {"requests", "urllib3", "urllib.parse", "email", "ssl", "socket", "hashlib", "dataclasses", "http.client"}
    assert not heavy.intersection(loaded), loaded
