"""Tracker lines of every kind lead to the run; the last run counts."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.logs.links import RULES, Links
from onbox.logs.progress import ProgressReader


def read_links(log: bytes) -> Links:
    """What a reader of the whole log knows."""
    reader = ProgressReader()
    reader.feed(log)
    return Links.from_state(reader.links())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.tracker} {rule.example[:40]}")
def test_every_rule_reads_its_example(rule: Any) -> None:
    found = rule.pattern.search(rule.example)
    assert found is not None
    links = read_links(rule.example.encode() + b"\n")
    for name, value in found.groupdict().items():
        if name in ("run_id", "run_url", "run_name", "offline_dir"):
            assert getattr(links, name) == value


def test_wandb_with_broken_and_without_emoji() -> None:
    for sign in ("🚀 ", "ðŸš€ ", "", "? "):
        links = read_links(f"wandb: {sign}View run at https://wandb.example.org/acme/lm/runs/abc123\n".encode())
        assert links.run_id == "abc123"
        assert links.project_url == "https://wandb.example.org/acme/lm"


def test_a_resumed_log_tells_the_last_run() -> None:
    log = "".join(
        f"wandb: Syncing run r-{run}\nwandb: 🚀 View run at https://wandb.ai/acme/lm/runs/{run}\n"
        for run in ("aaa", "bbb")
    )
    links = read_links(log.encode())
    assert (links.run_id, links.run_url) == ("bbb", "https://wandb.ai/acme/lm/runs/bbb")


def test_nothing_told_is_none() -> None:
    assert read_links(b"see https://example.org/a/b and run: 3\n").state() == Links().state()


def test_state_goes_round() -> None:
    links = read_links(b"https://app.neptune.ai/acme/lm/e/LM-87\n")
    assert Links.from_state(links.state()).state() == links.state()
