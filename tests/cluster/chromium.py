"""A real headless Chromium, driven over the DevTools protocol through a pipe: no driver to install.

https://chromedevtools.github.io/devtools-protocol/; messages are JSON that end in a zero byte, read
by the browser from file descriptor 3 and written to 4 (``--remote-debugging-pipe``).
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PATIENCE_S = 120
_KEYS = {
    "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Backspace": ("Backspace", 8, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowUp": ("ArrowUp", 38, ""), "Tab": ("Tab", 9, ""),
    "ArrowRight": ("ArrowRight", 39, ""), "ArrowDown": ("ArrowDown", 40, ""),
    "End": ("End", 35, ""), "Home": ("Home", 36, ""), "/": ("Slash", 191, "/"),
}  # fmt: skip


def find_chromium() -> str:
    """The browser that ``CHROME`` names, else the first that is installed; a missing one fails
    where ``NEWSREC_BROWSER`` is ``required`` (`.ci/run`) and skips the test elsewhere."""
    for name in (os.environ.get("CHROME", ""), *_NAMES):
        found = shutil.which(name) if name else None
        if found:
            return found
    reason = f"no browser found: looked for $CHROME, {', '.join(_NAMES)}; install chromium"
    if os.environ.get("NEWSREC_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser of its own, gone with all its processes when the block ends."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    # Away from 3 and 4, which the browser's ends take.
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (to_read, from_write)]
    log = os.open(profile.with_suffix(".log"), os.O_WRONLY | os.O_CREAT)
    command = [
        find_chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank",
    ]  # fmt: skip
    pid = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, high[0], 3),
            (os.POSIX_SPAWN_DUP2, high[1], 4),
            (os.POSIX_SPAWN_DUP2, log, 1),
            (os.POSIX_SPAWN_DUP2, log, 2),
        ],
        setpgroup=0,
    )
    for fd in (to_read, from_write, log, *high):
        os.close(fd)
    try:
        yield Browser(to_write, from_read)
    finally:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(to_write)
        os.close(from_read)


class Browser:
    """Commands out, answers and events in; ``events`` holds every event since the start."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._left, self._number = write, read, b"", 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """The answer to one command; `AssertionError` when the browser refuses it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._read], [], [], _PATIENCE_S)
            assert ready, f"the browser said nothing for {_PATIENCE_S} s"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has gone"
            self._left += part
        line, self._left = self._left.split(b"\0", 1)
        return dict(json.loads(line))

    def _event(self, method: str, session: str) -> None:
        """Until the page of ``session`` has said so."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                if event["method"] == method and event.get("sessionId") == session:
                    return
            seen = len(self.events)
            self.events.append(self._next())

    def open(self, path: Path, *, width: int = 1280, height: int = 800, **media: str) -> Page:
        """``path`` in a tab of its own once the page says that it is ready; ``media``: features
        such as ``prefers_color_scheme="dark"``."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.resize(width, height)
        features = {"prefers_reduced_motion": "reduce", **media}
        page.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()],
        )
        page.send("Page.navigate", url=path.resolve().as_uri())
        self._event("Page.loadEventFired", session)
        page.wait("'ready' in document.documentElement.dataset")
        return page


class Page:
    """One tab."""

    def __init__(self, owner: Browser, session: str) -> None:
        self._browser, self._session = owner, session

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **params)

    def run(self, expression: str) -> Any:
        """The value of JavaScript, which may be a promise."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until ``expression`` is true."""
        self._until(lambda: bool(self.run(expression)), expression)

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not holds():
            assert time.monotonic() < end, f"still not: {what}"
            time.sleep(0.05)

    def resize(self, width: int, height: int) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def key(self, name: str) -> None:
        code, number, text = _KEYS[name]
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=name, code=code,
                windowsVirtualKeyCode=number, text=text if kind == "keyDown" else "",
            )  # fmt: skip

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """A click of the mouse at the middle of the first element of ``selector``."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + Math.min(b.height / 2, 12)]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def complaints(self) -> list[str]:
        """Errors, warnings and messages on the console, uncaught exceptions, and every request but
        that for the page itself."""
        self.run("new Promise((done) => setTimeout(done, 50))")
        found = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            method, params = event["method"], event["params"]
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(json.dumps(params, ensure_ascii=False)[:400])
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not (params["type"] == "Document" or url.startswith("data:,")):
                    found.append(url)
        return found
