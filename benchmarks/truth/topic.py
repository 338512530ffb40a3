"""What every topic's `main` does: parse `--quick`, measure, end with one JSON line."""

import argparse
import json
from collections.abc import Callable

Measure = Callable[..., dict[str, object]]  # measure(*, quick: bool)


def run_alone(measure: Measure, description: str | None) -> None:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, or less")
    print(json.dumps(measure(quick=parser.parse_args().quick)))
