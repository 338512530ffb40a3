"""Where the script that replays a failure of a JVM program begins."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cutset.errors import UsageError
from cutset.reproduce.jvm.harness import JvmHarness
from cutset.reproduce.jvm.java_command import is_java, parse_java, with_class_path
from cutset.reproduce.replay.replay import ReplayOption, run_replay
from cutset.reproduce.rounds.harness import Workload


def main(faults: Sequence[Mapping[str, Any]], workload: Mapping[str, Any], oracle: str, sources: Sequence[str]) -> int:
    class_path = ReplayOption("class-path", "run the workload with these classes, as of a fixed version", on_class_path)
    return run_replay(JvmHarness(), faults, workload, oracle, sources, own_options=[class_path])


def on_class_path(workload: Workload, class_path: str) -> Workload:
    """Names of files are as seen from where the replay was started."""
    if not is_java(workload.command[0]):
        raise UsageError(
            f"--class-path: the command `{shlex.join(workload.command)}` does not start with `java`",
            hint="Edit the command at the top of replay.py.",
        )
    command = parse_java(workload.command, workload.cwd or Path("/"))
    return replace(workload, command=tuple(with_class_path(command, class_path, Path.cwd()).words))
