"""How far the running attempt is, also where its log holds more than a look can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.observe import progress_watch
from onbox.chain.observe.progress_watch import ProgressWatch
from onbox.chain.state.stage_records import progress_of_success
from onbox.logs import track
from onbox.logs.line.read import read_line
from onbox.logs.skim import END_BYTES_MAX
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
    count = 2 * END_BYTES_MAX // 22
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


def test_of_a_large_log_whose_lines_differ_the_first_look_reads_the_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onbox.chain.observe.progress_watch.LOOK_SECONDS", 60.0)  # the machine may be starved
    log = tmp_path / "a.log"
    lines = (f"step {at} loss 2.3 sample {letters(at)} is done\n" for at in range(20_000))
    log.write_text("training for 90000 steps\n" + "".join(lines))
    watch = ProgressWatch({})
    watch.begin(str(log))
    seen = watch.look()
    assert seen is not None
    assert (seen["current"], seen["exact_max"]) == (19_999, 90_000)


def steps(start: int, end: int) -> str:
    return "".join(f"2026-01-01 10:00:00 step {at}/900000 loss 0.{at % 90 + 10} lr 1e-4\n" for at in range(start, end))


def chatter(count: int) -> str:
    return "".join(f"worker {at % 8}: shard {at} is in memory, {at % 7} rows are new\n" for at in range(count))


def burst(log: Path, text: str) -> ProgressWatch:
    """A watch that has seen the first steps of a log, and then what was written after them, all at once."""
    log.write_text("Epoch 1/200\n" + steps(0, 100))
    watch = ProgressWatch({})
    watch.begin(str(log))
    watch.look()
    with log.open("a") as file:
        file.write(text)
    watch.look()
    return watch


def test_a_loss_of_nan_in_the_middle_of_a_burst_is_seen(tmp_path: Path) -> None:
    nan = "2026-01-01 10:00:00 step 40000/900000 loss nan lr 1e-4\n"
    watch = burst(tmp_path / "a.log", steps(100, 40000) + nan + chatter(50_000))
    assert watch.newest is not None
    assert watch.readings["loss"].value == watch.newest.loss == "nan"
    assert watch.newest.inner_current == 40_000


def test_an_epoch_told_once_in_a_burst_and_the_last_step_are_both_right(tmp_path: Path) -> None:
    watch = burst(tmp_path / "a.log", steps(100, 30000) + "Epoch 7/200\n" + steps(30000, 80000))
    assert watch.newest is not None
    assert (watch.newest.current, watch.newest.exact_max, watch.newest.inner_current) == (7, 200, 79_999)


def test_an_end_before_a_burst_of_chatter_is_told(tmp_path: Path) -> None:
    watch = burst(tmp_path / "a.log", steps(100, 30000) + "Training completed in 300 s\n" + chatter(50_000))
    assert watch.newest is not None
    assert watch.newest.finished


def test_a_trackers_address_in_a_burst_is_seen(tmp_path: Path) -> None:
    link = "wandb: View run at https://wandb.ai/acme/lm/runs/abc123\n"
    watch = burst(tmp_path / "a.log", steps(100, 30000) + link + steps(30000, 60000))
    assert watch.links["run_id"] == "abc123"


def test_in_a_burst_of_lines_that_differ_a_loss_of_nan_is_seen_too(tmp_path: Path) -> None:
    def lines(start: int, end: int) -> str:
        return "".join(f"cached the shard {letters(at)} of {letters(at * 7)}\n" for at in range(start, end))

    nan = "step 4000/900000 loss nan\n"
    watch = burst(tmp_path / "a.log", lines(0, 40000) + nan + lines(40000, 90000))
    assert watch.newest is not None
    assert watch.newest.loss == "nan"


def test_a_line_that_grew_at_the_last_look_is_read_whole(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("step 94/1000 loss 0.5\nstep 95/10")
    watch = ProgressWatch({})
    watch.begin(str(log))
    watch.look()
    with log.open("a") as file:
        file.write("00 loss 0.25\n" + chatter(50_000))
    watch.look()
    assert watch.newest is not None
    assert (watch.newest.current, watch.newest.exact_max, watch.newest.loss) == (95, 1000, 0.25)


def test_a_burst_costs_a_look_at_few_of_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def counted(text: str) -> SeenOnLine:
        looked_at.append(text)
        return read_line(text)

    log = tmp_path / "a.log"
    watch = burst(log, steps(100, 200))
    monkeypatch.setattr(track, "read_line", counted)
    with log.open("a") as file:
        file.writelines(f"{steps(at, at + 1)}saved {letters(at)} after epoch {at}\n" for at in range(200, 50_000))
    watch.look()
    assert watch.newest is not None
    assert (watch.newest.inner_current, watch.newest.loss) == (49_999, 0.59)
    assert len(looked_at) < 200
