"""Why a stage failed, told by the chain itself: from its log, its end and its box."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import Box, python

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = "for i in range(3): print(f'step {i}/100 loss {1 / (i + 1):.3f}', flush=True)\n"


def fail(box: Box, code: str, settings: str = "") -> dict[str, Any]:
    """The FAILED marker of a training that runs `code`."""
    (box.project / "train.py").write_text(code)
    (box.project / "onbox.toml").write_text(f"[stages.train]\ncmd = {python('import train')!r}\n{settings}")
    assert box.onbox("chain").returncode == 1
    return box.marker("train_FAILED")


def test_a_bug_is_told_with_its_line_and_place(box: Box) -> None:
    marker = fail(box, TRAINING + "config = {}\nconfig['lr']\n")
    assert (marker["failure_class"], marker["proof"]) == ("code_error", "KeyError: 'lr'")
    assert marker["proof_line_number"] == len(box.log().splitlines())
    assert marker["where"].endswith("train.py:3")
    assert "confidence" in marker
    assert (marker["traceback"][0], marker["traceback"][-1]) == ("Traceback (most recent call last):", "KeyError: 'lr'")
    assert "config['lr']" in box.onbox("status").stdout


def test_of_a_traceback_without_room_the_marker_holds_the_ends(box: Box) -> None:
    called = "".join(
        f"def {'слой_' * 18}{at}(values):\n    return {'слой_' * 18}{at + 1}(values)\n" for at in range(40)
    )
    code = f"{called}def {'слой_' * 18}40(values):\n    return values['lr']\n{'слой_' * 18}0({{}})\n"
    marker = fail(box, code)
    assert (marker["proof"], marker["traceback"][-1]) == ("KeyError: 'lr'", "KeyError: 'lr'")
    assert any("return values['lr']" in line for line in marker["traceback"])
    assert any("left out" in line for line in marker["traceback"])
    assert len(json.dumps(marker)) <= 4096
    assert "return values['lr']" in box.onbox("status").stdout


def test_memory_of_the_card_is_told_from_the_log(box: Box) -> None:
    text = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB in all)"
    marker = fail(box, TRAINING + f"raise RuntimeError({text!r})\n")
    assert marker["failure_class"] == "cuda_oom"
    assert "onfiguration" in marker["remedy"]


def test_a_survived_error_does_not_hide_a_missing_result(box: Box) -> None:
    code = "import logging\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    logging.exception('retrying')\n" + TRAINING
    marker = fail(box, code, "artifacts = ['best.npz']\n")
    assert marker["failure_class"] == "false_success"


def test_the_same_failure_twice_has_one_signature(box: Box) -> None:
    code = (
        TRAINING + "import os, time\nraise ConnectionError(f'Max retries exceeded: timed out after {time.time()} s')\n"
    )
    fail(box, code, "retry = { max = 1, classes = ['network_blip'], backoff = '0s' }\n")
    (again,) = box.events("stage_retrying")
    (failed,) = box.events("stage_failed")
    assert (again["failure_class"], failed["failure_class"]) == ("network_blip", "network_blip")
    assert again["signature"] == failed["signature"] != ""


def test_a_class_found_in_the_log_is_retried(box: Box) -> None:
    code = "import os\nif os.environ['ONBOX_ATTEMPT'] == '1':\n    raise OSError(98, 'Address already in use')\n"
    (box.project / "train.py").write_text(code)
    (box.project / "onbox.toml").write_text(
        f"[stages.train]\ncmd = {python('import train')!r}\n"
        "retry = { max = 1, classes = ['port_in_use'], backoff = '0s' }\n"
    )
    assert box.onbox("chain").returncode == 0
    assert box.events("stage_retrying")[0]["failure_class"] == "port_in_use"


def test_the_users_own_row_comes_first(box: Box) -> None:
    row = "[[triage]]\nregex = 'LicenseServerBusy'\nclass = 'license_busy'\nremedy = 'Wait for it.'\nretry = true\n"
    marker = fail(box, TRAINING + "raise RuntimeError('LicenseServerBusy: 0 of 4 free')\n", row)
    assert (marker["failure_class"], marker["remedy"]) == ("license_busy", "Wait for it.")


def test_binary_junk_and_endless_lines_are_survived(box: Box) -> None:
    code = (
        "import os, sys\nos.write(1, os.urandom(200_000) + b'x' * 3_000_000 + b'\\r' * 1000 + b'\\0' * 5000 + b'\\n')\n"
        "raise KeyError('the cause')\n"
    )
    assert fail(box, code)["failure_class"] == "code_error"


def test_secrets_in_the_proof_are_masked(box: Box) -> None:
    marker = fail(box, "raise KeyError('token=hf_abcdefghijklmnopqrstuvwxyz0123')\n")
    assert "hf_abcdefghijkl" not in (box.state / "markers" / "train_FAILED").read_text()
    assert marker["failure_class"] == "code_error"


@pytest.mark.root
@pytest.mark.parametrize(
    ("expected", "options", "size"), [("disk_full", "size=1m", 400_000), ("inode_exhausted", "nr_inodes=3", 1)]
)
def test_no_room_and_no_inodes_are_told_apart(box: Box, tmp_path: Path, expected: str, options: str, size: int) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "onbox-test", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root and mounts")
    try:
        code = f"for i in range(9):\n    open(f'{small}/{{i}}.pt', 'wb').write(b'x' * {size})\n"
        settings = f"cwd = '{small}'\nenv = {{ PYTHONPATH = '{box.project}' }}\n"
        assert fail(box, TRAINING + code, settings)["failure_class"] == expected
        assert json.loads(box.onbox("triage", "--json").stdout)["class"] == expected, "the same word for the same run"
        assert ("prune" in box.status()["next_command"]) == (expected == "disk_full"), "big checkpoints are few inodes"
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_status_tells_class_proof_and_remedy(box: Box) -> None:
    fail(box, TRAINING + "config = {}\nconfig['lr']\n")
    text = box.onbox("status").stdout
    assert "class    code_error (confidence high)" in text
    assert "KeyError: 'lr'" in text.split("\n  proof ", 1)[1].splitlines()[0]
    assert "remedy   Stop;" in text
    assert box.status()["failure"]["failure_class"] == "code_error"


ENDLESS = "(a+)+$"  # on a line of many letters a and another one
LETTERS = f"print('{'a' * 60}!', flush=True)\n"


@pytest.mark.long
def test_a_row_of_the_users_own_that_never_ends_costs_the_rows_and_not_the_verdict(box: Box) -> None:
    rows = f"[[triage]]\nregex = '{ENDLESS}'\nclass = 'odd'\n"
    marker = fail(box, TRAINING + LETTERS + "{}['lr']\n", rows)
    assert (marker["failure_class"], marker["proof"]) == ("code_error", "KeyError: 'lr'")
    assert "[[triage]] left out" in marker["triage_trouble"]
    assert "[[triage]] left out" in box.onbox("status").stdout


@pytest.mark.long
def test_a_done_if_log_that_never_ends_is_no_success(box: Box) -> None:
    marker = fail(box, TRAINING + LETTERS, f"done_if_log = '{ENDLESS}'\n")
    assert "done_if_log: could not look (the regular expression takes too long" in marker["reason"]
    assert box.markers == ["CHAIN_FAILED", "train_FAILED"]


@pytest.mark.long
def test_a_wait_for_that_never_ends_starts_nothing(box: Box) -> None:
    (box.project / "other.log").write_text("a" * 60 + "!\n")
    (box.project / "onbox.toml").write_text(
        f"[stages.train]\ncmd = 'touch began'\n[stages.train.wait_for]\nlog = 'other.log'\nregex = '{ENDLESS}'\n"
    )
    done = box.onbox("chain")
    assert done.returncode == 1, done.stdout
    assert "takes too long" in done.stdout
    assert not (box.project / "began").exists()


def test_a_progress_regex_that_never_ends_does_not_hold_the_run(box: Box) -> None:
    own = "[run]\nsample_every = '200ms'\n"
    (box.project / "onbox.toml").write_text(
        f"{own}[progress]\nregex = '(?P<current>(?:1+)+)x'\n"
        "[stages.train]\ncmd = \"sh -c 'echo " + "1" * 60 + "; sleep 1'\"\n"
    )
    assert box.onbox("chain").returncode == 0
    assert "takes too long" in box.marker("train_DONE")["progress"]["text"]
