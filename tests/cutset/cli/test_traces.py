"""The commands over stored traces, as a user meets them."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest


def cutset(*arguments: str, cwd: Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "cutset", *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "100", **environment},
        capture_output=True,
        input=stdin,
        timeout=120,
        check=False,
    )


def otlp_line(trace: int, *, cache_fails: bool = False, path: str = "/cart") -> str:
    """A page of `web`, which asks a cache and, if that fails, the service `cart`."""
    trace_id, start = f"{trace:032x}", 1_700_000_000_000_000_000 + trace * 1_000_000

    def span(number: int, parent: int, kind: int, **attributes: str) -> dict[str, object]:
        error = cache_fails and number == 2
        return {
            "traceId": trace_id,
            "spanId": f"{number:016x}",
            "parentSpanId": f"{parent:016x}" if parent else "",
            "name": "any",
            "kind": kind,
            "startTimeUnixNano": str(start + number),
            "endTimeUnixNano": str(start + 5_000_000),
            "status": {"code": 2 if error else 0},
            "attributes": [
                {"key": key.replace("_", "."), "value": {"stringValue": value}} for key, value in attributes.items()
            ],
        }

    web = [span(1, 0, 2, http_method="GET", url_path=path), span(2, 1, 3, db_system="redis", db_operation="GET")]
    cart = []
    if cache_fails:
        web.append(span(3, 1, 3, rpc_system="grpc", rpc_service="shop.Cart", rpc_method="GetCart"))
        cart.append(span(4, 3, 2, rpc_system="grpc", rpc_service="shop.Cart", rpc_method="GetCart"))
    by_service = {"web": web, "cart": cart}
    resources = [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
            "scopeSpans": [{"spans": spans}],
        }
        for service, spans in by_service.items()
    ]
    return json.dumps({"resourceSpans": resources})


LINES = [otlp_line(trace, cache_fails=trace % 5 == 0) for trace in range(1, 21)]
SPANS = 16 * 2 + 4 * 4


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    (folder / "spans.jsonl").write_text("\n".join(LINES) + "\n")
    assert cutset("ingest", "spans.jsonl", cwd=folder).returncode == 0
    return folder


def document(*arguments: str, cwd: Path) -> dict:
    result = cutset(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def test_the_same_spans_are_stored_once_from_wherever_they_come(tmp_path: Path) -> None:
    half = "\n".join(LINES[:10])
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    (tmp_path / "logs" / "deep" / "spans.jsonl.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    (tmp_path / "logs" / "README.md").write_text("no traces")

    assert document("ingest", "logs", cwd=tmp_path)["spans_new"] == SPANS
    again = cutset("ingest", "-", "logs/*/*.gz", "--json", cwd=tmp_path, stdin=half.encode())
    assert json.loads(again.stdout)["spans_new"] == 0
    assert document("traces", cwd=tmp_path)["spans"] == SPANS


def test_what_cannot_be_read_is_counted_and_shown_and_the_rest_is_kept(tmp_path: Path) -> None:
    torn = LINES[3][: len(LINES[3]) // 2]
    (tmp_path / "spans.jsonl").write_text("\n".join([LINES[0], "{nonsense", LINES[1], torn]))
    (tmp_path / "notes.json").write_text('"just a text"')

    result = cutset("ingest", ".", cwd=tmp_path)
    assert result.returncode == 0
    assert b"skipped" in result.stdout + result.stderr
    assert document("traces", cwd=tmp_path)["traces"] >= 2


def test_classes_tell_what_is_called_when(stored: Path) -> None:
    (only,) = document("classes", cwd=stored)["classes"]
    assert (only["name"], only["traces"], only["kinds"]) == ("GET /cart", 20, 2)
    assert only["representative"]["trace_id"] == f"{5:032x}"

    details = document("classes", "GET /cart", cwd=stored)
    calls = {call["callee"]: call for call in details["calls"]}
    assert calls["redis/GET"]["when"] == "always"
    assert (calls["redis/GET"]["failures"], calls["redis/GET"]["tolerated"]) == (4, 4)
    assert calls["cart/GetCart"]["when"] == "after-failure"
    assert calls["cart/GetCart"]["instead_of"] == ["redis/GET"]
    shown = cutset("classes", "GET /cart", cwd=stored).stdout.decode()
    assert "after failure  web>cart/GetCart  when failed: redis/GET" in shown


def test_workflows_ranks_and_endpoints(stored: Path) -> None:
    workflows = document("workflows", cwd=stored)["workflows"]
    assert workflows[0] == {"services": ["redis", "web"], "calls": ["web>redis/GET"], "traces": 20, "share": 1.0}
    assert [api["api"] for api in document("rank", "--by", "dynamic", cwd=stored)["apis"]] == [
        "redis/GET",
        "cart/GetCart",
    ]
    targets = document("endpoints", cwd=stored)["targets"]
    assert [(target["endpoint"], target["point"]) for target in targets] == [
        ("cache/redis/GET", "web>redis/GET"),
        ("rpc/grpc/GetCart", "web>cart/GetCart"),
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("traces", "20 traces, 48 spans, 2 services"),
        ("classes", "GET /cart"),
        ("workflows", "web>redis/GET"),
        ("rank", "cart/GetCart"),
        ("endpoints", "cache/redis/GET"),
    ],
)
def test_without_json_there_is_text_for_people(stored: Path, command: str, expected: str) -> None:
    result = cutset(command, cwd=stored)
    assert (result.returncode, result.stderr) == (0, b"")
    assert expected in result.stdout.decode()


def test_the_graph_is_a_picture_with_the_fallback_dashed(stored: Path) -> None:
    assert cutset("graph", "-o", "shop.svg", cwd=stored).returncode == 0

    picture = ET.fromstring((stored / "shop.svg").read_text())
    drawn = {group.get("class", "") for group in picture.iter("{http://www.w3.org/2000/svg}g")}
    assert any("after-failure" in classes for classes in drawn)
    calls = {(call["caller"], call["callee"]): call["when"] for call in document("graph", cwd=stored)["calls"]}
    assert calls == {("web", "redis"): "always", ("web", "cart"): "after-failure"}


def test_a_window_of_time_chooses(stored: Path) -> None:
    assert document("classes", "--until", "2023-11-14T22:13:20.0105", cwd=stored)["traces"] == 10
    nothing = cutset("classes", "--since", "1h", cwd=stored)
    assert nothing.returncode == 2
    assert b"error: No traces in `.cutset` are of that time" in nothing.stderr


def test_old_traces_are_forgotten_on_demand(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    assert document("ingest", "spans.jsonl", "--keep", "30d", cwd=tmp_path)["spans_forgotten"] == SPANS
    assert document("traces", "--keep", "30d", cwd=tmp_path)["spans"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ingest"], "error: Missing argument 'SOURCE…'"),
        (["ingest", "absent.json"], "error: "),
        (["ingest", ""], "error: The name of a source is empty"),
        (["ingest", "spans.jsonl", "jager+http://x"], "error: `jager+http://…` is no kind of trace server"),
        (["ingest", "text.txt"], "error: "),
        (["ingest", "spans.jsonl", "--format", "xml"], "error: Invalid value for '--format'"),
        (["ingest", "spans.jsonl", "--keep", "long"], "error: `long` is no duration"),
        (["ingest", "jaeger+http://localhost", "--since", "x"], "error: `x` is no moment"),
        (["ingest", "jaeger+http://localhost", "--since", "1h", "--until", "2h"], "error: `--since 1h` is not before"),
        (["ingest", "jaeger+http://user:secret@localhost"], "error: "),
        (["ingest", "spans.jsonl", "--workers", "0"], "error: Invalid value for '--workers'"),
        (["classes", "--store", "elsewhere"], "error: There are no traces in `elsewhere`"),
        (["classes", "GET /card"], "error: There is no class `GET /card`\n\nhint: Did you mean `GET /cart`?"),
        (["classes", "--workers", "none"], "error: `none` is no number of workers"),
        (["workflows", "--min-services", "9"], "error: `--min-services 9` is more than `--max-services 5`"),
        (["workflows", "--front-end", "wep"], "error: There is no service `wep`\n\nhint: Did you mean `web`?"),
        (["classes", "--spans-weight", "inf"], "error: Invalid value for '--spans-weight'"),
        (["graph", "--class", "x"], "error: There is no class `x`"),
        (["traces", "--store", "elsewhere"], "error: There are no traces in `elsewhere`"),
    ],
)
def test_wrong_usage_is_explained(stored: Path, arguments: list[str], message: str) -> None:
    (stored / "text.txt").write_text("no traces at all")
    result = cutset(*arguments, cwd=stored)

    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert "Traceback" not in result.stderr.decode()
    assert "secret" not in result.stderr.decode()


@pytest.mark.parametrize("content", ["", '{"resourceSpans": []}'])
def test_to_read_nothing_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "empty.json").write_text(content)
    result = cutset("ingest", "empty.json", cwd=tmp_path)

    assert result.returncode == 2
    assert b"error: No span could be read: 1 \xc3\x97 file without spans" in result.stderr


def test_a_store_inside_what_is_read_is_not_read_itself(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    for _ in range(2):
        result = cutset("ingest", ".", "--store", "store", "--json", cwd=tmp_path)
        assert json.loads(result.stdout)["problems"] == []


def test_names_from_traces_cannot_play_tricks_with_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text(otlp_line(1, path="/[red]\u001b[2J\nx"))
    cutset("ingest", "spans.jsonl", cwd=tmp_path)
    shown = cutset("classes", cwd=tmp_path).stdout

    assert b"\x1b" not in shown
    assert shown.count(b"\n") == 4  # heading, class, blank, summary


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(stored: Path) -> None:
    command = f"{sys.executable} -m cutset classes --json | head -c 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=stored, capture_output=True, check=False)

    # The little that it prints may all have been written before the reader went.
    assert result.returncode in (0, 128 + signal.SIGPIPE)
    assert result.stderr == b""


def test_to_forget_everything_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    cutset("ingest", "spans.jsonl", cwd=tmp_path)
    result = cutset("traces", "--keep", "1d", cwd=tmp_path)

    assert (result.returncode, result.stdout) == (0, b"No traces are left\n")


def test_an_unreachable_server_is_an_error_and_loses_nothing(stored: Path) -> None:
    before = document("traces", cwd=stored)["spans"]
    result = cutset("ingest", "zipkin+http://127.0.0.1:9", "--since", "1m", cwd=stored)

    assert result.returncode == 3
    assert b"127.0.0.1:9" in result.stderr
    assert document("traces", cwd=stored)["spans"] == before


def test_an_unwritable_picture_is_an_error(stored: Path) -> None:
    result = cutset("graph", "-o", "absent/shop.svg", cwd=stored)

    assert result.returncode == 3
    assert b"Cannot write `absent/shop.svg`" in result.stderr


def test_ctrl_c_ends_an_ingest_cleanly_and_keeps_what_was_there(stored: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cutset", "ingest", "-"],
        cwd=stored,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(otlp_line(99).encode() + b"\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (stored / ".cutset" / "traces" / "staging").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert document("traces", cwd=stored)["traces"] == 20
