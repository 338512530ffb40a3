"""Whether what was found is the true cause, and whether the replay that users get shows it every time.

true_cause_strict  the fault at the site of the ground truth, or at one that its file calls equivalent, with an
                   exception of its class; at any occurrence, as that depends on timing
true_cause         that; or a fault whose generated test fails on the affected version and, with its fault fired,
                   passes on the fixed one; where there is no fixed version to ask, that alone
true_among_equals  the true cause is what is named first, or, strictly, one of those that are said to explain as much
claimed            the grade says that what failed is among what is named: the log is reproduced, or all its messages
claimed_right      and it is
graded_right       that is said where the true cause is among what is named, and nowhere else. Null if nothing is found:
                   "not reproduced" names no cause to be wrong about, and would make a search that finds nothing the
                   most honest one
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.reproduce.known import GroundTruth, KnownFailure

from cutset.model.reproduction.event import OracleAnswer
from cutset.model.reproduction.result import Grade, Reproduction, ReproductionResult
from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.settings import FailureCase

GRACE_S = 60  # that a replay may take beyond its two runs of the workload
_TESTED = {"1 passed": "test passes", "1 failed": "test fails", "1 error": "test cannot tell"}  # as pytest has it
_ANSWERED = {"no": "test passes", "yes": "test fails", "cannot tell": "test cannot tell"}  # by what a replay answers


def describe(known: KnownFailure, case: FailureCase, result: ReproductionResult) -> dict[str, Any]:
    """What can be said without a replay."""
    best = result.best
    if best is None:
        return {"grade": Grade.NOTHING.name}
    fault = best.faults[-1]
    named = is_named(best, known, case)
    return {
        "grade": result.grade.name,
        "found_in_round": best.round,
        "unlike": best.unlike,
        "values": best.agreement.values,
        "site": str(fault.site),
        "occurrence": fault.occurrence,
        "within": fault.within,
        "effect": fault.effect,
        "faults": len(best.faults),
        "equals": [" + ".join(map(str, each.faults)) for each in result.equals],
        "repeated": f"{best.repeated} of {best.repeats}",
        "true_cause_strict": named,
        "true_cause": named,
        "true_among_equals": named or any(is_named(each, known, case) for each in result.equals),
    }


def judge(
    known: KnownFailure,
    case: FailureCase,
    found: dict[str, Any],
    best: Reproduction,
    *,
    environments: Path,
    place: Path,
    replays: int,
) -> None:
    """Adds to what was found how its replays end. `place`: a folder for them."""
    write_replay = known.front_end.write_replay
    script = write_replay(place / "replay", case, best.faults)
    shown = [replayed(script, known.timeout_s) for _ in range(replays)]
    found |= {"replay": f"{sum(shown)} of {replays}", "replay_stable": all(shown)}
    if known.has_fix:
        script = write_replay(place / "replay-fixed", known.fixed_case(case, environments), best.faults)
        found["fixed_version"] = on_fixed(script, known.timeout_s)
        found["true_cause"] |= found["fixed_version"] == "test passes" and any(shown)
        found["true_among_equals"] |= found["true_cause"]


def grading(found: dict[str, Any]) -> dict[str, bool | None]:
    if "site" not in found:
        return {"claimed": False, "claimed_right": False, "graded_right": None}
    claimed = found["grade"] in (Grade.LOG.name, Grade.MESSAGES.name)
    claimed_right = claimed and bool(found["true_among_equals"])
    return {
        "claimed": claimed,
        "claimed_right": claimed_right,
        "graded_right": claimed_right if claimed else not found["true_cause"],
    }


def is_named(found: Reproduction, known: KnownFailure, case: FailureCase) -> bool:
    """Whether it is the one fault that the ground truth tells."""
    same_class = partial(known.same_class, case)
    return len(found.faults) == 1 and is_truth(found.faults[0], known.truth, same_class)


def is_truth(fault: FiredFault, truth: GroundTruth, same_class: Callable[[str, str], bool]) -> bool:
    """`same_class` compares an effect with an exception."""
    return str(fault.site) in truth.sites and any(same_class(fault.effect, each) for each in truth.exceptions)


def replayed(script: Path, timeout_s: float) -> bool:
    """Whether it shows the failure."""
    return answer(script, timeout_s) == OracleAnswer.YES


def answer(script: Path, timeout_s: float) -> str:
    """Empty: it does not end."""
    output = run([sys.executable, script.with_name("replay.py"), "--json"], script.parent, timeout_s)
    return str(json.loads(output)["answer"]) if output.startswith("{") else ""


def on_fixed(script: Path, timeout_s: float) -> str:
    """What the test says that a front end generates for pytest; or what it would say."""
    test = script.with_name("test_reproduction.py")
    if test.exists():
        return tested(test, timeout_s)
    return _ANSWERED.get(answer(script, timeout_s), "test does not end")


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
