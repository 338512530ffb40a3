"""Secrets that nobody may find: planted wherever a user has some, and looked for in all that a command leaves or says.

A small inn of plain services, which repeats what it was asked whenever it fails, is explored, reported in every format,
checked, hardened and changed; its spans are collected and its traffic is recorded.
"""

import base64
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import duckdb
import httpx
import yaml
from tests.samples.small_inn import Inn, open_inn

from cutset.config.explore import load_config

PLACES = ("key", "authorization", "cookie", "json", "form", "body", "query", "environment", "userinfo", "header")
COMMANDS = (
    ["explore"],
    ["report"],
    ["report", "--list"],
    ["report", "--json", "--junit", "OUT/junit.xml", "--sarif", "OUT/report.sarif"],
    ["report", "--explain", "rooms/GetRoom"],
    ["check"],
    ["check", "--json"],
    ["baseline", "-o", "OUT/baseline.yaml"],
    ["harden", "--json", "--write", "OUT/k8s", "--plot", "OUT/plot.svg"],
    ["harden", "--apply", "local", "--verify", "--known-only"],
    ["explore", "--replay", "FINDING"],
    ["explore", "--json"],
    ["doctor"],
    ["report", "--no-such-option"],
)
AT_THE_END = (  # when the target is gone: errors quote, too
    ["explore"],
    ["harden", "--apply", "local"],
    ["doctor"],
)


@dataclass(frozen=True, slots=True)
class Planted:
    values: Mapping[str, str]  # by place

    def found_in(self, content: bytes) -> list[str]:
        """The places whose secret is there, in any usual spelling."""
        return [place for place, value in self.values.items() if any(each in content for each in _spelled(value))]


@dataclass(frozen=True, slots=True)
class Search:
    checks: int
    found: tuple[str, ...]  # `place in artefact`
    open_to_others: tuple[str, ...]  # files and folders of a store that somebody else could read


def search_canaries(folder: Path, *, commands: Sequence[list[str]] = COMMANDS, at_the_end: bool = True) -> Search:
    planted = Planted({place: f"canary-{place}-{secrets.token_hex(12)}" for place in PLACES})
    key = planted.values["key"].encode() + b"-" * 8
    (folder / "store").mkdir(parents=True, mode=0o755)  # one that the user made, and anybody may enter
    with _temporary_files_in(folder / "tmp"), open_inn(folder, key=key, requests=_requests(planted)) as inn:
        _collect(inn, folder, planted)
        said = list(_said(inn, folder, planted, commands, key))
        said += [("the arguments of all processes", _arguments())]
        left = list(_left(folder, inn))
    config = yaml.safe_load(inn.config_file.read_text())
    config["target"]["url"] = inn.url.replace("//", f"//me:{planted.values['userinfo']}@")
    inn.config_file.write_text(yaml.safe_dump(config))
    if at_the_end:
        said += _said(inn, folder, planted, AT_THE_END, key)
        said += _recorded(folder, planted, key)
    left += [each for each in _left(folder, inn) if each[0] not in dict(left)]
    found = [f"{place} in {name}" for name, content in (*said, *left) for place in planted.found_in(content)]
    return Search(len(PLACES) * (len(said) + len(left)), tuple(found), tuple(_open_to_others(folder / "store")))


def _requests(planted: Planted) -> list[object]:
    value = planted.values
    headers = {
        "Authorization": f"Bearer {value['authorization']}",
        "Cookie": f"session={value['cookie']}; theme=dark",
        "X-Thing": value["header"],
    }
    return [
        {"path": f"/room?token={value['query']}", "headers": headers},
        {"path": "/bill", "method": "POST", "json": {"card": {"number": value["json"]}}},
        {"name": "form", "path": "/bill", "method": "POST", "form": {"password": value["form"]}},
        {"name": "body", "path": "/room", "method": "PUT", "body": f"secret={value['body']}"},
    ]


def _said(
    inn: Inn, folder: Path, planted: Planted, commands: Sequence[list[str]], key: bytes
) -> Iterator[tuple[str, bytes]]:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    environment = os.environ | {"CUTSET_KEY": key.decode(), "MY_TOKEN": planted.values["environment"]}
    environment |= {"TMPDIR": str(folder / "tmp"), "NO_COLOR": "1"}
    for command in commands:
        words = [each.replace("OUT", str(out)).replace("FINDING", _finding(folder)) for each in command]
        if command[0] in ("explore", "harden", "doctor"):
            words += ["-c", str(inn.config_file)]
        if command[0] != "doctor":
            words += ["--store", str(folder / "store")]
        done = subprocess.run(
            [sys.executable, "-m", "cutset", *words],
            env=environment,
            capture_output=True,
            cwd=folder,
            timeout=300,
            check=False,
        )
        print(f"cutset {' '.join(command)}: {done.returncode}", file=sys.stderr)
        yield f"what `cutset {' '.join(command)}` says", done.stdout + done.stderr


