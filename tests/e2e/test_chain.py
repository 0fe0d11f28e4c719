"""A chain as a user runs it: markers, results, repeating, reading."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.box import ONBOX, REPOSITORY, Box, python, wait_until

TWO = ("train=echo hello >model.txt; echo trained", "eval=cat model.txt >results.txt")


def test_two_stages_without_any_configuration(box: Box) -> None:
    result = box.onbox("chain", *TWO)
    assert result.returncode == 0, result.stderr
    assert box.markers == ["CHAIN_DONE", "eval_DONE", "train_DONE"]
    assert (box.project / "results.txt").read_text() == "hello\n"
    assert box.marker("train_DONE")["exit_code"] == 0
    assert box.log() == "trained\n"
    assert "2 of 2 stages" in result.stdout


def test_the_same_command_again_repeats_nothing(box: Box) -> None:
    box.onbox("chain", *TWO)
    before = box.events()
    result = box.onbox("chain", *TWO)
    assert (result.returncode, box.events()) == (0, before)
    assert "done already" in result.stdout


def test_what_a_resume_of_a_done_run_names_is_a_command_that_works(box: Box) -> None:
    (box.project / "onbox.toml").write_text(f'[run]\nname = "{box.run}"\n[stages.a]\ncmd = "echo x >>ran"\n')
    assert box.onbox("chain").returncode == 0
    again = ["resume", "--redo", "a", box.run]
    assert f"  again    onbox {shlex.join(again)}\n" in box.onbox("resume").stdout
    assert box.onbox(*again).returncode == 0
    assert box.ran == ["x", "x"]


def test_a_later_stage_is_added_without_repeating(box: Box) -> None:
    box.onbox("chain", "a=echo a >>ran")
    assert box.onbox("chain", "a=echo a >>ran", "b=echo b >>ran").returncode == 0
    assert (box.project / "ran").read_text() == "a\nb\n"


def test_a_failed_stage_stops_the_chain(box: Box) -> None:
    result = box.onbox("chain", "a=true", "b=exit 7", "c=touch never")
    assert result.returncode == 1
    assert box.markers == ["CHAIN_FAILED", "a_DONE", "b_FAILED"]
    assert not (box.project / "never").exists()
    assert "7" in box.marker("CHAIN_FAILED")["reason"]
    assert box.marker("b_FAILED")["failure_class"]
    assert box.status()["state"] == "failed"


def test_after_a_failure_the_chain_goes_on_from_there(box: Box) -> None:
    stages = ("a=echo a >>ran", "b=echo b >>ran; test -e ok", "c=echo c >>ran")
    assert box.onbox("chain", *stages).returncode == 1
    (box.project / "ok").touch()
    assert box.onbox("chain", *stages).returncode == 0
    assert (box.project / "ran").read_text().split() == ["a", "b", "b", "c"]
    assert box.markers == ["CHAIN_DONE", "a_DONE", "b_DONE", "c_DONE"]


@pytest.mark.parametrize(
    "line",
    [
        "false; true",
        "false | cat",
        "cd /nowhere-at-all; true",
        "no-such-program-anywhere",
        "kill -9 $$",
    ],
)
def test_no_shell_line_hides_a_failure(box: Box, line: str) -> None:
    assert box.onbox("chain", f"a={line}").returncode == 1
    assert box.markers == ["CHAIN_FAILED", "a_FAILED"]


def test_commands_of_any_spelling_run_as_written(box: Box) -> None:
    lines = [
        'echo "a  \'b\' \\" c" >out1',
        "printf '%s\\n' 'zwei Wörter 日本語 🚀' >out2",
        "echo one >out3\necho two >>out3",
        "X='a b'; echo \"$X\" >out4",
        "cat >out5 <<'END'\n$(not run) `neither`\nEND",
        ": > 'out6' # a comment",
    ]
    result = box.onbox("chain", *(f"s{number}={line}" for number, line in enumerate(lines)))
    assert result.returncode == 0, result.stdout
    wrote = [(box.project / f"out{number}").read_text() for number in range(1, 7)]
    assert wrote == [
        "a  'b' \" c\n", "zwei Wörter 日本語 🚀\n", "one\ntwo\n", "a b\n", "$(not run) `neither`\n", ""
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["quo'te\"s 日本語", "-dash", "new\nline $(touch x) a;b *"])
def test_projects_may_lie_anywhere(tmp_path: Path, name: str) -> None:
    project = tmp_path / name
    project.mkdir()
    box = Box(project)
    result = box.onbox("chain", "--run", "r", "a=pwd; touch made", "b=test -e made")
    assert result.returncode == 0, result.stderr
    assert (project / "made").exists()
    assert (project / ".onbox" / "r" / "markers" / "CHAIN_DONE").exists()
    assert os.fspath(project) in (project / ".onbox" / "r" / "logs" / "a.log").read_text()


def test_a_command_given_as_words_is_not_interpreted(box: Box) -> None:
    words = [
        sys.executable,
        "-c",
        "import sys; open('out', 'w').write(repr(sys.argv[1:]))",
        "$HOME",
        "a b",
        "",
        "-x",
        "*",
    ]
    (box.project / "onbox.toml").write_text(f"[stages.a]\ncmd = {json.dumps(words)}\n")
    assert box.onbox("chain").returncode == 0
    assert (box.project / "out").read_text() == repr(words[3:])


def test_a_stage_cannot_eat_the_chains_input(box: Box) -> None:
    done = box.onbox("chain", "a=cat; cat", "b=touch ran")
    assert (done.returncode, (box.project / "ran").exists()) == (0, True)


def test_a_stage_knows_its_run_and_writes_unbuffered(box: Box) -> None:
    names = "ONBOX_RUN ONBOX_STAGE ONBOX_ATTEMPT ONBOX_RESUME PYTHONUNBUFFERED WANDB_MODE"
    (box.project / "onbox.toml").write_text(
        f'[run]\nenv = {{ WANDB_MODE = "offline" }}\n[stages.a]\ncmd = "for n in {names}; do echo $n=${{!n}}; done"\n'
    )
    assert box.onbox("chain").returncode == 0
    assert box.log("a").splitlines() == [
        "ONBOX_RUN=digits",
        "ONBOX_STAGE=a",
        "ONBOX_ATTEMPT=1",
        "ONBOX_RESUME=0",
        "PYTHONUNBUFFERED=1",
        "WANDB_MODE=offline",
    ]


def test_a_secret_that_no_variable_can_hold_is_named(box: Box) -> None:
    (box.project / "secret").write_bytes(b"a\0b")
    (box.project / "onbox.toml").write_text("[run.env]\nA_TOKEN = 'file:secret'\n[stages.a]\ncmd = 'true'\n")
    assert box.onbox("chain", "--run", "digits").returncode == 1
    assert "NUL" in box.marker("a_FAILED")["reason"]


def test_a_folder_is_no_log_to_wait_for(box: Box) -> None:
    (box.project / "logs").mkdir()
    wait = 'wait_for = { log = "logs", regex = "ready", timeout = "1s" }'
    (box.project / "onbox.toml").write_text(f"[stages.a]\ncmd = 'true'\n{wait}\n")
    assert box.onbox("chain").returncode == 1
    assert "did not appear" in box.marker("a_FAILED")["reason"]


def test_variables_of_any_name_reach_the_stage_unchanged(box: Box) -> None:
    own = {name: f"my {name}" for name in ("word", "words", "name", "code")}
    box.onbox("chain", "a=env", "b=env", env={**box.env, **own})
    for stage in ("a", "b"):
        assert {f"{name}={value}" for name, value in own.items()} <= set(box.log(stage).splitlines())
    (box.project / "onbox.toml").write_text("[run.env]\nname = 'bob'\nzeta = '1'\n[stages.c]\ncmd = 'env'\n")
    box.onbox("chain", "--run", "digits")
    assert {"name=bob", "zeta=1"} <= set(box.log("c").splitlines())


def test_secrets_reach_the_stage_and_nothing_else(box: Box) -> None:
    (box.project / "key").write_text("hunter2-in-a-file\n")
    (box.project / "onbox.toml").write_text(
        '[stages.a]\ncmd = "test ${#A_TOKEN} = 14 && test ${#B_TOKEN} = 17"\n'
        'env = { A_TOKEN = "env:MY_SECRET", B_TOKEN = "file:key" }\n'
    )
    box.env["MY_SECRET"] = "hunter2-in-env"
    assert box.onbox("chain").returncode == 0
    kept = b"".join(path.read_bytes() for path in box.state.rglob("*") if path.is_file())
    assert b"hunter2" not in kept


def test_a_missing_secret_is_named_before_anything_runs(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[stages.a]\ncmd = "touch ran"\nenv = { A_TOKEN = "env:NOT_SET" }\n')
    result = box.onbox("chain")
    assert result.returncode == 1
    assert "NOT_SET" in result.stdout
    assert not (box.project / "ran").exists()


def test_the_definition_is_frozen_when_the_chain_starts(box: Box) -> None:
    config = box.project / "onbox.toml"
    text = '[stages.a]\ncmd = "until test -e go; do sleep 0.02; done"\n[stages.b]\ncmd = "echo b-as-started"\n'
    config.write_text(text)
    chain = box.start("chain")
    box.runner_pid()
    config.write_text(text.replace("b-as-started", "b-as-edited"))
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    assert box.log("b") == "b-as-started\n"


def test_resume_takes_the_frozen_definition(box: Box) -> None:
    config = box.project / "onbox.toml"
    config.write_text('[stages.a]\ncmd = "echo frozen; test -e ok"\n')
    box.onbox("chain")
    config.write_text('[stages.a]\ncmd = "echo edited"\n')
    (box.project / "ok").touch()
    assert box.onbox("resume").returncode == 0
    assert box.log("a") == "frozen\n"


def test_another_chain_of_the_same_name_says_what_is_not_in_it(box: Box) -> None:
    assert box.onbox("chain", "train=true", "eval=true").returncode == 0
    said = box.onbox("chain", "train=true", "export=true").stdout
    assert "not in this chain: eval; markers and logs stay" in said
    assert "onbox chain --run NAME" in said
    assert box.status()["stages_done"] == 2
    assert "not in this chain" not in box.onbox("chain", "train=true", "export=true", "plot=true").stdout


def test_a_changed_command_is_shown_and_decided(box: Box) -> None:
    box.onbox("chain", "a=echo 30 epochs >>ran")
    refused = box.onbox("chain", "a=echo 50 epochs >>ran")
    assert refused.returncode == 78
    assert "- echo 30 epochs" in refused.stderr
    assert "+ echo 50 epochs" in refused.stderr
    assert "--accept-done a" in refused.stderr
    assert (box.project / "ran").read_text() == "30 epochs\n"
    assert box.onbox("chain", "a=echo 50 epochs >>ran", "--accept-done", "a").returncode == 0
    assert (box.project / "ran").read_text() == "30 epochs\n"
    assert box.onbox("chain", "a=echo 50 epochs >>ran", "--redo", "a").returncode == 0
    assert (box.project / "ran").read_text() == "30 epochs\n50 epochs\n"


def test_a_result_older_than_its_input_is_not_skipped(box: Box) -> None:
    stages = ("a=echo a >>ran", "b=echo b >>ran")
    box.onbox("chain", *stages)
    (box.state / "markers" / "a_DONE").unlink()
    refused = box.onbox("chain", *stages)
    assert (refused.returncode, box.markers) == (78, ["CHAIN_DONE", "b_DONE"])
    assert box.onbox("chain", *stages, "--redo", "a", "--redo", "b").returncode == 0
    assert (box.project / "ran").read_text().split() == ["a", "b", "a", "b"]


def test_a_marker_touched_by_hand_is_no_success(box: Box) -> None:
    (box.state / "markers").mkdir(parents=True)
    (box.state / "markers" / "a_DONE").touch()
    refused = box.onbox("chain", "a=touch ran")
    assert refused.returncode == 78
    assert "touched by hand" in refused.stderr
    assert not (box.project / "ran").exists()


def test_detach_returns_while_the_chain_runs_on(box: Box) -> None:
    result = box.onbox("chain", "-d", "--launch-check", "0", "a=until test -e go; do sleep 0.02; done")
    assert result.returncode == 0
    assert "a_DONE" in result.stdout
    assert box.status()["state"] == "running"
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")


def test_the_launch_check_tells_an_immediate_crash(box: Box) -> None:
    result = box.onbox("chain", "-d", "a=echo boom; exit 3")
    assert result.returncode == 1
    assert "FAILED" in result.stdout


def test_the_runner_loads_no_library_that_it_does_not_need(box: Box) -> None:
    box.onbox("chain", "--detach", "train=echo step 1; sleep 300")
    wait_until(lambda: box.status().get("resources"), "the first sample")  # then all is loaded that a long stage needs
    maps = Path(f"/proc/{box.runner_pid()}/maps").read_text()
    assert "libpython" in maps or "python" in maps
    assert not {"libcrypto", "libssl", "libsqlite3", "_ctypes"} & set(re.findall(r"\w+", maps))


def test_inline_runs_in_this_process(box: Box) -> None:
    result = box.onbox("chain", "--inline", *TWO)
    assert (result.returncode, box.markers) == (0, ["CHAIN_DONE", "eval_DONE", "train_DONE"])
    assert "2 of 2 stages" in result.stdout


def test_runs_and_logs_are_read_as_text_and_json(box: Box) -> None:
    box.onbox("chain", "a=seq 1 100")
    assert box.onbox("logs", "a", "-n", "2").stdout == "99\n100\n"
    assert json.loads(box.onbox("logs", "--json", "-n", "1").stdout)["lines"] == ["100"]
    runs = json.loads(box.onbox("runs", "--json").stdout)["runs"]
    assert [(run["run"], run["state"]) for run in runs] == [("digits", "done")]
    assert "digits" in box.onbox("runs").stdout


def test_logs_follow_to_the_end_of_the_stage(box: Box) -> None:
    box.onbox("chain", "-d", "--launch-check", "0", "a=echo first; until test -e go; do sleep 0.02; done; echo last")
    box.wait_for_log("first", "a")
    follower = box.start("logs", "-f")
    (box.project / "go").touch()
    assert follower.communicate(timeout=60)[0] == "first\nlast\n"


def test_two_runs_in_one_project_do_not_meet(box: Box) -> None:
    assert box.onbox("chain", "--run", "one", "a=echo 1").returncode == 0
    assert box.onbox("chain", "--run", "two", "a=echo 2").returncode == 0
    assert [run["run"] for run in json.loads(box.onbox("runs", "--json").stdout)["runs"]] == ["one", "two"]


def test_windows_line_ends_are_named_before_the_start(box: Box) -> None:
    (box.project / "run.sh").write_bytes(b"#!/bin/bash\r\necho hi\r\n")
    result = box.onbox("chain", "a=bash run.sh")
    assert result.returncode == 78
    assert "CRLF" in result.stderr
    assert box.markers == []


@pytest.mark.parametrize(
    "line", ["echo 'open", 'echo "open', "echo $(date", "if true; then echo", "echo a)", "if true", "fi"]
)
def test_a_command_that_no_shell_can_read_is_refused_before_the_start(box: Box, line: str) -> None:
    for words in (["chain", "a=true", f"b={line}"], ["sweep", "n=1..2", "--", f"true {{n}}; {line}"]):
        result = box.onbox(*words)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (78, "", 1), result.stderr
        assert "cannot read its command: line " in result.stderr
    assert not (box.project / ".onbox").exists()
    (box.project / "onbox.toml").write_text(f"[stages.b]\ncmd = {json.dumps(line)}\n")
    assert "FAIL  commands" in box.onbox("check").stdout


def test_all_commands_that_no_shell_can_read_are_named_at_once(box: Box) -> None:
    result = box.onbox("chain", "a=echo (", "b=true", "c=fi")
    assert result.returncode == 78
    assert [line.split(": ")[0] for line in result.stderr.splitlines()[1:]] == ["  stage a", "  stage c"]


@pytest.mark.parametrize("unbuffered", ["1", ""])
@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_a_change_that_cannot_be_told_starts_nothing_and_says_so(box: Box, output: str, unbuffered: str) -> None:
    assert box.onbox("chain", "a=false").returncode != 0
    line = shlex.join([*ONBOX, "chain", "a=true"])
    around = {**os.environ, "PYTHONPATH": os.fspath(REPOSITORY), "PYTHONUNBUFFERED": unbuffered}
    words = ["sh", "-c", f"exec {line} {output}"]
    done = subprocess.run(words, cwd=box.project, env=around, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (74, 1), done.stderr
    assert done.stderr.startswith("onbox: nothing was started: the standard output ")
    assert "a_DONE" not in box.markers


def test_what_only_looks_like_an_open_quote_is_run(box: Box) -> None:
    lines = [
        "cat <<EOF\nit's\nEOF",
        "true # don't",
        "shopt -s extglob\necho !(a|b)",
        "echo $'it\\'s'",
        "true\nexit 0\nnotes (of mine",
    ]
    assert box.onbox("chain", *(f"s{number}={line}" for number, line in enumerate(lines))).returncode == 0


def test_all_configuration_errors_come_at_once(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[run]\nnam = "x"\n[stages.a]\ncmd = ""\ntimeout = "soon"\n')
    result = box.onbox("chain")
    assert result.returncode == 78
    for part in ("run.nam", '"name"', "stages.a.cmd", "stages.a.timeout"):
        assert part in result.stderr


@pytest.mark.parametrize(
    "words", [("chain", "--frobnicate"), ("frobnicate",), ("chain", "nosuch"), ("status",), ("logs",), ("chain",)]
)
def test_a_wrong_command_line_is_one_clear_answer(box: Box, words: tuple[str, ...]) -> None:
    result = box.onbox(*words)
    assert result.returncode == 64
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("onbox")


def test_state_is_private(box: Box) -> None:
    box.onbox("chain", "a=true")
    for path in [box.state.parent, box.state, *box.state.rglob("*")]:
        if not path.is_symlink():
            assert path.stat().st_mode & 0o077 == 0, path


def test_a_secret_on_a_command_line_stands_in_run_json_only(box: Box) -> None:
    config = '[stages.list]\ncmd = ["sh", "-c", "exit $0", "0", "--api-key", "hunter2x"]\n'
    config += "[stages.line]\ncmd = 'true https://me:hunter2x@host/x --token hunter2x'\n"
    config += "[stages.bad]\ncmd = 'exit 3; : HF_TOKEN=hunter2x'\n"
    (box.project / "onbox.toml").write_text(config)
    assert box.onbox("chain").returncode == 1
    assert box.markers == ["CHAIN_FAILED", "bad_FAILED", "line_DONE", "list_DONE"]
    holders = [path for path in box.state.rglob("*") if path.is_file() and b"hunter2x" in path.read_bytes()]
    assert [path.name for path in holders] == ["run.json"]
    assert "--api-key" in box.marker("list_DONE")["cmd"]
    (box.project / "onbox.toml").write_text(config.replace("exit 3; ", ""))
    assert box.onbox("chain").returncode == 0
    assert [record["stage"] for record in box.events() if record["event"] == "attempt_started"][-1] == "bad"


def test_a_log_of_ten_gigabytes_costs_nothing(box: Box) -> None:
    code = "import os; os.ftruncate(1, 10 << 30); os.lseek(1, 0, 2); os.write(1, b'the end\\n')"
    assert box.onbox("chain", f"a={python(code)}").returncode == 0
    assert box.status()["log"]["last_line"] == "the end"
    assert box.onbox("logs", "-n", "1").stdout.endswith("the end\n")
    assert (box.state / "logs" / "a.log").stat().st_size > 10 << 30


def test_output_of_a_stage_goes_straight_into_its_log(box: Box) -> None:
    code = "import os; print(os.readlink('/proc/self/fd/1')); print(os.readlink('/proc/self/fd/0'))"
    box.onbox("chain", f"a={python(code)}")
    assert box.log("a").splitlines() == [os.fspath(box.state / "logs" / "a.1.log"), "/dev/null"]


def test_what_the_locale_cannot_show_ends_no_command(box: Box) -> None:
    box.onbox("chain", "a=true")
    done = box.onbox("status", env={**box.env, "PYTHONIOENCODING": "ascii:strict"})
    assert (done.returncode, "DONE \\xb7 1/1" in done.stdout) == (0, True), done.stdout + done.stderr


def test_names_of_files_are_utf_8_whatever_the_locale_says(box: Box) -> None:
    """`resume --dry-run` looks for the artifact, `status` tells of it."""
    folder = box.project / "größe"
    folder.mkdir()
    stage = "[stages.train]\ncmd = 'echo x >ergebnis-ä.txt'\nartifacts = ['ergebnis-ä.txt']\n"
    (folder / "onbox.toml").write_text(stage, encoding="utf-8")
    env = {**box.env, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for words in (["chain"], ["resume", "--dry-run"], ["status"], ["check"]):
        done = subprocess.run([*ONBOX, *words], cwd=folder, env=env, capture_output=True, check=False, timeout=120)
        assert done.returncode in (0, 3), done.stderr
        assert b"defect" not in done.stderr
    assert "ergebnis-ä.txt" in json.dumps(
        json.loads((folder / ".onbox/gr-e/markers/train_DONE").read_text()), ensure_ascii=False
    )


def test_closed_output_harms_nothing(box: Box) -> None:
    done = box.run_program(["sh", "-c", f"exec {sys.executable} -m onbox chain a=true >&- 2>&- <&-"])
    assert (done.returncode, box.markers) == (0, ["CHAIN_DONE", "a_DONE"])


@pytest.mark.parametrize("how", ["", "-d "])
def test_a_closed_output_is_told_and_the_chain_goes_on(box: Box, how: str) -> None:
    done = box.run_program(["sh", "-c", f"exec {sys.executable} -m onbox chain {how}a=true >&-"])
    assert (done.returncode, done.stderr.count("the chain goes on")) == (0, 1), done.stderr
    box.wait_for_marker("CHAIN_DONE")
    assert json.loads((box.state / "run.json").read_text())["run"]


def test_a_closed_output_ends_no_look_at_a_chain_that_was_partly_done(box: Box) -> None:
    assert box.onbox("chain", "a=true", "b=false").returncode != 0
    done = box.run_program(["sh", "-c", f"exec {sys.executable} -m onbox chain a=true b=false >&-"])
    assert (done.returncode, done.stderr.count("the chain goes on")) == (1, 1), done.stderr


def test_a_reader_that_goes_away_harms_nothing(box: Box) -> None:
    done = box.run_program(["sh", "-c", f"{sys.executable} -m onbox chain a=true b=true | head -n 1"])
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr
    box.wait_for_marker("CHAIN_DONE")


@pytest.mark.parametrize("value", ["x", float("nan"), float("inf"), [], True])
def test_an_odd_duration_in_a_marker_stops_no_reader(box: Box, value: object) -> None:
    box.onbox("chain", "a=true")
    marker = {**box.marker("a_DONE"), "duration_seconds": value}
    (box.state / "markers" / "a_DONE").write_text(json.dumps(marker))
    assert box.onbox("status").returncode == 0


def test_a_narrow_encoding_harms_nothing(box: Box) -> None:
    env = {**box.env, "PYTHONIOENCODING": "ascii"}
    for words in (("chain", "a=true"), ("chain", "--inline", "b=true"), ("status",)):
        result = box.onbox(*words, env=env)
        assert (result.returncode, result.stderr) == (0, "")


def test_a_full_disk_behind_the_narration_harms_no_inline_chain(box: Box) -> None:
    line = f"{sys.executable} -m onbox chain --inline train=true 'eval=exit 7' >/dev/full"
    assert box.run_program(["sh", "-c", line]).returncode == 1
    assert box.markers == ["CHAIN_FAILED", "eval_FAILED", "train_DONE"]


def test_a_reader_that_goes_away_hides_no_failure(box: Box) -> None:
    line = f"set -o pipefail; {sys.executable} -m onbox chain 'a=sleep 0.3; exit 7' | head -n 1"
    assert box.run_program(["bash", "-c", line]).returncode == 1


def test_a_command_too_long_for_the_kernel_is_named(box: Box) -> None:
    (box.project / "onbox.toml").write_text(f"[stages.a]\ncmd = ': {'x' * 200_000}'\n[stages.b]\ncmd = 'true'\n")
    assert box.onbox("chain").returncode == 1
    assert "Argument list too long" in box.marker("a_FAILED")["reason"]


def test_a_start_over_ssh_sources_no_start_up_file(box: Box) -> None:
    """A bash below sshd takes itself for a login and reads ~/.bashrc, also with -c: a failing line ended the stage."""
    (box.project / ".bashrc").write_text("echo sourced; false\n")
    env = {**box.env, "HOME": str(box.project), "SSH_CLIENT": "127.0.0.1 1 22", "SSH2_CLIENT": "1", "SHLVL": "0"}
    done = box.onbox("chain", "train=echo 'a b' && echo c", env=env)
    assert done.returncode == 0, done.stdout
    assert "sourced" not in box.log()
