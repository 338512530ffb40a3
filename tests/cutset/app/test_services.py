import json
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from cutset.app.demo import free_ports
from cutset.app.services import key_for, run_system
from cutset.config.explore import load_place
from cutset.errors import TargetError, UsageError

KEY = b"k" * 32
# Tells the environment that it was started in.
SERVICE = """
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(dict(os.environ)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def written(folder: Path, start: list[str] | None = None) -> Path:
    own, port = free_ports(2)
    services = {"hello": {"protocol": "http", "port": port, "replicas": [f"127.0.0.1:{own}"]}}
    command = [sys.executable, "-c", SERVICE, str(own)] if start is None else start
    file = folder / "cutset.yaml"
    file.write_text(yaml.safe_dump({"mesh": {"entry": "hello", "services": services}, "start": {"hello": command}}))
    return file


def test_mesh_and_services_run_until_the_block_ends_and_know_where_spans_go(tmp_path, monkeypatch):
    monkeypatch.setenv("CUTSET_SOMETHING", "of ours")
    config = load_place(written(tmp_path))

    with run_system(config, KEY):
        told = json.loads(urlopen(config.target.url).read())

    assert told["OTEL_SERVICE_NAME"] == told["CUTSET_SERVICE"] == "hello"
    assert told["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://127.0.0.1:4318"
    assert told["CUTSET_KEY"] == KEY.decode()
    assert "CUTSET_SOMETHING" not in told
    assert "CUTSET_AGENT" not in told
    with pytest.raises(OSError, match="refused"):
        urlopen(config.target.url)


@pytest.mark.parametrize(
    ("start", "error", "words"),
    [
        (["no-such-program"], UsageError, "`start.hello`: `no-such-program` is no command that can be run"),
        ([sys.executable, "-c", "exit('no port')"], TargetError, "`start.hello` ended with 1: no port"),
    ],
)
def test_a_service_that_does_not_start_says_why(tmp_path, start, error, words):
    with pytest.raises(error) as raised, run_system(load_place(written(tmp_path, start)), KEY):
        pass
    assert raised.value.message == words


def test_a_key_of_our_own_is_there_while_it_is_needed():
    environ: dict[str, str] = {}
    with key_for(environ) as key:
        assert environ == {"CUTSET_KEY": key.decode()}
        assert len(key) >= 32
        with key_for(environ) as same:
            assert same == key
    assert environ == {}
