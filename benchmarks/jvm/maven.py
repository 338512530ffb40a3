"""Jars by their exact coordinates, from Maven Central, once: what is there is in `~/.cache/cutset/maven`."""

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CENTRAL = os.environ.get("CUTSET_MAVEN", "https://repo.maven.apache.org/maven2")  # or a mirror of it
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cutset" / "maven"
AT_ONCE = 8
TIMEOUT_S = 60


class NoSuchJarError(Exception):
    """What was asked for, and what came of it."""


def read_coordinates(path: Path) -> list[str]:
    """One a line, `group:artifact:version[:classifier]`; `#` begins a comment."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def overridden(coordinates: Sequence[str], others: Iterable[str]) -> list[str]:
    """With other versions of the same artifacts; what was not among them comes last."""
    other = {artifact(each): each for each in others}
    return [other.pop(artifact(each), each) for each in coordinates] + list(other.values())


def artifact(coordinate: str) -> tuple[str, ...]:
    """What it is, whatever its version."""
    group, artifact, _, *classifier = coordinate.split(":")
    return (group, artifact, *classifier)


def jars(coordinates: Sequence[str]) -> list[Path]:
    """Where they are, in the same order; those that are not there are fetched."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(_jar, coordinates))


def path_of(coordinate: str) -> str:
    """In Maven's layout."""
    try:
        group, artifact, version, *classifier = coordinate.split(":")
    except ValueError:
        raise NoSuchJarError(f"`{coordinate}` is not `group:artifact:version[:classifier]`") from None
    return f"{group.replace('.', '/')}/{artifact}/{version}/{'-'.join([artifact, version, *classifier])}.jar"


def _jar(coordinate: str) -> Path:
    path = CACHE / path_of(coordinate)
    if not path.exists():
        url = f"{CENTRAL}/{path_of(coordinate)}"
        content = _fetch(url)
        if content is None:
            raise NoSuchJarError(f"Maven Central has no `{coordinate}`: nothing is at {url}")
        sha1 = (_fetch(f"{url}.sha1") or b"").decode().split()
        if sha1 and hashlib.sha1(content).hexdigest() != sha1[0]:
            raise NoSuchJarError(f"`{coordinate}` did not arrive whole: its SHA-1 is not {sha1[0]}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(path)  # whole or not at all, though others fetch it at the same time
    return path


def _fetch(url: str) -> bytes | None:
    """None: there is no such file."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise NoSuchJarError(f"{url}: {error}") from error
    except OSError as error:
        raise NoSuchJarError(f"{url}: {error}") from error
