"""What an oracle says of a log and of a fault without a run: which lines it looks for, which exceptions it asks for."""

import re
from collections.abc import Iterator
from dataclasses import replace

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.oracle.expression import Both, Check, Either, Not, Oracle


def is_symptom(record: LogRecord, oracle: Oracle) -> bool:
    """Whether an entry of the failure log is what the oracle recognises the failure by."""
    text = "\n".join((record.message, *record.traceback))
    return any(re.search(check.argument, text) for check in _asserted(oracle) if check.kind == "log")


def told_by_a_log(oracle: Oracle) -> Oracle | None:
    """The part of it that looks at lines alone; None if there is none."""
    match oracle:
        case Check():
            return oracle if oracle.kind in ("log", "missing", "exception") else None
        case Not(part):
            kept = told_by_a_log(part)
            return kept and Not(kept)
        case Both(parts) | Either(parts):
            told = tuple(kept for part in parts if (kept := told_by_a_log(part)))
            return replace(oracle, parts=told) if len(told) > 1 else told[0] if told else None


def own_symptoms(effect: str, oracle: Oracle) -> list[str]:
    """A warning if the oracle asks for the very exception that is injected: then it proves little."""
    name = effect.partition("(")[0].rpartition(".")[2]
    for check in _asserted(oracle):
        if check.kind in ("exception", "log") and re.search(rf"\b{re.escape(name)}\b", check.argument):
            return [f"the oracle asks for `{name}`, which is what was injected: the cause may be deeper"]
    return []


def _asserted(oracle: Oracle) -> Iterator[Check]:
    match oracle:
        case Check():
            yield oracle
        case Both(parts) | Either(parts):
            for part in parts:
                yield from _asserted(part)
        case Not():
            return
