"""Whether a `java` is new enough: for the agent in the workload, and for the extractor."""

import re
import subprocess
from functools import cache

from cutset.errors import UsageError

LEAST_VERSION = 11
ASK_SECONDS = 60  # a JVM starts in a tenth of a second, on a machine that has nothing else to do
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_GET_ONE = f"Install a Java runtime (JRE) of version {LEAST_VERSION} or later, or name one with `--java PATH`"


def refuse_old_java(java: str) -> None:
    version = java_version(java)
    if version < LEAST_VERSION:
        raise UsageError(
            f"`{java}` is of Java {version}: it takes {LEAST_VERSION} or later to read and instrument programs",
            hint=f"{_GET_ONE}. Programs that were compiled for older ones mostly run there, too",
        )


@cache
def java_version(java: str) -> int:
    """17 of `openjdk version "17.0.15"`, 8 of `java version "1.8.0_402"`."""
    try:
        said = subprocess.run(
            [java, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"`{java} -version` does not tell a version: {error}", hint=_GET_ONE) from error
    match = _VERSION.search(said.stderr + said.stdout)
    if match is None:
        raise UsageError(f"`{java} -version` does not tell a version: {said.stderr.strip()[:200]}", hint=_GET_ONE)
    return int(match[1])
