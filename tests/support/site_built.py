"""The documentation as it is built, for tests: its pages, their links, and a server for them."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paths import ROOT
from playwright.sync_api import Browser, Page


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site into a folder, strictly and without running the notebooks."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quick = {"EXECUTE": "0", "NO_MKDOCS_2_WARNING": "1", "HF_HUB_OFFLINE": "1"}
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    env = os.environ | quick | {"PYTHONPATH": paths}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


class Markup(HTMLParser):
    """The links, the anchors and whatever is loaded, of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.loads.append(given["src"])
        loaded = {"stylesheet", "icon", "preload", "preconnect", "modulepreload"}
        if tag == "link" and loaded & set(given.get("rel", "").split()):
            self.loads.append(given["href"])


def broken(folder: Path) -> list[str]:
    """Every link of the site to a file or an anchor that is not there, with its page."""
    pages = {path: Markup(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, markup in pages.items():
        for link in [*markup.links, *markup.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = unquote(parts.path)
            base = folder / place[1:] if place.startswith("/") else path.parent / place
            target = base.resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{path.relative_to(folder)}: {link}")
            elif anchor and target in pages and anchor not in pages[target].ids:
                found.append(f"{path.relative_to(folder)}: {link} (no such anchor)")
    return found


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the site on a local server."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def visiting(browser: Browser, begin: str, **options: object) -> Iterator[Callable[[str], Page]]:
    """Opens pages whose addresses begin so; any error, or request to elsewhere, fails the test.

    Whatever is asked of another place is also refused, as if the network were cut.
    """
    context = browser.new_context(**{"reduced_motion": "reduce", **options})
    trouble: list[str] = []
    at_home = re.compile(rf"{re.escape(begin)}|data:|blob:|about:")

    def asked(route) -> None:
        if at_home.match(route.request.url):
            route.continue_()
        else:
            trouble.append(f"asks for {route.request.url}")
            route.abort()

    context.route("**/*", asked)

    def opened(page: str) -> Page:
        tab = context.new_page()
        tab.on("pageerror", lambda error: trouble.append(f"{page}: {error}"))
        tab.on(
            "console", lambda line: line.type != "error" or trouble.append(f"{page}: {line.text}")
        )
        tab.on("requestfailed", lambda failed: trouble.append(f"{page}: no {failed.url}"))
        tab.goto(f"{begin}/{page}")
        return tab

    yield opened
    context.close()
    assert trouble == []
