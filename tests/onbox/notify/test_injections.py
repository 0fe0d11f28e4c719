"""What a log, or another box, says stands in a fence in a notice, which stays short."""

from __future__ import annotations

import pytest

from onbox.contract.notices import Notice
from onbox.notify.message_text import lines, text
from tests.injections import INJECTIONS, told_bare


def notice(said: str, *, relayed_from: str | None = None) -> Notice:
    """As the patrol relays it where `relayed_from` says so."""
    at = said if relayed_from else "2026-11-21T05:10:24.123Z"
    return Notice(
        id="msg_1",
        at=at,
        event="stage_failed",
        state="FAILED",
        run="digits",
        run_id=said,
        project="/root/digits",
        stage="train",
        attempt=1,
        failure_class="code_error",
        remedy="Fix it.",
        proof=said,
        reason=said,
        warning=said,
        tracker=said,
        log=said,
        log_tail=f"{said}\n{said}",
        progress=said if relayed_from else None,
        next_command="cd /root/digits && onbox logs",
        relayed_from=relayed_from,
    )


@pytest.mark.parametrize("said", INJECTIONS)
@pytest.mark.parametrize("relayed_from", [None, "gpu1"])
@pytest.mark.parametrize("limit", [4000, 300, 120])
def test_nothing_that_is_told_stands_bare(said: str, relayed_from: str | None, limit: int) -> None:
    shown = text(notice(said, relayed_from=relayed_from), limit)
    assert told_bare(shown) == []
    assert len(shown.encode()) <= limit


def test_a_fence_costs_two_signs() -> None:
    plain = notice("KeyError: 'lr'")
    assert [line for line in lines(plain) if line.startswith("log:")] == ["log: «KeyError: 'lr'»"]
