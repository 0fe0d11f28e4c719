"""Debian's Chromium without a window, driven over its own protocol (CDP) through a pair of pipes: no port, no package.

A page is opened from a file, as a person would; what it says on its console and what it asks of the network is kept.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # a container's root has no user namespaces to build one of
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-pipe",
    "--force-color-profile=srgb",
)
# The protocol is spoken on the file descriptors 3 and 4.
AS_3_AND_4 = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]
for end, wanted in zip(ends, (3, 4)):
    os.dup2(end, wanted)
    os.close(end)
os.execvp(sys.argv[3], sys.argv[3:])
"""
TROUBLES = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Audits.issueAdded")


def find_browser() -> str | None:
    """Its path; None: none is installed."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class BrowserTrouble(Exception):
    """It answered with an error, or not at all."""


class Browser:
    """One browser with one page. profile: a folder of its own, which may be removed afterwards."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        ends = (str(to_browser), str(from_browser))
        self._process = subprocess.Popen(
            [sys.executable, "-c", AS_3_AND_4, *ends, program, *OPTIONS, f"--user-data-dir={profile}"],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._pending, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        try:
            self._open_page()
        except BrowserTrouble:
            self.close()
            raise

    def _open_page(self) -> None:
        target = self._ask("Target.createTarget", {"url": "about:blank"})
        attached = self._ask("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        with suppress(OSError, BrowserTrouble):
            self._session = ""
            self._ask("Browser.close", {})
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    # -- the protocol

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._ask(method, parameters)

    def _ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": self._number, "method": method, "params": parameters, **session}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") != self._number:
                self.events.append(heard)
            elif "error" in heard:
                raise BrowserTrouble(f"{method}: {heard['error']['message']}")
            else:
                result: dict[str, Any] = heard["result"]
                return result

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise BrowserTrouble("the browser ended")
            self._pending += piece
        one, _, self._pending = self._pending.partition(b"\0")
        heard: dict[str, Any] = json.loads(one)
        return heard

    def wait_for(self, event: str) -> None:
        """Until it has come since the last `open`."""
        while not any(one.get("method") == event for one in self.events):
            self.events.append(self._hear())

    # -- what a person does

    def look_as(self, *, width: int, height: int = 900, dark: bool = False, phone: bool = False) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media="", features=[scheme])

    def open(self, path: Path, anchor: str = "") -> None:
        """The file, until it is loaded and its script has run."""
        for url in ("about:blank", path.resolve().as_uri() + anchor):
            self.events.clear()
            self.ask("Page.navigate", url=url)
            self.wait_for("Page.loadEventFired")

    @contextmanager
    def with_script(self, script: str) -> Iterator[None]:
        """Runs before those of every page that is opened meanwhile."""
        added = self.ask("Page.addScriptToEvaluateOnNewDocument", source=script)
        try:
            yield
        finally:
            self.ask("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in found:
            raise BrowserTrouble(str(found["exceptionDetails"].get("exception", found["exceptionDetails"])))
        return found["result"].get("value")

    def holds(self, expression: str) -> bool:
        """False also while the page is being loaded."""
        try:
            return bool(self.run(expression))
        except BrowserTrouble:
            return False

    def click(self, selector: str) -> None:
        """With the mouse, in the middle of what is found first."""
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def point(self, selector: str) -> None:
        """Move the mouse to the middle of what is found first."""
        x, y = self._middle(selector)
        for step in (1, 0):
            self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)

    def _middle(self, selector: str) -> tuple[float, float]:
        where = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{where}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = self.run(f"{where}.getBoundingClientRect().toJSON()")
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def allow(self, *permissions: str) -> None:
        """What a person would be asked for."""
        self.ask("Browser.grantPermissions", permissions=list(permissions))

    def troubles(self) -> list[str]:
        """What the console and the page's policy complain of since the last `open`."""
        return [json.dumps(one["params"])[:500] for one in self.events if one.get("method") in TROUBLES]

    def requests(self) -> list[str]:
        """What was asked for since the last `open`, but for the page itself."""
        asked = (one["params"] for one in self.events if one.get("method") == "Network.requestWillBeSent")
        return [one["request"]["url"] for one in asked if one["type"] != "Document"]

    def picture(self, path: Path, *, height: float) -> None:
        """From the top of the page on."""
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        found = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(found["data"]))

    def print(self, path: Path) -> None:
        """As a PDF, on A4. Chromium refuses to print what it has not drawn yet."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found = self.ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)
        path.write_bytes(base64.b64decode(found["data"]))
