"""How much work it is to read traces, by format, beside what others need for the same file; and what a kill loses.

    python -m benchmarks.traces_ingest [--spans 1000000]    ends with one line of JSON; part of `benchmarks.traces`

CPU seconds per million spans, each of a process of its own: `cutset ingest` into a fresh store; orjson, which only
makes Python objects of the JSON; DuckDB, which reads the file and counts spans by name. Neither keeps anything.
"""

import argparse
import json
import multiprocessing
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import orjson
from benchmarks.request_classes import PROFILES
from benchmarks.trace_generator import generate, limited
from benchmarks.trace_writers import write

import cutset.store.spans
from cutset.app.ingest import IngestSettings, ingest_traces
from cutset.model.steps import finished
from cutset.store.manifest import open_spans

FORMATS = ("otlp-json", "otlp-proto", "jaeger", "zipkin", "nezha", "alibaba-2021")
COMMIT_SPANS = 200_000  # while processes are killed, so that they have committed something before

# Where the elements of a document start: orjson has no other way to read one in bounded memory.
_STARTS = {
    "otlp-json": re.compile(rb"\n(?=.)"),
    "jaeger": re.compile(rb',(?=\{"traceID":"[^"]*","spans")'),
    "zipkin": re.compile(rb',(?=\{"traceId")'),
}
_QUERIES = {
    "otlp-json": """
        SELECT span.name, count(*) FROM (
            SELECT unnest(scope.spans) AS span FROM (
                SELECT unnest(resource.scopeSpans) AS scope FROM (
                    SELECT unnest(resourceSpans) AS resource FROM read_json($1, format = 'newline_delimited')
        ))) GROUP BY ALL""",
    "zipkin": "SELECT name, count(*) FROM read_json($1, format = 'array') GROUP BY ALL",
    "nezha": "SELECT OperationName, count(*) FROM read_csv($1) GROUP BY ALL",
    "alibaba-2021": "SELECT interface, count(*) FROM read_csv($1) GROUP BY ALL",
}


def make(path: Path, format: str, spans: int) -> int:  # noqa: A002
    return write(limited(generate(1, PROFILES["production"]), spans), format, path)


def cpu_of_ingest(store: Path, path: Path) -> tuple[int, float, float]:
    """Spans, CPU seconds and seconds."""
    cpu, start = time.process_time(), time.perf_counter()
    finished(ingest_traces(store, [str(path)], IngestSettings(workers=1)))
    return open_spans(store).spans, time.process_time() - cpu, time.perf_counter() - start


def cpu_of_orjson(path: Path, format: str) -> float:  # noqa: A002
    spent = 0.0
    for piece in _pieces(path, format):
        start = time.process_time()
        orjson.loads(piece)
        spent += time.process_time() - start
    return spent


def cpu_of_duckdb(path: Path, format: str) -> float:  # noqa: A002
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute("SET enable_progress_bar = false")
        start = time.process_time()
        database.execute(_QUERIES[format], [str(path)]).fetchall()
        return time.process_time() - start


def _pieces(path: Path, format: str) -> Iterator[bytes]:  # noqa: A002
    content = path.read_bytes()
    begin, end = (0, len(content)) if format == "otlp-json" else (content.index(b"[") + 1, content.rindex(b"]"))
    for start in _STARTS[format].finditer(content, begin, end):
        yield content[begin : start.start()]
        begin = start.end()
    yield content[begin:end]


def bench_ingest(folder: Path, spans: int) -> dict[str, Any]:
    rates, peaks, ours, orjsons, duckdbs = {}, {}, {}, {}, {}
    lost = 0
    for each in FORMATS:
        path, store = folder / f"traces.{each}", folder / f"store-{each}"
        _apart(make, path, each, spans)
        (stored, cpu, seconds), peak_mb = _apart(cpu_of_ingest, store, path)
        rates[each], peaks[each], ours[each] = round(stored / seconds), round(peak_mb), _per_million(cpu, stored)
        if each in _STARTS:
            orjsons[each] = _per_million(_apart(cpu_of_orjson, path, each)[0], stored)
        if each in _QUERIES:
            duckdbs[each] = _per_million(_apart(cpu_of_duckdb, path, each)[0], stored)
        print(
            f"ingest {each}: {stored:,} spans, {ours[each]} CPU s per million (orjson {orjsons.get(each, '–')}, "
            f"DuckDB {duckdbs.get(each, '–')}), {rates[each]:,}/s, {path.stat().st_size / seconds / 1e6:.0f} MB/s, "
            f"{peak_mb:.0f} MB of memory"
        )
        shutil.rmtree(store)
        if each == FORMATS[0]:
            lost = lost_by_kills(folder / "killed", path, stored)
        path.unlink()
    return {
        "ingest_spans_per_second": rates,
        "ingest_peak_mb": peaks,
        "ingest_cpu_s_per_million": ours,
        "orjson_cpu_s_per_million": orjsons,
        "duckdb_cpu_s_per_million": duckdbs,
        "resume_lost_spans": lost,
    }


def lost_by_kills(store: Path, path: Path, spans: int) -> int:
    """How many spans are missing, or there twice, after an ingest was killed three times and then let alone."""
    context = multiprocessing.get_context("spawn")
    for share in (0.1, 0.3, 0.6):
        process = context.Process(target=ingest_in_small_commits, args=(store, path))
        process.start()
        while process.is_alive() and open_spans(store).spans < share * spans:
            time.sleep(0.01)
        process.kill()
        process.join()
        print(f"  killed with {open_spans(store).spans:,} of {spans:,} spans committed")
    _apart(ingest_in_small_commits, store, path)
    stored = open_spans(store)
    files = [str(stored.folder / part.file) for part in stored.parts]
    distinct = duckdb.execute("SELECT count(DISTINCT (trace_id, span_id, kind)) FROM read_parquet($1)", [files])
    shutil.rmtree(store)
    return spans - distinct.fetchall()[0][0] + abs(stored.spans - spans)


def ingest_in_small_commits(store: Path, path: Path) -> None:
    cutset.store.spans._COMMIT_SPANS = COMMIT_SPANS  # noqa: SLF001
    finished(ingest_traces(store, [str(path)], IngestSettings(workers=1)))


def _per_million(cpu: float, spans: int) -> float:
    return round(cpu / spans * 1e6, 2)


def _apart(task: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """The task's result, and the most memory in MB that a process of its own had for it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_answer, args=(theirs, task, arguments))
    process.start()
    theirs.close()
    try:
        answer: tuple[Any, float] = ours.recv()
    except EOFError:
        raise RuntimeError(f"{task.__name__}{arguments} died") from None
    process.join()
    return answer


def _answer(pipe: Any, task: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    result = task(*arguments)
    high_water = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    pipe.send((result, int(high_water.split()[1]) / 1000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=1_000_000)
    with tempfile.TemporaryDirectory(prefix="cutset-bench-", dir=Path.cwd()) as name:
        print(json.dumps(bench_ingest(Path(name), parser.parse_args().spans)))


if __name__ == "__main__":
    main()
