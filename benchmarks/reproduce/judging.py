"""Whether what was found is the true cause, and whether the replay that users get shows it every time.

The true cause is the fault at the site of the ground truth, with an exception of its class, at any occurrence, as that
depends on timing. Another fault is the true cause, too, if its generated test fails on the affected version and, with
its fault fired, passes on the fixed one. Where there is no fixed version to ask, it is not.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.reproduce.cases import GroundTruth, KnownFailure, fixed_case

from cutset.model.reproduction.result import Grade, Reproduction, ReproductionResult
from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.python.replay_script import write_replay
from cutset.reproduce.settings import FailureCase

GRACE_S = 60  # that a replay may take beyond its two runs of the workload
_TESTED = {"1 passed": "test passes", "1 failed": "test fails", "1 error": "test cannot tell"}  # as pytest has it
_SAME_CLASS = """
import sys
def class_of(effect):
    *modules, _ = effect.partition("(")[0].split(".")
    for end in range(len(modules)):
        __import__(".".join(modules[: end + 1]))
    return type(eval(effect, dict(sys.modules)))
sys.exit(class_of(sys.argv[1]) is not class_of(sys.argv[2]))
"""


def judge(
    known: KnownFailure,
    case: FailureCase,
    result: ReproductionResult,
    *,
    environments: Path,
    place: Path,
    replays: int,
) -> dict[str, Any]:
    """`place`: a folder for replays."""
    best = result.best
    if best is None:
        return {"grade": Grade.NOTHING.name}
    fault = best.faults[-1]
    script = write_replay(place / "replay", case, best.faults)
    shown = [replayed(script, known.timeout_s) for _ in range(replays)]
    named = is_named(best, known.truth, case)
    found: dict[str, Any] = {
        "grade": result.grade.name,
        "found_in_round": best.round,
        "unlike": best.unlike,
        "values": best.agreement.values,
        "site": str(fault.site),
        "occurrence": fault.occurrence,
        "within": fault.within,
        "effect": fault.effect,
        "faults": len(best.faults),
        "is_ground_truth": named,
        "equals": [" + ".join(map(str, each.faults)) for each in result.equals],
        "repeated": f"{best.repeated} of {best.repeats}",
        "replay": f"{sum(shown)} of {replays}",
        "replay_stable": all(shown),
    }
    if known.fixed_requirements:
        script = write_replay(place / "replay-fixed", fixed_case(known, case, environments), best.faults)
        found["fixed_version"] = tested(script.with_name("test_reproduction.py"), known.timeout_s)
    found["true_cause"] = named or (found.get("fixed_version") == "test passes" and any(shown))
    found["true_among_equals"] = found["true_cause"] or any(is_named(each, known.truth, case) for each in result.equals)
    return found


def graded_right(found: dict[str, Any]) -> bool:
    """That the log is reproduced is said of the true cause, or of several with it among them, and of nothing else."""
    if found["grade"] == Grade.LOG.name:
        return bool(found.get("true_among_equals"))
    return not found.get("true_cause")


def is_named(found: Reproduction, truth: GroundTruth, case: FailureCase) -> bool:
    """Whether it is the one fault that the ground truth tells."""
    return len(found.faults) == 1 and is_truth(found.faults[0], truth, case.workload.command[0])


def is_truth(fault: FiredFault, truth: GroundTruth, python: str) -> bool:
    return str(fault.site) in truth.sites and any(
        same_class(fault.effect, exception, python) for exception in truth.exceptions
    )


def same_class(effect: str, exception: str, python: str) -> bool:
    """As the interpreter of the case has it: `OSError(104)` is a ConnectionResetError, `socket.timeout` has moved."""
    if effect == exception:
        return True
    command = [python, "-c", _SAME_CLASS, effect, exception]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def replayed(script: Path, timeout_s: float) -> bool:
    """Whether it shows the failure."""
    output = run([sys.executable, script, "--json"], script.parent, timeout_s)
    return output.startswith("{") and json.loads(output)["answer"] == "yes"


def tested(test: Path, timeout_s: float) -> str:
    """What the generated test says. Where its fault does not fire, it cannot tell."""
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".")
    output = run([sys.executable, "-m", "pytest", *options, test], test.parent, timeout_s)
    return next((words for text, words in _TESTED.items() if text in output), "test does not end")


def run(command: Sequence[str | Path], folder: Path, timeout_s: float) -> str:
    """What it prints; nothing of it, if it does not end."""
    limit = 2 * timeout_s + GRACE_S
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return ""
    return ran.stdout
