"""A real browser for tests: the system's Chromium or Chrome, else the one Playwright installed.

Run as a program, this module installs a browser if there is none. It also looks for Firefox, which
is optional.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import firefox
import pytest
from flows import plain_state
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from normviz.core.flow import Flow

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str | None:
    """The system's browser, or None to let Playwright use its own."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; without one the test fails with instructions and is never skipped."""
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        except Error as error:
            pytest.fail(
                f"No browser could be started ({error.message.splitlines()[0]}). "
                "Install Chromium, or run `playwright install chromium`."
            )
        yield browser
        browser.close()


INK = """canvas => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let inked = 0, sum = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 0) { inked++; sum = (sum * 31 + data[at] + data[at + 1] * 7) % 1000003; }
  }
  return {inked, sum};
}"""
"""The number of painted pixels of a canvas, and a checksum of their colors."""


SHOW_MORE = "try { localStorage.setItem('normviz.more', 'open') } catch {}"
"""Opens the row of further controls; frames without storage do not remember it."""


@contextmanager
def opening(browser: Browser, folder: Path, **options: Any) -> Iterator[Callable[..., Page]]:
    """A function that opens flows and pages from disk; errors, alerts and requests fail the test.

    Animations are off unless the options turn them on, so that a view is complete once it appears.
    """
    defaults = {"viewport": {"width": 1000, "height": 800}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**defaults, **options})
    path = folder / "figure.html"
    trouble: list[str] = []

    context.add_init_script(SHOW_MORE)

    def opened(content: Flow | str, *, complains: bool = False, **state: Any) -> Page:
        if isinstance(content, str):
            path.write_text(content, encoding="ascii")
        else:
            content.to_html(path, **plain_state(content, state))
        tab = context.new_page()
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        if not complains:
            tab.on("console", lambda line: line.type != "error" or trouble.append(line.text))
        tab.on("dialog", lambda dialog: (trouble.append("alert"), dialog.dismiss()))
        tab.on(
            "request", lambda request: request.url == path.as_uri() or trouble.append(request.url)
        )
        tab.goto(path.as_uri())
        expect(tab.locator(".nv-sentence, .nv-notice").first).not_to_be_empty()
        return tab

    yield opened
    context.close()
    assert trouble == []


def measure_button(tab, label):
    """The button of a measure; its words are hidden where there is no room for them."""
    name = re.compile(f"^{re.escape(label)}")
    return tab.locator("[aria-label=measure]").get_by_role("button", name=name)


def choose_layer(tab, number):
    """Click the bar of a layer."""
    tab.locator(f".nv-layers [data-layer='{number}']").click()


def expect_layer(tab, number):
    """Wait until the control says this layer."""
    expect(tab.locator(".nv-layer")).to_have_text(str(number))


def step_layer(tab, *, up=True):
    """Click the bar after the chosen one, or the one before it."""
    after, before = "[aria-pressed=true] + button", "button:has(+ [aria-pressed=true])"
    tab.locator(f".nv-layers {after if up else before}").click()


def choose_head(tab, head):
    """Click the chip of a head, or of all, in the menu of heads."""
    menu = tab.locator(".nv-opening > .nv-menu")
    if menu.get_attribute("aria-expanded") == "false":
        menu.click()
    tab.locator("[aria-label=heads]").get_by_role("button", name=str(head), exact=True).click()


def ink(tab, which=".nv-base"):
    return tab.locator(which).first.evaluate(INK)


def pressed(tab, group):
    return tab.locator(f"[aria-label='{group}'] [aria-pressed=true]").all_inner_texts()


def token(tab, role, index):
    return tab.locator(f".nv-tokens.nv-{role} li").nth(index)


def rest(tab, milliseconds):
    """Wait until every timer of the page that is due by then has fired."""
    tab.evaluate("time => new Promise(done => setTimeout(done, time))", milliseconds)


def hash_of(tab):
    """The fragment of the URL, after a pending change (within 350 ms) has been written."""
    rest(tab, 400)
    return tab.url.partition("#")[2]


def percent(share):
    """A share in the format of the view."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def starts() -> bool:
    """Whether a browser can be started now."""
    with sync_playwright() as playwright:
        try:
            playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS).close()
        except Error:
            return False
    return True


def installers() -> list[list[list[str]]]:
    """Commands that install a browser: system packages (as root), then Playwright's own."""
    own = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return [own]
    quiet = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    return [[[*quiet, "update"], [*quiet, "install", "-y", "chromium"]], own]


def ensure() -> bool:
    """Find a browser, or install one."""
    if starts():
        return True
    for commands in installers():
        print(f"· no browser yet; trying: {' '.join(commands[-1])}", flush=True)
        done = [subprocess.run(command, check=False).returncode for command in commands]
        if done[-1] == 0 and starts():
            return True
    return False


if __name__ == "__main__":
    if not ensure():
        sys.exit(
            "The browser tests need Chromium or Chrome, and none could be installed. "
            "Install one from your system's packages (chromium, google-chrome), then run again."
        )
    print(f"· browser: {executable() or 'the one Playwright installed'}")
    if firefox.ensure():
        print(f"· and also: {firefox.executable()}")
    else:
        print("· Firefox could not be installed; its tests will be skipped")
