"""A reproduced failure as one JSON document, for programs of others (docs/reference/json.md).

`format` changes when a field changes its meaning or goes away. 2: `reproduced` is false if no repeat shows the failure.
"""

from collections.abc import Sequence
from typing import Any

from cutset.model.reproduction.result import CausalStep, LogLine, Reproduction, ReproductionResult
from cutset.model.reproduction.site import FiredFault
from cutset.report.reproduction.words import what_happened

FORMAT = 2


def to_document(result: ReproductionResult) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "reproduced": result.reproduced,
        "grade": result.grade.name.lower(),
        "rounds": result.rounds,
        "seconds": round(result.seconds, 3),
        "summary": result.summary,
        "stopped": result.stopped,
        "remarks": list(result.remarks),
        "case": {
            "sources": list(result.case.sources),
            "command": list(result.case.command),
            "oracle": result.case.oracle,
            "language": result.case.language,
        },
        "best": result.best and _reproduction(result.best),
        "first_found": result.first_found and _reproduction(result.first_found),
        "alternatives": [_reproduction(each) for each in result.alternatives],
        "equals": [each.round for each in result.equals],
    }


def _reproduction(found: Reproduction) -> dict[str, Any]:
    agreement = found.agreement
    return {
        "faults": [_fault(fault) for fault in found.faults],
        "grade": found.grade.name.lower(),
        "round": found.round,
        "reason": found.reason,
        "folder": str(found.folder),
        "repeats": found.repeats,
        "repeated": found.repeated,
        "unlike": found.unlike,
        "agreement": {
            "explained": agreement.explained,
            "lacking": _lines(agreement.lacking),
            "added": _lines(agreement.added),
            "values": agreement.values,
            "otherwise": _lines(agreement.otherwise),
            "apart": agreement.apart,
        },
        "group": found.group,
        "messages": [
            {
                "line": message.line,
                "text": message.text,
                "shown": message.shown,
                "absent": message.absent,
                "chain": [_step(step) for step in message.chain],
            }
            for message in found.messages
        ],
    }


def _lines(lines: Sequence[LogLine]) -> list[dict[str, Any]]:
    return [{"line": each.line, "text": each.text} for each in lines]


def _fault(fault: FiredFault) -> dict[str, Any]:
    site = fault.site
    return {
        "what": what_happened(fault),
        "site": str(site),
        "kind": site.kind.value,
        "module": site.module,
        "function": site.function,
        "expression": site.expression,
        "ordinal": site.ordinal,
        "path": site.path,
        "line": site.line,
        "end_line": site.end_line,
        "occurrence": fault.occurrence,
        "within": fault.within,
        "nth": fault.nth,
        "effect": fault.effect,
        "why": fault.why,
        "log_lines": fault.log_lines,
        "process": fault.process,
        "thread": fault.thread,
        "stack": list(fault.stack),
        "failure_log_line": fault.failure_line,
    }


def _step(step: CausalStep) -> dict[str, Any]:
    return {
        "kind": step.kind.value,
        "module": step.module,
        "function": step.function,
        "line": step.line,
        "text": step.text,
        "observed": step.observed,
    }
