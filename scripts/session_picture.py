"""Render docs/images/session.svg: a real session in a terminal, from a real training.

python scripts/session_picture.py [--check]     (needs the packages of the extras `example` and `docs`)

Every line is what the programs printed. --check: run the session, and write nothing.
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

from rich.console import Console
from rich.text import Text

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(ROOT, "docs/images/session.svg")
COLUMNS = 96
SESSION = (
    "onbox chain train eval",
    "ls .onbox/digits/markers",
    "patrol tick",
    "sentinel wait gpu1:digits",
    "handbook resume",
)
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\x1b\][^\x07]*\x07")  # what moves the cursor; colours stay


def main() -> int:
    with tempfile.TemporaryDirectory() as home:
        project = os.path.join(home, "digits")
        shutil.copytree(
            os.path.join(ROOT, "examples/digits"),
            project,
            ignore=shutil.ignore_patterns(".onbox", "ckpt", "results.csv"),
        )
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
    return 0


def environment(home: str) -> dict[str, str]:
    """The caller's, with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONBOX_")}
    return kept | {"HOME": home, "XDG_STATE_HOME": f"{home}/.state", "TERM": "xterm-256color", "ONBOX_TRUST": "all"}


def shorten(config: str) -> None:
    """Few epochs: the picture shows the session, not the training."""
    with open(config, encoding="utf-8") as file:
        text = file.read()
    with open(config, "w", encoding="utf-8") as file:
        file.write(re.sub(r"--epochs \d+", "--epochs 4", text))


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
