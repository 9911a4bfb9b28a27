"""Tests the widget in a notebook without a kernel, in JupyterLab and in marimo, in a headless Chromium.

pip install './python[widget]' jupyterlab nbconvert marimo selenium pytest
GLASSCAGE_LIVE=1 GLASSCAGE_DIST=dist GLASSCAGE_BIN=target/release/glasscage pytest python/tests/test_widget_live.py
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import ROOT

if not os.environ.get("GLASSCAGE_LIVE"):
    pytest.skip("GLASSCAGE_LIVE=1 pytest", allow_module_level=True)

PORTS = {"jupyter": 8871, "marimo": 8872}
CHROMIUM = ["headless=new", "no-sandbox", "disable-quic", "no-first-run", "disable-background-networking", "window-size=1300,1000"]
# Resolve no host except this machine.
OFFLINE = "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"
CELLS = [
    "from glasscage import Document",
    f"first = Document.read(r'{ROOT}/public/gallery/01-equal-groups.json').widget()\nfirst",
    *[f"Document.read(r'{ROOT}/public/gallery/08-two-sentences-to-combine.json').widget()"] * 4,
]
MARIMO = f"""
import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    from glasscage import Document
    first = mo.ui.anywidget(Document.read(r"{ROOT}/public/gallery/01-equal-groups.json").widget(hide="details"))
    first
    return mo, first

@app.cell
def _(mo, first):
    mo.md(f"chosen {{first.value['output']}}")
    return

if __name__ == "__main__":
    app.run()
"""
# All elements that match, including those in shadow roots.
FIND = """const all = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e]);
          const find = selector => all(document).filter(e => e.matches(selector)); """
IN_THE_KERNEL = """const [code, done] = arguments;
    const future = jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code });
    let said = '';
    future.onIOPub = ({ header, content }) => said += { stream: content.text, error: content.evalue }[header.msg_type] ?? '';
    future.done.then(() => done(said.trim()));"""
IS_IDLE = """const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
    return context?.isReady && context.session.kernel.status === 'idle'"""


@pytest.fixture
def browser() -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in [*CHROMIUM, OFFLINE]:
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def serve(tmp_path: pathlib.Path) -> Iterator[Callable[..., None]]:
    running: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> None:
        folders = {f"JUPYTER{name}_DIR": str(tmp_path / name) for name in ("_CONFIG", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")}
        line = [sys.executable, "-m", *command]
        running.append(subprocess.Popen(line, cwd=tmp_path, env=os.environ | folders, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    yield start
    for process in running:
        process.terminate()
        process.wait(30)


def write_notebook(path: pathlib.Path, cells: list[str]) -> None:
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in cells], metadata=kernel), path)


def poll(ask: Callable[[], Any], what: str, looks: int = 300) -> Any:
    """Returns the first result that is true. Gives up after a fixed number of attempts, 0.1 s apart, regardless of the speed of the
    machine.
    """
    for _ in range(looks):
        if value := ask():
            return value
        time.sleep(0.1)
    pytest.fail(f"{looks} looks: {what}")


def wait(browser: Any, script: str, looks: int = 300) -> Any:
    return poll(lambda: browser.execute_script(FIND + script), script, looks)


def open_address(browser: Any, address: str) -> None:
    from selenium.common.exceptions import WebDriverException

    for _ in range(100):
        try:
            return browser.get(address)
        except WebDriverException:
            time.sleep(0.3)
    raise AssertionError(address)


def enter_first_viewer(browser: Any) -> None:
    browser.switch_to.frame(wait(browser, "const cell = find('.cell')[0]; return cell.matches('.open') && cell.querySelector('iframe')"))


def click_sentence(browser: Any, label: str) -> None:
    enter_first_viewer(browser)
    browser.execute_script(f"document.querySelector('[data-testid=sentence-{label}]').click()")
    browser.switch_to.default_content()


def test_exported_notebook_shows_picture_offline(tmp_path: pathlib.Path, browser: Any) -> None:
    write_notebook(tmp_path / "notebook.ipynb", CELLS[:2])
    subprocess.run([sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "notebook.ipynb"], cwd=tmp_path, check=True)
    browser.get((tmp_path / "notebook.html").as_uri())
    script = "return find('img[data-output]').map(e => [e.dataset.output, e.naturalWidth, e.getBoundingClientRect().height > 300])"
    assert wait(browser, script) == [["[2]", 800, True]]


def test_jupyterlab_syncs_selection_with_few_frames(
    tmp_path: pathlib.Path, browser: Any, serve: Callable[..., None]
) -> None:
    write_notebook(tmp_path / "notebook.ipynb", CELLS)
    open_to_all = ["--allow-root", "--no-browser", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"]
    serve("jupyterlab", *open_to_all, f"--port={PORTS['jupyter']}", f"--ServerApp.root_dir={tmp_path}")
    open_address(browser, f"http://localhost:{PORTS['jupyter']}/doc/tree/notebook.ipynb?reset")
    wait(browser, IS_IDLE, 600)
    browser.execute_script("jupyterapp.commands.execute('notebook:run-all-cells')")
    wait(browser, "return find('.cell.open').length")

    def python(code: str) -> str:
        return str(browser.execute_async_script(IN_THE_KERNEL, code))

    assert python("print(first.output)") == "[2]"
    click_sentence(browser, "G1")
    poll(lambda: python("print(first.output, first.document.output)") == "[0] [0]", "what was clicked reaches Python", 100)
    assert python("first.output = [1]") == ""
    enter_first_viewer(browser)
    wait(browser, "return document.querySelector('.details h3, .details h2')?.textContent.includes('G2')")
    browser.switch_to.default_content()
    assert "generated sentences 0 to 2" in python("first.output = [7]")
    for step in range(6):
        browser.execute_script(f"const s = document.querySelector('.jp-WindowedPanel-outer'); s.scrollTop = s.scrollHeight * {step} / 5")
        time.sleep(1)
        assert browser.execute_script(FIND + "return find('.cell iframe').length") <= 1
    browser.execute_script("document.querySelector('.jp-WindowedPanel-outer').scrollTop = 0")
    enter_first_viewer(browser)
    wait(browser, "return document.querySelector('.details h3, .details h2')?.textContent.includes('G2')")


def test_in_marimo_what_is_clicked_reaches_python(tmp_path: pathlib.Path, browser: Any, serve: Callable[..., None]) -> None:
    (tmp_path / "notebook.py").write_text(MARIMO)
    serve("marimo", "run", "notebook.py", "--headless", "--no-token", f"--port={PORTS['marimo']}")
    open_address(browser, f"http://localhost:{PORTS['marimo']}")
    wait(browser, "return find('.cell.drawn.open').length")
    texts = "find('*').map(e => e.childElementCount ? '' : e.textContent)"
    wait(browser, f"return {texts}.includes('chosen [2]')")
    click_sentence(browser, "G1")
    wait(browser, f"return {texts}.includes('chosen [0]')")
