"""A real browser for tests: headless Chromium, driven through ChromeDriver's HTTP interface."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.patience import PATIENCE_S, wait_until

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "no Chromium here: install Debian's chromium and chromium-driver to run this"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
    ),
)
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key that the WebDriver standard gives elements


class Browser:
    """One window."""

    def __init__(self, driver: str, profile: Path) -> None:
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = requests.post(
            f"{driver}/session", json={"capabilities": {"alwaysMatch": wanted}}, timeout=PATIENCE_S
        )
        answer.raise_for_status()
        self._session = f"{driver}/session/{answer.json()['value']['sessionId']}"

    def ask(self, path: str, **body: Any) -> Any:
        answer = requests.post(f"{self._session}/{path}", json=body, timeout=PATIENCE_S)
        assert answer.ok, answer.text
        return answer.json()["value"]

    def close(self) -> None:
        requests.delete(self._session, timeout=PATIENCE_S)

    def open(self, path: Path, *, width: int = 1280, height: int = 900, is_dark: bool = False) -> None:
        self.visit(path.as_uri(), width=width, height=height, is_dark=is_dark)

    def visit(self, url: str, *, width: int = 1280, height: int = 900, is_dark: bool = False) -> None:
        """Go to a page and wait until all of it is there."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._devtools("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("url", url=url)
        there = f"location.href === {url!r} && document.getElementById('tip') !== null"
        script = f"return document.readyState === 'complete' && {there}"
        wait_until(lambda: self.run(script), "the page is there")

    def print_out(self, *, is_over: bool = False) -> None:
        """Show the page as it is printed, or as on a screen again."""
        self._devtools("Emulation.setEmulatedMedia", media="" if is_over else "print")

    def save_to(self, folder: Path) -> None:
        """Let the page save files into a folder."""
        self._devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def run(self, script: str) -> Any:
        """Run a script in the page and return its result."""
        return self.ask("execute/sync", script=script, args=[])

    def click(self, selector: str) -> None:
        """Click an element, after bringing it into sight; the legend at the top would cover it elsewhere."""
        self._show(selector)
        self.ask(f"element/{self._find(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        self.ask(f"element/{self._find(selector)}/value", text=text)

    def point_at(self, selector: str) -> None:
        """Move the mouse over an element, after bringing it into sight."""
        element = self._find(selector)
        self._show(selector)
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {_ELEMENT: element}}
        self.ask("actions", actions=[{"type": "pointer", "id": "mouse", "actions": [move]}])

    def press(self, key: str) -> None:
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.ask("actions", actions=[{"type": "key", "id": "keys", "actions": strokes}])

    def complaints(self) -> list[str]:
        """What the browser said in its console since last asked."""
        return [entry["message"] for entry in self.ask("se/log", type="browser")]

    def picture(self) -> bytes:
        answer = requests.get(f"{self._session}/screenshot", timeout=PATIENCE_S)
        return base64.b64decode(answer.json()["value"])

    def _show(self, selector: str) -> None:
        """Scroll to an element and wait until the page has noticed: scrolling hides tips."""
        script = (
            f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}});"
            "requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))"
        )
        self.ask("execute/async", script=script, args=[])

    def _find(self, selector: str) -> str:
        return str(self.ask("element", using="css selector", value=selector)[_ELEMENT])

    def _devtools(self, command: str, **parameters: Any) -> None:
        self.ask("goog/cdp/execute", cmd=command, params=parameters)


@contextmanager
def running_browser(profile: Path) -> Iterator[Browser]:
    """Start a driver on a port that it takes itself, and a browser; end both."""
    assert DRIVER is not None
    log = profile / "driver.log"
    words = [DRIVER, "--port=0", f"--log-path={log}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            browser = Browser(f"http://127.0.0.1:{_told_port(process)}", profile / "user")
            yield browser
            browser.close()
        finally:
            process.terminate()


def _told_port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"started successfully on port (\d+)", line)
        if found:
            return int(found[1])
    raise AssertionError(f"ChromeDriver did not start: {process.wait()}")
