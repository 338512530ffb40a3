"""The same traces in a folder and in an object store, analysed by a Dask cluster of which a worker is killed: equal?

    python -m benchmarks.object_store [--spans 1000000]    ends with one line of JSON

The object store is a real server of this machine (`tests/samples/object_store.py`), the cluster a scheduler and two
workers that share nothing with each other but the network.
"""

import argparse
import json
import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.traces import fill
from tests.samples.dask_cluster import dask_cluster
from tests.samples.go_programs import NotToBeHadError
from tests.samples.object_store import object_store

from cutset.app.survey import survey_traces
from cutset.model.steps import finished
from cutset.store.manifest import open_spans
from cutset.store.ranges import trace_ranges
from cutset.survey.run import PartsRead, SurveySettings, survey
from cutset.survey.workers import open_executor

RANGES = 12  # of traces, so that there is a middle of the work


def object_store_equal(spans: int = 1_000_000) -> dict[str, Any]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            environment = stack.enter_context(object_store(folder / "objects"))
        except NotToBeHadError as missing:
            return {"object_store_equal": None, "object_store_missing": str(missing)}
        stack.enter_context(patch.dict(os.environ, {**environment, "XDG_CACHE_HOME": str(folder / "caches")}))
        address, workers = stack.enter_context(dask_cluster(folder))
        local, remote = folder / "store", Path("s3://traces/benchmark")
        seconds = {}
        for place in (local, remote):
            begin = time.perf_counter()
            fill(place, spans)
            seconds[place] = time.perf_counter() - begin
        expected = finished(survey_traces(local, workers="1"))
        stored, killed_at = open_spans(remote), list[PartsRead]()
        ranges = trace_ranges(stored, spans // RANGES)

        def kill_one(read: PartsRead) -> None:
            if read.done > read.total // 2 and not killed_at:
                workers[0].kill()
                killed_at.append(read)

        with open_executor(address) as executor:
            begin = time.perf_counter()
            found = finished(survey(ranges, SurveySettings(), executor, stored.folder), kill_one)
            analysed = time.perf_counter() - begin
            begin = time.perf_counter()
            again = finished(survey(ranges, SurveySettings(), executor, stored.folder))
        return {
            "object_store_equal": found == expected == again,
            "object_store_worker_killed_at": f"{killed_at[0].done} of {killed_at[0].total}",
            "object_store_spans": stored.spans,
            "object_store_ingest_ratio": round(seconds[remote] / seconds[local], 2),
            "object_store_analysis_seconds": round(analysed, 1),
            "object_store_warm_seconds": round(time.perf_counter() - begin, 1),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=1_000_000)
    print(json.dumps(object_store_equal(parser.parse_args().spans)))


if __name__ == "__main__":
    main()
