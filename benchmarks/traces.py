"""Traces at scale: how fast they are read and analysed, in how much memory, and how that grows.

    python -m benchmarks.traces [--quick] [--data FOLDER] [--minutes 20]    ends with one line of JSON

Traces are those of `trace_generator`, whose profile `production` repeats itself as little as real systems do. Every
figure is of a process of its own; memory is the most that it ever held (VmHWM), with one worker. What is *warm* is the
slowest of `cutset classes`, `rank` and `workflows` when nothing has changed since the last command. The largest
analysis is of spans that stream from the generator into the store, without files. `total` reads OTLP files and analyses
them with two workers, for at most so many minutes, and says how many of CAST's 3 million traces that were. To make the
files is not counted.
"""

import argparse
import json
import math
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.mesh_graph import mesh_graph_right
from benchmarks.microfi_counts import ldfi_counts, microfi_counts
from benchmarks.request_classes import PROFILES
from benchmarks.trace_generator import generate, limited
from benchmarks.trace_writers import write
from benchmarks.traces_ingest import bench_ingest

from benchmarks import real_traces
from cutset.app.ingest import IngestSettings, ingest_traces
from cutset.app.survey import survey_traces
from cutset.model.steps import finished
from cutset.select.complexity import most_complex_first
from cutset.select.rankings import api_rank_of
from cutset.select.workflows import critical_workflows
from cutset.store.manifest import open_spans
from cutset.store.spans import begin_ingest
from cutset.survey.workers import open_executor

SECTIONS = ["ingest", "analysis", "million", "workflows", "mesh", "follow", "store", "published", "total", "data"]
CAST_TRACES = 3_000_000  # what CAST recorded in six hours (§4.2)
CHUNK_SPANS = 1_000_000  # of one file of the largest run
LARGE_SPANS = 84_000_000  # some two million traces of 40 spans
ANALYSIS_SHARE = 0.35  # of the time of the largest run that is kept for the analysis


def measured(task: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    """The task's result, seconds and peak memory in MB, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_report, args=(theirs, task, arguments))
    process.start()
    theirs.close()
    try:
        result, seconds, peak_mb = ours.recv()
    except EOFError:
        raise RuntimeError(f"{task.__name__}{arguments} died") from None
    process.join()
    return result, seconds, peak_mb


def _report(pipe: Any, task: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    start = time.perf_counter()
    result = task(*arguments)
    seconds = time.perf_counter() - start
    high_water = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    pipe.send((result, seconds, int(high_water.split()[1]) / 1000))


def make_file(path: Path, format: str, part: int, spans: int) -> int:  # noqa: A002
    """Writes about so many spans; returns how many traces."""
    traces = 0

    def counted() -> Any:
        nonlocal traces
        for trace in limited(generate(1, PROFILES["production"], part), spans):
            traces += 1
            yield trace

    write(counted(), format, path)
    return traces


def fill(store: Path, spans: int, profile: str = "production") -> int:
    with begin_ingest(store) as ingest:
        traces = limited(generate(1, PROFILES[profile]), spans)
        ingest.add("generated", chain.from_iterable(traces))
    return open_spans(store).spans


def read_in(store: Path, files: list[Path], workers: str) -> int:
    finished(ingest_traces(store, list(map(str, files)), IngestSettings(workers=int(workers))))
    return open_spans(store).spans


def analyse(store: Path, workers: str) -> dict[str, int]:
    """Classes, complexity, APIRank and critical workflows of all that is stored."""
    found = finished(survey_traces(store, workers=workers))
    most_complex_first(found.classes)
    kinds = found.kinds
    ranked = api_rank_of(kinds)
    workflows = critical_workflows(kinds.items(), max_services=5, top=10)
    return {
        "traces": found.traces,
        "classes": len(found.classes),
        "kinds": len(kinds),
        "apis": len(ranked),
        "workflows": len(workflows.workflows),
    }


def with_cpu(task: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """The task's result, and the CPU seconds of this process and of those that it waited for."""
    before = sum(os.times()[:4])
    result = task(*arguments)
    return result, sum(os.times()[:4]) - before


def forget_summaries(store: Path) -> None:
    shutil.rmtree(store / "traces" / "cache", ignore_errors=True)


def warm_seconds(store: Path) -> float:
    """Of the slowest of the commands that read what is kept, as a user waits for it."""
    slowest = 0.0
    for command in ("classes", "rank", "workflows"):
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "cutset", command, "--store", str(store)], check=True, stdout=subprocess.DEVNULL
        )
        slowest = max(slowest, time.perf_counter() - begin)
    return slowest


