"""The system of a configuration, for as long as somebody needs it: its mesh, and the services that it can start."""

import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from cutset.app.mesh import mesh_file_of, run_mesh_file
from cutset.config.explore import Config
from cutset.config.key import KEY_VARIABLE
from cutset.errors import TargetError, UsageError
from cutset.inject.signing import is_private_key
from cutset.model.expect import split_address
from cutset.process.keeper import kept
from cutset.process.supervise import inherited_environment

START_SECONDS = 60  # until all services accept connections; an interpreter with many imports takes a few
POLL_SECONDS = 0.05
EXPORT_MILLISECONDS = (
    100  # spans of services that we start come soon, so that experiments take no longer than they must
)


@contextmanager
def run_system(config: Config, key: bytes) -> Iterator[None]:
    """Mesh and services, until the block ends. What `start` does not name must be there already."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cutset-services-")))
        if config.path and (file := mesh_file_of(config.path)):
            stack.enter_context(run_mesh_file(file, key=key))
        started = {name: stack.enter_context(_running(name, config, key, folder)) for name in config.start}
        _wait_until_there(config, started, folder)
        yield


@contextmanager
def key_for(environ: MutableMapping[str, str]) -> Iterator[bytes]:
    """That of the environment, or one of our own, which is there until the block ends: nobody else needs it."""
    if KEY_VARIABLE in environ:
        yield environ[KEY_VARIABLE].encode(errors="surrogateescape")
        return
    environ[KEY_VARIABLE] = secrets.token_hex(32)
    try:
        yield environ[KEY_VARIABLE].encode()
    finally:
        del environ[KEY_VARIABLE]


@contextmanager
def _running(name: str, config: Config, key: bytes, folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
    program, *arguments = config.start[name]
    if shutil.which(program) is None:
        raise UsageError(f"`start.{name}`: `{program}` is no command that can be run", hint="Check its name or path")
    where = config.path.parent if config.path else Path.cwd()
    with (folder / f"{name}.log").open("wb") as output:
        process = subprocess.Popen(
            kept(program, *arguments),
            cwd=where,
            env=_environment(name, config, key),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()  # which asks the keeper to end it
            process.wait()


def _environment(name: str, config: Config, key: bytes) -> Mapping[str, str]:
    """What OpenTelemetry's SDKs and the agent must know. The agent is off unless the command turns it on."""
    collector = f"http://{config.collector.host}:{config.collector.http_port}"
    told = {
        "OTEL_SERVICE_NAME": name,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_BSP_SCHEDULE_DELAY": str(EXPORT_MILLISECONDS),
        "CUTSET_SERVICE": name,
        "CUTSET_COLLECTOR": collector,
        "CUTSET_ENVIRONMENT": config.target.environment,
    }
    shared = {} if is_private_key(key) else {KEY_VARIABLE: key.decode(errors="surrogateescape")}
    return {**inherited_environment(), **told, **shared}


def _wait_until_there(config: Config, started: "Mapping[str, subprocess.Popen[bytes]]", folder: Path) -> None:
    missing, deadline = list(config.target.servers), time.monotonic() + START_SECONDS
    while missing := [address for address in missing if not _accepts(address)]:
        for name, process in started.items():
            if process.poll() is not None:
                raise TargetError(f"`start.{name}` ended with {process.returncode}: {_last_words(folder, name)}")
        if time.monotonic() > deadline:
            raise TargetError(
                f"nobody accepts connections at {', '.join(map(config.target.named, missing))}",
                hint="Name in `start` the commands of services that are not running already",
            )
        time.sleep(POLL_SECONDS)


def _accepts(address: str) -> bool:
    with suppress(OSError), socket.create_connection(split_address(address), timeout=1):
        return True
    return False


def _last_words(folder: Path, name: str) -> str:
    lines = (folder / f"{name}.log").read_text(errors="replace").split("\n")
    return " / ".join(line.strip() for line in lines if line.strip())[-400:] or "it printed nothing"
