"""What came of many searches: in numbers, and as a table for people."""

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

Results = Mapping[str, Mapping[str, Any]]  # by name of the case

SHOWN = (
    *("grade", "true_cause", "true_cause_strict", "true_among_equals", "graded_right", "site", "effect", "occurrence"),
    *("within", "equals", "found_in_round", "unlike", "values", "repeated", "replay", "fixed_version"),
    *("stopped", "ended", "error"),
)
COUNTED = (
    *("true_cause", "true_cause_strict", "true_among_equals", "graded", "graded_right", "claimed", "claimed_right"),
    "replay_stable",
)
COLUMNS = ("case", "true cause", "strictly", "grade", "right", "fault", "rounds", "replay", "fixed version", "seconds")


def effort(results: Results) -> dict[str, Any]:
    """Rounds until the oracle holds, as ANDURIL counts."""
    rounds = [result["rounds"] for result in results.values() if result["reproduced"]]
    return {
        "reproduced": len(rounds),
        "median_rounds": statistics.median(rounds) if rounds else None,
        "max_rounds": max(rounds, default=None),
        "rounds": {name: result["rounds"] if result["reproduced"] else None for name, result in results.items()},
        "seconds": round(sum(result["seconds"] for result in results.values()), 1),
    }


def truth(results: Results) -> dict[str, Any]:
    """Grades are judged where something was found: `graded_right` of `graded`, and `claimed_right` of `claimed`."""
    judged = [{**result, "graded": "site" in result} for result in results.values()]
    return {
        **{key: sum(bool(result.get(key)) for result in judged) for key in COUNTED},
        "found": {name: {key: result.get(key) for key in SHOWN} for name, result in results.items()},
    }


def to_table(parts: Mapping[str, Results]) -> str:
    return "\n".join(line for title, results in parts.items() if results for line in _part(title, results))


def _part(title: str, results: Results) -> list[str]:
    counts = {"cases": len(results), **effort(results), **truth(results)}
    told = ("cases", "reproduced", *COUNTED, "median_rounds")
    return [
        f"## {title}",
        "",
        ", ".join(f"{key.replace('_', ' ')} {counts[key]}" for key in told),
        "",
        _row(COLUMNS),
        _row(["---"] * len(COLUMNS)),
        *(_row(_cells(name, result)) for name, result in sorted(results.items())),
        "",
    ]


def _cells(name: str, result: Mapping[str, Any]) -> list[object]:
    fault = result.get("ended") or result.get("error", "").strip().rpartition("\n")[2]
    among = "among equals" if result.get("true_among_equals") else "no"
    judged = ["", "", result["grade"], ""]
    if "site" in result:
        fault = f"{result['effect']} at {result['site']}, occurrence {result['occurrence']}"
        words = ("no", "yes")
        true = "yes" if result["true_cause"] else among
        judged = [true, words[result["true_cause_strict"]], result["grade"], words[result["graded_right"]]]
    return [
        name,
        *judged,
        fault,
        result["rounds"] if result["reproduced"] else f"not in {result['rounds']}",
        result.get("replay", ""),
        result.get("fixed_version", ""),
        result["seconds"],
    ]


def _row(cells: Iterable[object]) -> str:
    texts = [" ".join(str(cell).replace("|", r"\|").split()) for cell in cells]
    return f"| {' | '.join(texts)} |"
