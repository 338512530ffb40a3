"""How many spans a second `cutset ingest --follow` keeps up with, of one core, and in how much memory.

    python -m benchmarks.follow [--spans 2000000] [--stored 0]    ends with one line of JSON

Another process writes as a collector does: JSON lines, in writes that end anywhere, into a file that is renamed when it
has 100 MB. The rate is of CPU seconds: what others leave of a core does not count. The store may have spans before.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from benchmarks.request_classes import PROFILES
from benchmarks.trace_generator import generate, limited
from benchmarks.trace_writers import write
from benchmarks.traces import fill, measured

from cutset.app.follow import follow_traces
from cutset.model.span import Span
from cutset.store.manifest import open_spans

ROTATED_BYTES = 100_000_000
WRITTEN_BYTES = 65_536  # at once
LATER_NS = 2 * 3_600_000_000_000  # than what is stored before


def follow_spans_per_second(spans: int = 2_000_000, stored: int = 0) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "written").mkdir()
        before = fill(folder / "store", stored) if stored else 0
        sent = write(_later(limited(generate(2, PROFILES["production"]), spans)), "otlp-json", folder / "sent.jsonl")
        collector = multiprocessing.get_context("spawn").Process(target=_write_as_a_collector, args=(folder,))
        collector.start()
        cpu_seconds, seconds, peak_mb = measured(_follow, folder / "store", folder / "written", sent)
        collector.join()
        return {
            "follow_spans_per_second": round(sent / cpu_seconds),
            "follow_wall_spans_per_second": round(sent / seconds),
            "follow_peak_mb": round(peak_mb),
            "follow_lost_spans": before + sent - open_spans(folder / "store").spans,
        }


def _later(traces: Iterable[Sequence[Span]]) -> Iterator[list[Span]]:
    for trace in traces:
        yield [replace(span, start_ns=span.start_ns + LATER_NS, end_ns=span.end_ns + LATER_NS) for span in trace]


def _write_as_a_collector(folder: Path) -> None:
    file = folder / "written" / "traces.json"
    with (folder / "sent.jsonl").open("rb") as sent:
        number, end = 0, b""
        while end is not None:
            with file.open("wb", buffering=0) as written:
                written.write(end)
                size, end = len(end), None
                while piece := sent.read(WRITTEN_BYTES):
                    if size > ROTATED_BYTES and b"\n" in piece:
                        last, _, end = piece.partition(b"\n")
                        written.write(last + b"\n")
                        break
                    written.write(piece)
                    size += len(piece)
            if end is not None:
                number += 1
                file.rename(file.with_name(f"traces-{number:06}.json"))


def _follow(store: Path, written: Path, spans: int) -> float:
    """CPU seconds, from the first look until all is committed."""
    ended, began = Event(), time.process_time()
    for state in follow_traces(store, [str(written / "traces.json")], ended):
        if state.spans >= spans:
            ended.set()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=2_000_000)
    parser.add_argument("--stored", type=int, default=0)
    options = parser.parse_args()
    print(json.dumps(follow_spans_per_second(options.spans, options.stored)))


if __name__ == "__main__":
    main()
