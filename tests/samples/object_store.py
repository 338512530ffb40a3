"""A real S3-compatible server of this machine, for as long as a test needs it: Versity's gateway, over a folder.

No registry has it as a binary, but the Go module proxy has its sources by version. It is built once, into the user's
cache, which takes some minutes; `CUTSET_VERSITYGW` names one that was built elsewhere.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
BUILD_SECONDS = 900
START_SECONDS = 30


class NoObjectStoreError(Exception):
    """There is none here, and why."""


def server_program() -> Path:
    if given := os.environ.get("CUTSET_VERSITYGW"):
        return Path(given)
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "cutset" / "object-store" / PROGRAM.rpartition("@")[2]
    if not (folder / "versitygw").exists():
        go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
        if go is None:
            raise NoObjectStoreError("a real S3 server is built with Go, which is not here")
        built = subprocess.run(
            [go, "install", "-trimpath", "-ldflags=-s", PROGRAM],
            env={**os.environ, "GOBIN": str(folder), "GOFLAGS": "-buildvcs=false"},
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        if built.returncode:
            raise NoObjectStoreError(f"{PROGRAM} cannot be built: {built.stderr.strip().splitlines()[-1]}")
    return folder / "versitygw"


@contextmanager
def object_store(folder: Path) -> Iterator[dict[str, str]]:
    """The environment that tools reach it by; it has a bucket `traces`."""
    program = server_program()
    (folder / "traces").mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    access = {"ROOT_ACCESS_KEY": "cutset", "ROOT_SECRET_KEY": "cutset-secret"}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [program, "--quiet", "--port", f"127.0.0.1:{port}", "posix", "."],
            cwd=folder,
            env={**os.environ, **access},
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_it_answers(server, port)
        yield {
            "AWS_ACCESS_KEY_ID": access["ROOT_ACCESS_KEY"],
            "AWS_SECRET_ACCESS_KEY": access["ROOT_SECRET_KEY"],
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
    finally:
        server.kill()
        server.wait()


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < until:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise NoObjectStoreError("the object store does not start")
