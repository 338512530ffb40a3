import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.errors import InputError, UsageError
from cutset.model.exchange import Exchange
from cutset.workload.recording.folder import open_recording


class _Shop(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Shop) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


def recording(folder: Path, *paths: str) -> str:
    with open_recording(folder) as file:
        file.append([Exchange(path, "s", "", 1.0, 0.0, "GET", path, (), b"", 200) for path in paths])
    return str(folder)


def test_the_exit_code_says_whether_all_came_back_as_recorded(tmp_path: Path, url: str) -> None:
    good = CliRunner().invoke(app, ["replay", recording(tmp_path / "good", "/"), "--url", url])
    assert good.exit_code == 0
    assert good.stdout.splitlines()[-1].split() == ["all", "1", "of", "1", "(100.0%)"]
    bad = CliRunner().invoke(app, ["replay", recording(tmp_path / "bad", "/", "/gone"), "--url", url, "--both"])
    assert bad.exit_code == 1
    assert "naive: was answered 404 instead of 200 (1)" in bad.stdout


def test_what_cannot_be_sent_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a URL"):
        CliRunner().invoke(app, ["replay", "r", "--url", "ftp://x"], catch_exceptions=False)
    folder = recording(tmp_path / "r", "no path")
    with pytest.raises(InputError, match="no request that can be sent again"):
        CliRunner().invoke(app, ["replay", folder, "--url", "http://x"], catch_exceptions=False)
