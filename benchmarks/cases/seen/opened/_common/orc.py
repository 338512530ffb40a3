"""What the oracles share: `judge(check)`, where check(run) says (did the symptom show?, in which words)."""
import json
import sys
from pathlib import Path
from typing import Any, Callable


class Run:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = folder / "state.json"
        self.state: dict[str, Any] = json.loads(state.read_text()) if state.exists() else {}

    @property
    def log(self) -> str:
        return (self.folder / "run.log").read_text(errors="replace")


def judge(check: Callable[[Run], tuple[bool, str]]) -> None:
    holds, words = check(Run(Path(sys.argv[1])))
    print(("symptom: " if holds else "no symptom: ") + words)
    sys.exit(not holds)
