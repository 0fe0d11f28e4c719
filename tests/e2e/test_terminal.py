"""What is shown on a real terminal, and that everything else stays plain."""

from __future__ import annotations

import re
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX, REPOSITORY, wait_for_words, wait_until
from tests.patrolled import PATROL
from tests.terminal import CHANGING, Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.box import Box

    Open = Callable[..., Terminal]

FAILS = "echo step 5/100 loss 1.5; echo 'OSError: [Errno 28] No space left on device'; exit 1"
WAITS = "until test -e go; do echo step 30/100 loss 0.5; sleep 0.2; done"
OTHER_SCREEN, BACK, CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


@pytest.fixture
def terminal(box: Box) -> Iterator[Open]:
    """Opens programs in the project, each on a terminal of its own."""
    opened: list[Terminal] = []

    def start(words: list[str], folder: Path | None = None, columns: int = 80, **more: str) -> Terminal:
        env = environment(box) | more
        opened.append(Terminal(words, folder or box.project, env, columns=columns))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def environment(box: Box) -> dict[str, str]:
    env = {name: value for name, value in box.env.items() if name not in CHANGING}
    return env | {"XDG_STATE_HOME": str(box.project / "home"), "PYTHONPATH": str(REPOSITORY)}


@pytest.fixture
def local(box: Box) -> Path:
    """The local side of two runs of the same machine: one has failed, one goes on until `go` is there."""
    assert box.onbox("chain", "--run", "lost", f"train={FAILS}").returncode == 1
    assert box.onbox("chain", "-d", "--launch-check", "0", f"train={WAITS}").returncode == 0
    box.wait_for_log("step 30/100")
    folder = box.project / "local"
    folder.mkdir()
    table = f'[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n'
    (folder / "onbox.toml").write_text(table)
    subprocess.run([*PATROL, "tick"], cwd=folder, env=environment(box), capture_output=True, timeout=60, check=False)
    return folder


def test_status_of_the_patrol_is_a_table_on_a_terminal(terminal: Open, local: Path) -> None:
    shown = terminal([*PATROL, "status"], local)
    assert shown.wait() == 2
    assert re.search(r"RUNNING +here/digits +█+.*30%.* 0\.5", shown.text)
    assert re.search(r"FAILED +here/lost", shown.text)
    assert re.search(r"disk_full: .*No space left on device", shown.text)
    assert re.search(r"next cd .*df -h", shown.text.replace("\n", ""))  # whole, however long
    assert b"\x1b[1;31m" in shown.raw  # FAILED is red
    assert OTHER_SCREEN not in shown.raw


@pytest.mark.parametrize(
    ("columns", "more"),
    [(80, {"NO_COLOR": "1"}), (80, {"TERM": "dumb"}), (80, {"LC_ALL": "C"}), (40, {})],
    ids=["NO_COLOR", "dumb", "locale C", "40 columns"],
)
def test_what_cannot_show_a_table_gets_the_lines_of_a_pipe(
    terminal: Open, local: Path, box: Box, columns: int, more: dict[str, str]
) -> None:
    shown = terminal([*PATROL, "status", "--all"], local, columns, **more)
    shown.wait()
    env = environment(box) | more
    piped = subprocess.run(
        [*PATROL, "status", "--all"], cwd=local, env=env, capture_output=True, timeout=60, check=False
    )
    assert b"\x1b" not in shown.raw
    assert without_ages(shown.raw.replace(b"\r\n", b"\n")) == without_ages(piped.stdout)


def without_ages(text: bytes) -> bytes:
    return re.sub(rb"\d[\d.dhms]* ago", b"AGE", text)


