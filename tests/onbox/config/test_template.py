"""The onbox.toml of `onbox init` is valid as written, and with every setting switched on."""

from __future__ import annotations

import re
import sys

import pytest

from onbox.config.keys import Key
from onbox.config.parse import NOTIFY_EVENTS, TABLES, Config, Notify, parse_config
from onbox.config.template import render_template
from onbox.contract.notify_targets import NotifyTarget
from onbox.model.manifest import Gates, Retry, RunSettings, Stage
from onbox.triage.classes import NEVER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read(text: str) -> Config:
    return parse_config(tomllib.loads(text), default_name="folder", known_classes=NEVER)


def switched_on(text: str) -> str:
    """Every line that begins with "#" and no space loses the "#"."""
    return re.sub(r"(?m)^#(?=\S)", "", text)


@pytest.mark.parametrize("full", [False, True])
def test_as_written_it_has_two_stages_and_defaults(*, full: bool) -> None:
    config = read(render_template("digits", full=full))
    assert config == Config("digits", stages=(Stage("train", "python train.py"), Stage("eval", "python eval.py")))


def test_every_setting_can_be_switched_on() -> None:
    config = read(switched_on(render_template("digits", full=True)))
    train, evaluation = config.stages
    assert (train.timeout_seconds, train.retry) == (43200.0, Retry(2, ("preempted", "network_blip"), 60.0))
    assert evaluation.gates != Gates()
    assert config.triage[0]["class"] == "license_busy"


def test_defaults_are_shown_as_they_are() -> None:
    config = read(switched_on(render_template("digits", full=True)))
    assert config.settings == RunSettings(expected_seconds=14 * 3600.0), "this one has no default"
    assert config.state_dir == Config("x").state_dir
    assert config.notify.targets[0].on == NotifyTarget("x", "env:X").on
    assert config.notify.pace == Notify().pace


def test_no_line_is_lost_by_switching_on() -> None:
    # What begins with "#" and no space must be a setting, else the file explains itself wrongly.
    settings = re.findall(r"(?m)^#(\S.*)", render_template("digits", full=True))
    assert settings
    assert all(re.match(r"""(?:\w+|"[^"]+") = |\[{1,2}[\w.]+\]{1,2}$""", line) for line in settings)


def test_a_beginner_reads_a_dozen_lines() -> None:
    lines = [line for line in render_template("digits").splitlines() if line]
    assert len(lines) <= 12
    assert read(switched_on(render_template("digits"))).notify.targets


@pytest.mark.parametrize("table", TABLES)
def test_every_known_key_is_shown(table: str) -> None:
    text = switched_on(render_template("digits", full=True))
    for key in TABLES[table].names():
        assert re.search(rf"(?m)(^|[{{,\[.] ?){re.escape(key)}( = |\]|\.)", text), f"{table}: {key}"


def test_every_event_is_shown() -> None:
    assert all(f'"{event}"' in render_template("x", full=True) for event in NOTIFY_EVENTS)


@pytest.mark.parametrize("name", ["digits", 'a"b\n[x]', "ü", ""])
def test_any_directory_name_gives_a_valid_file(name: str) -> None:
    assert read(render_template(name)).stages
    assert read(render_template(name, full=True)).stages


def test_lines_fit_a_terminal() -> None:
    assert max(map(len, render_template("digits", full=True).splitlines())) <= 120


def test_what_is_told_as_a_default_is_the_default() -> None:
    for path, keys in TABLES.items():
        for key in keys.rows():
            if isinstance(key, Key) and key.default is not None and re.match(r'["\d\[{]|true$|false$', key.usual):
                told = tomllib.loads(f"x = {key.usual}")["x"]
                assert key.parse(told) in (key.default, {"warn": "tell"}.get(str(key.default))), f"{path}.{key.name}"
