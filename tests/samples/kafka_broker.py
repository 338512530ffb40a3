"""A real broker of Kafka on this machine, for as long as a test needs it: its jars are in Maven's registry."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.samples.go_programs import NotToBeHadError
from tests.samples.ports import free_port, wait_until_open

VERSION = "3.9.1"
FETCH_SECONDS = 600
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>cutset</groupId><artifactId>broker</artifactId><version>1</version>
<dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>"""


@contextmanager
def kafka_broker(folder: Path) -> Iterator[str]:
    """Its address, as in `127.0.0.1:9092`. Topics come into being when somebody writes to them, with two partitions."""
    java = [shutil.which("java") or "java", "-Xmx512m", "-cp", f"{_jars()}/*"]
    port, controller = free_port(), free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": folder / "data",
        "num.partitions": 2,
        "offsets.topic.replication.factor": 1,
    }
    (folder / "broker.properties").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    with (folder / "broker.log").open("wb") as log:
        format_disk = ["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c"]
        subprocess.run([*java, *format_disk, "broker.properties"], cwd=folder, stdout=log, stderr=log, check=True)
        broker = subprocess.Popen([*java, "kafka.Kafka", "broker.properties"], cwd=folder, stdout=log, stderr=log)
    try:
        wait_until_open(port, broker)
        yield f"127.0.0.1:{port}"
    finally:
        broker.kill()
        broker.wait()


def _jars() -> Path:
    if not shutil.which("java"):
        raise NotToBeHadError("Kafka needs Java, which is not here")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = caches / "cutset" / "kafka" / VERSION
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:  # tests run in several processes
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "lib").exists():
            if not shutil.which("mvn"):
                raise NotToBeHadError("Kafka is fetched by Maven, which is not here")
            (place / "pom.xml").write_text(_POM)
            fetch = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={place / 'fetched'}"]
            done = subprocess.run(fetch, cwd=place, capture_output=True, timeout=FETCH_SECONDS, check=False)
            if done.returncode:
                raise NotToBeHadError(f"Kafka {VERSION} cannot be fetched")
            (place / "fetched").rename(place / "lib")
    return place / "lib"
