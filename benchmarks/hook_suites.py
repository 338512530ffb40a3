"""Test suites of popular packages, with the hook of a reproduction and without: each test must end the same.

    python -m benchmarks.hook_suites [FOLDER]    ends with one line of JSON

All sites of the package are traced. Each suite runs twice without the hook, to know which tests are flaky anyway, and
once with it. FOLDER keeps packages and tests between runs.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from benchmarks.hook_costs import HOOK, KEPT, environment, packages_of, plan_of

from cutset.reproduce.python.harness import hook_plan
from cutset.reproduce.python.source import read_program
from cutset_agent.sites.visits import read_counts

SUITES = {"click": "click==8.1.8", "jinja2": "jinja2==3.1.6", "werkzeug": "werkzeug==3.1.3"}
NEEDED = (
    *("pytest==8.4.2", "pytest-timeout==2.4.0", "trio==0.30.0"),
    *("cryptography==46.0.3", "ephemeral-port-reserve==1.1.4", "watchdog==6.0.0"),  # for Werkzeug's server
)

Outcomes = dict[str, str]


def measure(folder: Path = KEPT) -> dict[str, Any]:
    python = environment(folder / "suites", [*SUITES.values(), *NEEDED])
    found = {}
    for package, requirement in SUITES.items():
        found[package] = compare(package, python, _tests_of(requirement, python, folder / "tests" / requirement))
        print(package, found[package], flush=True)
    return {"suites_unchanged": found}


def compare(package: str, python: Path, tests: Path) -> dict[str, Any]:
    """How the tests in a folder end with and without the hook in a package."""
    plain = [_run(python, tests, {}) for _ in range(2)]
    plan = plan_of(read_program([package], packages_of(python)))
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        (out / "plan.json").write_text(json.dumps(hook_plan(replace(plan, cache=out / "cache"), out)))
        hooked = _run(python, tests, {"CUTSET_SITES": str(out / "plan.json"), "PYTHONPATH": str(HOOK)})
        visits = sum(read_counts(name).values())
        problems = (out / "problems.txt").read_text().splitlines() if (out / "problems.txt").exists() else []
    ends = {test: {outcomes.get(test, "missing") for outcomes in plain} for test in set().union(hooked, *plain)}
    different = sorted(test for test in ends if hooked.get(test, "missing") not in ends[test])
    return {
        "tests": len(hooked),
        "unchanged": bool(hooked and visits) and not different and not problems,  # no visits: there was no hook
        "different": [f"{test}: {hooked.get(test, 'missing')}, not {ends[test]}" for test in different],
        "flaky": sorted(test for test in ends if len(ends[test]) > 1),
        "visits": visits,
        "problems": problems,
    }


def _tests_of(requirement: str, python: Path, folder: Path) -> Path:
    """The source distribution without the package itself, which is installed."""
    if not folder.exists():
        with tempfile.TemporaryDirectory() as name:
            download = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", name, requirement]
            subprocess.run([python, *download], check=True)
            [archive] = Path(name).iterdir()
            with tarfile.open(archive) as file:
                members = [each for each in file.getmembers() if each.name.split("/")[1:2] != ["src"]]
                file.extractall(Path(name, "content"), members, filter="data")
            [content] = Path(name, "content").iterdir()
            folder.parent.mkdir(parents=True, exist_ok=True)
            content.rename(folder)
    return folder


def _run(python: Path, tests: Path, env: Mapping[str, str]) -> Outcomes:
    with tempfile.TemporaryDirectory() as name:
        report = Path(name, "report.xml")
        options = ["-q", "-p", "no:cacheprovider", "--timeout=60", f"--junitxml={report}"]
        run = subprocess.run(
            [python, "-m", "pytest", *options, "tests"],
            cwd=tests,
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            sys.exit(f"{tests}: the tests did not run:\n{run.stdout}{run.stderr}")
        return read_outcomes(report.read_text())


def read_outcomes(report: str) -> Outcomes:
    """Of each test in a JUnit report, as pytest writes it."""
    outcomes: dict[str, str] = {}
    for case in ET.fromstring(report).iter("testcase"):
        bad = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        name = f"{case.get('classname')}::{case.get('name')}"
        outcomes[name] = " ".join(filter(None, [outcomes.get(name), *(bad or ["passed"])]))
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=KEPT)
    print(json.dumps(measure(parser.parse_args().folder)))


if __name__ == "__main__":
    main()
