"""Takes the pictures of `docs/start.md` from a built page: `python3 docs/pictures.py dist`. Needs Chromium and chromedriver.

The pictures go to `docs/figures`. Take them again when the page looks different.
"""

import base64
import contextlib
import functools
import http.server
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any

FIGURES = pathlib.Path(__file__).parent / "figures"
WINDOW = (1100, 1000)
PROMPT = "Mia has 12 cards. The shop opens at nine. Leo gives Mia 5 more cards. How many cards does Mia have now?"
# Time for the model to answer and to measure, in seconds.
PATIENCE = 180
# The element with the test id that a script gets.
FOUND = "document.querySelector(`[data-testid='${arguments[0]}']`)"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


class Browser:
    """Chromium with a window of `WINDOW`, driven by WebDriver."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        options = {"args": ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WINDOW[0]},{WINDOW[1]}"]}
        found = self.call("/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.base += f"/session/{found['sessionId']}"

    def call(self, path: str, data: dict[str, Any] | None = None) -> Any:
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.base + path, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            return json.load(response)["value"]

    def run(self, script: str, *arguments: str) -> Any:
        return self.call("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, test_id: str) -> None:
        """Waits until an element is there and can be pressed."""
        ready = f"const e = {FOUND}; return !!e && !e.disabled && e.ariaDisabled !== 'true'"
        end = time.monotonic() + PATIENCE
        while not self.run(ready, test_id):
            if time.monotonic() > end:
                raise TimeoutError(f"{test_id} did not appear")
            time.sleep(0.2)

    def click(self, test_id: str) -> None:
        self.wait(test_id)
        self.run(f"{FOUND}.click()", test_id)

    def fill(self, test_id: str, text: str) -> None:
        self.wait(test_id)
        self.run(f"{FOUND}.value = arguments[1]; {FOUND}.dispatchEvent(new Event('input', {{ bubbles: true }}))", test_id, text)

    def picture(self, name: str, test_id: str) -> None:
        """Takes a picture with the end of the element in the window."""
        self.wait(test_id)
        self.run(f"{FOUND}.scrollIntoView({{ block: 'end' }})", test_id)
        time.sleep(1)
        (FIGURES / name).write_bytes(base64.b64decode(self.call("/screenshot")))
        print(f"docs/figures/{name}")


def take(browser: Browser, address: str) -> None:
    browser.call("/url", {"url": address})
    browser.wait("welcome-intro")
    browser.wait("sentence-G1")
    browser.picture("first.png", "home")
    browser.click("try-own-words")
    browser.fill("prompt-input", PROMPT)
    browser.picture("ask.png", "prompt-input")
    browser.click("explain-button")
    browser.click("tab-check")
    browser.click("check-button")
    browser.picture("test.png", "check-verdict")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main(folder: str) -> None:
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = free_port()
    driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(50):
            with contextlib.suppress(urllib.error.URLError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/status").close()
                break
            time.sleep(0.2)
        browser = Browser(port)
        take(browser, f"http://127.0.0.1:{server.server_port}/")
    finally:
        driver.terminate()
        driver.wait()
        server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "dist")
