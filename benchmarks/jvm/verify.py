"""Checks the cases: python -m benchmarks.jvm.verify [CASE …] [--runs 3] [--logs] [--count]

For each: without a fault no symptom, with the true fault the symptom, at a wrong occurrence or a wrong site no symptom,
and none with the true fault in the fixed version, where it fires or its site is gone. --logs writes failure.log and
good.log, --count shows the sites that are visited, with their calling contexts. Exit code 1 if something is wrong.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.jvm.failures import (
    CASES,
    JavaFailure,
    has_jdk,
    parse_site,
    read_cases,
    with_arguments,
)

from cutset.model.reproduction.event import OracleAnswer
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.jvm.extract import extract
from cutset.reproduce.jvm.harness import JvmHarness
from cutset.reproduce.jvm.tables import read_tables
from cutset.reproduce.oracle.expression import judge
from cutset.reproduce.rounds.harness import ArmedRound
from cutset.reproduce.rounds.runner import RoundRecord, how_it_ended, run_round
from cutset.reproduce.settings import FailureCase
from jvm.maven import CACHE

ENVIRONMENTS = Path(tempfile.gettempdir(), "cutset-case-environments")
ANALYSED = ENVIRONMENTS / "_analysed"  # what was read of programs
COLUMNS = ("case", "no fault", "truth", "wrong occurrence", "wrong site", "fixed")


@dataclass(frozen=True, slots=True)
class Check:
    """Runs that must show the symptom, or must not."""

    name: str
    case: FailureCase
    fault: Mapping[str, Any] | None
    symptom: bool


def main() -> None:
    options = parse_arguments()
    if not has_jdk():
        sys.exit("The cases need a JDK: `java` and `javac`")
    cases: list[JavaFailure] = options.cases
    if options.count:
        for known in cases:
            count(known)
        return
    if options.logs:
        for known in cases:
            write_logs(known)
    checked = [check_case(known, options.runs) for known in cases]
    for row in (COLUMNS, *(cells for cells, _ in checked)):
        print("| " + " | ".join(row) + " |")
    sys.exit(any(wrong for _, wrong in checked))


def check_case(known: JavaFailure, runs: int) -> tuple[list[str], bool]:
    """A row of the table, and whether anything in it is wrong."""
    cells, wrong = [known.name], False
    for check in checks_of(known):
        right = fired = 0
        for _ in range(runs):
            symptom, record, why = run(check.case, check.fault)
            right += symptom == check.symptom
            fired += record.fired is not None
            print(f"  {known.name} {check.name}: fired {bool(record.fired)}: {why}", flush=True)
            shutil.rmtree(record.folder.parent)
        # In the fixed version the site may be gone; elsewhere a fault that does not fire shows nothing.
        wrong |= right < runs or (check.fault is not None and check.name != "fixed" and fired < runs)
        cells.append(f"{right}/{runs}" + (f" (fired {fired})" if check.fault else ""))
    return cells + [""] * (len(COLUMNS) - len(cells)), wrong


def checks_of(known: JavaFailure) -> list[Check]:
    told, case = known.told, known.affected_case(ENVIRONMENTS)
    truth = told["ground_truth"]
    checks = [Check("none", case, None, symptom=False), Check("truth", case, truth, symptom=True)]
    checks += [
        Check(key.replace("_", " "), case, {**truth, **told[key]}, symptom=False)
        for key in ("wrong_occurrence", "wrong_site")
    ]
    if known.has_fix:
        fault = {**truth, **told.get("fixed_truth", {})}
        checks.append(Check("fixed", known.fixed_case(case, ENVIRONMENTS), fault, symptom=False))
    return checks


def write_logs(known: JavaFailure) -> None:
    """By runs that are unlike those of a search, if the file tells how: with other arguments, at another occurrence."""
    told, case = known.told, known.affected_case(ENVIRONMENTS)
    other = told.get("failure_log", {})
    differently = with_arguments(known, case, other.get("arguments", known.arguments))
    wanted = {"good.log": (case, None, False)}
    if not known.published:
        wanted["failure.log"] = differently, {**told["ground_truth"], **other}, True
    for name, (driven, fault, symptom) in wanted.items():
        shown, record, why = run(driven, fault)
        if shown is not symptom:
            raise SystemExit(f"{known.name}: no {name} written: {why}; fired: {bool(record.fired)}; {record.folder}")
        (known.folder / name).write_text(cleaned(record, known))
        shutil.rmtree(record.folder.parent)


def run(case: FailureCase, fault: Mapping[str, Any] | None) -> tuple[bool, RoundRecord, str]:
    """Whether it shows the symptom, how it went, why."""
    plan = ArmedRound(records_visits=False, records_functions=False)
    if fault:
        within = fault.get("within", "")
        armed = SiteFault(0, fault["occurrence"], fault["exception"], within)
        # Contexts are made of what is analysed.
        analysed = read_tables(extract(case, cache=ANALYSED)).paths if within else ()
        plan = ArmedRound([(0, parse_site(fault["site"]))], (armed,), analysed=analysed)
    return asyncio.run(_judged(case, plan))


async def _judged(case: FailureCase, plan: ArmedRound) -> tuple[bool, RoundRecord, str]:
    harness = JvmHarness()
    record = await run_round(case.workload, plan, Path(tempfile.mkdtemp(prefix="case_")) / "round", harness)
    verdict = await judge(case.oracle, record, harness.dialect)
    problems = "; ".join(record.problems)
    return verdict.answer is OracleAnswer.YES, record, f"{verdict.reason} ({how_it_ended(record)}) {problems}"


def cleaned(record: RoundRecord, known: JavaFailure) -> str:
    """The log, as of another machine: its folders are elsewhere. What is in them keeps its name, as it does there."""
    text = "".join(path.read_text(errors="replace") for path in record.logs)
    elsewhere = {record.folder: "/run", known.folder.parent: "/app", ENVIRONMENTS: "/app", CACHE: "/maven"}
    for path, name in elsewhere.items():
        text = text.replace(str(path.resolve()), name).replace(str(path), name)
    kept = (line for line in text.splitlines(keepends=True) if not line.startswith("Picked up JAVA_TOOL_OPTIONS"))
    return "".join(kept)


def count(known: JavaFailure) -> None:
    case = known.affected_case(ENVIRONMENTS)
    program = read_tables(extract(case, cache=ANALYSED))
    plan = ArmedRound(list(enumerate(program.sites)), analysed=program.paths)
    _, record, why = asyncio.run(_judged(case, plan))
    print(f"{known.name}: {why}; {len(record.visits)} visits")
    counts = JvmHarness().visit_counts(record.folder)
    contexts: dict[int, Counter[str]] = {}
    for visit in record.visits:
        contexts.setdefault(visit.site, Counter())[visit.within] += 1
    for number, visits in sorted(counts.items(), key=lambda each: str(program.sites[each[0]])):
        print(f"{visits:6} {program.sites[number]}")
        for within, times in contexts.get(number, Counter()).most_common():
            print(f"       {times:6} {within}")
    shutil.rmtree(record.folder.parent)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help="default: all of them")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--logs", action="store_true")
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    known = [case for part in ("seen", "unseen") for case in read_cases(CASES / part)]
    options.cases = selected(known, options.case, parser)
    return options


def selected(known: Sequence[JavaFailure], names: Sequence[str], parser: argparse.ArgumentParser) -> list[JavaFailure]:
    if unknown := sorted(set(names) - {case.name for case in known}):
        parser.error(f"there is no case {', '.join(unknown)}")
    return [case for case in known if not names or case.name in names]


if __name__ == "__main__":
    main()
