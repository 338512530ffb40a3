"""Real failures of real Python systems, reproduced from their logs: how many, by their true cause, at what cost.

    python -m benchmarks.reproduce [FOLDER] [--case NAME] [--quick]    ends with one line of JSON

Three parts: the failures in FOLDER; `benchmarks/cases/seen`, which were looked at while Cutset was made (`own_…`); and
`benchmarks/cases/unseen`, which were not (`unseen_…`). With FOLDER, `--seen` or `--unseen`, only what is named. A case
is a folder with a `case.toml` (`benchmarks.reproduce.cases`): to add one, or to put others in their place, is all.

Of each part, with its prefix:

    cases, skipped                      that were searched; that cannot be here, as their Python is not
    reproduced, median_rounds, …        the oracle held, after so many rounds, as ANDURIL counts
    true_cause, true_cause_strict       what is named first is the true cause: `benchmarks.reproduce.judging` says when
    true_among_equals                   it is among those that explain as much
    graded, graded_right                something was found; its grade agrees with that judgement
    claimed, claimed_right              the grade says that this is what failed; it is
    replay_stable                       each replay shows the failure
    found                               all of that by case

Then costs of analysis and hook, ANDURIL's published lists, and the ablations of ANDURIL §8.3 with the stack-trace
injector of §8.4, on the first part; these get fewer rounds and less time, as most of them run into the limit. `--quick`
leaves all of them out, and replays once.

It takes two hours at most (`--all-minutes`): the last searches get less time, then none begins. `limits` says what
limits there were, `left_out` what was not done for them or for lack of data, `errors` what went wrong. Ctrl-C
ends with what is known by then, `interrupted`, and exit code 130.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from benchmarks.reproduce.cases import PythonFailure, read_cases
from benchmarks.reproduce.searching import Trial, run_trials
from benchmarks.reproduce.summary import effort, to_table, truth

from benchmarks import analysis_cost, anduril_logs, hook_costs, hook_suites
from cutset.reproduce.settings import ReproductionSettings
from cutset.reproduce.strategies import SiteStrategyName

SHARED = Path("../shared/cases")
ANDURIL = Path("../shared/data/anduril-logs")
SEEN, UNSEEN = (Path(__file__).parents[1] / "cases" / name for name in ("seen", "unseen"))
REPLAYS = 5
LIMITS = ("rounds", "minutes", "replays", "ablation_rounds", "ablation_minutes", "all_minutes")

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
    trial = Trial(
        ReproductionSettings(options.rounds, minutes=options.minutes, strategy=options.strategy),
        options.environments,
        options.replays,
        begun + (options.all_minutes or inf) * 60,
    )
    document["left_out"] += [str(folder) for folder in parts(options).values() if not folder.is_dir()]
    found: dict[str, Results] = {}
    ablated: list[PythonFailure] = []
    for prefix, folder in parts(options).items():
        cases = [case for case in read_cases(folder) if not options.case or case.name in options.case]
        runnable = [case for case in cases if case.can_run()]
        ablated = ablated or runnable
        results = found[str(folder)] = {}
        print(f"== {len(runnable)} of {len(cases)} failures in {folder} can run here", flush=True)
        try:
            for name, result in run_trials(runnable, trial, options.at_once):
                results[name] = result
                minutes = (time.monotonic() - begun) / 60
                print(f"== {len(results)} of {len(runnable)} in {folder}, {minutes:.0f} minutes so far", flush=True)
                if options.table:
                    options.table.write_text(to_table(found))
        finally:
            skipped = [case.name for case in cases if case not in runnable]
            numbers = {"cases": len(results), "skipped": skipped, **effort(results), **truth(results)}
            document |= {f"{prefix}{key}": value for key, value in numbers.items()}
            document["left_out"] += [case.name for case in runnable if case.name not in results]
    if not options.quick:
        measure_costs(options, document, trial.deadline)
    ablate(ablated, trial, options, document)


def parts(options: argparse.Namespace) -> dict[str, Path]:
    """By what their keys begin with."""
    named = {
        **({"": options.folder} if options.folder else {}),
        **({"own_": SEEN} if options.seen else {}),
        **({"unseen_": UNSEEN} if options.unseen else {}),
    }
    return named or {"": SHARED, "own_": SEEN, "unseen_": UNSEEN}


def measure_costs(options: argparse.Namespace, document: dict[str, Any], deadline: float) -> None:
    costs: Mapping[str, Callable[[], dict[str, Any]]] = {
        "anduril_lists": lambda: anduril_lists(ANDURIL),
        "analysis_cost": analysis_costs,
        "hook_costs": hook_costs.measure,
        "hook_suites": lambda: hook_suites.measure(options.environments / "_suites"),
    }
    for name, cost in costs.items():
        if time.monotonic() > deadline or (name == "anduril_lists" and not ANDURIL.is_dir()):
            document["left_out"].append(name)
            continue
        print(f"== {name}", flush=True)
        try:
            document |= cost()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - packages that cannot be installed, for one
            document["errors"][name] = repr(error)


def anduril_lists(folder: Path) -> dict[str, int]:
    """Of ANDURIL's published lists of observables: how many are the same here, as logs are compared by default."""
    cases = [anduril_logs.compare(case) for case in sorted(folder.glob("*/"))]
    rows = [row for case in cases for row in case.values()]
    equal = sum(not row["only_ours"] and not row["only_published"] for row in rows)
    return {"anduril_lists": len(rows), "anduril_lists_equal": equal}