def _finding(folder: Path) -> str:
    report = folder / "out" / "report.sarif"
    text = report.read_text() if report.exists() else ""
    return text.partition("--replay ")[2][:8] or "none"


def _collect(inn: Inn, folder: Path, planted: Planted) -> None:
    """What `cutset collect` writes of a request with the same secrets, and then what is stored of it."""
    config = load_config(inn.config_file)
    ports = ["--http-port", str(config.collector.http_port), "--grpc-port", str(config.collector.grpc_port)]
    command = [sys.executable, "-m", "cutset", "collect", "-o", str(folder / "spans.jsonl"), "--no-others", *ports]
    headers = {"Authorization": planted.values["authorization"], "Cookie": f"a={planted.values['cookie']}"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as collecting:
        assert collecting.stderr is not None
        collecting.stderr.readline()
        httpx.post(f"{inn.url}/room?token={planted.values['query']}", headers=headers, content=planted.values["body"])
        while not (folder / "spans.jsonl").exists() or not (folder / "spans.jsonl").read_text().strip():
            time.sleep(0.05)
        collecting.terminate()
    ingest = [sys.executable, "-m", "cutset", "ingest", str(folder / "spans.jsonl"), "--store", str(folder / "store")]
    subprocess.run(ingest, check=True, capture_output=True)


def _recorded(folder: Path, planted: Planted, key: bytes) -> Iterator[tuple[str, bytes]]:
    """A recording, of a browser's log: what it masks is what people send to prove who they are."""
    value = planted.values
    entry = {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "time": 5,
        "request": {
            "method": "POST",
            "url": f"http://me:{value['userinfo']}@shop.test/pay?token={value['query']}",
            "httpVersion": "HTTP/1.1",
            "headers": [
                {"name": "Authorization", "value": f"Bearer {value['authorization']}"},
                {"name": "Cookie", "value": f"session={value['cookie']}"},
                {"name": "Content-Type", "value": "application/json"},
            ],
            "queryString": [{"name": "token", "value": value["query"]}],
            "cookies": [{"name": "session", "value": value["cookie"]}],
            "postData": {"mimeType": "application/json", "text": json.dumps({"password": value["form"]})},
        },
        "response": {"status": 200, "headers": [], "content": {"mimeType": "text/plain", "text": "ok"}, "cookies": []},
    }
    har = folder / "tmp" / "log.har"
    har.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry, entry]}}))
    command = [sys.executable, "-m", "cutset", "record", "--har", str(har), "-o", str(folder / "recording")]
    done = subprocess.run(command, env=os.environ | {"CUTSET_KEY": key.decode()}, capture_output=True, check=False)
    har.unlink()
    print(f"cutset record: {done.returncode} {done.stderr.decode()[-200:]}", file=sys.stderr)
    yield "what `cutset record` says", done.stdout + done.stderr


def _left(folder: Path, inn: Inn) -> Iterator[tuple[str, bytes]]:
    """Every file but the user's own: cutset.yaml, which holds all of it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != inn.config_file:
            yield str(path.relative_to(folder)), _content(path)


def _content(path: Path) -> bytes:
    if path.suffix != ".parquet":
        return path.read_bytes()
    return repr(duckdb.read_parquet(str(path)).fetchall()).encode()


def _open_to_others(store: Path) -> Iterator[str]:
    pending = list(store.iterdir())
    while pending:
        path = pending.pop()
        if path.stat().st_mode & 0o077:
            yield str(path)
            pending += path.iterdir() if path.is_dir() else ()


def _arguments() -> bytes:
    found = b""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes() + b"\n"
        except OSError:
            continue
    return found


def _spelled(value: str) -> Iterator[bytes]:
    yield value.encode()
    yield quote(value, safe="").encode()
    for shift in range(3):  # wherever it begins in what was encoded
        yield base64.b64encode(b"\0" * shift + value.encode())[4:-4]
    yield value.encode().hex().encode()


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """So that they can be searched, Envoy's configuration and log included."""
    folder.mkdir(parents=True)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before
