"""Render docs/images/report.png: the report over real runs, as Chromium shows it.

python scripts/report_picture.py [FILE]     (needs the packages of the extras `example` and `report`, and Chromium)

Four boxes: one trains, one was killed, one is done, one does not answer. All but the last are real trainings of
examples/digits on this machine, looked at by real ticks; every number and line of the picture was seen by them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, os.fspath(ROOT))

from onbox.system.clock import utc_text  # noqa: E402 - found by the line above
from patrol.decide.table import BOX_FLAGS  # noqa: E402
from tests.browser import Browser, find_browser  # noqa: E402

PICTURE = ROOT / "docs/images/report.png"
EPOCHS, SHOWN_AT = 40, 26
TICK_SECONDS, LIMIT_SECONDS = 2.0, 900.0
BOXES = {"h100-a": EPOCHS, "spot-2": EPOCHS, "a100-b": 4}
OPEN = """document.querySelectorAll("details.run").forEach((one) => {
  one.open = one.querySelector(".name").textContent === "h100-a/digits";
})"""
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
FIGURE = 'document.querySelector("details.run[open] figure:nth-child(4)")'
END = f"{FIGURE}.getBoundingClientRect().bottom + scrollY + 12"


def main() -> int:
    program = find_browser()
    if program is None:
        print("no browser here: apt-get install chromium", file=sys.stderr)
        return 1
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as name:
        lab = Lab(Path(name))
        try:
            lab.run()
            take(program, lab.local / "report.html", Path(name) / "profile", picture)
        finally:
            lab.stop()
    print(picture)
    return 0


class Lab:
    """A local side with an onbox.toml, and the projects that it looks at."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.local = folder, folder / "digits"
        self.local.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ONBOX_")}
        self.env = kept | {
            "HOME": os.fspath(folder),
            "XDG_STATE_HOME": os.fspath(folder / ".state"),
            "ONBOX_TRUST": "all",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.fspath(ROOT),
        }
        rented = utc_text(time.time() - 5.2 * 3600)
        tables = [
            f'[boxes.{name}]\nbackend = "local"\nproject = {json.dumps(os.fspath(folder / name))}\n'
            f'price = "2.10 USD/h"\nstarted = "{rented}"\n'
            for name in BOXES
        ]
        tables.append('[boxes.l40-7]\nhost = "l40-7"\nproject = "/root/digits"\n')
        head = '[run]\nname = "digits"\n[ssh]\ncommand = "ssh -o HostName=127.0.0.1 -p 9"\n'
        head += '[patrol]\nreport = "report.html"\n'
        # The boxes are this machine: what fills its disk or its memory is no news of them.
        head += "".join(f'[[patrol.rules]]\nname = "{rule.name}"\nenabled = false\n' for rule in BOX_FLAGS)
        (self.local / "onbox.toml").write_text(head + "".join(tables))
        for name, epochs in BOXES.items():
            self._prepare(folder / name, epochs)

    def _prepare(self, project: Path, epochs: int) -> None:
        left_out = shutil.ignore_patterns(".onbox", "ckpt", "results.csv", "__pycache__")
        shutil.copytree(ROOT / "examples/digits", project, ignore=left_out)
        config = (project / "onbox.toml").read_text()
        (project / "onbox.toml").write_text(config.replace("--epochs 30", f"--epochs {epochs}"))
        subprocess.run(["git", "init", "-q"], cwd=project, env=self.env, check=True)

    def command(self, folder: Path, *words: str) -> str:
        done = subprocess.run(words, cwd=folder, env=self.env, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def run(self) -> None:
        """Until one has come so far, with a tick now and then. One is killed when it is half as far."""
        for name in ("a100-b", "spot-2", "h100-a"):
            self.command(self.folder / name, "onbox", "chain", "-d")
        killed, end = False, time.monotonic() + LIMIT_SECONDS
        while self._epoch("h100-a") < SHOWN_AT:
            if time.monotonic() > end:
                raise SystemExit(f"after {LIMIT_SECONDS:g} s it is at epoch {self._epoch('h100-a')} only")
            self.command(self.local, "patrol", "tick", "--quiet")
            if not killed and self._epoch("spot-2") >= SHOWN_AT // 2:
                killed = self._kill("spot-2")
            time.sleep(TICK_SECONDS)
        self.command(self.local, "patrol", "tick", "--quiet")

    def _status(self, name: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.folder / name / ".onbox/digits/status.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return found

    def _epoch(self, name: str) -> int:
        """By its checkpoints."""
        made = sorted((self.folder / name / "ckpt").glob("epoch_*.npz"))
        return int(made[-1].stem.partition("_")[2]) if made else 0

    def _kill(self, name: str) -> bool:
        """The training, as a host kills it: without a word."""
        project = os.fspath(self.folder / name)
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"train.py" in words and os.readlink(entry / "cwd") == project:
                    os.kill(int(entry.name), signal.SIGKILL)
                    return True
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return False

    def stop(self) -> None:
        for name in BOXES:
            self.command(self.folder / name, "onbox", "stop", "--now", "digits")


def take(program: str, page: Path, profile: Path, picture: Path) -> None:
    """From the top to the second row of charts of the run that trains."""
    browser = Browser(program, profile)
    try:
        browser.look_as(width=1280)
        browser.open(page)
        browser.run(OPEN)
        browser.run(DRAWN)
        browser.picture(picture, height=float(browser.run(END)))
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
