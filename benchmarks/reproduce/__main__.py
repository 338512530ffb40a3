"""Real failures of real Python systems, reproduced from their logs: how many, by their true cause, at what cost.

    python -m benchmarks.reproduce [FOLDER] [--case NAME] [--quick]    ends with one line of JSON

Three parts: the failures in FOLDER; `benchmarks/cases/seen`, which were looked at while Cutset was made (`own_…`); and
`benchmarks/cases/unseen`, which were not (`unseen_…`). With FOLDER, `--seen` or `--unseen`, only what is named.

The ablations of ANDURIL §8.3 and the stack-trace injector of §8.4 get fewer rounds and less time, as most of them run
into the limit. `--quick` leaves them and the costs out, and replays once.
"""

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.reproduce.cases import KnownFailure, can_run, read_cases
from benchmarks.reproduce.searching import Trial, run_trials
from benchmarks.reproduce.summary import effort, to_table, truth

from benchmarks import analysis_cost, anduril_logs, hook_costs, hook_suites
from cutset.reproduce.settings import ReproductionSettings
from cutset.reproduce.strategies import SiteStrategyName

SHARED = Path("../shared/cases")
ANDURIL = Path("../shared/data/anduril-logs")
SEEN, UNSEEN = (Path(__file__).parents[1] / "cases" / name for name in ("seen", "unseen"))
REPLAYS = 5


def main() -> None:
    options = parse_arguments()
    settings = ReproductionSettings(options.rounds, minutes=options.minutes, strategy=options.strategy)
    replays = options.replays or (1 if options.quick else REPLAYS)
    trial = Trial(settings, options.environments, replays)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    document: dict[str, Any] = {"replays": replays}
    for prefix, folder in parts(options).items():
        cases, skipped = wanted_cases(folder, options.case)
        results = found[str(folder)] = {}
        for name, result in run_trials(cases, trial, options.at_once):
            results[name] = result
            if options.table:
                options.table.write_text(to_table(found))
        numbers = {"cases": len(cases), "skipped": skipped, **effort(results), **truth(results)}
        document |= {f"{prefix}{key}": value for key, value in numbers.items()}
        if not prefix and not options.quick:
            document["ablations"] = ablations(cases, trial, options)
    if not options.quick:
        document |= anduril_lists(ANDURIL)
        document["analysis"] = analysis_cost.measure()
        document["analysis_cpu_s_per_100k_lines"] = document["analysis"]["analysis_cpu_s_per_100k_lines"]
        document |= hook_costs.measure()
        document |= hook_suites.measure(options.environments / "_suites")
    print(json.dumps(document))


def parts(options: argparse.Namespace) -> dict[str, Path]:
    """By what their keys begin with."""
    named = {
        **({"": options.folder} if options.folder else {}),
        **({"own_": SEEN} if options.seen else {}),
        **({"unseen_": UNSEEN} if options.unseen else {}),
    }
    return named or {"": SHARED, "own_": SEEN, "unseen_": UNSEEN}


def wanted_cases(folder: Path, names: list[str] | None) -> tuple[list[KnownFailure], list[str]]:
    """Those that can run here, and the names of those that cannot."""
    cases = [case for case in read_cases(folder) if not names or case.name in names]
    skipped = [case.name for case in cases if not can_run(case)]
    return [case for case in cases if case.name not in skipped], skipped


def ablations(cases: list[KnownFailure], trial: Trial, options: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for strategy in SiteStrategyName:
        if strategy is not trial.settings.strategy:
            settings = replace(
                trial.settings,
                rounds=options.ablation_rounds,
                minutes=options.ablation_minutes,
                strategy=strategy,
                second_fault=False,
                closer=0,
                repeats=0,
            )
            ablated = replace(trial, settings=settings, replays=0)
            found[strategy] = effort(dict(run_trials(cases, ablated, options.at_once)))
    return found


def anduril_lists(folder: Path) -> dict[str, int]:
    """Of ANDURIL's published lists of observables: how many are the same here, as logs are compared by default."""
    cases = [anduril_logs.compare(case) for case in sorted(folder.glob("*/"))]
    rows = [row for case in cases for row in case.values()]
    equal = sum(not row["only_ours"] and not row["only_published"] for row in rows)
    return {"anduril_lists": len(rows), "anduril_lists_equal": equal}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help=f"default, if no part is named: {SHARED}")
    parser.add_argument("--seen", action="store_true", help="the failures of our own")
    parser.add_argument("--unseen", action="store_true", help="those that nobody looked at before")
    parser.add_argument("--case", action="append", help="only this one; may be given several times")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10, help="for the search of one case")
    parser.add_argument("--replays", type=int, help=f"of what was found; default: {REPLAYS}")
    parser.add_argument("--strategy", type=SiteStrategyName, default=SiteStrategyName.BEST_FIRST)
    parser.add_argument("--ablation-rounds", type=int, default=40)
    parser.add_argument("--ablation-minutes", type=float, default=1.5)
    parser.add_argument("--at-once", type=int, default=2, help="cases that run side by side")
    parser.add_argument("--quick", action="store_true", help="neither ablations nor costs, one replay")
    parser.add_argument("--table", type=Path, metavar="FILE", help="the results as Markdown, as they come")
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir(), "cutset-case-environments"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
