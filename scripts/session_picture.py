"""Render docs/images/session.svg and watch.svg: real sessions in a terminal, from real trainings.

python scripts/session_picture.py [--check]     (needs the packages of the extra `test`)

Every line is what the programs printed. --check: run the sessions, and write nothing.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from tests.terminal import Terminal  # noqa: E402 - found by the line above

WATCHED = os.path.join(ROOT, "docs/images/watch.svg")
PICTURE = os.path.join(ROOT, "docs/images/session.svg")
COLUMNS = 96
WATCH_LINES = 22
WATCH_RUNS = (("gpu1", "digits"), ("gpu2", "finetune"), ("gpu3", "baseline"))
COLOURS = {
    "green": "green",
    "cyan": "cyan",
    "brown": "yellow",
    "red": "red",
    "magenta": "magenta",
    "brightblack": "bright_black",
}
SESSION = (
    "onbox chain train eval",
    "ls .onbox/digits/markers",
    "patrol tick",
    "sentinel wait gpu1:digits",
    "handbook resume",
)
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\x1b\][^\x07]*\x07")  # what moves the cursor; colours stay


def main() -> int:
    draw_session()
    draw_watch()
    return 0


def draw_session() -> None:
    with tempfile.TemporaryDirectory() as home:
        project = copy_of_example(os.path.join(home, "digits"))
        env = environment(home)
        shorten(os.path.join(project, "onbox.toml"))
        prepared = subprocess.run(
            ["git", "init", "-q"], cwd=project, env=env, check=False, capture_output=True
        )  # code identity: the picture shows a project under git, as most are
        assert prepared.returncode == 0, prepared.stderr
        console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
        for command in SESSION:
            console.print(Text.from_ansi(f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m"))
            console.print(Text.from_ansi(shown(run(command, project, env))))
            if command.startswith("onbox chain"):
                run("patrol add gpu1 --local", project, env)
                run("handbook build", project, env)
    if "--check" not in sys.argv:
        os.makedirs(os.path.dirname(PICTURE), exist_ok=True)
        console.save_svg(PICTURE, title="onbox")
    print(console.export_text() if "--check" in sys.argv else PICTURE)


def draw_watch() -> None:
    """Three real runs: one trains, one died because a module is not installed, one is done."""
    with tempfile.TemporaryDirectory() as home:
        env = environment(home)
        for (box, run_name), epochs in zip(WATCH_RUNS, (60, 4, 3), strict=True):
            project = copy_of_example(os.path.join(home, box, run_name))
            shorten(os.path.join(project, "onbox.toml"), epochs)
            if box == "gpu2":
                with open(os.path.join(project, "train.py"), "r+", encoding="utf-8") as file:
                    text = file.read()
                    file.seek(0)
                    file.write(text.replace("import numpy as np\n", "import deepspeed\nimport numpy as np\n"))
            run(f"onbox chain {'-d ' if box == 'gpu1' else ''}--run {run_name}", project, env)
        local = os.path.join(home, "runs")
        os.mkdir(local)
        boxes = (f'[boxes.{box}]\nbackend = "local"\nproject = "{home}/{box}/{name}"\n' for box, name in WATCH_RUNS)
        with open(os.path.join(local, "onbox.toml"), "w", encoding="utf-8") as file:
            file.write("\n".join(boxes))
        picture = watched(local, env)
        run("onbox stop --now", os.path.join(home, "gpu1/digits"), env)
    if "--check" not in sys.argv:
        with open(WATCHED, "w", encoding="utf-8") as file:
            file.write(picture)
    print(WATCHED)


def watched(folder: str, env: dict[str, str]) -> str:
    """The screen of `patrol watch` after some looks, with the run that failed chosen."""
    path = f"{os.path.dirname(sys.executable)}:{env['PATH']}"
    shown = Terminal(
        ["patrol", "watch", "--every", "3s"], Path(folder), env | {"PATH": path}, columns=COLUMNS, lines=WATCH_LINES
    )
    try:
        shown.wait_for("baseline", "looked", "RUNNING", "%")
        while not re.search(r"[▁-█]{6} ", shown.wait_for("RUNNING")):  # until the loss has become a curve
            shown.read(1.0)
        shown.press(b"j")
        shown.wait_for("▸FAILED")
        picture = svg_of(shown)
        shown.press(b"q")
        shown.wait()
    finally:
        shown.close()
    return picture


def svg_of(shown: Terminal) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for row in range(shown.screen.lines):
        line = Text(no_wrap=True)
        for column in range(shown.screen.columns):
            cell = shown.screen.buffer[row][column]
            line.append(cell.data, Style(color=COLOURS.get(cell.fg), bold=cell.bold))
        console.print(line)
    return console.export_svg(title="patrol watch")


def copy_of_example(folder: str) -> str:
    made: str = shutil.copytree(
        os.path.join(ROOT, "examples/digits"), folder, ignore=shutil.ignore_patterns(".onbox", "ckpt", "results.csv")
    )
    return made


def environment(home: str) -> dict[str, str]:
    """The caller's, with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONBOX_")}
    return kept | {"HOME": home, "XDG_STATE_HOME": f"{home}/.state", "TERM": "xterm-256color", "ONBOX_TRUST": "all"}


def shorten(config: str, epochs: int = 4) -> None:
    """Few epochs: the picture shows the session, not the training."""
    with open(config, encoding="utf-8") as file:
        text = file.read()
    with open(config, "w", encoding="utf-8") as file:
        file.write(re.sub(r"--epochs \d+", f"--epochs {epochs}", text))


def run(command: str, folder: str, env: dict[str, str]) -> str:
    """What the command prints on a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, COLUMNS, 0, 0))
    path = f"{os.path.dirname(sys.executable)}:{env['PATH']}"
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=env | {"PATH": path}, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not piece:
            break
        pieces.append(piece)
    process.wait()
    os.close(ours)
    return b"".join(pieces).decode("utf-8", "replace")


def shown(text: str) -> str:
    """What stays on the screen: a line that was redrawn counts once, as it was left."""
    lines = _CONTROL.sub("", text.replace("\r\n", "\n")).split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines).strip("\n")


if __name__ == "__main__":
    sys.exit(main())
