import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import grpc
import httpx
import pytest

from cutset.cli.collect import collect_command
from cutset.errors import TargetError, UsageError

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
COMMAND = """
import sys, typer
from cutset.cli.collect import collect_command
from cutset.errors import CutsetError
app = typer.Typer()
app.command()(collect_command)
try:
    app(standalone_mode=False)
except CutsetError as error:
    sys.exit(f"error: {error.message}\\nhint: {error.hint}")
"""


def payload_of(trace, name="GET /"):
    span = {"traceId": f"{trace:032x}", "spanId": f"{trace:016x}", "name": name}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def send(url, payload):
    return httpx.post(f"{url}/v1/traces", content=payload, headers={"content-type": "application/json"}, timeout=30)


@contextmanager
def running(out, *options, before="", **popen):
    arguments = ["--out", str(out), "--http-port", "0", "--grpc-port", "0", "--no-others", *options]
    with subprocess.Popen([sys.executable, "-c", before + COMMAND, *arguments], **popen) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def collecting(out, *options, before=""):
    """The running command, its HTTP URL and its gRPC address."""
    with running(out, *options, before=before, stderr=subprocess.PIPE, text=True) as process:
        ready = process.stderr.readline()
        match = re.fullmatch(r"Receiving OTLP on (http://\S+) and, with gRPC, on (\S+)\n", ready)
        assert match is not None, ready + process.stderr.read()
        yield process, *match.groups()


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    return process.stderr.read(), process.wait(30)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_payloads_are_appended_as_json_lines_until_interrupted(tmp_path, number):
    out = tmp_path / "spans.jsonl"
    out.write_text('{"from": "earlier"}\n')

    with collecting(out) as (process, url, address):
        assert send(url, payload_of(1)).status_code == 200
        assert len(out.read_text().splitlines()) == 2, "acknowledged, so it must have been written"
        with grpc.insecure_channel(address) as channel:
            channel.unary_unary(EXPORT)(b"", timeout=30)
        assert send(url, b"{").status_code == 400
        summary, status = end(process, number)

    assert status == 0
    assert re.fullmatch(r"Received 1 trace \(1 span\) in [0-9.]+s; refused 1 payload\n", summary)
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"from": "earlier"},
        json.loads(payload_of(1)),
        {},
    ]


def test_a_file_that_was_cut_off_goes_on_in_a_new_line(tmp_path):
    out = tmp_path / "spans.jsonl"
    out.write_text('{"cut')

    with collecting(out) as (process, url, _):
        send(url, payload_of(1))
        end(process)

    first, second = out.read_text().splitlines()
    assert first == '{"cut'
    assert json.loads(second) == json.loads(payload_of(1))


def test_a_full_file_ends_the_collection_and_keeps_whole_lines(tmp_path):
    out = tmp_path / "spans.jsonl"
    half = payload_of(1, name="x" * 600_000)

    with collecting(out, "--max-megabytes", "1") as (process, url, _):
        assert send(url, half).status_code == 200
        assert send(url, half).status_code == 503
        summary, status = process.stderr.read(), process.wait(30)

    assert status == 0
    assert f"warning: `{out}` would have exceeded 1 MB; raise it with `--max-megabytes`" in summary
    assert json.loads(out.read_text()) == json.loads(half)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_an_error_and_nothing_is_acknowledged():
    with collecting("/dev/full") as (process, url, _):
        assert send(url, payload_of(1)).status_code == 503
        output, status = process.stderr.read(), process.wait(30)

    assert status == 1
    assert "Received 0 traces (0 spans)" in output
    assert "error: Cannot write to `/dev/full`: No space left on device\nhint: All spans" in output


def test_a_line_that_is_half_written_when_the_disk_fills_is_taken_back(tmp_path):
    out = tmp_path / "spans.jsonl"
    small_disk = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""

    with collecting(out, before=small_disk) as (process, url, _):
        assert send(url, payload_of(1)).status_code == 200
        assert send(url, payload_of(2, name="x" * 2000)).status_code == 503
        output, status = process.stderr.read(), process.wait(30)

    assert status == 1
    assert "File too large" in output
    assert json.loads(out.read_text()) == json.loads(payload_of(1))


def test_an_unwritable_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError) as raised:
        collect_command(out=tmp_path / "missing" / "spans.jsonl")

    assert raised.value.message == f"Cannot write to `{tmp_path}/missing/spans.jsonl`: No such file or directory"
    assert "`--out`" in raised.value.hint


def test_a_port_in_use_is_an_error(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(TargetError, match="in use") as raised:
        collect_command(out=tmp_path / "spans.jsonl", http_port=taken.getsockname()[1], grpc_port=0)
    assert "`--http-port`" in raised.value.hint


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_a_terminal_shows_a_live_counter(tmp_path):
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with running(tmp_path / "spans.jsonl", stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = read_until(ours, "Received 0 traces (0 spans); stop with Ctrl-C")
        send(re.search(r"http://[0-9.:]+", shown).group(), payload_of(1))
        read_until(ours, "Received 1 trace (1 span); stop with Ctrl-C")
        process.send_signal(signal.SIGINT)
        read_until(ours, "Received 1 trace (1 span) in ")
        assert process.wait(30) == 0
    os.close(ours)


def read_until(terminal, text):
    shown = ""
    while text not in shown:
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_the_ports_of_others_are_named_whether_or_not_they_are_free(tmp_path):
    with collecting(tmp_path / "spans.jsonl", "--others") as (process, _, _):
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)

        assert "Jaeger, compact Thrift over UDP" in line
        assert line.startswith(("Receiving ", "Ports are in use, so not received: "))


def test_without_a_file_and_a_relay_there_is_nowhere_to_put_spans():
    with pytest.raises(UsageError, match="Nowhere"):
        collect_command()


def test_a_relay_is_served_where_it_says(tmp_path):
    with running(tmp_path / "spans.jsonl", "--relay-port", "0", stderr=subprocess.PIPE, text=True) as process:
        process.stderr.readline()
        match = re.fullmatch(r"Handing on spans at (http://127\.0\.0\.1:\d+)/spans\n", process.stderr.readline())
        assert match is not None
        assert httpx.get(f"{match[1]}/ready", timeout=30).status_code == 200
