"""Tabs that visit a host, with their requests and errors, and notebooks in use."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from browser import INK, SHOW_MORE, step_layer
from hosts import PATIENCE, TOKEN, TOKENS, Host
from playwright.sync_api import Browser, Locator, Page, expect

# A kernel may be slow on a busy machine; a longer timeout changes no result.
expect.set_options(timeout=20_000)

STATIC = "flow.show(static=True, layer=2)"
"""A cell that shows a flow in a frame."""

ELSEWHERE = r"(http|ws)s?://(?!127\.0\.0\.1[:/])"
"""Addresses beyond this machine."""


THEIRS = (
    # Notebook 7, while it opens:
    r"Cannot read properties of undefined \(reading 'schema'\).*/static/notebook/",
    r"Command 'filebrowser:open-path' not registered",
    # Voila, of extensions that are made for Lab, and of its own icons and MathJax:
    r"The getter for the shared module is not a function",
    r"net::ERR_FAILED at https://[^ ]*(/@fortawesome/|/mathjax/)",
)
"""Errors that hosts have with any notebook."""


@dataclass(frozen=True)
class Visit:
    """A tab, its requests beyond this machine, and its errors."""

    page: Page
    elsewhere: list[str]
    trouble: list[str]

    @property
    def ours(self) -> list[str]:
        """The errors that the host does not have with every notebook."""
        return [line for line in self.trouble if not re.search("|".join(THEIRS), line, re.DOTALL)]


@contextmanager
def visiting(browser: Browser) -> Iterator[Visit]:
    """A tab that can reach only this machine, and records its requests and errors."""
    context = browser.new_context(viewport={"width": 1200, "height": 1800})
    context.set_default_timeout(PATIENCE * 1000)
    context.add_init_script(SHOW_MORE)
    context.route(re.compile(ELSEWHERE), lambda route: route.abort())
    visit = Visit(context.new_page(), [], [])

    def asked(url: str) -> None:
        if re.match(ELSEWHERE, url):
            visit.elsewhere.append(url)

    def complained(text: str, place: str | None) -> None:
        visit.trouble.append(f"{text} at {place}")

    visit.page.on("request", lambda request: asked(request.url))
    visit.page.on("websocket", lambda socket: asked(socket.url))
    visit.page.on("pageerror", lambda error: complained(error.message, error.stack))
    visit.page.on(
        "console",
        lambda line: line.type == "error" and complained(line.text, line.location["url"]),
    )
    yield visit
    context.close()


def painted(view: Locator, *, unlike: dict[str, int] | None = None) -> dict[str, int]:
    """The ink of a view, once there is some and it differs from `unlike`."""
    deadline = time.monotonic() + PATIENCE / 2
    ink: dict[str, int] = {}
    while time.monotonic() < deadline:
        ink = view.locator(".nv-base").first.evaluate(f"canvas => canvas.width && ({INK})(canvas)")
        if ink and ink["inked"] > 1000 and ink != unlike:
            return ink
        view.page.wait_for_timeout(50)
    raise AssertionError(f"The view did not change: {ink}.")


def expect_drawn(view: Locator) -> None:
    """Expect a view with its tokens, with ink, and without a notice."""
    pane = view.locator(".nv-pane").first
    expect(pane.locator(".nv-tokens.nv-key li")).to_have_text(TOKENS)
    painted(view)
    expect(view.locator(".nv-notice")).to_have_count(0)


def expect_framed(page: Page) -> None:
    """Expect the view that `STATIC` shows, drawn and usable."""
    inside = page.frame_locator("iframe[srcdoc]")
    expect_drawn(inside.locator(".normviz"))
    expect(inside.locator(".nv-sentence").first).to_contain_text("Layer 2,")
    step_layer(inside, up=False)
    expect(inside.locator(".nv-sentence").first).to_contain_text("Layer 1,")


class Notebook:
    """An open notebook in JupyterLab or Notebook 7, used like a person would use it."""

    def __init__(self, visit: Visit, host: Host, app: str, name: str) -> None:
        self.visit = visit
        self.page = visit.page
        self.page.goto(f"{host.url}{app}/{name}?token={TOKEN}")
        expect(self.cell(0)).to_be_visible()
        self._wait_for_kernel(f"{host.url}api/sessions?token={TOKEN}", name)

    def _wait_for_kernel(self, sessions: str, name: str) -> None:
        """Wait until the page is connected to its kernel; before, running a cell does nothing."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for session in self.page.request.get(sessions).json():
                state = session["kernel"]["execution_state"], session["kernel"]["connections"] > 0
                if session["path"] == name and state == ("idle", True):
                    return
            self.page.wait_for_timeout(50)
        raise RuntimeError(f"{name} has no kernel.")

    def cell(self, index: int) -> Locator:
        """A cell by its index."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def view(self, index: int) -> Locator:
        """The views of flows below a cell."""
        return self.cell(index).locator(".normviz")

    def says(self, index: int, text: str) -> None:
        """Run a cell, and expect this output."""
        self.run(index)
        expect(self.cell(index).locator(".jp-OutputArea-output")).to_have_text(text)

    def run(self, index: int) -> None:
        """Click into a cell and run it."""
        self.cell(index).locator(".jp-Editor").click()
        self.page.keyboard.press("Control+Enter")

    def choose(self, *path: str) -> None:
        """Go through menus, as in `choose("Run", "Run All Cells")`."""
        bar, *items = path
        self.page.get_by_role("menuitem", name=bar, exact=True).click()
        for item in items:
            self.page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()

    def run_all(self) -> None:
        """Run all cells, one after the other."""
        self.choose("Run", "Run All Cells")

    def save(self) -> None:
        """Save the notebook, and wait until Lab no longer shows unsaved changes."""
        self.choose("File", "Save Notebook")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)
