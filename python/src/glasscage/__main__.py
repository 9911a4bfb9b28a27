"""`python -m glasscage serve [FOLDER]`: a built page of Glasscage on this machine, with the models next to it, without a network."""

import argparse
import http.server
import os
import pathlib
import sys
from collections.abc import Sequence

MEDIA_TYPES = {
    ".wasm": "application/wasm",
    ".js": "text/javascript",
    ".gguf": "application/octet-stream",
    ".webmanifest": "application/json",
}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves static files with the media types that browsers need."""

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        return MEDIA_TYPES.get(pathlib.PurePath(path).suffix) or super().guess_type(path)

    def log_message(self, format: str, *args: object) -> None:
        pass


def server(folder: pathlib.Path, port: int) -> http.server.ThreadingHTTPServer:
    """Creates a server of the page in `folder`, only for this machine. Port 0 chooses a free port."""

    def handler(*args: object) -> Handler:
        return Handler(*args, directory=str(folder))  # type: ignore[arg-type]

    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


def port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise ValueError(text)
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m glasscage", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve a built page on localhost")
    built = os.environ.get("GLASSCAGE_DIST", "dist")
    page = "the page: what `cargo xtask serve --release` makes (GLASSCAGE_DIST, else dist/)"
    serve.add_argument("folder", type=pathlib.Path, nargs="?", default=built, help=page)
    serve.add_argument("--port", type=port, default=8080)
    asked = parser.parse_args(arguments)
    if not (asked.folder / "index.html").is_file():
        print(f"glasscage: {asked.folder} contains no built page; run `cargo xtask serve --release`", file=sys.stderr)
        return 2
    try:
        running = server(asked.folder, asked.port)
    except OSError as error:
        print(f"glasscage: port {asked.port}: {error.strerror}; choose another one with --port", file=sys.stderr)
        return 2
    with running:
        print(f"Glasscage is at http://localhost:{running.server_port}/; Ctrl-C ends it.", flush=True)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
