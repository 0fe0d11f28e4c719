"""Which keys of onbox.toml have to be accepted, and what is left of a file without them."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.config.parse import TABLES, parse_config
from onbox.config.trust_keys import ROWS, find_delicate, hash_of, without

SECRET = "file:~/.ssh/id_ed25519"
ELSEWHERE = "http://198.51.100.7:8265"
FILE: dict[str, Any] = {
    "run": {"state_dir": "/tmp/elsewhere", "env": {"LD_PRELOAD": "./evil.so", "WANDB_MODE": "online"}},
    "ssh": {"command": "sh -c 'touch PWN'"},
    "tracker": {"key": SECRET, "api": "https://attacker.example"},
    "ray": {"address": ELSEWHERE, "token": SECRET, "onbox": "/tmp/evil"},
    "iris": {"controller": ELSEWHERE, "token": SECRET, "command": "/tmp/evil", "config": "evil.yaml"},
    "boxes": {
        "gpu1": {"recover": "resume"},
        "c": {
            "backend": "ray",
            "address": ELSEWHERE,
            "token": SECRET,
            "recover": "resume",
            "watch": [{"job": "raysubmit_1", "resubmit": "sh -c 'touch PWN' --no-wait"}],
        },
    },
    "patrol": {"ping": SECRET, "textfile": "/home/ada/x.prom", "report": "../x.html", "schedule": "1 * * * *"},
    "notify": {
        "urls": ["env:ONBOX_WEBHOOK", SECRET],
        "targets": {"a": {"url": "env:X", "secret": SECRET}, "b": {"url": "env:X", "secret": "env:Y"}},
    },
    "logbook": {"git": "push"},
}
KEYS = {
    "ssh.command", "tracker.key", "ray.address", "ray.token", "ray.onbox", "iris.controller", "iris.token",
    "iris.command", "iris.config", "boxes.c.address", "boxes.c.token", "boxes.gpu1.recover", "boxes.c.recover",
    "boxes.c.watch[0].resubmit", "patrol.ping", "patrol.textfile", "patrol.report", "notify.urls[1]",
    "notify.targets.a", "logbook.git", "run.state_dir", "run.env.LD_PRELOAD",
}  # fmt: skip


def outside(path: str) -> bool:
    return path.startswith(("/", "~", ".."))


def test_what_runs_hands_out_or_leaves_the_project_is_found() -> None:
    assert {one.key for one in find_delicate(FILE, outside)} == KEYS


def test_nothing_else_has_to_be_accepted() -> None:
    plain = {
        "run": {"name": "digits", "state_dir": ".onbox", "env": {"WANDB_MODE": "online"}},
        "stages": {"train": {"cmd": "python train.py", "env": {"SEED": "1"}}},
        "ssh": {"command": "ssh"},
        "tracker": {"kind": "wandb", "project": "digits"},
        "ray": {"address": "http://127.0.0.1:8265", "cpus": 4},
        "boxes": {"gpu1": {"host": "gpu1", "project": "/root/digits", "watch": {"log": "/root/x.log"}}},
        "patrol": {"textfile": "metrics/onbox.prom", "report": "report.html"},
        "notify": {"urls": ["env:ONBOX_WEBHOOK"], "targets": {"a": {"url": "env:X", "secret": "env:Y"}}},
        "logbook": {"git": "never"},
    }
    assert find_delicate(plain, outside) == ()


def test_a_file_without_what_is_not_accepted_is_a_good_file_that_can_do_nothing() -> None:
    config = parse_config(without(FILE, find_delicate(FILE, outside)), default_name="x")
    assert config.ssh_command == ("ssh",)
    assert config.tracker.key is None
    assert [box.recover for box in config.boxes] == ["never", "never"]
    assert [watch.resubmit for box in config.boxes for watch in box.watches] == [None]
    assert (config.patrol.ping, config.patrol.textfile) == (None, None)
    assert config.patrol.schedule == "1 * * * *"
    assert [target.name for target in config.notify.targets] == ["ONBOX_WEBHOOK", "b"]
    assert config.logbook.git == "never"
    assert not {"address", "token", "onbox"} & set(config.backends["ray"])
    assert not config.backends["iris"]


def test_what_was_accepted_changes_with_where_it_goes() -> None:
    other = {**FILE, "tracker": {"key": SECRET, "api": "https://other.example"}}
    digests = [{one.key: one.digest for one in find_delicate(data, outside)} for data in (FILE, other)]
    assert {key for key in KEYS if digests[0][key] != digests[1][key]} == {"tracker.key"}


def test_other_keys_and_their_order_change_nothing() -> None:
    other = {key: FILE[key] for key in reversed(FILE)}
    other["boxes"] = {**FILE["boxes"], "gpu2": {"host": "gpu2"}}
    assert hash_of(find_delicate(other, outside)) == hash_of(find_delicate(FILE, outside))


@pytest.mark.parametrize(
    "hostile", [{"ssh": []}, {"boxes": {"a": 1}}, {"notify": {"urls": {}}}, {"ray": "x"}, {"run": {"env": []}}]
)
def test_a_file_of_another_shape_is_left_to_the_reader(hostile: dict[str, Any]) -> None:
    assert without(hostile, find_delicate(hostile, outside)) == hostile


# Judged: these may stand in a file that a stranger wrote. A new key of the file has to be put here or into the table.
HARMLESS = {
    "run": {"name", "sample_every", "grace", "backend", "code_changed", "expected"},
    "notify": {"on", "attempt_timeout", "backoff", "backoff_limit", "give_up"},
    "notify.targets.*": {"url", "format", "on", "secret", "attach_log"},  # the whole target is in the table
    "tracker": {"kind", "entity", "project", "run_id", "name", "resume", "stages", "api"},  # api: beside the key
    "boxes.*": {"host", "project", "projects", "backend", "state_dir", "owner", "clocks", "deadline", "counts",
                "stop_at", "results", "price", "started", "budget", "idle_budget", "provider"},
    "boxes.*.watch": {
        "name", "log", "process", "session", "artifacts", "done_regex", "done_file", "done_count", "stall_after",
        "expected", "stop_at", "job",
    },
    "patrol": {
        "schedule", "deadline", "at_once", "per_host", "multiplex", "restarts_per_day", "alerts_per_day", "digest",
        "thresholds", "rules",
    },
    "sweep": {
        "name", "stages", "grid", "cells", "jobs", "gpus", "max_failures", "same_failures", "metrics", "sort",
        "gate_wait",
    },
    "sweep.metrics": {"regex"},
    "ssh": set(),
    "logbook": {"remind"},
    "slurm": {"sbatch", "lead"},  # the command is `sbatch`, wherever it stands; stages are the user's own word
    "ray": {"project", "cpus", "gpus", "memory", "resources"},
    "iris": {"cluster", "args"},
    "verify[]": {"files"},
}  # fmt: skip
_ONLY_A_CHAIN_READS = (
    "stages.",
    "gates",
    "triage",
    "progress",
    "detect",
    "contract",
    "boxes.*.stop_at",
    "boxes.*.counts",
)


def test_every_key_is_judged() -> None:
    in_table = [row.pattern.replace("[]", "") for row in ROWS]
    for table, keys in TABLES.items():
        if not table.startswith(_ONLY_A_CHAIN_READS):
            place = table.replace("[]", "")
            below = [one.removeprefix(f"{place}.") for one in (*in_table, *TABLES) if one.startswith(f"{place}.")]
            assert set(keys.names()) <= HARMLESS[table] | {one.partition(".")[0] for one in below}, table
