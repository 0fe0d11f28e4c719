"""What an onbox.toml means, and what is said of a wrong one."""

from __future__ import annotations

import sys

import pytest

from onbox.config.parse import (
    DEFAULT_NOTIFY_EVENTS,
    NOTIFY_EVENTS,
    Config,
    ConfigErrors,
    Notify,
    parse_config,
    run_name_from,
)
from onbox.contract.notify_targets import NotifyTarget, notify_from_dict, notify_to_dict
from onbox.model.boxes import PatrolSettings, Watch
from onbox.model.manifest import Amount, Artifact, Gates, GpuGate, Retry, RunSettings, Stage, WaitFor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLASSES = {"preempted": "", "network_blip": "", "hang_stall": "", "divergence": "it diverges again"}

WHOLE = """
[run]
name = "digits"
state_dir = "/mnt/disk/.onbox"
env = { WANDB_MODE = "online", SEED = 7 }
sample_every = "10s"
grace = "1m"

[stages.train]
cmd = "python train.py --epochs 30"
cwd = "src"
artifacts = ["ckpt/best.npz", { glob = "ckpt/epoch_*.npz", min_count = 3, min_bytes = "1KiB" }]
timeout = "12h"
stall_after = "30m"
min_duration = "60s"
wait_for = { file = "data/READY" }
retry = { max = 2, classes = ["preempted", "network_blip"], backoff = "90s" }
done_if_log = "^saved"
env = { WANDB_MODE = "offline" }
gates = { disk_free = "20GB" }

[stages.eval]
cmd = ["python", "eval.py", ""]
wait_for = { log = "server.log", regex = "listening", timeout = "10m" }
done_if_log = ""

[gates]
disk_free = "5GB"
inodes_free = "5%"
memory_free = "2GB"
gpu = { count = 1, max_used_mib = 500 }

[notify]
urls = ["env:ONBOX_WEBHOOK", "file:~/hook"]
on = ["chain_done"]

[boxes.gpu1]
host = "me@gpu1"
project = "/root/digits"
backend = "slurm"
recover = "resume"
watch = { log = "train.log", process = "train.py", artifacts = ["a", "b"], done_regex = "^finished" }

[patrol]
schedule = "3,33 * * * *"
deadline = "30s"

[ssh]
command = "ssh -F ./ssh_config"

[[triage]]
regex = "LicenseServerBusy"
class = "license_busy"
remedy = "Wait."
retry = true

[progress]
regex = "step (?P<current>\\\\d+)"
max = 5155
"""

TRAIN = Stage(
    name="train",
    cmd="python train.py --epochs 30",
    cwd="src",
    env=(("SEED", "7"), ("WANDB_MODE", "offline")),
    artifacts=(Artifact("ckpt/best.npz"), Artifact("ckpt/epoch_*.npz", is_glob=True, min_count=3, min_bytes=1024)),
    timeout_seconds=43200.0,
    stall_after_seconds=1800.0,
    min_duration_seconds=60.0,
    wait_for=WaitFor("data/READY", None, None, 7 * 86400.0),
    retry=Retry(2, ("preempted", "network_blip"), 90.0),
    done_if_log="^saved",
    gates=Gates(Amount(20 * 10**9), Amount(percent=5.0), Amount(2 * 10**9), GpuGate(1, 500)),
)


def read(text: str, known_classes: dict[str, str] | None = CLASSES) -> Config:
    return parse_config(tomllib.loads(text), default_name="folder", known_classes=known_classes)


def stage_of(body: str) -> Stage:
    (stage,) = read(f"[stages.s]\ncmd = 'true'\n{body}").stages
    return stage


# -- what a right file means


def test_an_empty_file_holds_the_defaults() -> None:
    config = read("")
    assert config == Config("folder")
    assert (config.state_dir, config.stages) == (".onbox", ())
    assert config.settings == RunSettings(30.0, 30.0)
    assert config.notify == Notify()
    assert NotifyTarget("hook", "env:HOOK").on == DEFAULT_NOTIFY_EVENTS


def test_a_whole_stage_is_read() -> None:
    assert read(WHOLE).stages[0] == TRAIN


def test_stages_stay_in_file_order() -> None:
    text = "\n".join(f"[stages.{name}]\ncmd = 'true'" for name in ("z", "a", "m"))
    assert [stage.name for stage in read(text).stages] == ["z", "a", "m"]


def test_an_argv_becomes_a_tuple() -> None:
    assert read(WHOLE).stages[1].cmd == ("python", "eval.py", "")


def test_the_run_table_is_read() -> None:
    config = read(WHOLE)
    assert (config.run_name, config.state_dir) == ("digits", "/mnt/disk/.onbox")
    assert config.settings == RunSettings(sample_every_seconds=10.0, grace_seconds=60.0)
    assert config.env == (("SEED", "7"), ("WANDB_MODE", "online"))


