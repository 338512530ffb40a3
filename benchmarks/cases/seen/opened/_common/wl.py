"""What the workloads share: leave the outcome for the oracle, and end for sure."""
import json
import os
import sys
from typing import Any


def report(**state: Any) -> None:
    with open("state.json.new", "w") as out:
        json.dump(state, out, indent=1, default=str)
    os.replace("state.json.new", "state.json")


def finish(code: int = 0) -> None:
    """End at once, also when threads are left behind that would not let the process go."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
