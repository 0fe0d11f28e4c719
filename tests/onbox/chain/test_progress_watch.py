"""How far the running attempt is, also where its log holds more than a look can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.observe import progress_watch
from onbox.chain.observe.progress_watch import ProgressWatch
from onbox.chain.state.stage_records import progress_of_success
from onbox.logs import track
from onbox.logs.line.read import read_line
from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from onbox.logs.line.sights import SeenOnLine


def test_a_look_that_takes_too_long_is_left_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"{chr(97 + at % 26)} early stopping_ {at:x} epoch\n" for at in range(40000)))
    watch = ProgressWatch({})
    watch.begin(str(log))
    with monkeypatch.context() as short:
        short.setattr(progress_watch, "LOOK_SECONDS", 0.05)
        assert watch.look() == progress_watch.TOO_MUCH
    with log.open("a") as file:
        file.write("step 400/1000 loss=0.5\nstep 410/1000 loss=0.4\n")
    seen = watch.look()
    assert seen is not None
    assert seen["current"] == 410


def test_of_a_log_that_grew_too_much_the_newest_lines_are_read_whole(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("training for 9000000 steps\n")
    watch = ProgressWatch({})
    watch.begin(str(log))
    watch.look()
    count = 2 * progress_watch.LOOK_BYTES // 22
    with log.open("a") as file:
        file.write("".join(f"step {1_000_000 + step} loss=0.5\n" for step in range(count)))
    seen = watch.look()
    assert seen is not None
    assert (seen["current"], seen["exact_max"]) == (1_000_000 + count - 1, 9_000_000)


def test_the_time_left_is_by_our_own_readings(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    bar = "\r 35%|###5      | 350/1000 [00:00<00:00, 5199.75it/s]"
    log.write_text(bar)
    watch = ProgressWatch({})
    watch.begin(str(log), age_seconds=20.0)
    first = watch.look()
    assert first is not None
    assert first["text"] == "~350/1000 (35%)"
    watch.recall(monotonic() - 60.0, 290.0, None)
    seen = watch.look()
    assert seen is not None
    assert 600 < seen["eta_seconds"] < 660
    ended = watch.look(moves=False)
    assert ended is not None
    assert "eta" not in ended["text"]


def test_a_resume_behind_the_last_step_is_not_told_as_no_progress() -> None:
    assert progress_of_success({"text": "~0/800 (0%)", "current": 0.0, "exact_max": 800, "rule": "x"}) == {"rule": "x"}
    early = {"text": "~400/800 (50%)", "current": 400.0, "exact_max": 800}
    assert progress_of_success(early) == early


def test_where_no_two_lines_are_alike_a_look_takes_in_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "a.log"
    looked_at: list[str] = []

    def counted(text: str) -> SeenOnLine:
        looked_at.append(text)
        return read_line(text)

    monkeypatch.setattr(track, "read_line", counted)
    monkeypatch.setattr(progress_watch, "LOOK_SECONDS", 60.0)
    watch = ProgressWatch({})
    watch.begin(str(log))
    counts = []
    for look in range(4):
        with log.open("a") as file:
            file.writelines(
                f"step {at}/90000 sample {letters(at)} done\n" for at in range(look * 3000, look * 3000 + 3000)
            )
        seen = watch.look()
        assert seen is not None
        assert seen["current"] == look * 3000 + 2999
        counts.append(len(looked_at))
        looked_at.clear()
    assert max(counts) < 1500


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def test_of_a_large_log_whose_lines_differ_the_first_look_reads_the_ends(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    lines = (f"step {at} loss 2.3 sample {letters(at)} is done\n" for at in range(20_000))
    log.write_text("training for 90000 steps\n" + "".join(lines))
    watch = ProgressWatch({})
    watch.begin(str(log))
    seen = watch.look()
    assert seen is not None
    assert (seen["current"], seen["exact_max"]) == (19_999, 90_000)
