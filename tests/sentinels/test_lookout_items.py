"""What the program on the box tells of files, logs, artifacts and processes. The clock is the test's own."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from sentinels.box import lookout, lookout_items
from sentinels.box.lookout_items import REST_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_795_000_000.0
# The language of the program on the box has no annotations.
FileItem: Any = lookout_items.FileItem
LogItem: Any = lookout_items.LogItem
ArtifactItem: Any = lookout_items.ArtifactItem
PidItem: Any = lookout_items.PidItem


def words(said: list[str]) -> list[str]:
    """Each line without kind and number, its hex words read."""
    return [" ".join(readable(word) for word in line.split()[2:]) for line in said]


def readable(word: str) -> str:
    try:
        return bytes.fromhex(word).decode() if len(word) > 3 else word
    except ValueError:
        return word


# -- markers


def test_a_marker_is_told_when_it_comes_and_when_it_changes_and_not_in_between(tmp_path: Path) -> None:
    path = tmp_path / "DONE"
    item = FileItem("1", str(path), "")
    assert words(item.look(NOW)) == ["absent"]
    assert item.look(NOW) == []
    path.write_text("first")
    (told,) = words(item.look(NOW))
    assert (told.startswith("present "), "first" in told) == (True, True)
    assert item.look(NOW) == []
    path.write_text("and another")
    assert "and another" in words(item.look(NOW))[0]
    path.unlink()
    assert words(item.look(NOW)) == ["absent"]


def test_after_a_lost_link_the_same_marker_is_not_told_again(tmp_path: Path) -> None:
    path = tmp_path / "DONE"
    path.write_text("x")
    stamp = lookout_items.stamp_of(str(path))  # type: ignore[no-untyped-call]
    assert FileItem("1", str(path), stamp).look(NOW) == []


def test_a_marker_of_a_run_comes_with_the_contract_of_its_stage_alone(tmp_path: Path) -> None:
    (tmp_path / "markers").mkdir()
    (tmp_path / "markers" / "eval_DONE").write_text("{}")
    head, train, own = '{"run": "digits"\n', '{"name": "train", "x": 1}\n', '{"name": "eval", "x": 2}\n'
    (tmp_path / "run.json").write_text(head + train + own)
    (told,) = FileItem("1", str(tmp_path / "markers" / "eval_DONE"), "").look(NOW)
    assert bytes.fromhex(told.split()[-1]).decode() == head + own


def test_a_folder_that_cannot_be_entered_is_not_an_absent_marker(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    item = FileItem("1", str(loop / "DONE"), "")
    (told,) = words(item.look(NOW))
    assert told.startswith("unseen ")
    assert item.look(NOW) == []


def test_a_file_where_a_folder_should_be_means_absent(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    assert words(FileItem("1", str(tmp_path / "plain" / "DONE"), "").look(NOW)) == ["absent"]


# -- logs


def log_item(path: Path, cursor: str = "", regex: str = "^done", fail: str = "^Traceback") -> Any:
    return LogItem("1", str(path), cursor, regex, fail)


def told_of(item: Any, now: float = NOW) -> list[str]:
    """Matches and failures: the word and the line."""
    return [" ".join(line.split()[:2]) for line in words(item.look(now)) if line.split()[0] in ("match", "fail")]


def cursor_of(item: Any) -> str:
    (line,) = [line for line in item.beat(NOW) if " cursor " in line]
    return str(line.split()[-1])


def test_lines_from_now_on_and_not_those_before(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("done before\n")
    item = log_item(log)
    assert told_of(item) == []
    with log.open("a") as file:
        file.write("step 1\ndone now\n")
    assert told_of(item) == ["match done"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("done\nstep\nTraceback\n", ["fail Traceback"]),
        ("Traceback\nstep\ndone\n", ["match done"]),
        ("step 1\n", []),
    ],
)
def test_of_what_is_there_already_the_last_one_tells(tmp_path: Path, text: str, told: list[str]) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    assert told_of(log_item(log, "all")) == told


def test_a_line_counts_when_it_is_whole_or_rests(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("")
    item = log_item(log)
    item.look(NOW)
    with log.open("a") as file:
        file.write("do")
        file.flush()
        assert told_of(item) == []
        file.write("ne 30/30")
    assert told_of(item, NOW + 0.1) == []
    assert told_of(item, NOW + 0.1 + REST_SECONDS) == ["match done"]


def test_a_log_that_was_not_there_is_new_as_a_whole(tmp_path: Path) -> None:
    item = log_item(tmp_path / "log")
    assert "absent" in words(item.look(NOW))
    (tmp_path / "log").write_text("done\n")
    assert told_of(item) == ["match done"]


def test_a_cursor_goes_on_where_the_lost_link_left_off(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("step 1\n")
    item = log_item(log)
    item.look(NOW)
    cursor = cursor_of(item)
    with log.open("a") as file:
        file.write("done meanwhile\n")
    assert told_of(log_item(log, cursor)) == ["match done"]


def test_a_rotated_log_is_read_to_its_end_and_the_new_one_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("step 1\n")
    item = log_item(log, regex="^done|^last")
    item.look(NOW)
    cursor = cursor_of(item)
    with log.open("a") as file:
        file.write("last of the old\n")
    log.rename(tmp_path / "log.1")
    log.write_text("step 2\n")
    assert told_of(log_item(log, cursor, regex="^done|^last")) == ["match last"]
    item = log_item(log, cursor)
    assert told_of(item) == []
    with log.open("a") as file:
        file.write("done\n")
    assert told_of(item) == ["match done"]


def test_a_copy_of_the_log_under_its_name_is_not_read_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("done once\nstep 2\n")
    item = log_item(log)
    item.look(NOW)
    cursor = cursor_of(item)
    (tmp_path / "copy").write_bytes(log.read_bytes())
    (tmp_path / "copy").replace(log)
    assert told_of(log_item(log, cursor)) == []


def test_a_log_that_was_cut_to_nothing_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("step 1\nstep 2\n")
    item = log_item(log)
    item.look(NOW)
    log.write_text("done\n")
    assert told_of(item) == ["match done"]


def test_a_folder_with_the_logs_name_is_told_once_and_is_no_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    item = log_item(log)
    assert words(item.look(NOW)) == ["unseen not a regular file"]
    assert item.look(NOW) == []
    log.rmdir()
    log.write_text("done\n")
    assert told_of(item) == ["match done"]


def test_how_long_a_log_was_quiet_is_told_by_the_boxs_own_clock(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x\n")
    os.utime(log, (NOW - 90, NOW - 90))
    item = log_item(log)
    item.look(NOW)
    assert "quiet 1 90.0" in item.beat(NOW)


def test_a_long_log_is_read_in_several_looks_and_no_beat_claims_that_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookout_items, "READ_LIMIT", 100)
    monkeypatch.setattr(lookout_items, "LOOK_LIMIT", 200)
    log = tmp_path / "log"
    log.write_text("step 1 of many\n" * 30 + "done\nstep\n")
    item = log_item(log, "all")
    looks = [look_all([item])]
    while item.busy() and len(looks) < 10:
        looks.append(look_all([item]))
    assert [any(line.startswith("beat ") for line in said) for said in looks] == [False, False, True]
    assert [line.split()[2] for line in looks[-1] if " match " in line] == ["match"]


def look_all(items: list[Any]) -> list[str]:
    said: list[str] = lookout.look_all(items, NOW, beats=True)  # type: ignore[no-untyped-call]
    return said


# -- artifacts


def artifact(pattern: Path, since: str = "0", known: str = "", min_bytes: int = 3, stable: float = 10.0) -> Any:
    return ArtifactItem("1", str(pattern), str(min_bytes), str(stable), since, known)


def test_an_artifact_is_ready_when_it_is_big_enough_and_rests(tmp_path: Path) -> None:
    item = artifact(tmp_path / "*.pt")
    assert words(item.look(NOW)) == ["waits 0 0"]
    (tmp_path / "a.pt").write_text("12")
    assert words(item.look(NOW + 2)) == ["waits 1 1"]
    assert item.look(NOW + 60) == [], "it rests, and is too small"
    (tmp_path / "a.pt").write_text("123")
    assert item.look(NOW + 62) == []
    assert item.look(NOW + 71) == [], "it changed nine seconds ago"
    (told,) = words(item.look(NOW + 73))
    assert told.startswith(f"ready {tmp_path}/a.pt 3 ")


def test_of_several_the_newest_is_told(tmp_path: Path) -> None:
    for name, at in (("old.pt", 5.0), ("new.pt", 9.0)):
        (tmp_path / name).write_text("123")
        os.utime(tmp_path / name, (NOW + 1e6 + at, NOW + 1e6 + at))
    item = artifact(tmp_path / "*.pt", stable=0.0)
    assert "new.pt" in words(item.look(NOW))[0]


def test_what_was_there_before_the_wait_is_not_it(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_text("123")
    later = os.stat(tmp_path / "a.pt").st_ctime + 60
    assert words(artifact(tmp_path / "*.pt", since=str(later)).look(NOW)) == ["waits 1 0"]


def test_a_lost_link_costs_no_rest_that_was_seen_already(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_text("123")
    item = artifact(tmp_path / "*.pt")
    item.look(NOW)
    ((_, _, _, known),) = [line.split() for line in item.beat(NOW + 9)]
    again = artifact(tmp_path / "*.pt", known=known)
    assert words(again.look(NOW)) == ["waits 1 1"]
    assert words(again.look(NOW + 2))[0].startswith("ready ")


# -- processes


def test_a_process_is_alive_then_gone_and_another_of_its_pid_is_not_it(tmp_path: Path) -> None:
    process = subprocess.Popen(["sleep", "600"])
    item = PidItem("1", str(process.pid), "")
    (alive,) = item.look(NOW)
    stamp = alive.split()[3]
    assert alive.split()[2] == "alive"
    assert item.look(NOW + 2) == []
    other = PidItem("1", str(process.pid), f"1:{stamp.partition(':')[2]}")
    assert other.look(NOW) == ["pid 1 gone"]
    process.kill()
    process.wait()
    assert item.look(NOW + 4) == ["pid 1 gone"]
    assert item.look(NOW + 6) == ["pid 1 gone"], "said again: two looks prove it"


def test_what_has_ended_and_was_not_waited_for_is_gone() -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert PidItem("1", str(process.pid), "").look(NOW) == ["pid 1 gone"]
    process.wait()


# -- all of them


class Stale:
    """An item on a mount that answers with an error, until it does not."""

    UNSEEN = "file %s unseen %s"
    ident = "9"

    def __init__(self) -> None:
        self.is_sick = True

    def look(self, _: float) -> list[str]:
        if self.is_sick:
            raise OSError(116, "Stale file handle")
        return ["file 9 absent"]


def test_one_that_cannot_be_looked_at_blinds_no_other_and_is_told_once(tmp_path: Path) -> None:
    stale = Stale()
    items = [stale, FileItem("1", str(tmp_path / "DONE"), "")]
    said = look_all(items)
    assert words(said)[0] == "unseen Stale file handle"
    assert said[1:] == ["file 1 absent", f"beat {NOW:.3f}"]
    assert look_all(items) == [f"beat {NOW:.3f}"]
    stale.is_sick = False
    assert look_all(items)[0] == "file 9 absent"


def test_each_kind_of_words_makes_its_item() -> None:
    kinds = ["file", "log", "artifact", "pid", "run", "procs"]
    words_of = [[kind, str(at), "/x" if kind != "pid" else "1", "", "", "", "", ""] for at, kind in enumerate(kinds)]
    words_of[2][3:6] = ["1", "2", "now;a=1.0"]
    made = lookout.make_items([word for group in words_of for word in group])  # type: ignore[no-untyped-call]
    names = [type(item).__name__ for item in made]
    assert names == ["FileItem", "LogItem", "ArtifactItem", "PidItem", "RunItem", "ProcessesItem"]
    assert made[2].known == {"a": "1.0"}
