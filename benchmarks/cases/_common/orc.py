"""An oracle defines check(state, log) -> (does the symptom hold, why); exit status 0 if it holds, 1 if not."""
import json
import sys
from pathlib import Path


def main(check) -> None:
    folder = Path(sys.argv[1])
    told, log = folder / "state.json", folder / "run.log"
    state = json.loads(told.read_text()) if told.exists() else {}
    holds, why = check(state, log.read_text(errors="replace") if log.exists() else "")
    print(("the symptom is there: " if holds else "no symptom: ") + why)
    sys.exit(0 if holds else 1)
