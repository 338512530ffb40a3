"""Real failures of real JVM systems, reproduced from their logs: how many, by their true cause, at what cost.

    python -m benchmarks.jvm [--cases NAME …] [--quick]    ends with one line of JSON

Two parts: `cases/seen`, which were looked at while Cutset was made, and `cases/unseen`, which were not. Of both
together, and with `unseen_` of the second:

    cases, skipped                      that were searched; that cannot be here, for what is said above
    reproduced, rounds, …               the oracle held, after so many rounds, as ANDURIL counts
    true_cause, true_cause_strict, true_among_equals, graded, graded_right, claimed, claimed_right,
    replay_stable
                                        as `benchmarks.reproduce` has them
    found                               all of that by case

`paper_cases` are those of ANDURIL's 22 failures that were searched; `median_rounds` is of those that were reproduced,
`paper_median_rounds` is the paper's (table 2) for the same ones, `all_median_rounds` of all that were reproduced, the
paper's or not. `jvms` are the Java versions that workloads ran on.

Before them, what the agent costs (`visit_ns`, `armed_ns`, `jar_kb`), what reading a program costs (`extract_seconds`,
`graph_seconds`, by program), and how many of ANDURIL's published lists of observables are the same here
(`published_lists_equal`). `--quick` leaves these out, and replays once.

It takes two hours at most (`--all-minutes`): the last searches get less time, then none begins. `limits` says what
limits there were, `left_out` what was not done for them or for lack of data, `errors` what went wrong. Ctrl-C ends with
what is known by then, `interrupted`, and exit code 130.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from benchmarks.jvm.costs import agent_costs
from benchmarks.jvm.extract_cost import extract_costs
from benchmarks.jvm.failures import CASES, PUBLISHED, JavaFailure, find_java, java_version, read_cases
from benchmarks.jvm.graph_cost import graph_costs
from benchmarks.reproduce.searching import Trial, run_trials
from benchmarks.reproduce.summary import effort, to_table, truth

from benchmarks import anduril_logs
from cutset.reproduce.settings import ReproductionSettings

PARTS = ("seen", "unseen")
REPLAYS = 5
LIMITS = ("rounds", "minutes", "replays", "all_minutes")

Results = dict[str, dict[str, Any]]  # by name of the case


def main() -> None:
    options = parse_arguments()
    document: dict[str, Any] = {"limits": {key: getattr(options, key) for key in LIMITS}, "left_out": [], "errors": {}}
    try:
        measure(options, document)
    except KeyboardInterrupt:
        document["interrupted"] = True
    print(json.dumps(document))
    sys.exit(130 if document.get("interrupted") else 0)


def measure(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """Fills the document as it goes."""
    begun = time.monotonic()
    settings = ReproductionSettings(options.rounds, minutes=options.minutes)
    deadline = begun + (options.all_minutes or inf) * 60
    cache = options.environments / "_analysed"
    trial = Trial(settings, options.environments, options.replays, deadline, cache)
    if not options.quick:
        measure_costs(document)
    runnable = {part: [case for case in cases if case.can_run()] for part, cases in options.known.items()}
    found: dict[str, Results] = {part: {} for part in runnable}
    try:
        for part, cases in runnable.items():
            print(f"== {len(cases)} of {len(options.known[part])} {part} failures can run here", flush=True)
            for name, result in run_trials(cases, trial, options.at_once):
                found[part][name] = result
                minutes = (time.monotonic() - begun) / 60
                print(f"== {len(found[part])} of {len(cases)} {part}, {minutes:.0f} minutes so far", flush=True)
                if options.table:
                    options.table.write_text(to_table(found))
    finally:
        every = [case for cases in options.known.values() for case in cases]
        able = [case for cases in runnable.values() for case in cases]
        document["skipped"] = [case.name for case in every if case not in able]
        document |= summary(able, found, options.environments)
        document["left_out"] += [case.name for case in able if case.name not in document["found"]]


def summary(cases: Sequence[JavaFailure], found: Mapping[str, Results], environments: Path) -> dict[str, Any]:
    together = {name: result for results in found.values() for name, result in results.items()}
    unseen = found.get("unseen", {})
    numbers = {"cases": len(together), **effort(together), **truth(together)}
    of_unseen = {"cases": len(unseen), **effort(unseen), **truth(unseen)}
    del of_unseen["found"], of_unseen["rounds"]
    return {
        **numbers,
        "all_median_rounds": numbers["median_rounds"],
        **beside_the_paper({case.name: case.paper_rounds for case in cases if case.paper_rounds}, together),
        **{f"unseen_{key}": value for key, value in of_unseen.items()},
        "jvms": sorted({java_version(find_java(case.java, environments)) for case in cases if case.name in together}),
    }


def beside_the_paper(rounds: Mapping[str, int], results: Results) -> dict[str, Any]:
    """Ours and the paper's, for the failures that were reproduced here; `rounds` are the paper's, by case."""
    searched = [name for name in rounds if name in results]
    reproduced = [name for name in searched if results[name]["reproduced"]]
    return {
        "paper_cases": len(searched),
        "median_rounds": statistics.median(results[name]["rounds"] for name in reproduced) if reproduced else None,
        "paper_median_rounds": statistics.median(rounds[name] for name in reproduced) if reproduced else None,
        "paper_rounds": {name: rounds[name] for name in searched},
    }


def measure_costs(document: dict[str, Any]) -> None:
    for measured in (agent_costs, extract_costs, graph_costs, published_lists):
        name = measured.__name__
        if measured is published_lists and not PUBLISHED.is_dir():
            document["left_out"].append(name)
            continue
        print(f"== {name}", flush=True)
        try:
            document |= measured()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one cost that cannot be measured does not hide the others
            document["errors"][name] = repr(error)


def published_lists() -> dict[str, int]:
    """Of ANDURIL's published lists of observables: how many are the same here, as logs are compared by default."""
    rows = [row for case in sorted(PUBLISHED.glob("*/")) for row in anduril_logs.compare(case).values()]
    equal = sum(not row["only_ours"] and not row["only_published"] for row in rows)
    return {"published_lists": len(rows), "published_lists_equal": equal}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--seen", action="store_true", help="only those that were looked at")
    parser.add_argument("--unseen", action="store_true", help="only those that were not")
    parser.add_argument("--folder", type=Path, default=CASES, help="with the folders seen/ and unseen/")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=8, help="for the search of one case")
    parser.add_argument("--all-minutes", type=float, default=120, help="for all of it; 0: no limit")
    parser.add_argument("--replays", type=int, help=f"of what was found, 0: it is not judged; default: {REPLAYS}")
    parser.add_argument("--at-once", type=int, default=2, help="cases that run side by side")
    parser.add_argument("--quick", action="store_true", help="no costs, one replay")
    parser.add_argument("--table", type=Path, metavar="FILE", help="the results as Markdown, as they come")
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir(), "cutset-case-environments"))
    options = parser.parse_args()
    if options.replays is None:
        options.replays = 1 if options.quick else REPLAYS
    named = [part for part in PARTS if getattr(options, part)] or PARTS
    every = {part: read_cases(options.folder / part) for part in named}
    names = {case.name for cases in every.values() for case in cases}
    if unknown := sorted(set(options.cases or ()) - names):
        parser.error(f"there is no case {', '.join(unknown)}")
    wanted = set(options.cases or names)
    options.known = {part: [case for case in cases if case.name in wanted] for part, cases in every.items()}
    return options


if __name__ == "__main__":
    main()
