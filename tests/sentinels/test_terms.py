"""From the words of `sentinel wait` to targets, places and terms: which are taken, where they lie, what is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from onbox.cli.options import Options
from onbox.errors import Trouble
from onbox.model.boxes import USUAL_DONE_REGEX
from onbox.project import load_project
from patrol.config.configured import settings_of
from patrol.timer.heartbeat import Heartbeat, write_heartbeat
from sentinels.commands.wait import is_watcher, make_channels, read_targets, read_terms, unattended
from sentinels.judge.conditions.base import Arming
from sentinels.link.job_channel import JobChannel
from sentinels.link.schedule import LinkPace
from sentinels.resolve_targets import TargetPlace, UnknownBox, find_place, note_of
from sentinels.targets import BadTarget, TargetKind, parse_fail_marker, parse_process, parse_target

if TYPE_CHECKING:
    from pathlib import Path

    from patrol.config.settings import Settings

BOXES = """
[boxes.gpu1]
host = "user@gpu1.lan"
project = "/root/digits"
[boxes.bare]
host = "bare"
[boxes.here]
backend = "local"
project = "."
[boxes.ray1]
backend = "ray"
address = "http://127.0.0.1:8265"
[[boxes.ray1.watch]]
name = "digits"
job = "raysubmit_1"
"""
NOW = 1_795_000_000.0


def typed(*targets: str, **options: Any) -> Options:
    usual: dict[str, Any] = {"timeout": "3h"}
    usual |= {name: [] for name in ("log", "regex", "fail_regex", "artifact", "fail", "pid")}
    usual |= dict.fromkeys(("min_bytes", "stable", "stall_after", "interval"))
    usual |= dict.fromkeys(("any", "once", "new_only"), False)
    return Options(**{**usual, "targets": list(targets), **options})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_in(tmp_path, BOXES)


def settings_in(folder: Path, text: str) -> Settings:
    path = folder / "onbox.toml"
    path.write_text(text)
    return settings_of(load_project(str(path)), {"XDG_STATE_HOME": str(folder / "state")})


# -- what is waited for


def test_a_log_alone_waits_for_the_usual_words_of_success() -> None:
    (target,) = read_targets(typed(log=["a.log"]))
    assert target.regex == USUAL_DONE_REGEX


def test_beside_a_target_a_log_with_a_stall_limit_only_watches() -> None:
    marker, log = read_targets(typed("DONE", log=["a.log"], stall_after="30m"))
    assert (marker.kind, is_watcher(log)) == (TargetKind.MARKER, True)


@pytest.mark.parametrize("options", [{}, {"fail": ["FAILED"]}, {"pid": ["4711"]}, {"fail": ["FAILED"], "pid": ["1"]}])
def test_what_can_only_speak_against_others_is_no_wait(options: dict[str, list[str]]) -> None:
    with pytest.raises(BadTarget, match="nothing to wait for"):
        read_targets(typed(**options))


def test_watchers_are_not_waited_for_by_the_plan() -> None:
    args = typed("DONE", fail=["FAILED"], pid=["gpu1:7"])
    plan, arming, _ = read_terms(args, read_targets(args))
    assert (sorted(plan.watchers), plan.limit_seconds) == ([1, 2], 3 * 3600.0)
    assert not arming.new_only


def test_one_look_is_one_try_and_an_interval_is_short_connections() -> None:
    paces = [
        read_terms(args, read_targets(args))[2]
        for args in (typed("D"), typed("D", once=True), typed("D", interval="1m"))
    ]
    assert [(pace.once, pace.short_poll) for pace in paces][0::2] == [(False, None), (False, 60.0)]
    assert paces[1].once


# -- where it lies


@pytest.mark.parametrize(
    ("word", "host", "path"),
    [
        ("gpu1:digits", "user@gpu1.lan", "/root/digits/.onbox/digits"),
        ("gpu1:ckpt/DONE", "user@gpu1.lan", "/root/digits/ckpt/DONE"),
        ("gpu1:/data/DONE", "user@gpu1.lan", "/data/DONE"),
        ("gpu1:~/DONE", "user@gpu1.lan", "~/DONE"),
        ("me@other:/data/DONE", "me@other", "/data/DONE"),
        ("ckpt/DONE", None, "/here/ckpt/DONE"),
    ],
)
def test_a_target_lies_on_its_box_below_the_project(settings: Settings, word: str, host: str | None, path: str) -> None:
    place = find_place(parse_target(word), settings, "/here")
    assert (place.box.host, place.path, place.job) == (host, path, None)


def test_a_process_is_a_number_and_no_path(settings: Settings) -> None:
    assert find_place(parse_process("gpu1:4711"), settings, "/here").path == "4711"
    assert find_place(parse_process("4711"), settings, "/here").path == "4711"


def test_a_job_of_a_cluster_is_asked_for_at_its_engine_by_name_or_id(settings: Settings) -> None:
    for word in ("ray1:digits", "ray1:raysubmit_1"):
        job = find_place(parse_target(word), settings, "/here").job
        assert job is not None
        assert (job.job_id, job.endpoint.address) == ("raysubmit_1", "http://127.0.0.1:8265")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (parse_target("unknown:digits"), r"no \[boxes.unknown\] says where its runs are"),
        (parse_target("bare:digits"), "has no `project`"),
        (parse_process("ray1:4711"), "only jobs can be waited for"),
        (parse_fail_marker("ray1:/x/FAILED"), "only jobs can be waited for"),
        (parse_target("gpu1/digits"), "for the run on the box: gpu1:digits"),
    ],
)
def test_what_cannot_be_found_is_refused_with_the_way_on(settings: Settings, target: Any, says: str) -> None:
    with pytest.raises((BadTarget, UnknownBox), match=says):
        find_place(target, settings, "/here")


def test_a_folder_of_the_boxs_name_makes_it_a_path(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "gpu1").mkdir()
    assert find_place(parse_target("gpu1/DONE"), settings, str(tmp_path)).path == f"{tmp_path}/gpu1/DONE"


def test_a_word_alone_is_the_run_here_where_there_is_one(settings: Settings, tmp_path: Path) -> None:
    place = find_place(parse_target("digits"), settings, str(tmp_path))
    assert place.target.kind is TargetKind.MARKER
    assert "for a run on a box: gpu1:digits" in note_of(place, settings.config.boxes, str(tmp_path))
    box = find_place(parse_target("gpu1"), settings, str(tmp_path))
    assert "for a run on the box gpu1: gpu1:RUN" in note_of(box, settings.config.boxes, str(tmp_path))
    run = tmp_path / ".onbox" / "digits"
    run.mkdir(parents=True)
    (run / "run.json").touch()
    place = find_place(parse_target("digits"), settings, str(tmp_path))
    assert (place.target.kind, place.path) == (TargetKind.RUN, str(run))
    assert note_of(place, settings.config.boxes, str(tmp_path)) == ""


def test_a_way_that_nobody_accepted_is_not_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONBOX_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    strange = settings_in(tmp_path, '[ssh]\ncommand = "ssh -F theirs"\n' + BOXES)
    with pytest.raises(Trouble, match="onbox trust"):
        find_place(parse_target("gpu1:digits"), strange, "/here")


# -- how it is asked


def channels(settings: Settings, *words: str) -> list[Any]:
    places: list[TargetPlace] = [find_place(parse_target(word), settings, "/here") for word in words]
    return list(make_channels(places, Arming(new_only=False), LinkPace(), NOW))


def test_targets_on_one_box_share_one_connection(settings: Settings) -> None:
    made = channels(settings, "gpu1:/a/DONE", "gpu1:/b/DONE", "bare:/c/DONE", "here:/d/DONE")
    assert [one.target.host for one in made] == ["user@gpu1.lan", "bare", None]


def test_an_engine_is_asked_beside_the_boxes(settings: Settings) -> None:
    made = channels(settings, "gpu1:/a/DONE", "ray1:digits", "ray1:raysubmit_2")
    (engine,) = [one for one in made if isinstance(one, JobChannel)]
    assert len(engine.items) == 2
    assert engine.main is None


def test_a_run_brings_the_engine_it_may_be_with_which_alone_decides_nothing(settings: Settings) -> None:
    main, engine = channels(settings, "gpu1:digits")
    assert engine.main is main
    assert engine.idle


# -- nobody stands behind it


def test_a_long_wait_alone_is_said_where_no_patrol_ticks(settings: Settings) -> None:
    def told(timeout: str) -> str:
        args = typed("gpu1:digits", timeout=timeout)
        return unattended(read_terms(args, read_targets(args))[0], settings, NOW)

    assert told("1h") == ""
    assert told("2h").startswith("no timer of the patrol was ever seen here")
    write_heartbeat_at(settings, NOW - 60, by_timer=False)
    assert told("2h") != "", "a look by hand comes only once"
    write_heartbeat_at(settings, NOW - 60)
    assert told("2h") == ""
    write_heartbeat_at(settings, NOW - 86400)
    assert told("2h").startswith("the patrol's timer is silent")


def write_heartbeat_at(settings: Settings, at: float, *, by_timer: bool = True) -> None:
    os.makedirs(settings.state, exist_ok=True)
    write_heartbeat(settings.state, Heartbeat(at, 1, ended_at=at, exit_code=0, timer_at=at if by_timer else None))
