"""A real S3-compatible server of this machine, for as long as a test needs it: Versity's gateway, over a folder."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.samples.go_programs import object_store_program
from tests.samples.ports import free_port, wait_until_open


@contextmanager
def object_store(folder: Path) -> Iterator[dict[str, str]]:
    """The environment that tools reach it by; it has a bucket `traces`."""
    program, port = object_store_program(), free_port()
    (folder / "traces").mkdir(parents=True)
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
        wait_until_open(port, server)
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
