"""Command lines of benchmarks with several topics, each a file with a function `measure`."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from importlib import import_module


def run_topics(package: str, topics: Sequence[str], description: str) -> None:
    """Measures those that are named on the command line, or all; ends with one JSON line."""
    figures: dict[str, object] = {}
    chosen, quick = chosen_topics(topics, description)
    for topic in chosen:
        begin = time.monotonic()
        figures |= import_module(f"{package}.{topic}").measure(quick=quick)
        print(f"{topic}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    print(json.dumps(figures))


def chosen_topics(topics: Sequence[str], description: str) -> tuple[list[str], bool]:
    """Those that are named on the command line, in their own order, or all; and whether it is to be quick."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"out of {', '.join(topics)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, or less")
    options = parser.parse_args()
    if unknown := set(options.topics) - set(topics):
        parser.error(f"unknown topic {', '.join(sorted(unknown))}; expected {', '.join(topics)}")
    return [topic for topic in topics if topic in (options.topics or topics)], options.quick