def bench_analysis(folder: Path, sizes: list[int], large: int = 0) -> dict[str, Any]:
    """`large` is analysed once; growth is that of the sizes."""
    seconds_of, cpu_of, peak_of, warm_of = {}, {}, {}, {}
    speedup = 0.0
    for size in [*sizes, *([large] if large else [])]:
        store = folder / f"analysis-{size}"
        spans, took, _ = measured(fill, store, size)
        (found, cpu), seconds, peak_mb = measured(with_cpu, analyse, store, "1")
        warm_of[size] = round(warm_seconds(store), 2)
        seconds_of[size], peak_of[size] = round(seconds, 2), round(peak_mb)
        cpu_of[size] = round(cpu / spans * 1e6, 2)
        print(
            f"analysis of {spans:,} spans (generated and stored in {took:.0f} s): {seconds:.1f} s, {cpu:.1f} s of CPU, "
            f"{peak_mb:.0f} MB, {found}; then {warm_of[size]} s",
            flush=True,
        )
        if size == sizes[-1]:
            forget_summaries(store)
            same, two, _ = measured(analyse, store, "2")
            assert same == found
            speedup = seconds / two
            print(f"  with two workers {two:.1f} s", flush=True)
        shutil.rmtree(store)
    exponent = math.log(seconds_of[sizes[-1]] / seconds_of[sizes[0]]) / math.log(sizes[-1] / sizes[0])
    return {
        "analysis_seconds": seconds_of,
        "analysis_cpu_s_per_million": cpu_of,
        "analysis_peak_mb": peak_of,
        "warm_seconds": warm_of,
        "growth_exponent": round(exponent, 3),
        "speedup_two_workers": round(speedup, 2),
    }


def bench_million(folder: Path, spans: int) -> dict[str, Any]:
    """Traces of FastFI's million services (§4.4): few of them are alike, and none of their labels are few."""
    store = folder / "million"
    stored, _, _ = measured(fill, store, spans, "million")
    found, seconds, peak_mb = measured(analyse, store, "1")
    print(f"analysis of {stored:,} spans of a million services: {seconds:.1f} s, {peak_mb:.0f} MB, {found}")
    shutil.rmtree(store)
    return {"million_services_analysis_seconds": round(seconds, 2), "million_services_peak_mb": round(peak_mb)}


def bench_total(folder: Path, minutes: float) -> dict[str, Any]:
    """As many of CAST's traces as can be read and analysed in that time on two cores."""
    store, budget = folder / "total", minutes * 60
    traces = parts = 0
    seconds = peak = 0.0
    while traces < CAST_TRACES and seconds < budget * (1 - ANALYSIS_SHARE):
        files = [folder / f"chunk-{parts + number}.jsonl" for number in range(2)]
        with open_executor("2") as executor:
            assert executor is not None
            made = [
                executor.submit(make_file, path, "otlp-json", parts + n, CHUNK_SPANS) for n, path in enumerate(files)
            ]
            traces += sum(each.result() for each in made)
        spans, took, peak_mb = measured(read_in, store, files, "2")
        seconds, peak, parts = seconds + took, max(peak, peak_mb), parts + 2
        print(f"  {traces:,} traces, {spans:,} spans read in {seconds:.0f} s")
        for path in files:
            path.unlink()
    found, took, peak_mb = measured(analyse, store, "2")
    size = sum(path.stat().st_size for path in store.rglob("*.parquet"))
    print(
        f"{found['traces']:,} traces, {spans:,} spans ({size / 1e6:,.0f} MB stored): read in {seconds:.0f} s, "
        f"analysed in {took:.0f} s, {found}, {max(peak, peak_mb):.0f} MB in the main process"
    )
    total = seconds + took
    return {
        "traces_total": found["traces"],
        "traces_total_spans": spans,
        "traces_total_seconds": round(total, 1),
        "traces_total_peak_mb": round(max(peak, peak_mb)),
        "extrapolated_seconds_for_3_million": round(total * CAST_TRACES / found["traces"], 1),
    }


def bench_workflows(samples: Path) -> dict[str, Any]:
    from benchmarks.workflows_vs_gspan import compare  # noqa: PLC0415 -- needs the package that it compares with

    return compare(samples if samples.exists() else None)


def bench_follow(spans: int) -> dict[str, Any]:
    from benchmarks.follow import follow_spans_per_second  # noqa: PLC0415 -- it measures by what is in this file

    return follow_spans_per_second(spans)


def bench_object_store(spans: int) -> dict[str, Any]:
    from benchmarks.object_store import object_store_equal  # noqa: PLC0415 -- likewise

    return object_store_equal(spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of everything, to see that it works")
    parser.add_argument("--minutes", type=float, default=20, help="for the largest run")
    parser.add_argument("--large", type=int, default=LARGE_SPANS, help="spans of the largest analysis; 0 for none")
    parser.add_argument("--only", choices=SECTIONS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="recorded traces, if there are any")
    options = parser.parse_args()
    scale = 100 if options.quick else 1
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="cutset-bench-", dir=Path.cwd()) as name:
        folder = Path(name)
        sections: dict[str, Callable[[], dict[str, Any]]] = {
            "ingest": lambda: bench_ingest(folder, 1_000_000 // scale),
            "analysis": lambda: bench_analysis(
                folder, [size // scale for size in (1_000_000, 3_000_000, 10_000_000)], options.large // scale
            ),
            "million": lambda: bench_million(folder, 1_000_000 // scale),
            "workflows": lambda: bench_workflows(options.data / "gspan"),
            "mesh": lambda: {"mesh_graph_right": mesh_graph_right()},
            "follow": lambda: bench_follow(2_000_000 // scale),
            "store": lambda: bench_object_store(1_000_000 // scale),
            "published": lambda: {"microfi_counts": microfi_counts(), "ldfi_counts": ldfi_counts()},
            "total": lambda: bench_total(folder, options.minutes / scale),
        }
        if (options.data / "nezha").exists():
            sections["data"] = lambda: real_traces.measure(options.data)
        for section, measure in sections.items():
            if options.only in (None, section):
                result |= measure()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
