"""A real Firefox for tests, spoken to over WebDriver BiDi, which every Firefox brings along."""

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
"""Seconds to wait for what a busy machine may take its time with."""

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
    "network.proxy.socks_port": 9,  # nobody listens there
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
    """Ways to get one: the system's packages, for root."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return []
    quiet = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    return [[[*quiet, "update"], [*quiet, "install", "-y", "firefox-esr"]]]


def ensure() -> bool:
    """Find a Firefox, or install one where the machine allows."""
    for commands in installers() if executable() is None else ():
        print(f"· no Firefox yet; trying: {' '.join(commands[-1])}", flush=True)
        for command in commands:
            subprocess.run(command, check=False)
    return executable() is not None


class Firefox:
    """A running browser: commands go out, answers and events come back."""

    def __init__(self, socket: WebSocket, downloads: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self.tabs: set[str] = set()
        self.downloads = downloads
        self._socket = socket
        self._last = 0
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=EVENTS)

    def ask(self, method: str, **given: Any) -> Any:
        """Send a command and wait for its answer; events on the way are kept."""
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
        """A new tab of this size, at this address."""
        tab = Tab(self, self.ask("browsingContext.create", type="tab")["context"])
        self.tabs.add(tab.context)
        tab.ask("browsingContext.setViewport", viewport={"width": width, "height": height})
        tab.ask("browsingContext.navigate", url=address, wait="complete")
        return tab

    def trouble(self) -> list[str]:
        """All errors, alerts and requests so far of the tabs that were opened here."""
        found = []
        for event in self.events:
            about = event["params"]
            if about.get("context", about.get("source", {}).get("context")) not in self.tabs:
                continue  # a page of the browser's own
            match event["method"]:
                case "network.beforeRequestSent":
                    address = about["request"]["url"]
                    # What a page or the browser carries inside itself comes from nowhere.
                    inside = address.startswith(("data:", "blob:"))
                    found += [] if inside else [f"asked for {address}"]
                case "log.entryAdded" if about["level"] == "error":
                    found.append(str(about["text"]))
                case "browsingContext.userPromptOpened":
                    found.append("alert")
        return found


class Tab:
    """One page, used as a person would."""

    def __init__(self, browser: Firefox, context: str) -> None:
        self.browser = browser
        self.context = context

    def ask(self, method: str, **given: Any) -> Any:
        """Send a command about this tab."""
        return self.browser.ask(method, context=self.context, **given)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON can hold it."""
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
        """Wait until an expression has a value."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.evaluate(expression)) != gives:
            if time.monotonic() > deadline:
                raise AssertionError(f"{expression} stayed {found!r}, and {gives!r} was wanted.")
            time.sleep(0.05)

    def texts(self, selector: str) -> list[str]:
        """The text of every element that fits."""
        every = f"[...document.querySelectorAll({json.dumps(selector)})]"
        return list(self.evaluate(f"{every}.map(node => node.textContent)"))

    def says(self, selector: str, words: str) -> None:
        """Wait until the first element that fits says these words."""
        first = f"document.querySelector({json.dumps(selector)})?.textContent ?? ''"
        self.until(f"({first}).includes({json.dumps(words)})")

    def press(self, *names: str) -> None:
        """Press keys, one after the other."""
        strokes = [
            {"type": kind, "value": KEYS.get(name, name)}
            for name in names
            for kind in ("keyDown", "keyUp")
        ]
        keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
        self.ask("input.performActions", actions=[keyboard])

    def point(self, selector: str, *, click: bool = False) -> None:
        """Move to the middle of an element, and click it where that is wanted."""
        node = f"document.querySelector({json.dumps(selector)})"
        x, y = self.evaluate(
            f"(node => {{ node.scrollIntoView({{block: 'nearest'}});"
            " const box = node.getBoundingClientRect();"
            " return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];"
            f" }})({node})"
        )
        self._move(x, y, click=click)

    def leave(self) -> None:
        """Move away from everything."""
        self._move(2, 2, click=False)

    def _move(self, x: int, y: int, *, click: bool) -> None:
        steps: list[dict[str, Any]] = [{"type": "pointerMove", "x": x, "y": y}]
        if click:
            steps += [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        mouse = {"type": "pointer", "id": "mouse", "actions": steps}
        self.ask("input.performActions", actions=[mouse])

    def choose(self, label: str, value: str) -> None:
        """Choose from a list by its label."""
        selector = json.dumps(f"select[aria-label='{label}']")
        self.evaluate(
            f"(list => {{ list.value = {json.dumps(value)};"
            " list.dispatchEvent(new Event('change', {bubbles: true})); })"
            f"(document.querySelector({selector}))"
        )

    def screenshot(self, path: Path) -> Path:
        """What is to be seen now, as a PNG."""
        path.write_bytes(b64decode(self.ask("browsingContext.captureScreenshot")["data"]))
        return path


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A running Firefox that can reach no network, with a profile and downloads of its own."""
    profile, downloads = folder / "profile", folder / "downloads"
    for place in (profile, downloads):
        place.mkdir()
    wanted = {**PREFERENCES, "browser.download.dir": str(downloads)}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(wanted[name])});" for name in wanted]
    (profile / "user.js").write_text("\n".join(lines))
    command = [executable() or NAMES[0], "--headless", "--no-remote", "--offline"]
    command += ["--profile", str(profile), "--remote-debugging-port", "0"]
    process = subprocess.Popen(
        command,
        env={**os.environ, "HOME": str(folder)},  # a home of another user would be refused
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        place = f"{_address(process)}/session"
        socket = create_connection(place, timeout=PATIENCE, suppress_origin=True)
        yield Firefox(socket, downloads)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


def _address(process: "subprocess.Popen[str]") -> str:
    """Where the browser says that it listens."""
    said = []
    for line in process.stderr or ():
        said.append(line)
        if "BiDi listening on " in line:
            return line.strip().rpartition(" ")[2]
    raise RuntimeError(f"Firefox did not start: {''.join(said)}")
