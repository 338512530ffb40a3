"""What real trace files contain, read by Cutset, and whether Online Boutique's calls are those of its source code.

    python -m benchmarks.real_traces [FOLDER]    a line per file, then what was compared, then one line of JSON

FOLDER holds recorded traces of several systems and formats, and in `groundtruth/online-boutique.yaml` the calls that
each request makes by its source (`benchmarks.groundtruth` describes such files).
"""

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from cutset.errors import CutsetError
from cutset.lineage.kinds import call_uses
from cutset.model.call_tree import CallTree
from cutset.model.steps import finished
from cutset.model.survey import Survey
from cutset.store.manifest import open_spans
from cutset.store.ranges import trace_ranges
from cutset.store.spans import begin_ingest
from cutset.survey.run import SurveySettings, survey
from cutset.traces.files.find import find_files
from cutset.traces.files.read import read_file
from cutset.traces.tally import ReadTally

FOLDERS = ("alibaba", "jaeger", "nezha", "otlp", "zipkin")


def measure(folder: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as store:
        files = _read_all(folder, Path(store) / "each")
        boutique = _surveyed([folder / "nezha" / "online-boutique"], Path(store) / "boutique", by_calls=True)
    compared = _compare(boutique, yaml.safe_load((folder / "groundtruth" / "online-boutique.yaml").read_text()))
    return {
        "files": len(files),
        "files_without_spans": sum(not file["spans"] for file in files),
        "spans": sum(file["spans"] for file in files),
        "boutique_traces": boutique.traces,
        "boutique_classes": len(boutique.classes),
        "boutique_requests_compared": len(compared),
        "boutique_requests_agreeing": sum(compared.values()),
    }


def _read_all(folder: Path, store: Path) -> list[dict[str, Any]]:
    files = []
    for path in find_files([str(folder / each) for each in FOLDERS if (folder / each).exists()]):
        tally = ReadTally()
        try:
            spans = list(read_file(path, tally))
        except CutsetError as error:
            print(f"{path.relative_to(folder)}: {error.message}")
            continue
        name = str(path.relative_to(folder))
        with begin_ingest(store / name.replace("/", "-")) as ingest:
            ingest.add(name, spans)
        found = _survey_store(store / name.replace("/", "-"), by_calls=False)
        services = {span.service for span in spans}
        headless = f", {found.headless} traces without a beginning" if found.headless else ""
        skipped = "".join(f", skipped {times} × {reason}" for reason, times in tally.skipped.items())
        tolerated = sum(use.tolerated for each in found.classes.values() for use in call_uses(each.judged))
        print(
            f"{name}: {found.traces:,} traces, {len(spans):,} spans, {len(services)} services, "
            f"{len(found.classes)} request classes, {sum(len(each.judged) for each in found.classes.values())} kinds, "
            f"{tolerated} tolerated failures{headless}{skipped}"
        )
        files.append({"name": name, "spans": len(spans), "traces": found.traces})
    return files


def _surveyed(sources: list[Path], store: Path, *, by_calls: bool) -> Survey:
    with begin_ingest(store) as ingest:
        for path in find_files([str(source) for source in sources]):
            ingest.add(str(path), read_file(path, ReadTally()))
    return _survey_store(store, by_calls=by_calls)


def _survey_store(store: Path, *, by_calls: bool) -> Survey:
    return finished(survey(trace_ranges(open_spans(store)), SurveySettings(by_calls=by_calls), None))


def _compare(boutique: Survey, source: dict[str, Any]) -> dict[str, bool]:
    """Whether requests of each kind, with any number of items in the cart, make exactly the calls of the source."""
    seen: Counter[frozenset[tuple[str, int]]] = Counter()
    for tree, traces in boutique.kinds.items():
        seen[_services_called(tree)] += traces
    agreeing: dict[str, bool] = {}
    for request in (
        "GET /",
        "GET /product/{id}",
        "GET /cart",
        "POST /cart",
        "POST /cart/checkout",
        "POST /setCurrency",
    ):
        found = {}
        for items in range(1, 5):
            calls: Counter[str] = Counter()
            _expand(source["requests"][request]["calls"], source, source["params"] | {"cart_items": items}, calls)
            found[items] = seen[frozenset(calls.items())]
        agreeing[request] = any(found.values())
        print(f"{request}: {', '.join(f'{times:,} traces with {items}' for items, times in found.items())} items")
    return agreeing


def _expand(calls: list[dict[str, Any]], source: dict[str, Any], params: dict[str, int], into: Counter[str]) -> None:
    for call in calls:
        if call.get("ctx") is False:  # the call is not part of the trace: its context is not passed on
            continue
        times = params.get(call.get("n", 1), call.get("n", 1))
        for _ in range(times):
            into[call["op"].rpartition("/")[2]] += 1
            _expand((source["operations"][call["op"]] or {}).get("calls", []), source, params, into)


def _services_called(tree: CallTree) -> frozenset[tuple[str, int]]:
    """How often each API of a service was called; the source's calls of data stores are not told as calls."""
    services = Counter(callee.point.api for _, callee in tree.edges() if callee.point.service.endswith("service"))
    return frozenset(services.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data"))
    print(json.dumps(measure(parser.parse_args().folder)))


if __name__ == "__main__":
    main()
