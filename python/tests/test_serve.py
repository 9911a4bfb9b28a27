"""The server of the page on localhost."""

import pathlib
import threading
import urllib.error
import urllib.request

import pytest

from glasscage.__main__ import main, server


def test_page_files_are_served_with_media_types(tmp_path: pathlib.Path) -> None:
    files = {"index.html": "text/html", "app.js": "text/javascript", "app_bg.wasm": "application/wasm"}
    files["models/demo.gguf"] = "application/octet-stream"
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    with server(tmp_path, 0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        for name, media_type in files.items():
            with urllib.request.urlopen(f"http://127.0.0.1:{running.server_port}/{name}") as answer:
                assert (answer.read().decode(), answer.headers.get_content_type()) == (name, media_type)
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{running.server_port}/../secret")
        running.shutdown()


def test_missing_page_and_taken_port_are_reported(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path)]) == 2
    assert "contains no built page" in capsys.readouterr().err
    (tmp_path / "index.html").write_text("")
    with server(tmp_path, 0) as running:
        assert main(["serve", str(tmp_path), "--port", str(running.server_port)]) == 2
    assert "--port" in capsys.readouterr().err


def test_impossible_port_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--port", "70000"])
    assert "argument --port: invalid port value: '70000'" in capsys.readouterr().err
