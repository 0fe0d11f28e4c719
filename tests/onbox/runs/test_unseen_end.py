"""What is said of an attempt whose end nobody recorded."""

from __future__ import annotations

import pytest

from onbox.runs.unseen_end import UnseenEnd, says_done

TRACEBACK = b'Traceback (most recent call last):\n  File "t.py", line 3, in <module>\nValueError: no file\n'
SEEN = 1_000_000.0  # 1970-01-12T13:46:40Z


@pytest.mark.parametrize(
    ("unseen", "was_missed"),
    [
        (UnseenEnd(SEEN, SEEN + 20, 30.0), False),  # a log between two heartbeats
        (UnseenEnd(SEEN, SEEN + 75, 30.0), True),
        (UnseenEnd(SEEN, SEEN + 75, 30.0, rebooted=True), True),  # before the reboot
        (UnseenEnd(SEEN, SEEN + 20, 30.0, says_done=True), True),
        (UnseenEnd(SEEN, SEEN + 20, 30.0, says_done=True, rebooted=True), False),
        (UnseenEnd(None, SEEN, 30.0), False),
        (UnseenEnd(SEEN, None, 30.0), False),
    ],
)
def test_an_end_that_was_missed_is_told_from_a_cut_off(unseen: UnseenEnd, was_missed: bool) -> None:  # noqa: FBT001
    assert unseen.was_missed is was_missed


def test_only_what_was_seen_is_told() -> None:
    assert UnseenEnd(SEEN, SEEN + 75, 30.0, says_done=True).words == (
        "its runner was last seen at 1970-01-12T13:46:40Z; its log went on until 1970-01-12T13:47:55Z and says that the"
        " work is done; its exit code is not known"
    )
    assert UnseenEnd().words == "its exit code is not known"


@pytest.mark.parametrize(
    ("text", "loop_is_over", "done"),
    [
        (b"step 9/9 loss 0.1\nTraining completed. Saved m.bin\n", None, True),
        (b"epoch 9/9 loss 0.1\n", True, True),
        (b"epoch 8/9 loss 0.1\n", False, False),
        (b"epoch 9/9 loss 0.1\n" + TRACEBACK, True, False),
        (b"", None, False),
    ],
)
def test_a_log_says_by_itself_that_the_work_is_done(text: bytes, loop_is_over: bool | None, done: bool) -> None:  # noqa: FBT001
    assert says_done(text, loop_is_over=loop_is_over) is done
