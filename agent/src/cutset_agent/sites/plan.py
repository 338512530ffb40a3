"""What there is to do in a run: the plan that CUTSET_SITES names, as `runtime` describes it."""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH100, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    ArmedEffect = tuple[str, str]  # the file that it leaves when it fires, and the effect


def read_plan(path: str, store: Callable[[str, bytes], None]) -> dict[str, Any]:
    """The first process stores it in a form that the others read ten times faster."""
    status = os.stat(path)
    stamp = (status.st_mtime_ns, status.st_size)
    try:
        with open(path + ".read", "rb") as file:
            read_stamp, read = marshal.loads(file.read())  # noqa: S302 - our own
        if read_stamp == stamp:
            return read  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError, TypeError):
        pass
    import json  # noqa: PLC0415

    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    faults = _faults_by_site(plan)
    files, last_site = {}, 0
    for name, rows in plan["files"].items():
        wanted = [row for row in rows if plan["trace"] or row[0] in faults]
        if wanted:
            last_site = max(last_site, *(row[0] for row in wanted))
            files[os.path.realpath(name)] = json.dumps(wanted)  # few processes need them, and then few of them
    analysed = [os.path.realpath(name) for name in plan.get("analysed", plan["files"])]
    plan.update(faults=faults, files=files, sites=last_site + 1, analysed=analysed)
    plan.setdefault("functions", False)
    plan.setdefault("cache", os.path.join(os.path.dirname(os.path.abspath(plan["out"])), "cache"))
    store(path + ".read", marshal.dumps((stamp, plan), 2))  # a version that all Pythons know
    return plan  # type: ignore[no-any-return]


def _faults_by_site(plan: dict[str, Any]) -> dict[int, dict[str, dict[int, list[ArmedEffect]]]]:
    faults: dict[int, dict[str, dict[int, list[ArmedEffect]]]] = {}
    named = [(f"first.{number}.json", row) for number, row in enumerate(plan.get("first", ()))]
    for leaves, (site, occurrence, effect, *within) in [*named, *(("fired.json", row) for row in plan["choices"])]:
        of_context = faults.setdefault(site, {}).setdefault(within[0] if within else "", {})
        of_context.setdefault(occurrence, []).append((leaves, effect))
    for of_site in faults.values():
        for of_context in of_site.values():
            for occurrence in of_context.keys() - {0}:
                of_context[occurrence] += of_context.get(0, ())
    return faults
