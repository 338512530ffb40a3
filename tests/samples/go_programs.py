"""Programs of others that no registry has as a binary: the Go module proxy has their sources by version.

Each is built once, into the user's cache, which takes some minutes.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BUILD_SECONDS = 1200

VERSITY = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"  # an object store over a folder
COLLECTOR = "0.139.0"  # of OpenTelemetry; of later ones the proxy lacks some modules
COLLECTOR_STABLE = "1.45.0"
_COLLECTOR = f"""
dist: {{name: otelcol, module: example.com/otelcol, output_path: .}}
receivers: [{{gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v{COLLECTOR}}}]
exporters: [{{gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v{COLLECTOR}}}]
providers:
  - gomod: go.opentelemetry.io/collector/confmap/provider/envprovider v{COLLECTOR_STABLE}
  - gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider v{COLLECTOR_STABLE}
"""


class NotToBeHadError(Exception):
    """Why the program is not there."""


def object_store_program() -> Path:
    return _program("object-store", VERSITY.rpartition("@")[2], "versitygw")


def collector_program() -> Path:
    return _program("collector", COLLECTOR, "otelcol")


def _program(folder: str, version: str, name: str) -> Path:
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = caches / "cutset" / folder / version
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:  # tests run in several processes
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / name).exists():
            go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
            if go is None:
                raise NotToBeHadError(f"`{name}` is built with Go, which is not here")
            with tempfile.TemporaryDirectory() as scratch:
                _build(go, Path(scratch), name)
                shutil.copy(Path(scratch) / name, place / f"{name}.new")
            (place / f"{name}.new").rename(place / name)
    return place / name


def _build(go: str, scratch: Path, name: str) -> None:
    if name == "versitygw":
        _run(scratch, go, "install", "-trimpath", "-ldflags=-s", VERSITY)
        return
    _run(scratch, go, "install", f"go.opentelemetry.io/collector/cmd/builder@v{COLLECTOR}")
    (scratch / "build.yaml").write_text(_COLLECTOR)
    _run(scratch, str(scratch / "builder"), "--config", "build.yaml")


def _run(scratch: Path, *command: str) -> None:
    path = f"{Path(command[0]).parent}:/usr/local/go/bin:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GOBIN": str(scratch), "GOFLAGS": "-buildvcs=false"}
    done = subprocess.run(
        command, cwd=scratch, env=environment, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
    )
    if done.returncode:
        raise NotToBeHadError(f"{' '.join(command[-2:])}: {(done.stderr.strip() or '?').splitlines()[-1]}")