def test_keys_of_the_watch_choose_a_run_and_q_gives_the_terminal_back(terminal: Open, local: Path) -> None:
    shown = terminal([*PATROL, "watch", "--every", "1h"], local)
    shown.wait_for("▸", "looked", "here/digits", "here/lost")
    assert shown.modes != shown.modes_before  # single keys, no echo
    shown.press(b"\x1b[B")
    shown.wait_for("▸FAILED      here/lost", "remedy", "Make room")
    shown.press(b"\r")
    shown.wait_for("enter back to the list", "Make room")
    assert "here/digits" not in shown.text
    shown.press(b"q")
    assert shown.wait() == 0
    assert_as_before(shown)
    assert "here/digits" in shown.text.rpartition("STATE")[2]  # the last table stays


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda shown: shown.press(b"\x03"), 0),
        (lambda shown: shown.process.send_signal(signal.SIGTERM), -signal.SIGTERM),
    ],
    ids=["Ctrl-C", "kill"],
)
def test_however_the_watch_ends_the_terminal_is_as_it_was(
    terminal: Open, local: Path, end: Callable[[Terminal], None], code: int
) -> None:
    shown = terminal([*PATROL, "watch", "--every", "1h"], local)
    shown.wait_for("looked", "here/digits")
    end(shown)
    assert shown.wait() == code
    assert_as_before(shown)


def test_the_watch_can_be_paused_and_follows_the_size_of_the_window(terminal: Open, local: Path) -> None:
    shown = terminal([*PATROL, "watch", "--every", "1h"], local)
    shown.wait_for("looked", "here/digits")
    shown.process.send_signal(signal.SIGTSTP)
    wait_until(lambda: state_of(shown.process.pid) == "T", "the watch to stop")
    assert shown.modes == shown.modes_before
    shown.resize(120, 30)
    shown.process.send_signal(signal.SIGCONT)
    shown.wait_for("STAGE", "train", "COUNT", "30/100")
    shown.press(b"q")
    assert shown.wait() == 0
    assert_as_before(shown)


def assert_as_before(shown: Terminal) -> None:
    assert shown.modes == shown.modes_before
    assert shown.raw.rindex(BACK) > shown.raw.rindex(OTHER_SCREEN)
    assert shown.raw.rindex(CURSOR) > shown.raw.rindex(b"\x1b[?25l")


def state_of(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(") ")[2][0]


def test_a_run_on_the_box_is_a_table_on_a_terminal_and_lines_in_a_pipe(terminal: Open, box: Box) -> None:
    box.onbox("chain", "--run", "digits", f"train={FAILS}")
    shown = terminal([*ONBOX, "status"])
    assert shown.wait() == 0
    assert re.search(r"FAILED +train +▌░+ +5% +5/100 +1\.5", shown.text)
    assert "Make room" in shown.text
    assert "next     df -h . && df -i ." in shown.text
    assert "\x1b" not in box.onbox("status").stdout


def test_stats_draw_bars_on_a_terminal(terminal: Open, box: Box) -> None:
    shown = terminal([*ONBOX, "stats"])
    assert shown.wait() == 0
    assert re.search(r"disk +[█▏▎▍▌▋▊▉]+░* / \d+% used", shown.text)
    assert "\x1b" not in box.onbox("stats").stdout


def test_hostile_words_of_a_run_move_nothing_on_the_screen(terminal: Open, box: Box) -> None:
    said = r"printf 'step 3/10 loss 0.1 [red]x[/red] \033[2J\033]0;title\007 :smile:\n'; exit 1"
    box.onbox("chain", "--run", "digits", f"train={said}")
    shown = terminal([*ONBOX, "status"])
    assert shown.wait() == 0
    assert b"\x1b[2J" not in shown.raw
    assert b"\x1b]0" not in shown.raw
    assert "[red]x[/red]" in shown.text
    assert ":smile:" in shown.text


@pytest.mark.long
def test_a_chain_in_a_pipe_says_how_far_it_is(box: Box) -> None:
    viewer = box.start("chain", f"train={WAITS}")
    wait_for_words(viewer, "~30/100 (30%)")
    (box.project / "go").touch()
    said, _ = viewer.communicate(timeout=60)
    assert viewer.returncode == 0
    assert "\x1b" not in said


def test_a_chain_that_speaks_json_says_nothing_else(box: Box) -> None:
    result = box.onbox("chain", "--json", "train=echo step 1/2")
    assert all(line.startswith("{") for line in result.stdout.splitlines())
