"""The Python API as its page and its example have it, on real services behind a real mesh."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cutset
from cutset.app.demo import free_ports

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "python"
PAGE = (ROOT / "docs" / "how-to" / "python.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE, re.DOTALL)
KEY = "the key of this mesh that nobody guesses"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The example with its services running, on ports that are free."""
    folder = tmp_path_factory.mktemp("python") / "example"
    shutil.copytree(EXAMPLE, folder)
    file = folder / "cutset.yaml"
    text = file.read_text()
    ports = sorted(set(re.findall(r"\b[4589]\d{3}\b", text)))
    http_port, *free = map(str, free_ports(len(ports) + 1))
    for port, other in zip(ports, free, strict=True):
        text = text.replace(port, other)
    grpc_port = free[ports.index("4317")]
    file.write_text(text.replace("collector: {", f"collector: {{http_port: {http_port}, grpc_port: {grpc_port}, "))
    with subprocess.Popen([sys.executable, "shop.py", "cutset.yaml"], cwd=folder, stdout=subprocess.PIPE) as shop:
        assert shop.stdout is not None
        assert shop.stdout.readline() == b"ready\n"
        yield folder
        shop.kill()


def test_the_example_starts_a_mesh_explores_it_and_prints_findings(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "explore.py"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )

    seen = '500 with `{"error": "HTTP Error 503: Service Unavailable"}`'
    assert ran.stdout.splitlines() == [
        f"GET / fails without cart/GET /items:abort(503): {seen}",
        f"GET / fails without prices/GET /today:abort(503) + prices/GET /yesterday:abort(503): {seen}",
        "GET /: complete up to size 2, 5 experiments",
    ], ran.stderr
    assert ran.returncode == 1
    assert len(list(filter(None, (folder / "explore.py").read_text().splitlines()))) <= 15


def test_what_the_page_says_is_what_it_prints(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUTSET_KEY", KEY)
    shutil.copy(folder / "cutset.yaml", tmp_path)
    shutil.copy(folder / "traces.json", tmp_path)
    shutil.copytree(ROOT / "examples" / "reproduce", tmp_path / "reproduce")
    assert len(BLOCKS) == PAGE.count("```python")
    names: dict[str, object] = {}

    with cutset.run_mesh_file(tmp_path / "cutset.yaml", key=KEY.encode()):
        for source, expected in BLOCKS:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(source, names)
            assert printed.getvalue() == expected, source


def test_the_page_shows_everything_that_is_public() -> None:
    told = set(re.findall(r"\bcutset\.(\w+)|`(\w+)[`(]", PAGE))
    functions = {name for name in cutset.__all__ if name[0].islower()} - {"format_cut", "run_mesh_file"}
    assert functions <= {word for pair in told for word in pair}
