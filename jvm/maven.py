"""Jars by their exact coordinates, fetched once by Maven: what is there is in `~/.cache/cutset/maven`, in its layout.

Stands alone, as `build.py` does, which imports it. Where jars come from is what Maven's settings say.
"""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cutset" / "maven"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


class NoSuchJarError(Exception):
    """What was asked for, and what came of it."""


def jars(coordinates: Sequence[str]) -> list[Path]:
    """Where they are, in the same order; those that are not there are fetched."""
    kept = [CACHE / path_of(each) for each in coordinates]
    if not all(path.exists() for path in kept):
        CACHE.mkdir(parents=True, exist_ok=True)
        with (CACHE / "lock").open("w") as lock:  # others may fetch the same at the same time
            fcntl.flock(lock, fcntl.LOCK_EX)
            if missing := [each for each in dict.fromkeys(coordinates) if not (CACHE / path_of(each)).exists()]:
                _fetch(missing)
    return kept


def path_of(coordinate: str) -> str:
    """In Maven's layout."""
    group, artifact, version, *classifier = _parts(coordinate)
    return f"{group.replace('.', '/')}/{artifact}/{version}/{'-'.join([artifact, version, *classifier])}.jar"


def _fetch(coordinates: Sequence[str]) -> None:
    """In one run of Maven, each for itself: without what it depends on, in as many versions as are asked for."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise NoSuchJarError(f"there is no `mvn` to fetch {', '.join(coordinates)} with; install Maven")
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        Path(folder, "pom.xml").write_text(_pom(coordinates))
        command = [mvn, "--quiet", "--batch-mode", "--update-snapshots", COPY]  # updates: it asks again for what failed
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoSuchJarError(f"Maven: {_reason(done.stdout + done.stderr)}")
        for path in map(path_of, coordinates):
            (CACHE / path).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, path).replace(CACHE / path)  # whole or not at all


def _reason(said: str) -> str:
    """The first error, without what Maven was about to do and where it has help."""
    error = re.search(r"ERROR.*?\] (?:.* on project jars: )?(.*?)(?: -> \[|$)", said, re.MULTILINE)
    return error[1] if error else said.strip()


def _pom(coordinates: Sequence[str]) -> str:
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>cutset</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
<build><plugins><plugin><artifactId>maven-dependency-plugin</artifactId><configuration><artifactItems>
{"".join(map(_item, coordinates))}
</artifactItems></configuration></plugin></plugins></build></project>"""


def _item(coordinate: str) -> str:
    parts = zip(("groupId", "artifactId", "version", "classifier"), _parts(coordinate), strict=False)
    told = [*parts, ("outputDirectory", str(Path(path_of(coordinate)).parent))]
    return f"<artifactItem>{''.join(f'<{key}>{escape(text)}</{key}>' for key, text in told)}</artifactItem>\n"


def _parts(coordinate: str) -> list[str]:
    parts = coordinate.split(":")
    if len(parts) not in (3, 4) or not all(parts):
        raise NoSuchJarError(f"`{coordinate}` is not `group:artifact:version[:classifier]`")
    return parts
