"""What is said of a wrong onbox.toml: every error, each as one line, and never a secret."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from onbox.config.parse import Config, ConfigError, ConfigErrors, parse_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLASSES = {"preempted": "", "network_blip": "", "hang_stall": "", "divergence": "it diverges again"}


def read(text: str) -> Config:
    return parse_config(tomllib.loads(text), default_name="folder", known_classes=CLASSES)


def errors_of(text: str) -> list[ConfigError]:
    with pytest.raises(ConfigErrors) as caught:
        read(text)
    return caught.value.errors


def lines_of(text: str) -> list[str]:
    return [str(error) for error in errors_of(text)]


def test_every_error_is_reported_at_once() -> None:
    text = """
    [run]
    nam = "x"
    sample_every = 0
    [stages.train]
    timeout = "12 parsecs"
    env = { "A-B" = "x", OK = [1] }
    [stages.CHAIN]
    cmd = ""
    [notify]
    on = ["chain_don"]
    [gate]
    """
    assert [error.path for error in errors_of(text)] == [
        "gate",
        "run.nam",
        "run.sample_every",
        "stages.train.cmd",
        "stages.train.env.A-B",
        "stages.train.env.OK",
        "stages.train.timeout",
        "stages.CHAIN",
        "stages.CHAIN.cmd",
        "notify.on[0]",
    ]


def test_an_error_is_one_line_with_key_seen_and_wanted() -> None:
    (error,) = errors_of("[stages.train]\ncmd = 'true'\ntimeout = '12 parsecs'")
    assert error.path == "stages.train.timeout"
    assert str(error) == ('stages.train.timeout: "12 parsecs" is not a duration such as "90s", "30m", "12h" or "1h30m"')


def test_the_exception_prints_one_line_per_error() -> None:
    with pytest.raises(ConfigErrors) as caught:
        read("[run]\nname = 1\ngrace = -1")
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[stages.s]\ncmd = 'x'\ntimout = 1", 'stages.s.timout: "timout" is not a known key; did you mean "timeout"?'),
        ("[stage.s]\ncmd = 'x'", 'stage: "stage" is not a known key; did you mean "stages"?'),
        ("[ssh]\nxyz = 1", 'ssh.xyz: "xyz" is not a known key; known here: command'),
        ("[gates]\ngpu = { cuont = 1 }", 'gates.gpu.cuont: "cuont" is not a known key; did you mean "count"?'),
        ("[boxes.b]\nHost = 'x'", 'boxes.b.Host: "Host" is not a known key; did you mean "host"?'),
        ("[boxes.b.watch]\nlogs = 'x'", 'boxes.b.watch.logs: "logs" is not a known key; did you mean "log"?'),
        ("[patrol]\ndead_line = 1", 'patrol.dead_line: "dead_line" is not a known key; did you mean "deadline"?'),
        (
            "[[triage]]\nregex = 'x'\nclass = 'y'\nremdy = 'z'",
            'triage[0].remdy: "remdy" is not a known key; did you mean "remedy"?',
        ),
        (
            "[stages.s]\ncmd = 'x'\nsample_every = '5s'",
            'stages.s.sample_every: "sample_every" is not a known key; it is a key of [run]',
        ),
        ("[progress]\nregx = 'x'", 'progress.regx: "regx" is not a known key; did you mean "regex"?'),
    ],
)
def test_unknown_keys_are_named_with_the_nearest(text: str, line: str) -> None:
    assert line in lines_of(text)


@pytest.mark.parametrize(
    ("body", "path", "wanted"),
    [
        ("cmd = ''", "cmd", "a command"),
        ("cmd = ' \t'", "cmd", "a command"),
        ("cmd = []", "cmd", "a command"),
        ("cmd = ['a', 1]", "cmd", "item 2"),
        ("cmd = ['', 'a']", "cmd", "begins with a program"),
        ('cmd = "a\\u0000b"', "cmd", "NUL"),
        ('cmd = ["a", "b\\u0000"]', "cmd", "NUL"),
        ("cwd = ''", "cwd", "something in it"),
        ("env = 'A=1'", "env", "a table"),
        ("timeout = 0", "timeout", "above zero"),
        ("timeout = true", "timeout", "a duration"),
        ("timeout = nan", "timeout", "a duration"),
        ("timeout = '1111111111111111111111111111111111111111!'", "timeout", "a duration"),
        ("stall_after = '0s'", "stall_after", "above zero"),
        ("min_duration = -1", "min_duration", "a duration"),
        ("artifacts = 'a'", "artifacts", "a list"),
        ("artifacts = [1]", "artifacts[0]", "a path"),
        ("artifacts = ['']", "artifacts[0]", "something in it"),
        ("artifacts = ['/']", "artifacts[0]", "below the stage's cwd"),
        ("artifacts = ['~/out.pt']", "artifacts[0]", "no shell reads it"),
        ("artifacts = [{ glob = '$OUT/*.pt' }]", "artifacts[0].glob", "no shell reads it"),
        ("artifacts = [{ glob = '{best,last}.pt' }]", "artifacts[0].glob", "is not expanded"),
        ("artifacts = [{ glob = 'best.pt', min_count = 2 }]", "artifacts[0].min_count", "matches one path at most"),
        ("checkpoints = 'hff'", "checkpoints.kind", 'did you mean "hf"'),
        ("checkpoints = 'hf'", "checkpoints", "say where they lie"),
        ("checkpoints = 3", "checkpoints", "hf, lightning, orbax, torch"),
        ("timeout = '1m'\nmin_duration = '1h'", "min_duration", "could never be DONE"),
        ("artifacts = ['ckpt/*.npz']", "artifacts[0]", "glob"),
        ("artifacts = [{ }]", "artifacts[0].path", "exactly one of path and glob"),
        ("artifacts = [{ path = 'a', glob = 'b' }]", "artifacts[0].glob", "exactly one of path and glob"),
        ("artifacts = [{ path = 'a', min_count = 2 }]", "artifacts[0].min_count", "one path"),
        ("artifacts = [{ glob = 'a', min_count = 0 }]", "artifacts[0].min_count", "1 or more"),
        ("artifacts = ['a', { glob = 'a', min_bytes = 'big' }]", "artifacts[1].min_bytes", "a size"),
        ("retry = []", "retry", "a table"),
        ("wait_for = 'a'", "wait_for", "a table"),
        ("wait_for = {}", "wait_for.file", "exactly one of file and log, or a pid"),
        ("wait_for = { file = 'a', fail_regex = 'b' }", "wait_for.fail_regex", "without log"),
        ("wait_for = { pid = 7, stall_after = '1m' }", "wait_for.stall_after", "without log"),
        ("wait_for = { pid = 0 }", "wait_for.pid", "1 or more"),
        ("wait_for = { file = 'a', log = 'b', regex = 'c' }", "wait_for.log", "exactly one of file and log"),
        ("wait_for = { log = 'a' }", "wait_for.regex", "a regular expression"),
        ("wait_for = { file = 'a', regex = 'b' }", "wait_for.regex", "without log"),
        ("wait_for = { file = 'a', timeout = 0 }", "wait_for.timeout", "above zero"),
        ("retry = { max = -1, classes = ['preempted'] }", "retry.max", "0 or more"),
        ("retry = { max = true, classes = ['preempted'] }", "retry.max", "0 or more"),
        ("retry = { max = 2 }", "retry.classes", "no other is retried"),
        ("retry = { max = 2, classes = ['preemptd'] }", "retry.classes[0]", 'did you mean "preempted"?'),
        ("retry = { max = 2, classes = ['code_error'] }", "retry.classes[0]", "may be retried"),
        ("retry = { max = 2, classes = ['divergence'] }", "retry.classes[0]", "unchanged (it diverges again)"),
        ("done_if_log = '('", "done_if_log", "unterminated subpattern"),
        ("done_if_log = '(?u)x'", "done_if_log", "bytes pattern"),
        ("gates = { disk_free = 'much' }", "gates.disk_free", "a size"),
        ("gates = { disk_free = '101%' }", "gates.disk_free", "a share"),
        ("gates = { disk_free = true }", "gates.disk_free", "a size"),
        ("gates = { inodes_free = '5GB' }", "gates.inodes_free", "a count"),
        ("gates = { inodes_free = -1 }", "gates.inodes_free", "a count"),
        ("gates = { gpu = 1 }", "gates.gpu", "a table"),
        ("gates = { gpu = { count = 0 } }", "gates.gpu.count", "1 or more"),
    ],
)
def test_a_wrong_stage_value_is_refused(body: str, path: str, wanted: str) -> None:
    command = "" if body.startswith("cmd") else "cmd = 'true'\n"
    (error,) = errors_of(f"[stages.s]\n{command}{body}")
    assert error.path == f"stages.s.{path}"
    assert wanted in str(error)


@pytest.mark.parametrize(
    ("text", "path", "wanted"),
    [
        ("run = 5", "run", "a table"),
        ("stages = []", "stages", "a table"),
        ("stages.s = 'python x.py'", "stages.s", "a table"),
        ("[run]\nname = 'my digits'", "run.name", "such as my-digits"),
        ("[run]\nname = 7", "run.name", "a name"),
        ("[run]\nstate_dir = ''", "run.state_dir", "something in it"),
        ("[run]\ngrace = 'soon'", "run.grace", "a duration"),
        ("[run]\nenv = { 1A = 'x' }", "run.env.1A", "a variable"),
        ('[run]\nenv = { A = "x\\u0000" }', "run.env.A", "NUL"),
        ("[run]\nenv = { A = 'env:' }", "run.env.A", "env:NAME"),
        ("[run]\nenv = { A = 'file:' }", "run.env.A", "file:PATH"),
        ("[gates]\nmemory_free = '2 potatoes'", "gates.memory_free", "a size"),
        ("[notify]\non = 'chain_done'", "notify.on", "a list"),
        ("[notify]\non = ['chain_dnoe']", "notify.on[0]", 'did you mean "chain_done"?'),
        ("triage = 5", "triage", "[[triage]]"),
        ("[progress]\nregex = 'step ([0-9]+)'", "progress.regex", "a group named current"),
        ("[progress]\nregex = '(?P<current>[0-9]+) (?P<of>x)'", "progress.regex", "a group named current"),
        ("[[triage]]\nclass = 'x'", "triage[0].regex", "a regular expression"),
        ("[[triage]]\nregex = '['\nclass = 'x'", "triage[0].regex", "unterminated character set"),
        ("[[triage]]\nregex = 'x'", "triage[0].class", "a failure class"),
        ("[[triage]]\nregex = 'x'\nclass = 'A b'", "triage[0].class", "a failure class"),
        ("[[triage]]\nregex = 'x'\nclass = 'y'\nretry = 2", "triage[0].retry", "true or false"),
        (
            "[[triage]]\nregex = 'x'\nclass = 'divergence'\nretry = true",
            "triage[0].retry",
            "false for divergence: it diverges",
        ),
        ("[progress]\nmax = 0", "progress.max", "1 or more"),
        ("[progress]\nmax = '5.16k'", "progress.max", "a whole number"),
        ("[boxes.'a b']\nhost = 'x'", 'boxes."a b"', "a name"),
        ("[boxes.b]\nhost = '-oProxyCommand=id'", "boxes.b.host", "a host"),
        ("[boxes.b]\nhost = 'ada@-oProxyCommand=id'", "boxes.b.host", "a host"),
        ("[boxes.b]\nhost = 'ssh://-oProxyCommand=id'", "boxes.b.host", "a host"),
        ("[boxes.b]\nbackend = 'slrum'", "boxes.b.backend", 'did you mean "slurm"?'),
        ("[boxes.b]\nrecover = true", "boxes.b.recover", "one of never, resume"),
        ("[boxes.b.watch]\nartifacts = 'x'", "boxes.b.watch.artifacts", "a list"),
        ("[boxes.b.watch]\nlog = 'l'\ndone_regex = '*'", "boxes.b.watch.done_regex", "nothing to repeat"),
        ("[patrol]\nschedule = 'hourly'", "patrol.schedule", "five fields"),
        ("[patrol]\ndeadline = 0", "patrol.deadline", "above zero"),
        ("[ssh]\ncommand = ['ssh']", "ssh.command", "something in it"),
    ],
)
def test_a_wrong_value_elsewhere_is_refused(text: str, path: str, wanted: str) -> None:
    (error,) = errors_of(text)
    assert error.path == path
    assert wanted in str(error)


@pytest.mark.parametrize("name", ["a", "0", "train", "train-2_b.c", "x" * 80, "train_done", "CHAINS"])
def test_stage_names_that_are_allowed(name: str) -> None:
    assert [stage.name for stage in read(f"[stages.'{name}']\ncmd = 'true'").stages] == [name]


@pytest.mark.parametrize(
    "name", ["", ".hidden", "-x", "a b", "a/b", "ü", "x" * 81, "CHAIN", "chain", "Chain", "a_DONE", "a_FAILED", "a\\nb"]
)
def test_stage_names_that_are_refused(name: str) -> None:
    (error,) = errors_of(f'[stages."{name}"]\ncmd = "true"')
    assert error.path.startswith("stages.")
    assert "\n" not in str(error)


def test_stage_names_whose_logs_would_collide_are_refused() -> None:
    (line,) = lines_of("[stages.train]\ncmd = 'true'\n[stages.'train.1']\ncmd = 'true'")
    assert line == 'stages.train.1: "train.1" is not allowed beside train: attempts of train log to train.1.log too'


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("artifacts = ['out/best.npz']", "artifacts = ['./out/../out/best.npz']"),
        ("cwd = 'a'\nartifacts = ['x']", "cwd = 'b'\nartifacts = ['../a/x']"),
        ("artifacts = ['/data/x']", "cwd = 'b'\nartifacts = [{ path = '/data/./x' }]"),
    ],
)
def test_two_stages_may_not_write_the_same_file(first: str, second: str) -> None:
    (line,) = lines_of(f"[stages.train]\ncmd = 'true'\n{first}\n[stages.train2]\ncmd = 'true'\n{second}")
    assert line.startswith("stages.train2.artifacts: ")
    assert line.endswith("stages train and train2 write the same file")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("artifacts = ['x', 'x']", ""),
        ("cwd = 'a'\nartifacts = ['x']", "cwd = 'b'\nartifacts = ['x']"),
        ("artifacts = [{ glob = 'x*' }]", "artifacts = [{ glob = 'x*' }]"),
    ],
)
def test_other_files_may_be_alike(first: str, second: str) -> None:
    assert len(read(f"[stages.a]\ncmd = 'true'\n{first}\n[stages.b]\ncmd = 'true'\n{second}").stages) == 2


# -- secrets


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "WANDB_API_KEY", "wandb_api_key", "APIKEY", "MYPASSWORD", "DB_PASSWD", "CLIENT_SECRET", "TOKEN"],
)
@pytest.mark.parametrize("table", ["run", "stages.s"])
def test_a_literal_secret_is_refused_and_not_echoed(name: str, table: str) -> None:
    command = "cmd = 'true'\n" if table.startswith("stages") else ""
    (error,) = errors_of(f"[{table}]\n{command}env = {{ {name} = 'hunter2' }}")
    assert str(error) == (
        f"{table}.env.{name}: *** is not allowed here: never put a secret into this file: write env:NAME or file:PATH"
    )


@pytest.mark.parametrize(
    "pair",
    [
        "HF_TOKEN = 'env:HF_TOKEN'",
        "HF_TOKEN = 'file:~/.token'",
        "MAX_TOKEN = 4096",
        "MAX_TOKEN = '4096'",
        "USE_TOKEN = 'true'",
        "HF_TOKEN = ''",
        "TOKENIZERS_PARALLELISM = 'off'",
        "KEYBOARD = 'de'",
    ],
)
def test_what_is_no_literal_secret_is_taken(pair: str) -> None:
    assert len(read(f"[run]\nenv = {{ {pair} }}").env) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[run]\nenv = 'HF_TOKEN=hunter2'",
        "[run]\nenv = ['HF_TOKEN=hunter2']",
        "[run]\nenv = { HF_TOKEN = ['hunter2'] }",
        "[run]\nenv = { HF_TOKEN = { hunter2 = 1 } }",
        "[run]\nenv = { HF_TOKEN = 'env:$hunter2' }",
        '[run]\nenv = { A = "hunter2\\u0000" }',
        "[notify]\nurls = 'https://hooks.example.com/hunter2'",
        "[notify]\nurls = ['https://hooks.example.com/hunter2']",
        "[notify]\nurls = [['https://hooks.example.com/hunter2']]",
        "[notify]\nurls = ['env:https://hooks.example.com/hunter2']",
        "[notify]\nurl = 'https://hooks.example.com/hunter2'",
    ],
)
def test_values_that_may_be_secrets_are_never_echoed(text: str) -> None:
    lines = lines_of(text)
    assert lines
    assert "hunter2" not in "\n".join(lines)


def test_a_literal_url_is_refused_with_the_reason() -> None:
    (line,) = lines_of("[notify]\nurls = ['env:A', 'https://hooks.example.com/x']")
    assert line == (
        "notify.urls[1]: *** is not allowed here: never put a secret into this file: write env:NAME or file:PATH"
    )


# -- hostile values


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000,
        "\x1b[31mred",
        "a\nb",
        "\u202eevil",
        '"',
        {"deep": {"er": 1}},
        [1] * 1000,
        pytest.param(1 << 20_000, id="2^20000"),
        1e300,
    ],
)
def test_a_seen_value_is_one_short_printable_line(value: Any) -> None:
    with pytest.raises(ConfigErrors) as caught:
        parse_config({"run": {"grace": value}}, default_name="x")
    (error,) = caught.value.errors
    assert error.seen is not None
    assert len(error.seen) <= 62
    assert error.seen.isprintable()


def test_an_odd_key_is_shown_quoted_and_printable() -> None:
    with pytest.raises(ConfigErrors) as caught:
        parse_config({"run": {"a\x1b[2J\n" + "b" * 500: 1}}, default_name="x")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_every_error_of_a_target_is_listed_and_no_secret_is_shown() -> None:
    lines = lines_of("""
        [notify]
        urls = ["env:HOOK"]
        backoff = "0s"
        [notify.targets.HOOK]
        url = "env:OTHER"
        [notify.targets.team]
        url = "https://hooks.example.com/hunter2"
        secret = "hunter2"
        format = "slak"
        on = ["chain_dnoe"]
        attach_log = "1MB"
        colour = "red"
        [notify.targets."bad name"]
        """)
    paths = [line.partition(": ")[0] for line in lines]
    assert sorted(paths) == sorted(
        [
            "notify.backoff",
            "notify.targets.HOOK",
            "notify.targets.team.colour",
            "notify.targets.team.url",
            "notify.targets.team.secret",
            "notify.targets.team.format",
            "notify.targets.team.on[0]",
            "notify.targets.team.attach_log",
            'notify.targets."bad name"',
            'notify.targets."bad name".url',
        ]
    )
    assert "hunter2" not in "".join(lines)
    assert any('did you mean "slack"?' in line for line in lines)
