"""Whether a `java` will do: for the agent in the workload, and for the extractor."""

import re
import subprocess
from functools import cache

from cutset.errors import UsageError

LEAST_VERSION = 11
ASK_SECONDS = 60  # a JVM starts in a tenth of a second, on a machine that has nothing else to do
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_AGENTS = "java.instrument"  # the module without which no JVM loads an agent; a runtime made by jlink may lack it
_GET_ONE = f"Install a Java runtime (JRE) of version {LEAST_VERSION} or later, or name one with `--java PATH`"


def refuse_old_java(java: str) -> None:
    version = java_version(java)
    if version < LEAST_VERSION:
        raise UsageError(
            f"`{java}` is of Java {version}: it takes {LEAST_VERSION} or later to read and instrument programs",
            hint=f"{_GET_ONE}. Programs that were compiled for older ones mostly run there, too",
        )
    if not has_module(java, _AGENTS):
        raise UsageError(
            f"`{java}` is a Java runtime without the module {_AGENTS}: it loads no agent",
            hint=f"Name a whole one with `--java PATH`, or add the module: `jlink --add-modules {_AGENTS},…`",
        )


@cache
def java_version(java: str) -> int:
    """17 of `openjdk version "17.0.15"`, 8 of `java version "1.8.0_402"`."""
    try:
        said = _ask(java, "-version")
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"`{java} -version` does not tell a version: {error}", hint=_GET_ONE) from error
    match = _VERSION.search(said)
    if match is None:
        what = f"it says `{said.strip()[:200]}`" if said.strip() else "it says nothing"
        raise UsageError(f"`{java} -version` does not tell a version: {what}", hint=_GET_ONE)
    return int(match[1])


@cache
def has_module(java: str, module: str) -> bool:
    """A JVM that is asked for a module that it lacks does not start, and names it."""
    try:
        _ask(java, "--add-modules", module, "-version")
    except subprocess.CalledProcessError as error:
        return f"{module} not found" not in error.stdout + error.stderr
    except (OSError, subprocess.SubprocessError):
        return True  # it is not known: a round will tell
    return True


def _ask(java: str, *words: str) -> str:
    asked = [java, *words]
    said = subprocess.run(
        asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ASK_SECONDS, check=True
    )
    return said.stderr + said.stdout
