"""What an oracle says of a log and of a fault without a run: which lines it looks for, which exceptions it asks for."""

import re
from collections.abc import Iterator

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.oracle.expression import Both, Check, Either, Not, Oracle


def is_symptom(record: LogRecord, oracle: Oracle) -> bool:
    """Whether an entry of the failure log is what the oracle recognises the failure by."""
    text = "\n".join((record.message, *record.traceback))
    return any(re.search(check.argument, text) for check in _asserted(oracle) if check.kind == "log")


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
