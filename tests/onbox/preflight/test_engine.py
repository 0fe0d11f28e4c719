"""Engines before a chain is handed to them: each trouble has its own line, and no answer is not a bad answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onbox.config.parse import parse_config
from onbox.preflight.engine import check_engine
from onbox.preflight.report import CheckResult, CheckVerdict
from onbox.system.command import CommandResult, NotRun
from onbox.system.http import NoReply, Question, Reply
from tests.onbox.preflight.facts import facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onbox.model.manifest import Stage

NFS = "30 1 0:40 / / rw - nfs4 server:/home rw,vers=4.2\n"
EXT4 = "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
STARTS = "sbatch: Job 3 to start at 2026-11-21T14:57:43 using 1 processors on nodes n0 in partition main\n"
REFUSED = (
    "lua: welcome to the cluster\nsbatch: error: invalid partition specified: gpu\n"
    "allocation failure: Invalid partition name specified\n"
)
SLURM: dict[str, CommandResult | NotRun] = {
    "sbatch --version": CommandResult(0, "slurm 24.11.5\n", ""),
    "scontrol ping": CommandResult(0, "Slurmctld(primary) at ctl is UP\n", ""),
    "sacct": CommandResult(1, "", "Slurm accounting storage is disabled\n"),
    "sbatch --test-only": CommandResult(0, "", STARTS),
    "sinfo -h -p": CommandResult(0, "up 2 idle\nup 1 drain\n", ""),
    "sinfo -h -N": CommandResult(0, "n1\nn2\n", ""),
}


class Shell:
    """Commands by the beginning of their words."""

    def __init__(self, answers: Mapping[str, CommandResult | NotRun]) -> None:
        self.answers, self.asked = answers, list[str]()

    def __call__(
        self, argv: Sequence[str], *, timeout_seconds: float, env: Mapping[str, str] | None = None
    ) -> CommandResult | NotRun:
        assert timeout_seconds > 0
        assert env is not None
        line = " ".join(argv)
        self.asked.append(line)
        return next(answer for words, answer in self.answers.items() if line.startswith(words))


def stages(**sbatch: dict[str, Any]) -> tuple[Stage, ...]:
    """Stages by name, with their options of sbatch."""
    tables = {name: {"cmd": "true", "sbatch": options} for name, options in sbatch.items()}
    return tuple(parse_config({"stages": tables}, default_name="digits").stages)


TRAIN = stages(train={"partition": "main"}, eval={})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with Slurm's commands whose disk is on a server."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(NFS)
    (tmp_path / "bin").mkdir()
    for name in ("sbatch", "squeue", "scontrol", "scancel", "iris"):
        (tmp_path / "bin" / name).touch(mode=0o755)
    return tmp_path


def look(
    root: Path, engine: str, *, settings: Mapping[str, Any] | None = None, **changes: Any
) -> dict[str, CheckResult]:
    changes.setdefault("environ", {"PATH": str(root / "bin")})
    of_engine: dict[str, Any] = {"engine": engine, "engine_settings": {"grace_seconds": 5.0, **(settings or {})}}
    given = facts(root=str(root), folder=str(root), **of_engine, **changes)
    return {result.check: result for result in check_engine(given)}


def slurm(root: Path, words: str = "", answer: CommandResult | NotRun | None = None) -> dict[str, CheckResult]:
    """With another answer to the command that begins with these words."""
    answers = SLURM if answer is None else {**SLURM, words: answer}
    return look(root, "slurm", stages=TRAIN, run=Shell(answers))


def test_a_chain_that_stays_here_asks_no_engine(root: Path) -> None:
    assert look(root, "local") == {}


def test_a_sound_slurm_passes_in_every_line(root: Path) -> None:
    found = slurm(root)
    assert {result.verdict for result in found.values()} == {CheckVerdict.PASS}
    assert list(found) == [
        "slurm", "controller", "accounting", "sbatch train", "sbatch eval", "partition main", "shared disk",
    ]  # fmt: skip
    assert "would begin at 2026-11-21T14:57:43 on n0 in main" in found["sbatch train"].seen
    assert "nfs4" in found["shared disk"].seen


def test_stages_of_the_same_options_are_asked_once(root: Path) -> None:
    many = stages(**{f"s{number}": {} for number in range(30)})
    shell = Shell(SLURM)
    found = look(root, "slurm", stages=many, run=shell)
    assert "sbatch s0, s1, s2 and 27 more" in found
    assert sum("--test-only" in line for line in shell.asked) == 1


def test_commands_that_are_missing_are_named(root: Path) -> None:
    (root / "bin/sbatch").unlink()
    found = slurm(root)
    assert found["slurm"].verdict is CheckVerdict.FAIL
    assert "sbatch" in found["slurm"].seen
    assert "controller" not in found


@pytest.mark.parametrize(
    ("answer", "looked"),
    [
        (CommandResult(0, "Slurmctld(primary) at ctl is DOWN\n", ""), True),
        (NotRun("scontrol did not answer within 15 s"), False),
        (CommandResult(1, "", "scontrol: error: Munge authentication failed"), False),
    ],
)
def test_a_controller_that_is_down_is_not_one_that_could_not_be_asked(
    root: Path, answer: CommandResult | NotRun, *, looked: bool
) -> None:
    found = slurm(root, "scontrol ping", answer)
    assert (found["controller"].verdict, found["controller"].looked) == (CheckVerdict.FAIL, looked)
    assert found["controller"].remedy
    assert not [check for check in found if check.startswith("sbatch")]


def test_a_refusal_is_told_without_the_banners_of_the_site(root: Path) -> None:
    found = slurm(root, "sbatch --test-only", CommandResult(1, "", REFUSED))
    result = found["sbatch train"]
    assert (result.verdict, result.looked) == (CheckVerdict.FAIL, True)
    assert "invalid partition specified: gpu" in result.seen
    assert "welcome" not in result.seen


@pytest.mark.parametrize(
    "answer",
    [NotRun("sbatch did not answer within 15 s"), CommandResult(1, "", "sbatch: error: Unable to contact slurm")],
)
def test_options_that_could_not_be_tried_are_neither_good_nor_bad(root: Path, answer: CommandResult | NotRun) -> None:
    found = slurm(root, "sbatch --test-only", answer)
    assert (found["sbatch train"].verdict, found["sbatch train"].looked) == (CheckVerdict.WARN, False)


@pytest.mark.parametrize("rows", ["down 2 idle\n", "up 2 drain\nup 1 down*\n"])
def test_a_partition_where_jobs_only_wait(root: Path, rows: str) -> None:
    found = slurm(root, "sinfo -h -p", CommandResult(0, rows, ""))
    assert found["partition main"].verdict is CheckVerdict.WARN


def test_a_disk_of_this_machine_is_not_the_nodes(root: Path) -> None:
    (root / "proc/self/mountinfo").write_text(EXT4)
    assert slurm(root)["shared disk"].verdict is CheckVerdict.WARN
    found = slurm(root, "sinfo -h -N", CommandResult(0, "localhost\nlocalhost\n", ""))
    assert found["shared disk"].verdict is CheckVerdict.PASS


# -- over HTTP


class Web:
    def __init__(self, reply: Reply | NoReply) -> None:
        self.reply, self.questions = reply, list[Question]()

    def __call__(self, question: Question, timeout_seconds: float) -> Reply | NoReply:
        assert timeout_seconds > 0
        self.questions.append(question)
        return self.reply


VERSION = Reply(200, '{"version": "4", "ray_version": "2.60.0", "session_name": "session_1"}')
RAY_TOKEN = {"RAY_AUTH_TOKEN": "secret-0123456789"}


def test_a_head_that_answers(root: Path) -> None:
    web = Web(VERSION)
    found = look(root, "ray", ask=web, environ=RAY_TOKEN)
    assert {result.verdict for result in found.values()} == {CheckVerdict.PASS}
    assert "Ray 2.60.0 at http://127.0.0.1:8265" in found["ray"].seen
    assert web.questions[0].headers == (("Authorization", "Bearer secret-0123456789"),)
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("reply", "check", "looked"),
    [
        (NoReply("connection refused"), "ray", False),
        (Reply(401, ""), "ray token", True),
        (Reply(403, ""), "ray token", True),
        (Reply(502, "bad gateway"), "ray", False),
        (Reply(200, "<html>Grafana</html>"), "ray", False),
    ],
)
def test_a_head_that_does_not(root: Path, reply: Reply | NoReply, check: str, *, looked: bool) -> None:
    found = look(root, "ray", ask=Web(reply), environ={"RAY_AUTH_TOKEN_PATH": "/nothing"})
    assert (found[check].verdict, found[check].looked) == (CheckVerdict.FAIL, looked)
    assert found[check].remedy


def test_a_token_that_leads_nowhere_is_told_and_nothing_is_asked(root: Path) -> None:
    web = Web(VERSION)
    found = look(root, "ray", ask=web, settings={"token": "env:NOT_SET"}, environ={})
    assert found["ray token"].verdict is CheckVerdict.FAIL
    assert not web.questions


def test_a_token_in_the_clear_is_warned_of(root: Path) -> None:
    settings = {"address": "http://head.example:8265"}
    found = look(root, "ray", ask=Web(VERSION), settings=settings, environ=RAY_TOKEN)
    assert found["ray token"].verdict is CheckVerdict.WARN


IRIS = {"controller": "http://127.0.0.1:10000", "config": "marin"}
HELP = CommandResult(0, "Usage: iris job run [OPTIONS]\n  --no-wait\n  --job-name TEXT\n", "")


def test_a_controller_of_iris_that_answers(root: Path) -> None:
    (root / "marin.yaml").touch()
    found = look(root, "iris", settings=IRIS, ask=Web(Reply(200, "{}")), run=Shell({"iris job run": HELP}))
    assert {result.verdict for result in found.values()} == {CheckVerdict.PASS}
    assert set(found) == {"iris", "iris command", "iris config"}


@pytest.mark.parametrize(
    ("reply", "check", "looked"),
    [
        (NoReply("connection refused"), "iris", False),
        (Reply(401, ""), "iris token", True),
        (Reply(404, "nothing here"), "iris", False),
        (Reply(200, "<html>"), "iris", False),
    ],
)
def test_a_controller_of_iris_that_does_not(root: Path, reply: Reply | NoReply, check: str, *, looked: bool) -> None:
    found = look(root, "iris", settings=IRIS, ask=Web(reply), run=Shell({"iris job run": HELP}))
    assert (found[check].verdict, found[check].looked) == (CheckVerdict.FAIL, looked)


def test_verbs_that_the_command_lacks_are_named(root: Path) -> None:
    old = CommandResult(0, "Usage: iris job run\n  --no-waiting\n", "")
    found = look(root, "iris", settings=IRIS, ask=Web(Reply(200, "{}")), run=Shell({"iris job run": old}))
    assert "--no-wait, --job-name" in found["iris command"].seen
    assert found["iris config"].verdict is CheckVerdict.FAIL
    (root / "bin/iris").unlink()
    found = look(root, "iris", settings=IRIS, ask=Web(Reply(200, "{}")), run=Shell({}))
    assert "not on PATH" in found["iris command"].seen
