"""The handbook's commands as a user has them: over a real sshd, with real ticks and real lies to find."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from handbook.page.notes import NOTES_BEGIN
from tests.box import Box, wait_until
from tests.handbooked import HANDBOOK, Handbooked, handbooked
from tests.patrolled import TRAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Handbooked]:
    with handbooked(tmp_path) as made:
        yield made


def done_box(place: Handbooked) -> Box:
    box = place.add_box("gpu1", 'owner = "ann"')
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\n[stages.train]\ncmd = "echo x >best.npz; echo step 5/5"\nartifacts = ["best.npz"]\n'
        '[stages.eval]\ncmd = "true --token=abcdef0123456789"\n[gates]\ndisk_free = "1MB"\n'
    )
    assert box.onbox("chain").returncode == 0
    return box


def test_a_true_page_is_proven(place: Handbooked) -> None:
    done_box(place)
    place.build()
    proven = place.handbook("verify")
    assert proven.returncode == 0, proven.stdout + proven.stderr
    assert " 0 false" in proven.stdout


def remove_marker(box: Box, page: Path) -> None:
    (box.state / "markers" / "eval_DONE").unlink()


def move_log(box: Box, page: Path) -> None:
    (box.state / "logs").rename(box.state / "logs-moved")


def lose_results(box: Box, page: Path) -> None:
    (box.project / "best.npz").unlink()


def other_run(box: Box, page: Path) -> None:
    subprocess.run(["rm", "-rf", box.state], check=True)
    assert box.onbox("chain").returncode == 0


def another_command(box: Box, page: Path) -> None:
    assert box.onbox("chain", "train=echo y >best.npz", "--redo", "train").returncode == 0


def run_is_gone(box: Box, page: Path) -> None:
    subprocess.run(["rm", "-rf", box.state], check=True)


def lie_in_the_page(box: Box, page: Path) -> None:
    page.write_text(page.read_text().replace("patrol pull gpu1/digits", "patrol pull gpu1/digits2"))


def secret_in_the_page(box: Box, page: Path) -> None:
    page.write_text(page.read_text() + "\nHF_TOKEN=abcdef0123456789\n")


def broken_link(box: Box, page: Path) -> None:
    page.write_text(page.read_text() + "\nsee https:///nowhere\n")


LIES: tuple[Callable[[Box, Path], None], ...] = (
    remove_marker, move_log, lose_results, other_run, another_command, run_is_gone, lie_in_the_page,
    secret_in_the_page, broken_link,
)  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_what_became_false_is_found(place: Handbooked, lie: Callable[[Box, Path], None]) -> None:
    box = done_box(place)
    place.build()
    lie(box, place.local / "HANDBOOK.md")
    proven = place.handbook("verify")
    assert proven.returncode == 1, proven.stdout + proven.stderr
    assert "FALSE" in proven.stdout


def test_an_old_page_and_a_box_that_is_gone(place: Handbooked) -> None:
    done_box(place)
    place.build()
    data = json.loads((place.local / "handbook.json").read_text())
    (place.local / "handbook.json").write_text(json.dumps({**data, "good_until": "2026-01-01T00:00:00Z"}))
    assert "FALSE      as of" in place.handbook("verify").stdout
    place.sshd.close()
    (place.local / "handbook.json").write_text(json.dumps(data))
    proven = place.handbook("verify")
    assert proven.returncode == 3, proven.stdout + proven.stderr
    assert "UNCHECKED" in proven.stdout
    assert "FALSE" not in proven.stdout


def test_no_secret_gets_into_any_file(place: Handbooked) -> None:
    done_box(place)
    place.build()
    for path in place.local.rglob("*"):
        if path.is_file():
            assert "abcdef0123456789" not in path.read_text(), path
    assert "true --token=***" in (place.local / "HANDBOOK.md").read_text()


def test_a_secret_in_the_notes_is_masked_in_the_page(place: Handbooked) -> None:
    done_box(place)
    page = place.build()
    (place.local / "HANDBOOK.md").write_text(page.replace(NOTES_BEGIN, f"{NOTES_BEGIN}\nask bob\ntoken=hunter2hunter2"))
    done = place.handbook("build")
    assert "masked" in done.stderr
    kept = (place.local / "HANDBOOK.md").read_text()
    assert "ask bob\ntoken=***" in kept
    assert "hunter2hunter2" not in kept


def test_the_record_is_committed_by_itself_only_where_that_was_asked_for(place: Handbooked) -> None:
    done_box(place)

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=place.local, env=place.env, check=True, capture_output=True, text=True
        )
        return done.stdout

    git("init", "-q", "-b", "main")
    for key, value in (("user.name", "ann"), ("user.email", "ann@example.com")):
        git("config", key, value)
    git("commit", "-q", "--allow-empty", "-m", "one")
    place.build()
    assert place.handbook("log", "flat since step 5").returncode == 0
    told = json.loads(place.handbook("log", "flat since step 5.5", "--json").stdout)
    assert place.handbook("log", "show", "--json").stdout.count('"seq"') == told["entry"]
    assert git("log", "--format=%s").splitlines() == ["one"]
    refused = place.handbook("log", "--push", "flat since step 6")
    assert (refused.returncode, "is pushed nowhere yet" in refused.stderr) == (1, True), refused.stderr
    assert git("log", "-1", "--format=%s").strip() == "digits: start logbook"
    place.head = '[logbook]\ngit = "commit"\n'
    place.write()
    assert place.handbook("log", "--kind", "decision", "go on").returncode == 0
    assert git("log", "-1", "--format=%s").strip() == "digits: log decision"
    assert place.handbook("log", "commit").stdout.rstrip().endswith("nothing new to commit")
    assert git("status", "--porcelain", "logbook") == ""


def test_a_run_is_sealed_only_at_its_end(place: Handbooked) -> None:
    box = done_box(place)

    def git(folder: Path, *words: str) -> str:
        who = ["-c", "user.name=ann", "-c", "user.email=ann@example.com"]
        return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout

    place.build()
    assert place.handbook("seal", "--check").returncode == 0
    results = box.project / "best.npz"
    results.rename(box.project / "elsewhere")
    refused = place.handbook("seal")
    assert (refused.returncode, "NOT SO       results" in refused.stdout) == (1, True), refused.stdout
    assert "seal" not in place.handbook("log", "show", "--kind", "seal").stdout
    (box.project / "elsewhere").rename(results)
    git(place.local, "init", "-q", "-b", "main")
    for key, value in (("user.name", "ann"), ("user.email", "ann@example.com")):
        git(place.local, "config", key, value)
    sealed = place.handbook("seal")
    assert "no tag" in sealed.stderr, "the box's project has no git, and that is said"
    shown = place.handbook("log", "show", "--kind", "seal").stdout
    assert "evidence: run id" in shown
    assert git(place.local, "log", "-1", "--format=%s").strip() == "digits: start logbook"
    assert "sealed before" in place.handbook("seal").stdout


def test_a_launch_by_hand_leaves_no_lineage_open(place: Handbooked) -> None:
    done_box(place)
    place.build()
    launch = ("log", "--kind", "launch", "again after the node was lost")
    for words in ((), ("--reason", "node lost"), ("--reason", "x", "--lineage", "new", "--old", "a", "--new", "b")):
        refused = place.handbook(*launch, *words)
        assert refused.returncode == 64, refused.stderr
    assert "--from, --root, --code" in refused.stderr
    assert place.handbook(*launch, "--reason", "node lost", "--lineage", "same").returncode == 0
    whole = ("--old", "a", "--new", "b", "--from", "ckpt/step-5", "--root", "/mnt/b", "--code", "1a2b3c4")
    assert place.handbook(*launch, "--reason", "rolled back", "--lineage", "new", *whole).returncode == 0
    shown = place.handbook("log", "show", "--kind", "launch").stdout
    assert "lineage: new: old a; new b; from ckpt/step-5; root /mnt/b; code 1a2b3c4" in shown
    assert "reason: rolled back" in shown


def test_a_tick_renews_the_page_and_keeps_the_notes(place: Handbooked) -> None:
    box = place.add_box("gpu1")
    assert box.onbox("chain", "-d", "--launch-check", "0.2", TRAIN).returncode == 0
    box.wait_for_log("step 1/100")
    place.tick()
    assert not (place.local / "HANDBOOK.md").exists(), "a page comes to be when somebody asks for it"
    place.build()
    page = place.local / "HANDBOOK.md"
    page.write_text(page.read_text().replace(NOTES_BEGIN, f"{NOTES_BEGIN}\nask ann first"))
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    place.tick()
    wait_until(lambda: "gpu1/digits: done" in page.read_text(), "the tick to renew the page")
    assert "ask ann first" in page.read_text()
    assert "train_DONE (there)" in page.read_text()
    logbook = (place.local / "logbook" / "digits.md").read_text()
    for text in ("- launch: chain started", "- transition: train done", "- flip: ", "→ done (done)"):
        assert text in logbook
    assert place.handbook("log", "verify").returncode == 0


def test_same_facts_leave_the_files_untouched(place: Handbooked) -> None:
    done_box(place)
    place.build()
    files = [place.local / name for name in ("HANDBOOK.md", "handbook.json", "logbook/digits.md")]
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]
    assert place.handbook("build").returncode == 0
    assert before == [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]


def test_many_builders_at_once_leave_one_whole_page(place: Handbooked) -> None:
    done_box(place)
    expected = place.build()
    builders = [
        subprocess.Popen([*HANDBOOK, "build"], env=place.env, cwd=place.local, stdout=subprocess.DEVNULL)
        for _ in range(6)
    ]
    assert [one.wait(60) for one in builders] == [0] * 6
    assert (place.local / "HANDBOOK.md").read_text() == expected
    assert not list(place.local.glob("*.tmp*"))
    assert place.handbook("log", "verify").returncode == 0


def test_where_page_and_world_differ_the_world_wins(place: Handbooked) -> None:
    box = place.add_box("gpu1")
    assert box.onbox("chain", "-d", "--launch-check", "0.2", TRAIN).returncode == 0
    box.wait_for_log("step 1/100")
    place.build()
    assert box.onbox("stop", "--now").returncode == 0
    said = json.loads(place.handbook("resume", "--json").stdout)
    assert said["runs"][0]["state"] == "stopped"
    assert any("state running → stopped" in one for one in said["differs"])
    assert {"box", "run", "state", "rule", "next_command"} <= said["runs"][0].keys()
    assert json.loads(place.handbook("resume", "--json").stdout)["differs"] == []


def test_a_page_built_after_a_tick_is_complete_over_that_one_connection(place: Handbooked) -> None:
    """Whoever takes over after the first look finds chain, markers, launches and identity, also at the next stage."""
    box = place.add_box("gpu1")
    waits = "train=until test -e go; do sleep 0.1; done"
    begun = box.onbox("chain", "-d", "--launch-check", "0.1", waits, "eval=until test -e stop; do sleep 0.1; done")
    assert begun.returncode == 0, begun.stderr

    def page() -> str:
        (place.local / "HANDBOOK.md").unlink(missing_ok=True)  # where one lies a tick renews it, and asks once more
        before = place.sshd.logins()
        place.patrol("tick")
        assert place.handbook("build").returncode == 0
        assert place.sshd.logins() == before + 1
        return (place.local / "HANDBOOK.md").read_text()

    first = page()
    assert "not read yet" not in first
    assert "  1. train [running]" in first
    assert "train_DONE (no)" in first
    assert "notifications: the run itself sends no messages" in first
    (box.project / "go").touch()
    wait_until(lambda: "train_DONE" in box.markers, "the first stage to be done")
    second = page()
    assert "  1. train [done]" in second
    assert "train_DONE (there)" in second
    (box.project / "stop").touch()


def test_what_a_person_writes_stands_in_the_record(place: Handbooked) -> None:
    done_box(place)
    place.build()
    written = place.handbook(
        "log", "--kind", "decision", "--next", "seal", "keep step 5; password=hunter2 is not a secret"
    )
    assert written.returncode == 0, written.stderr
    shown = place.handbook("log", "show", "--kind", "decision").stdout
    assert "keep step 5" in shown
    assert "next: seal" in shown
    assert "hunter2" not in shown
    assert place.handbook("log", "--run", "other", "x").returncode == 64
    assert place.handbook("log", "--kind", "flip", "x").returncode == 64
    handed = place.handbook("handoff").stdout
    assert "owner: ann" in handed
    assert "logbook/digits.md" in handed


def test_a_handoff_moves_the_ownership_on_record(place: Handbooked) -> None:
    done_box(place)
    place.build()
    assert place.handbook("handoff", "--to", "", "--run", "digits").returncode == 64
    handed = place.handbook("handoff", "--to", "bob", "--actor", "ann")
    assert handed.returncode == 0, handed.stderr
    assert "owner: bob, since" in handed.stdout
    book = (place.local / "logbook" / "digits.md").read_text()
    assert "- handoff: ann → bob" in book
    assert "- owner: bob" in book
    again = place.handbook("handoff", "--to", "bob", "--json")
    assert "gpu1/digits is bob's already" in again.stderr
    assert json.loads(again.stdout)["runs"][0]["owner"] == "bob"
    assert "owner of gpu1/digits: bob" in place.build()
    assert place.handbook("log", "verify").returncode == 0
    assert place.handbook("verify").returncode == 0


def test_the_box_keeps_a_page_of_its_own(place: Handbooked) -> None:
    """Made once there, it is renewed by what happens there, with nobody outside."""
    box = place.add_box("gpu1")
    settings: dict[str, Any] = {"env": {**box.env, "XDG_STATE_HOME": str(box.project / "state")}, "cwd": box.project}
    assert box.onbox("chain", "train=true", **settings).returncode == 0
    made = place.handbook("build", **settings)
    assert made.returncode == 0, made.stderr
    page = box.project / ".onbox" / "HANDBOOK.md"
    assert "/digits: done" in page.read_text()
    assert "patrol tick" not in page.read_text().split("## Boxes")[0]
    call = page.read_text().partition("finds no `onbox`, type `")[2].partition("`")[0]
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(box.project)}
    assert subprocess.run([*shlex.split(call), "status"], env=plain, cwd=box.project, check=False).returncode == 0
    assert box.onbox("chain", "train=true", "eval=false", **settings).returncode == 1
    wait_until(lambda: "/digits: FAILED" in page.read_text(), "the chain's end to renew the page")


def test_without_a_page_a_chain_starts_no_builder(box: Box) -> None:
    assert box.onbox("chain", "train=true").returncode == 0
    time.sleep(0.5)  # nothing tells that something does not happen
    assert not (box.project / ".onbox" / "HANDBOOK.md").exists()


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "generic"])
def test_the_file_for_an_agents_host(place: Handbooked, host: str) -> None:
    place.write()
    done = place.handbook("agent", "--host", host, "--write")
    assert done.returncode == 0, done.stderr
    text = (place.local / done.stdout.strip()).read_text()
    assert "handbook resume" in text
    assert place.handbook("agent", "--host", host).stdout in text


def test_bad_input_is_one_line(place: Handbooked, tmp_path: Path) -> None:
    place.write()
    wrong = (("verify",), ("build", "--folder", "/nowhere"), ("log", "x"), ("nothing",), ("agent", "--host", "other"))
    for words in wrong:
        done = place.handbook(*words)
        assert done.returncode == 64, (words, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr


def test_a_box_without_a_run_and_a_directory_without_a_box_are_called_so(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    place.write()
    said = place.handbook("resume").stdout
    assert "no run was seen there" in said
    assert "onbox did not start it" not in said
    assert "| never |" not in (place.local / "HANDBOOK.md").read_text(), "it was reached just now"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "no run was seen there" in place.handbook("resume", cwd=elsewhere).stdout, "the one that is known is meant"
    nobody = {**place.env, "XDG_STATE_HOME": str(tmp_path / "nobody")}
    for word in ("build", "resume", "verify", "handoff"):
        done = place.handbook(word, cwd=elsewhere, env=nobody)
        assert done.returncode == 64, done.stderr
        assert "patrol add HOST" in done.stderr
        here = place.handbook(word, "--here", cwd=elsewhere)
        assert here.returncode == 64, "this very directory, and no other"
    assert not list(elsewhere.iterdir())
    assert box.project.exists()


@pytest.mark.parametrize("name", ["two words", "two\nlines", "größe"])
def test_a_page_of_a_folder_with_an_odd_name_is_proven(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    box = Box(folder, "seven")
    box.env["XDG_STATE_HOME"] = str(tmp_path / "state")
    assert box.onbox("chain", "--run", "seven", "train=true").returncode == 0
    for command in ("build", "verify"):
        done = box.run_program([sys.executable, "-m", "handbook", command])
        assert done.returncode == 0, done.stdout + done.stderr
