"""Complete means decided, contained means contained, records are what was recorded: all topics, one JSON line.

python -m benchmarks.truth [--quick] [TOPIC …]
"""

import argparse
import json
import sys
import time
from importlib import import_module

TOPICS = ("random_systems", "chaos", "zoo", "edge", "records", "forgeries", "doctor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"out of {', '.join(TOPICS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, or less")
    options = parser.parse_args()
    if unknown := set(options.topics) - set(TOPICS):
        parser.error(f"unknown topic {', '.join(sorted(unknown))}; expected {', '.join(TOPICS)}")
    figures: dict[str, object] = {}
    for topic in options.topics or TOPICS:
        begin = time.monotonic()
        figures |= import_module(f"benchmarks.truth.{topic}").measure(quick=options.quick)
        print(f"{topic}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
