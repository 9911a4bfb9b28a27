"""Makes docs/click.gif: what a click on a sentence of the answer shows, in the built page in headless Chromium.

    pip install pillow
    cargo xtask serve --release && python docs/animation.py dist

It needs chromium and chromedriver, which `cargo xtask test` installs.
"""

import argparse
import base64
import functools
import http.server
import io
import json
import math
import socket
import subprocess
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 1240, 790
# In the gallery: a problem of three steps with an unrelated sentence.
EXPLANATION = "gallery-2"
CLICKS = ["sentence-G3", "sentence-G5"]
STILL_MILLIS, MOVE_MILLIS, MOVE_FRAMES = 2600, 40, 10
COLORS = 96
CHROMIUM = ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-background-networking", "--force-color-profile=srgb"]
POINTER = [(0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextmanager
def page_server(folder):
    """Serves the built page; yields its address."""
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Browser:
    """A session of chromedriver, by the WebDriver protocol (www.w3.org/TR/webdriver2)."""

    def __init__(self, port):
        self.root = f"http://127.0.0.1:{port}/session"
        options = {"args": [*CHROMIUM, f"--window-size={WIDTH},{HEIGHT}"]}
        capabilities = {"alwaysMatch": {"goog:chromeOptions": options}}
        self.root += "/" + self.send("POST", "", capabilities=capabilities)["sessionId"]

    def send(self, verb, path, **body):
        data = json.dumps(body).encode() if verb == "POST" else None
        request = urllib.request.Request(self.root + path, data, {"content-type": "application/json"}, method=verb)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script, *arguments):
        return self.send("POST", "/execute/sync", script=script, args=list(arguments))

    def show(self, address):
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.send("POST", "/goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride", params=size)
        self.send("POST", "/url", url=address)

    def click(self, test_id):
        """By script, because a mouse left on a sentence would show a preview of it."""
        self.run("arguments[0].click()", self.wait_for(test_id))

    def wait_for(self, test_id):
        css = f"[data-testid='{test_id}']"
        for _ in range(100):
            if found := self.send("POST", "/elements", using="css selector", value=css):
                return found[0]
            time.sleep(0.1)
        raise SystemExit(f"no {test_id} on the page")

    def middle(self, test_id):
        """Where to click on it, in pixels of the picture."""
        script = "const box = arguments[0].getBoundingClientRect(); return [box.x + Math.min(box.width / 3, 220), box.y + box.height / 2]"
        return tuple(self.run(script, self.wait_for(test_id)))

    def picture(self):
        time.sleep(0.5)
        png = base64.b64decode(self.send("GET", "/screenshot"))
        return Image.open(io.BytesIO(png)).convert("RGB")


@contextmanager
def browser():
    port = free_port()
    driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        session = Browser(port)
        yield session
        session.send("DELETE", "")
    finally:
        driver.terminate()


def with_pointer(picture, at):
    drawn = picture.copy()
    shape = [(at[0] + x, at[1] + y) for x, y in POINTER]
    ImageDraw.Draw(drawn).polygon(shape, fill="black", outline="white")
    return drawn


def path(start, end):
    """Points from start to end, slow at both ends."""
    for i in range(1, MOVE_FRAMES + 1):
        share = (1 - math.cos(math.pi * i / MOVE_FRAMES)) / 2
        yield start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def record(page):
    """Pictures and how long each is shown, in milliseconds."""
    page.click(EXPLANATION)
    page.wait_for(CLICKS[0])
    page.run("[...document.querySelectorAll('h2')].find(heading => heading.textContent.startsWith('Explanation')).scrollIntoView()")
    page.run("scrollBy(0, -20)")
    pointer = (WIDTH * 0.55, HEIGHT * 0.9)
    picture = page.picture()
    frames = [(with_pointer(picture, pointer), STILL_MILLIS)]
    for sentence in CLICKS:
        target = page.middle(sentence)
        frames += [(with_pointer(picture, at), MOVE_MILLIS) for at in path(pointer, target)]
        pointer = target
        page.click(sentence)
        picture = page.picture()
        frames.append((with_pointer(picture, pointer), STILL_MILLIS))
    return frames


def save(frames, file):
    """One palette for all pictures, so that only what changes is stored."""
    together = Image.new("RGB", (WIDTH, HEIGHT * 2))
    together.paste(frames[0][0], (0, 0))
    together.paste(frames[-1][0], (0, HEIGHT))
    palette = together.quantize(COLORS, dither=Image.Dither.NONE)
    pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture, _ in frames]
    durations = [millis for _, millis in frames]
    pictures[0].save(file, save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", help="the folder of the built page")
    arguments = parser.parse_args()
    file = Path(__file__).with_name("click.gif")
    with page_server(arguments.dist) as address, browser() as page:
        page.show(address)
        save(record(page), file)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
