"""`patrol report` in a real browser: Debian's Chromium without a window. `scripts/test --engines` installs it and
axe-core; ONBOX_TEST_BROWSER names the program, ONBOX_TEST_AXE the file axe.min.js.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onbox.system.clock import wall
from patrol.page.gather import gather
from patrol.page.write import page_of
from tests.box import wait_until
from tests.browser import Browser
from tests.patrol.page.fleet import make_fleet
from tests.patrol.page.hostile import hostile_history

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = os.environ.get("ONBOX_TEST_BROWSER", "")
AXE = os.environ.get("ONBOX_TEST_AXE", "")
pytest.importorskip("jinja2", reason="needs jinja2, of the extra onbox[report]")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="ONBOX_TEST_BROWSER names no Chromium")

SIZES = [{"width": width, "phone": width < 500} for width in (375, 760, 1170, 1400)]
OPEN_ALL = 'document.querySelectorAll("details").forEach((one) => { one.open = true; })'
DRAWN = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"""
# Of each chart of the run that is open, how many pixels have a colour: axes and grid are grey.
COLOURED = """[...document.querySelectorAll("details.run[open] figure canvas")].map((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [r, g, b, a] = data.slice(at, at + 4);
    if (a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 60) found += 1;
  }
  return [canvas.closest("figure").dataset.chart, found];
})"""
WIDER = """[...document.querySelectorAll("body *")].filter((one) =>
  one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".scroll, pre, .timeline, .u-over")
).map((one) => one.outerHTML.slice(0, 120)).slice(0, 5)"""
AUDIT = """axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120) + node.failureSummary)]))"""
LATER = """(() => {
  const now = Date.now, every = setInterval;
  Date.now = () => now() + 7200e3;
  window.setInterval = (work, pause) => (pause === 60000 ? (window.ring = work) : every(work, pause));
})()"""
FIND = """(() => {
  const field = document.getElementById("filter");
  field.value = "l40 done";
  field.dispatchEvent(new Event("input"));
})()"""
SHOWN = """[...document.querySelectorAll("%s")].filter((one) => one.offsetParent).length"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    made = Browser(PROGRAM, tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, now = tmp_path_factory.mktemp("fleet"), wall()
    settings = make_fleet(folder, now, boxes=9, days=4)
    path = folder / "report.html"
    path.write_text(page_of(gather(settings, now, 0.0, renews=True)))
    return path


def opened(
    browser: Browser, page: Path, size: dict[str, Any] | None = None, *, dark: bool = False, anchor: str = ""
) -> Browser:
    browser.look_as(**(size or {"width": 1400}), dark=dark)
    browser.open(page, anchor)
    browser.run(DRAWN)
    return browser


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))
def test_it_loads_in_peace_and_fits(browser: Browser, page: Path, size: dict[str, Any], *, dark: bool) -> None:
    opened(browser, page, size, dark=dark).run(OPEN_ALL)
    browser.run(DRAWN)
    assert browser.run("document.documentElement.scrollWidth") <= size["width"]
    assert browser.run(WIDER) == []
    assert browser.run("document.documentElement.dataset.ready") is not None
    assert (browser.troubles(), browser.requests()) == ([], [])


def test_charts_are_drawn_when_a_run_is_opened(browser: Browser, page: Path) -> None:
    opened(browser, page)
    assert browser.run('document.querySelectorAll("#run-6 canvas").length') == 0
    first = dict(browser.run(COLOURED))
    assert first.keys() >= {"progress", "loss", "throughput", "memory", "disk", "gpu", "grad_norm"}
    assert min(first.values()) > 150, first
    browser.click("#run-6 > summary")
    wait_until(lambda: browser.run('document.querySelectorAll("#run-6 canvas").length') >= 4, "the charts of the run")


def test_a_link_of_the_overview_opens_its_run(browser: Browser, page: Path) -> None:
    opened(browser, page)
    browser.click('a[href="#run-4"]')
    wait_until(lambda: browser.run('document.querySelector("#run-4").open'), "the run to be opened")
    wait_until(lambda: browser.run('document.querySelectorAll("#run-4 canvas").length') > 0, "its charts")


def test_the_loss_can_be_seen_on_a_logarithmic_axis(browser: Browser, page: Path) -> None:
    opened(browser, page)
    before = browser.run('document.querySelector("#run-0 [data-chart=loss] canvas").toDataURL()')
    browser.click("#run-0 .scale")
    assert browser.run('document.querySelector("#run-0 .scale").getAttribute("aria-pressed")') == "true"
    browser.run(DRAWN)
    assert browser.run('document.querySelector("#run-0 [data-chart=loss] canvas").toDataURL()') != before


def test_the_pointer_shows_time_and_value(browser: Browser, page: Path) -> None:
    opened(browser, page, anchor="#run-6")
    chart = 'document.querySelector("#run-6 [data-chart=loss]")'
    value = f'{chart}.querySelector(".u-series:nth-child(2) .u-value").textContent'
    newest = browser.run(value)
    assert any(map(str.isdigit, newest)), "the newest number, while the pointer is elsewhere"
    browser.point('#run-6 [data-chart="loss"] .u-over')
    wait_until(lambda: browser.run(value) != newest, "the value below the pointer")


def test_the_copy_button_copies(browser: Browser, page: Path) -> None:
    opened(browser, page)
    browser.allow("clipboardReadWrite", "clipboardSanitizedWrite")
    wanted = browser.run('document.querySelector("tbody .copy").dataset.copy')
    browser.click("tbody .copy")
    wait_until(
        lambda: browser.run('document.querySelector("tbody .copy").textContent') == "Copied", "the button to say so"
    )
    assert browser.run("navigator.clipboard.readText()") == wanted
    assert wanted.startswith("ssh 10.0.0.")


def test_runs_can_be_found(browser: Browser, page: Path) -> None:
    opened(browser, page).run(FIND)
    assert browser.run(SHOWN % "tbody tr[data-words]") == 1
    assert browser.run(SHOWN % "details.run") == 1


def test_a_page_that_is_made_anew_loads_itself_again_as_it_was(browser: Browser, page: Path) -> None:
    """Two hours later, when its clock rings."""
    with browser.with_script(LATER):
        opened(browser, page)
        browser.click("#run-4 > summary")
        again = 'performance.getEntriesByType("navigation")[0].type === "reload" && document.readyState === "complete"'
        browser.run("ring()")
        wait_until(lambda: browser.holds(again), "the page to be loaded again")
        wait_until(lambda: browser.holds('document.querySelectorAll("#run-4 canvas").length > 0'), "its charts")
        assert browser.run('document.getElementById("stale").textContent').startswith("This page was made 2 h ago")


@pytest.mark.skipif(not AXE, reason="ONBOX_TEST_AXE names no axe.min.js")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [SIZES[0], SIZES[-1]], ids=lambda size: str(size["width"]))
def test_everybody_can_read_it(browser: Browser, page: Path, size: dict[str, Any], *, dark: bool) -> None:
    opened(browser, page, size, dark=dark).run(OPEN_ALL)
    browser.run(DRAWN)
    browser.run(Path(AXE).read_text())
    assert browser.run(AUDIT) == []


def test_hostile_text_does_nothing(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(page_of(hostile_history(wall())))
    opened(browser, path).run(OPEN_ALL)
    browser.run(DRAWN)
    assert browser.run("typeof window.pwned") == "undefined"
    assert (browser.troubles(), browser.requests()) == ([], [])
    assert browser.run('document.querySelectorAll("canvas").length') >= 5
    assert browser.run(WIDER) == []
    assert browser.run("document.documentElement.scrollWidth") <= 1400


def test_it_prints_with_its_charts(browser: Browser, page: Path, tmp_path: Path) -> None:
    """Chromium prints a canvas as what was drawn on it: thousands of strokes."""
    opened(browser, page, dark=True)
    browser.print(tmp_path / "with.pdf")
    shown = 'document.documentElement.classList.contains("printed")'
    wait_until(lambda: not browser.run(shown), "the screen to be back")
    browser.run('document.querySelectorAll("details.run").forEach((one) => { one.open = false; })')
    browser.print(tmp_path / "without.pdf")
    sizes = [(tmp_path / name).stat().st_size for name in ("with.pdf", "without.pdf")]
    assert sizes[0] > sizes[1] + 20_000
