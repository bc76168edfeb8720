"""A real Firefox for tests, controlled over WebDriver BiDi, which every Firefox supports."""

import json
import os
import shutil
import signal
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection

NAMES = ("firefox-esr", "firefox")
PATIENCE = 30
"""Seconds to wait on a busy machine."""

KEYS = {
    "Escape": "\ue00c",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}

PREFERENCES = {
    "app.update.enabled": False,
    "browser.download.alwaysOpenPanel": False,
    "browser.download.folderList": 2,
    "browser.helperApps.neverAsk.saveToDisk": "image/svg+xml,image/png",
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "layout.css.prefers-color-scheme.content-override": 1,  # light
    "network.proxy.socks": "127.0.0.1",
    "network.proxy.socks_port": 9,  # nothing listens there
    "network.proxy.type": 1,
    "toolkit.telemetry.enabled": False,
    "ui.prefersReducedMotion": 1,
}

EVENTS = [
    "browsingContext.userPromptOpened",
    "log.entryAdded",
    "network.beforeRequestSent",
]


def executable() -> str | None:
    """The system's Firefox, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def installers() -> list[list[list[str]]]:
    """Commands that install Firefox: system packages, as root."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return []
    quiet = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    return [[[*quiet, "update"], [*quiet, "install", "-y", "firefox-esr"]]]


def ensure() -> bool:
    """Find Firefox, or install it if possible."""
    for commands in installers() if executable() is None else ():
        print(f"· no Firefox yet; trying: {' '.join(commands[-1])}", flush=True)
        for command in commands:
            subprocess.run(command, check=False)
    return executable() is not None


class Firefox:
    """A running browser: sends commands, receives answers and events."""

    def __init__(self, socket: WebSocket, downloads: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self.tabs: set[str] = set()
        self.downloads = downloads
        self._socket = socket
        self._last = 0
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=EVENTS)

    def ask(self, method: str, **given: Any) -> Any:
        """Send a command and return its answer; events that arrive meanwhile are kept."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": given}))
        while True:
            message = json.loads(self._socket.recv())
            if message["type"] == "event":
                self.events.append(message)
            elif message["id"] == self._last:
                break
        if message["type"] == "error":
            raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
        return message["result"]

    def open(self, address: str, *, width: int = 1000, height: int = 800) -> "Tab":
        """A new tab of this size, at this URL."""
        tab = Tab(self, self.ask("browsingContext.create", type="tab")["context"])
        self.tabs.add(tab.context)
        tab.ask("browsingContext.setViewport", viewport={"width": width, "height": height})
        tab.ask("browsingContext.navigate", url=address, wait="complete")
        return tab

    def trouble(self) -> list[str]:
        """All errors, alerts and requests so far of the tabs opened here."""
        found = []
        for event in self.events:
            about = event["params"]
            if about.get("context", about.get("source", {}).get("context")) not in self.tabs:
                continue  # one of the browser's own pages
            match event["method"]:
                case "network.beforeRequestSent":
                    address = about["request"]["url"]
                    # Data and blob URLs are part of the page itself.
                    is_inside = address.startswith(("data:", "blob:"))
                    found += [] if is_inside else [f"requested {address}"]
                case "log.entryAdded" if about["level"] == "error":
                    found.append(str(about["text"]))
                case "browsingContext.userPromptOpened":
                    found.append("alert")
        return found


class Tab:
    """One page, used like a person would use it."""

    def __init__(self, browser: Firefox, context: str) -> None:
        self.browser = browser
        self.context = context

    def ask(self, method: str, **given: Any) -> Any:
        """Send a command about this tab."""
        return self.browser.ask(method, context=self.context, **given)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, via JSON."""
        answer = self.browser.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self.context},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        value = answer["result"].get("value")
        return None if value is None else json.loads(value)

    def until(self, expression: str, *, gives: Any = True) -> None:
        """Wait until an expression has this value."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.evaluate(expression)) != gives:
            if time.monotonic() > deadline:
                raise AssertionError(f"{expression} stayed {found!r}; expected {gives!r}.")
            time.sleep(0.05)

    def texts(self, selector: str) -> list[str]:
        """The text of every element that matches."""
        every = f"[...document.querySelectorAll({json.dumps(selector)})]"
        return list(self.evaluate(f"{every}.map(node => node.textContent)"))

    def says(self, selector: str, words: str) -> None:
        """Wait until the first element that matches contains these words."""
        first = f"document.querySelector({json.dumps(selector)})?.textContent ?? ''"
        self.until(f"({first}).includes({json.dumps(words)})")

    def press(self, *names: str) -> None:
        """Press keys one after another."""
        strokes = [
            {"type": kind, "value": KEYS.get(name, name)}
            for name in names
            for kind in ("keyDown", "keyUp")
        ]
        keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
        self.ask("input.performActions", actions=[keyboard])

    def point(self, selector: str, *, click: bool = False) -> None:
        """Wait for a visible element, move to its middle, and optionally click it."""
        node = f"document.querySelector({json.dumps(selector)})"
        self.until(f"({node}?.getClientRects().length ?? 0) > 0 && !{node}.disabled")
        x, y = self.evaluate(
            f"(node => {{ node.scrollIntoView({{block: 'nearest'}});"
            " const box = node.getBoundingClientRect();"
            " return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];"
            f" }})({node})"
        )
        self._move(x, y, click=click)

    def leave(self) -> None:
        """Move the pointer away from everything."""
        self._move(2, 2, click=False)

    def _move(self, x: int, y: int, *, click: bool) -> None:
        steps: list[dict[str, Any]] = [{"type": "pointerMove", "x": x, "y": y}]
        if click:
            steps += [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        mouse = {"type": "pointer", "id": "mouse", "actions": steps}
        self.ask("input.performActions", actions=[mouse])

    def choose(self, label: str, value: str) -> None:
        """Wait for a list with this option, by its label, and choose the option."""
        selector = json.dumps(f"select[aria-label='{label}']")
        options = f"[...(document.querySelector({selector})?.options ?? [])]"
        self.until(f"{options}.some(option => option.value === {json.dumps(value)})")
        self.evaluate(
            f"(list => {{ list.value = {json.dumps(value)};"
            " list.dispatchEvent(new Event('change', {bubbles: true})); })"
            f"(document.querySelector({selector}))"
        )

    def screenshot(self, path: Path) -> Path:
        """The visible part of the page as a PNG."""
        path.write_bytes(b64decode(self.ask("browsingContext.captureScreenshot")["data"]))
        return path


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A running Firefox without network access, with its own profile and downloads."""
    profile, downloads = folder / "profile", folder / "downloads"
    for made in (profile, downloads):
        made.mkdir()
    preferences = {**PREFERENCES, "browser.download.dir": str(downloads)}
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in preferences.items()]
    (profile / "user.js").write_text("\n".join(lines))
    command = [executable() or NAMES[0], "--headless", "--no-remote", "--offline"]
    command += ["--profile", str(profile), "--remote-debugging-port", "0"]
    process = subprocess.Popen(
        command,
        env={**os.environ, "HOME": str(folder)},  # Firefox refuses another user's home
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        url = f"{_address(process)}/session"
        socket = create_connection(url, timeout=PATIENCE, suppress_origin=True)
        yield Firefox(socket, downloads)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


def _address(process: "subprocess.Popen[str]") -> str:
    """The address the browser reports to listen at."""
    said = []
    for line in process.stderr or ():
        said.append(line)
        if "BiDi listening on " in line:
            return line.strip().rpartition(" ")[2]
    raise RuntimeError(f"Firefox did not start: {''.join(said)}")