def test_a_stage_overrides_env_and_gates_key_by_key() -> None:
    train, evaluation = read(WHOLE).stages
    assert (dict(train.env)["WANDB_MODE"], dict(evaluation.env)["WANDB_MODE"]) == ("offline", "online")
    assert (train.gates.disk_free, evaluation.gates.disk_free) == (Amount(20 * 10**9), Amount(5 * 10**9))
    assert train.gates.inodes_free == evaluation.gates.inodes_free == Amount(percent=5.0)


def test_false_switches_an_inherited_gate_off() -> None:
    text = "[gates]\ngpu = { count = 2 }\ndisk_free = '1GB'\n[stages.s]\ncmd = 'true'\ngates = { gpu = false }"
    assert read(text).stages[0].gates == Gates(disk_free=Amount(10**9))


def test_tables_for_other_layers_are_kept_read_only() -> None:
    config = read(WHOLE)
    (box,) = config.boxes
    assert (box.name, box.host) == ("gpu1", "me@gpu1")
    assert box.watches == (
        Watch("watched", log="train.log", process="train.py", artifacts=("a", "b"), done_regex="^finished"),
    )
    assert config.patrol == PatrolSettings("3,33 * * * *", 30.0)
    assert config.ssh_command == ("ssh", "-F", "./ssh_config")
    assert config.triage == ({"regex": "LicenseServerBusy", "class": "license_busy", "remedy": "Wait.", "retry": True},)
    assert config.progress["max"] == 5155
    with pytest.raises(TypeError):
        config.progress["max"] = 1  # type: ignore[index]


def test_notify_takes_references_and_events() -> None:
    on = ("chain_done",)
    expected = (NotifyTarget("ONBOX_WEBHOOK", "env:ONBOX_WEBHOOK", on), NotifyTarget("hook", "file:~/hook", on))
    assert read(WHOLE).notify.targets == expected
    urls = "[notify]\nurls = ['env:A']\n"
    assert read(f"{urls}on = {list(NOTIFY_EVENTS)}").notify.targets[0].on == NOTIFY_EVENTS
    assert read(f"{urls}on = []").notify.targets[0].on == ()


def test_a_named_target_has_settings_of_its_own() -> None:
    text = """
        [notify]
        on = ["chain_done"]
        attempt_timeout = "5s"
        [notify.targets.team]
        url = "env:TEAM"
        format = "feishu"
        secret = "file:~/secret"
        attach_log = "4KB"
        [notify.targets.boss]
        url = "env:BOSS"
        on = ["chain_failed"]
    """
    notify = read(text).notify
    team = NotifyTarget("team", "env:TEAM", ("chain_done",), "feishu", "file:~/secret", 4000)
    assert notify.targets == (team, NotifyTarget("boss", "env:BOSS", ("chain_failed",)))
    assert notify.pace.attempt_seconds == 5.0
    assert notify_from_dict(notify_to_dict(notify)) == notify


def test_names_of_urls_do_not_collide() -> None:
    names = [target.name for target in read("[notify]\nurls = ['file:a/b', 'file:a-b', 'file:a-b']").notify.targets]
    assert names == ["a-b", "a-b-2"]


@pytest.mark.parametrize(
    ("written", "text"),
    [("'x'", "x"), ("true", "true"), ("false", "false"), ("3", "3"), ("0.5", "0.5"), ("''", ""), ("'env:A'", "env:A")],
)
def test_env_values_are_spelled_as_in_toml(written: str, text: str) -> None:
    assert stage_of(f"env = {{ A = {written} }}").env == (("A", text),)


@pytest.mark.parametrize(
    ("written", "gates"),
    [
        ("disk_free = 0", Gates(disk_free=Amount(0))),
        ("disk_free = '5GiB'", Gates(disk_free=Amount(5 * 2**30))),
        ("disk_free = '2.5 %'", Gates(disk_free=Amount(percent=2.5))),
        ("inodes_free = 200000", Gates(inodes_free=Amount(200_000))),
        ("inodes_free = '200k'", Gates(inodes_free=Amount(200_000))),
        ("inodes_free = '1.5M'", Gates(inodes_free=Amount(1_500_000))),
        ("memory_free = '100%'", Gates(memory_free=Amount(percent=100.0))),
        ("gpu = { max_used_mib = 0 }", Gates(gpu=GpuGate(1, 0))),
        ("gpu = { count = 8 }", Gates(gpu=GpuGate(8, None))),
    ],
)
def test_gates_are_read(written: str, gates: Gates) -> None:
    assert stage_of(f"gates = {{ {written} }}").gates == gates