def analysis_costs() -> dict[str, Any]:
    costs = analysis_cost.measure()
    headline = "analysis_cpu_s_per_100k_lines"
    return {"analysis": costs, headline: costs[headline]}


def ablate(cases: list[PythonFailure], trial: Trial, options: argparse.Namespace, document: dict[str, Any]) -> None:
    every = [] if options.quick else [each for each in SiteStrategyName if each is not options.strategy]
    for strategy in options.ablate or every:
        settings = replace(
            trial.settings,
            rounds=options.ablation_rounds,
            minutes=options.ablation_minutes,
            strategy=strategy,
            second_fault=False,
            closer=0,
            repeats=0,
        )
        results: Results = {}
        try:
            for name, result in run_trials(cases, replace(trial, settings=settings, replays=0), options.at_once):
                results[name] = result
                print(f"== {strategy}: {len(results)} of {len(cases)}", flush=True)
        finally:
            document.setdefault("ablations", {})[strategy] = {"cases": len(results), **effort(results)}
            document["left_out"] += [f"{strategy}: {case.name}" for case in cases if case.name not in results]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help=f"default, if no part is named: {SHARED}")
    parser.add_argument("--seen", action="store_true", help="the failures of our own")
    parser.add_argument("--unseen", action="store_true", help="those that nobody looked at before")
    parser.add_argument("--case", action="append", help="only this one; may be given several times")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10, help="for the search of one case")
    parser.add_argument("--all-minutes", type=float, default=120, help="for all of it; 0: no limit")
    parser.add_argument("--replays", type=int, help=f"of what was found, 0: it is not judged; default: {REPLAYS}")
    parser.add_argument("--strategy", type=SiteStrategyName, default=SiteStrategyName.BEST_FIRST)
    parser.add_argument("--ablate", type=SiteStrategyName, action="append", help="only this one, also with --quick")
    parser.add_argument("--ablation-rounds", type=int, default=40)
    parser.add_argument("--ablation-minutes", type=float, default=1.5)
    parser.add_argument("--at-once", type=int, default=2, help="cases that run side by side")
    parser.add_argument("--quick", action="store_true", help="neither ablations nor costs, one replay")
    parser.add_argument("--table", type=Path, metavar="FILE", help="the results as Markdown, as they come")
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir(), "cutset-case-environments"))
    options = parser.parse_args()
    if options.replays is None:
        options.replays = 1 if options.quick else REPLAYS
    if options.folder and not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    known = {case.name for folder in parts(options).values() for case in read_cases(folder)}
    if unknown := sorted(set(options.case or ()) - known):
        parser.error(f"there is no case {', '.join(unknown)}")
    return options


if __name__ == "__main__":
    main()
