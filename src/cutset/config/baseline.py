"""Reads a baseline: the file of accepted findings that `cutset baseline` writes and people fill in."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, with_config
from pydantic_core import PydanticCustomError

from cutset.config.yaml import STRICT, read_yaml, validate
from cutset.errors import UsageError
from cutset.model.expect import Expect, Name
from cutset.model.fault import Fault
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.report.campaign.baseline import FORMAT, Accepted

FaultText = Annotated[str, Expect("a fault such as `cart/GetCart:abort(503)`", Fault.parse)]


def load_baseline(path: Path) -> list[Accepted]:
    try:
        content = read_yaml(path)
    except UsageError as error:
        hint = f"Correct it, or write a new one with `cutset baseline --force -o {path}`"
        raise UsageError(error.message, hint=hint) from error
    return [_accepted(entry) for entry in validate(path, _File, content).accepted]


@dataclass(frozen=True, slots=True)
class _Entry:
    id: str
    request: Name
    cut: Annotated[tuple[FaultText, ...], Expect("at least one fault", len)]
    user_sees: str = ""
    verdict: Literal["failed", "degraded"] = "failed"
    accepted_because: str = ""

    def __post_init__(self) -> None:
        """So that nobody accepts another finding than the one that was reviewed."""
        if (expected := _accepted(self).finding.id) != self.id:
            raise PydanticCustomError(
                "problem", f"`id`: expected `{expected}`, which this request and cut have, found `{self.id}`"
            )


def _refuse_repeated(entries: tuple[_Entry, ...]) -> tuple[_Entry, ...]:
    for repeated in (name for name, count in Counter(entry.id for entry in entries).items() if count > 1):
        raise PydanticCustomError("problem", f"`{repeated}` is given twice")
    return entries


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class _File:
    format: Annotated[int, Expect(f"the format {FORMAT}, which this version reads", lambda number: number == FORMAT)]
    accepted: Annotated[tuple[_Entry, ...], AfterValidator(_refuse_repeated)]


def _accepted(entry: _Entry) -> Accepted:
    cut = frozenset(Fault.parse(text) for text in entry.cut)
    finding = Finding(entry.request, Outcome(cut, Verdict(entry.verdict), entry.user_sees))
    return Accepted(finding, entry.accepted_because)