@pytest.mark.parametrize(
    ("written", "artifact"),
    [
        ("'results [1].csv'", Artifact("results [1].csv")),
        ("'-x $(id) \"q\".csv'", Artifact('-x $(id) "q".csv')),
        ("{ path = 'a*b' }", Artifact("a*b")),
        ("{ path = 'a', min_bytes = 0 }", Artifact("a", min_bytes=0)),
        ("{ glob = '*.pt', min_bytes = '1MB' }", Artifact("*.pt", is_glob=True, min_bytes=10**6)),
    ],
)
def test_artifacts_are_read(written: str, artifact: Artifact) -> None:
    assert stage_of(f"artifacts = [{written}]").artifacts == (artifact,)


@pytest.mark.parametrize(
    ("written", "retry"),
    [
        ("{ classes = ['preempted'] }", Retry(1, ("preempted",), 60.0)),
        ("{ max = 0 }", Retry(0, (), 60.0)),
        ("{ max = 5, classes = ['hang_stall'], backoff = 0 }", Retry(5, ("hang_stall",), 0.0)),
    ],
)
def test_retry_is_read(written: str, retry: Retry) -> None:
    assert stage_of(f"retry = {written}").retry == retry


def test_any_class_may_be_retried_where_none_are_known() -> None:
    (stage,) = read("[stages.s]\ncmd = 'true'\nretry = { classes = ['odd'] }", known_classes=None).stages
    assert stage.retry.classes == ("odd",)


def test_a_class_of_the_users_own_may_be_retried_if_its_row_says_so() -> None:
    stage = "[stages.s]\ncmd = 'true'\nretry = { classes = ['busy'] }\n"
    row = "[[triage]]\nregex = 'x'\nclass = 'busy'\n"
    assert read(stage + row + "retry = true").stages[0].retry.classes == ("busy",)
    with pytest.raises(ConfigErrors, match="may be retried"):
        read(stage + row + "retry = false")


# -- names of runs


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("digits", "digits"),
        ("v1.2_b-", "v1.2_b-"),
        ("my project", "my-project"),
        (" (copy) ", "copy"),
        ("naïve—run", "na-ve-run"),
        (".config", "config"),
        ("数字", "run"),
        ("", "run"),
        ("/", "run"),
        ("..", "run"),
        ("\udcff\udcfe", "run"),
        ("a\nb", "a-b"),
        ("x" * 300, "x" * 80),
    ],
)
def test_a_run_name_is_made_of_a_directory_name(folder: str, name: str) -> None:
    assert run_name_from(folder) == name
    assert run_name_from(name) == name
    assert read(f"[run]\nname = '{name}'").run_name == name


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ('checkpoints = { kind = "hf", path = "out" }', "out/checkpoint-*"),
        ('checkpoints = { kind = "lightning", path = "logs/*/checkpoints" }', "logs/*/checkpoints/*.ckpt"),
        ('checkpoints = "orbax"\ngates = { checkpoints = { path = "ckpt", size = 1, keep = 1 } }', "ckpt/*[0-9]"),
        ('checkpoints = "torch"\nartifacts = [{ glob = "w/epoch_*.pt" }]', "w/epoch_*.pt"),
    ],
)
def test_a_preset_says_what_a_checkpoint_is_called(text: str, pattern: str) -> None:
    (stage,) = read(f'[stages.train]\ncmd = "x"\n{text}').stages
    assert [(one.pattern, one.is_glob, one.min_count) for one in stage.artifacts] == [(pattern, True, 1)]
    assert stage.checkpoints in text


def test_what_artifacts_and_preset_both_name_is_counted_once() -> None:
    text = 'artifacts = [{ glob = "ckpt/checkpoint-*", min_count = 2 }]\ncheckpoints = { kind = "hf", path = "ckpt/" }'
    (stage,) = read(f'[stages.train]\ncmd = "x"\n{text}').stages
    assert stage.artifacts == (Artifact("ckpt/checkpoint-*", is_glob=True, min_count=2),)


def test_one_box_may_hold_several_projects() -> None:
    data = {"boxes": {"gpu1": {"host": "h", "projects": ["/root/llm", "/root/vit/"], "price": "2 USD/h"}}}
    one, two = parse_config(data, default_name="digits").boxes
    assert (one.name, one.project, one.group, one.host) == ("gpu1-llm", "/root/llm", "gpu1", "h")
    assert (two.name, two.project, two.group) == ("gpu1-vit", "/root/vit", "gpu1")
    assert one.billing is not None
    assert two.billing is None, "it is paid for once"


@pytest.mark.parametrize("more", [{"project": "/x"}, {"watch": {"log": "l"}}, {"projects": ["/a/llm", "/b/llm"]}])
def test_what_belongs_to_one_project_is_refused_beside_several(more: dict[str, object]) -> None:
    data = {"boxes": {"gpu1": {"projects": ["/root/llm"], **more}}}
    with pytest.raises(ConfigErrors):
        parse_config(data, default_name="digits")
