"""Control a tab of Chromium over its own debugging socket, without Playwright.

Playwright receives a copy of every WebSocket frame, which slows the page down. Here frames are
copied only while they are counted.
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

TIMEOUT = 60
"""Seconds to wait for a browser or a tab."""

OPTIONS = [
    "--headless=new",
    "--remote-debugging-port=0",
    "--window-size=1200,1800",
    "--force-prefers-reduced-motion",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@contextmanager
def run_chromium(folder: Path) -> Iterator[int]:
    """Run a Chromium that can reach only this machine; yield its debugging port."""
    path = executable()
    if path is None:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    command = [path, *ARGUMENTS, *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = psutil.Popen(command, **silent)
    port_file = folder / "DevToolsActivePort"
    try:
        deadline = time.monotonic() + TIMEOUT
        while not (port_file.exists() and port_file.read_text().strip()):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"{path} did not write its debugging port.")
            time.sleep(0.05)
        yield int(port_file.read_text().splitlines()[0])
    finally:
        end(process)


class Tab:
    """One tab, which answers one request at a time."""

    def __init__(self, port: int, address: str) -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
        (socket_url,) = [tab["webSocketDebuggerUrl"] for tab in tabs if address in tab["url"]]
        self._socket = create_connection(socket_url, timeout=TIMEOUT, suppress_origin=True)
        self._last_id = 0
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for the answer; events in between are stored."""
        self._last_id += 1
        self._socket.send(json.dumps({"id": self._last_id, "method": method, "params": params}))
        while (message := json.loads(self._socket.recv())).get("id") != self._last_id:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']['message']}")
        return message["result"]

    def evaluate(self, code: str) -> Any:
        """Return the value of an expression in the page, awaited."""
        params = {"expression": code, "awaitPromise": True, "returnByValue": True}
        answer = self.ask("Runtime.evaluate", **params)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", code))
        return answer["result"].get("value")

    def press_in(self, node: str, key: str, code: int) -> None:
        """Click the node that an expression returns, and press a key with Control."""
        box = self.evaluate(f"""(() => {{
            const node = {node};
            node.scrollIntoView({{block: "nearest"}});
            const {{left, top, width, height}} = node.getBoundingClientRect();
            return [left + width / 2, top + height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            position = {"x": box[0], "y": box[1], "button": "left", "clickCount": 1}
            self.ask("Input.dispatchMouseEvent", type=kind, **position)
        for kind in ("rawKeyDown", "keyUp"):
            details = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 2}
            self.ask("Input.dispatchKeyEvent", type=kind, **details)

    def settle(self, seconds: float) -> None:
        """Store events for some seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                self.events.append(json.loads(self._socket.recv()))
            except WebSocketTimeoutException:
                break
        self._socket.settimeout(TIMEOUT)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
