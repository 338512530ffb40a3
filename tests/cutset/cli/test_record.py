"""`cutset record` and `cutset replay` as processes, with a real service and the real agent."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner, Result

from cutset.cli.main import app
from cutset.errors import CutsetError, HaltedError
from cutset.model.exchange import Exchange
from cutset.workload.recording.folder import read_recording
from cutset.workload.recording.lines import exchange_to_line
from cutset_demo.ports import free_port

SERVICE = """
import sys, uuid
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

tokens, keys, orders = set(), set(), {}

async def login(request):
    if (await request.json())["password"] != "correct horse":
        return JSONResponse({}, 401)
    tokens.add(token := uuid.uuid4().hex)
    return JSONResponse({"token": token})

async def order(request):
    body = await request.json()
    if request.headers["authorization"].removeprefix("Bearer ") not in tokens or body["key"] in keys:
        return JSONResponse({}, 409)
    keys.add(body["key"])
    orders[number := f"ord-{len(orders) + 1000}"] = body
    return JSONResponse({"id": number}, 201)

async def show(request):
    return JSONResponse({}, 200 if request.path_params["id"] in orders else 404)

routes = [Route("/login", login, methods=["POST"]), Route("/orders", order, methods=["POST"])]
routes.append(Route("/orders/{id}", show))
uvicorn.run(Starlette(routes=routes), port=int(sys.argv[1]), log_level="error")
"""

RULES = """
register:
  - {request: POST /login, place: body/password, as: value, from: SHOP_PASSWORD}
