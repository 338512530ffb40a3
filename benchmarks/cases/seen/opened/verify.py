"""Verify the cases of this folder: python verify.py [CASE ...] [--times 5] [--logs] [--count]

For each: no fault, the true fault, its site at a wrong occurrence, a wrong site, and the true fault on the fixed version.
--logs also writes failure.log and good.log; --count only tells how often the sites of the targets are executed.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = Path(tempfile.gettempdir(), "cutset-case-environments")


def environment(name: str, version: str, requirements: list[str]) -> Path:
    folder = ENVIRONMENTS / name
    if not (folder / "ready").exists():
        python = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))[-1]
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        if requirements:
            subprocess.run([folder / "bin" / "pip", "install", "-q", *requirements], check=True)
        (folder / "ready").touch()
    return folder


def clean(text: str, run: Path, venv: Path) -> str:
    frame = r'[ |+]*File "[^"]*_inject/sitecustomize\.py", line \d+, in \w+\n(?:    .*\n)?(?: +[\^~]+\n)?'
    text = re.sub(frame, "", text)
    quoted = r'  File \\*"[^"\\]*_inject/sitecustomize\.py\\*", line \d+, in \w+\\n    .*?\\n'
    text = re.sub(quoted, "", text)
    for old, new in ((str(run), "/run"), (str(venv), "/venv"), (str(HERE), "/cases")):
        text = text.replace(old, new)
    return re.sub(r"/\S*/\.pyenv/versions/[^/]*", "/usr", text)


def run(case: Path, told: dict[str, Any], fault: dict[str, Any] | None, fixed: bool = False, count: bool = False) -> dict[str, Any]:
    venv = environment(
        case.name + (".fixed" if fixed else ""), told["python"], told["fixed_requirements" if fixed else "requirements"]
    )
    place = Path(tempfile.mkdtemp(prefix="set-aside-"))
    work, outcome = place / "work", place / "outcome"
    work.mkdir(), outcome.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("INJECT", "PYTHON"))}
    env |= {"PYTHONPATH": f"{HERE / '_common'}", "VENV": str(venv), "PYTHONUNBUFFERED": "1"}
    if fault or count:
        env["PYTHONPATH"] += f"{os.pathsep}{HERE / '_inject'}"
    if fault:
        env["INJECT"] = json.dumps(
            {key: fault[key] for key in ("site", "occurrence", "exception")} | {"mark": str(place / "fired")}
        )
    if count:
        env |= {"INJECT_COUNT": str(place), "INJECT_TARGETS": ",".join(told["targets"])}
    begin = time.monotonic()
    with open(place / "raw.log", "wb") as log:
        process = subprocess.Popen(
            [venv / "bin" / "python", case / "workload.py"],
            cwd=work, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
        )
        try:
            code: int | None = process.wait(told["workload"]["timeout_s"])
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    seconds = time.monotonic() - begin
    text = clean((place / "raw.log").read_text(errors="replace"), work, venv)
    (outcome / "run.log").write_text(text)
    if (work / "state.json").exists():
        shutil.copy(work / "state.json", outcome)
    oracle = subprocess.run(
        [sys.executable, case / "oracle.py", outcome],
        env={**os.environ, "PYTHONPATH": str(HERE / "_common")}, capture_output=True, text=True,
    )
    result = {
        "holds": oracle.returncode == 0, "words": (oracle.stdout + oracle.stderr).strip(), "exit": code,
        "seconds": round(seconds, 1), "fired": (place / "fired").exists(), "log": text, "broken": "Traceback" in oracle.stderr,
    }
    if count:
        total: dict[str, int] = {}
        for part in place.glob("counts.*.json"):
            for site, number in json.loads(part.read_text()).items():
                total[site] = total.get(site, 0) + number
        result["counts"] = total
    shutil.rmtree(place, ignore_errors=True)
    return result


def verify(case: Path, times: int, logs: bool) -> list[str]:
    told = tomllib.loads((case / "case.toml").read_text())
    truth = told["ground_truth"]
    rows = [("no fault", None, False, False), ("truth", truth, False, True)]
    if "wrong_occurrence" in told:
        rows.append(("wrong occurrence", truth | told["wrong_occurrence"], False, False))
    if "wrong_site" in told:
        rows.append(("wrong site", truth | told["wrong_site"], False, False))
    if told.get("fixed_requirements"):
        rows.append(("fixed version", truth | told.get("fixed_truth", {}), True, False))
    lines = []
    for name, fault, fixed, wanted in rows:
        repeat = times if name in ("no fault", "truth") else 2
        results = [run(case, told, fault, fixed) for _ in range(repeat)]
        good = sum(result["holds"] == wanted and not result["broken"] for result in results)
        fired = sum(result["fired"] for result in results)
        exits = sorted({str(result["exit"]) for result in results})
        slowest = max(result["seconds"] for result in results)
        mark = "" if good == repeat else "  <-- UNEXPECTED"
        lines.append(
            f"{case.name:28} {name:17} {'symptom' if wanted else 'none':8} {good} of {repeat}"
            f"  fired {fired}  exit {','.join(exits)}  {slowest:4.1f} s{mark}  | {results[-1]['words']}"
        )
        print(lines[-1], flush=True)
        if logs and name == "truth":
            (case / "failure.log").write_text(next(result["log"] for result in results if result["holds"]))
        if logs and name == "no fault":
            (case / "good.log").write_text(results[0]["log"])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--logs", action="store_true")
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    cases = [HERE / name for name in options.cases] or sorted(path.parent for path in HERE.glob("*/case.toml"))
    lines = []
    for case in cases:
        if options.count:
            told = tomllib.loads((case / "case.toml").read_text())
            result = run(case, told, None, count=True)
            print(case.name, result["words"], result["exit"], result["seconds"])
            for site, number in sorted(result["counts"].items()):
                print(f"{number:6} {site}")
            print(result["log"][-3000:])
        else:
            lines += verify(case, options.times, options.logs)
    bad = sum("UNEXPECTED" in line for line in lines)
    if lines:
        print(f"{len(cases)} cases, {len(lines)} rows, {bad} unexpected")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
