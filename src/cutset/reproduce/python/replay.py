"""Where the script that replays a failure of a Python program begins."""

from collections.abc import Mapping, Sequence
from typing import Any

from cutset.reproduce.python.harness import PythonHarness
from cutset.reproduce.replay.replay import run_replay


def main(faults: Sequence[Mapping[str, Any]], workload: Mapping[str, Any], oracle: str, sources: Sequence[str]) -> int:
    return run_replay(PythonHarness(), faults, workload, oracle, sources)