"""


def cutset(*arguments: object, **environment: str) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], env=environment)


def call(url: str, body: object = None, **headers: str) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} | headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"nothing listens on port {port}")


def use(url: str, number: int) -> None:
    token = call(f"{url}/login", {"user": "ann", "password": "correct horse"})["token"]
    key = f"6f1e1c9e-8f0f-4b62-9c5e-00000000000{number}"
    order = call(f"{url}/orders", {"key": key, "item": "mug"}, Authorization=f"Bearer {token}")
    call(f"{url}/orders/{order['id']}", Authorization=f"Bearer {token}")


def test_a_service_is_recorded_shown_and_replayed(tmp_path: Path) -> None:
    (tmp_path / "service.py").write_text(SERVICE)
    folder, port = tmp_path / "recording", free_port()
    command = [sys.executable, str(tmp_path / "service.py"), str(port)]
    record = subprocess.Popen(
        [sys.executable, "-m", "cutset", "record", "-o", str(folder), "--service", "shop", "--", *command],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(port)
        for number in range(2):
            use(f"http://127.0.0.1:{port}", number)
    finally:
        record.send_signal(signal.SIGINT)
        _, said = record.communicate(timeout=30)
    assert record.returncode == 0, said
    assert "Recorded 6 exchanges" in said
    recorded = read_recording(folder)
    assert {each.service for each in recorded.exchanges} == {"shop"}
    assert b"correct horse" not in b"".join(each.request_body for each in recorded.exchanges)

    (folder / "variables.yaml").write_text(RULES)
    shown = cutset("record", "show", folder)
    assert '{"user":"ann","password":"#{$SHOP_PASSWORD}"}' in shown.stdout, shown.output
    assert "GET /orders/#{2: body/id}  -> 200" in shown.stdout
    assert '{"key":"#{fresh}","item":"mug"}' in shown.stdout
    assert "requests: 6, flows: 2, kinds of flows: 1" in shown.stdout
    assert len(json.loads(cutset("record", "show", folder, "--json").stdout)) == 2

    port = free_port()
    with subprocess.Popen([sys.executable, str(tmp_path / "service.py"), str(port)]) as service:
        try:
            wait_for(port)
            replayed = cutset(
                "replay", folder, "--url", f"http://127.0.0.1:{port}", "--both", "--json", SHOP_PASSWORD="correct horse"
            )
        finally:
            service.terminate()
    result = json.loads(replayed.stdout)
    assert (result["naive"]["succeeded"], result["naive"]["tried"]) == (0, 6)
    assert (result["templated"]["succeeded"], result["templated"]["tried"]) == (6, 6)
    assert replayed.exit_code == 0


def line(number: int) -> bytes:
    return exchange_to_line(Exchange(str(number), "s", "", float(number), 0.0, "GET", "/", (), b"", 200))


def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    port = free_port()
    record = subprocess.Popen(
        [sys.executable, "-m", "cutset", "record", "-o", str(tmp_path / "r"), "--listen", f"127.0.0.1:{port}"],
        stderr=subprocess.DEVNULL,
    )
    acknowledged = []
    try:
        wait_for(port)
        for number in range(50):
            request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/exchanges", line(number))
            with urllib.request.urlopen(request) as answer:
                assert answer.status == 200
            acknowledged.append(str(number))
            if number == 30:
                record.kill()
    except (OSError, urllib.error.URLError):
        pass
    finally:
        record.kill()
        record.wait()
    assert len(acknowledged) >= 31
    assert set(acknowledged) <= {each.id for each in read_recording(tmp_path / "r").exchanges}


def test_the_command_ends_with_a_recorder_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "sleeper.py"
    script.write_text("import time\nprint('up', flush=True)\ntime.sleep(1000)\n")
    record = subprocess.Popen(
        [sys.executable, "-m", "cutset", "record", "-o", str(tmp_path / "r"), "--", sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert record.stdout is not None
    assert record.stdout.readline() == b"up\n"
    children = psutil.Process(record.pid).children(recursive=True)
    record.kill()
    record.wait()
    record.stdout.close()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []


def test_the_exit_code_is_the_command_s(tmp_path: Path) -> None:
    done = cutset("record", "-o", tmp_path / "r", "--", sys.executable, "-c", "raise SystemExit(7)")
    assert done.exit_code == 7
    assert "no exchange came" in done.stderr


def har(folder: Path, *entries: tuple[str, str]) -> Path:
    def entry(url: str, text: str) -> dict:
        request = {"method": "GET", "url": url, "headers": [{"name": "Authorization", "value": "Bearer opensesame"}]}
        response = {"status": 200, "headers": [], "content": {"text": text}}
        return {"startedDateTime": "2026-11-16T06:33:15Z", "time": 1, "request": request, "response": response}

    path = folder / "log.har"
    path.write_text(json.dumps({"log": {"entries": [entry(*each) for each in entries]}}))
    return path


def test_a_har_file_is_recorded_with_its_secrets_masked(tmp_path: Path) -> None:
    path = har(tmp_path, ("http://shop.example/a", "{}"), ("http://cdn.example/b", ""))
    for _ in range(2):
        done = cutset("record", "-o", tmp_path / "r", "--har", path)
        assert done.exit_code == 0, done
    assert "Left out 1 entry of hosts other than `shop.example`: cdn.example (1)" in done.stderr
    (exchange,) = read_recording(tmp_path / "r").exchanges
    assert exchange.request_headers[0][1].startswith("Bearer masked-")


def test_a_recording_grows_no_larger_than_it_may(tmp_path: Path) -> None:
    path = har(tmp_path, ("http://shop.example/a", os.urandom(1_100_000).hex()))
    done = cutset("record", "-o", tmp_path / "r", "--max-megabytes", 1, "--har", path)
    assert isinstance(done.exception, HaltedError)
    assert "is full" in done.exception.message
    assert read_recording(tmp_path / "r").exchanges == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record", "show", "nowhere"], "`nowhere` is no recording"),
        (["record", "-o", "x", "--listen", "here"], "expected host:port, found `here`"),
        (["record", "-o", "x", "--har", "a", "--tap", "b"], "Expected one of a command, `--har` and `--tap`"),
        (["record", "-o", "x", "--tap", "nowhere"], "`nowhere` is no folder"),
        (["record", "-o", "x", "--", "no-such-program"], "`no-such-program` is on no folder of PATH"),
        (["replay", "nowhere", "--url", "ftp://x"], "expected a URL"),
    ],
)
def test_mistakes_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cutset(*arguments)
    assert isinstance(done.exception, CutsetError)
    assert done.exception.exit_code == 2
    assert message in done.exception.message
