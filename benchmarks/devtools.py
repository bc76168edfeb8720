"""A tab of Chromium over its own debugging socket, with nobody else listening.

Playwright has every WebSocket frame mirrored to it, which costs the page time. Here frames are
mirrored only while they are counted.
"""

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from hosts import end
from playwright.sync_api import sync_playwright
from view import ARGUMENTS, executable
from websocket import WebSocketTimeoutException, create_connection

PATIENCE = 60
"""Seconds until a browser or a tab that does not answer is given up."""

QUIET = [
    "--headless=new",
    "--remote-debugging-port=0",
    "--window-size=1200,1800",
    "--force-prefers-reduced-motion",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@contextmanager
def chromium(folder: Path) -> Iterator[int]:
    """A running Chromium that reaches this machine only, as the port where it listens."""
    found = executable()
    if found is None:
        with sync_playwright() as playwright:
            found = playwright.chromium.executable_path
    command = [found, *ARGUMENTS, *QUIET, f"--user-data-dir={folder}", "about:blank"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = psutil.Popen(command, **silent)
    said = folder / "DevToolsActivePort"
    try:
        deadline = time.monotonic() + PATIENCE
        while not (said.exists() and said.read_text().strip()):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"{found} did not say where it listens.")
            time.sleep(0.05)
        yield int(said.read_text().splitlines()[0])
    finally:
        end(process)


class Tab:
    """One tab, asked in turn."""

    def __init__(self, port: int, address: str) -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
        (place,) = [tab["webSocketDebuggerUrl"] for tab in tabs if address in tab["url"]]
        self._socket = create_connection(place, timeout=PATIENCE, suppress_origin=True)
        self._asked = 0
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        """Ask for something and wait for the answer; what happens meanwhile is kept."""
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": given}))
        while (message := json.loads(self._socket.recv())).get("id") != self._asked:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']['message']}")
        return message["result"]

    def evaluate(self, code: str) -> Any:
        """The value of an expression in the page, waited for."""
        given = {"expression": code, "awaitPromise": True, "returnByValue": True}
        answer = self.ask("Runtime.evaluate", **given)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", code))
        return answer["result"].get("value")

    def press_in(self, node: str, key: str, code: int) -> None:
        """Click into a node that an expression finds, and press a key with Control."""
        box = self.evaluate(f"""(() => {{
            const node = {node};
            node.scrollIntoView({{block: "nearest"}});
            const {{left, top, width, height}} = node.getBoundingClientRect();
            return [left + width / 2, top + height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            place = {"x": box[0], "y": box[1], "button": "left", "clickCount": 1}
            self.ask("Input.dispatchMouseEvent", type=kind, **place)
        for kind in ("rawKeyDown", "keyUp"):
            about = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 2}
            self.ask("Input.dispatchKeyEvent", type=kind, **about)

    def settle(self, seconds: float) -> None:
        """Take in what happens for a while."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                self.events.append(json.loads(self._socket.recv()))
            except WebSocketTimeoutException:
                break
        self._socket.settimeout(PATIENCE)

    def close(self) -> None:
        """Ask no more."""
        self._socket.close()
