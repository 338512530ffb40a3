"""What a page about hardening was asked for, as its address says it: so that each view has a link.

    /harden?campaign=RUN&budget=3&level=call-site&high=GET+/&cost:cart/GetCart=5&is:ad/GetAds=untouchable

What is not said is as in the configuration.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from cutset.app.harden_problem import HardenOptions
from cutset.config.harden import ApiChoice, HardenChoice, Objective
from cutset.errors import UsageError
from cutset.harden.problem import CandidateLevel
from cutset.model.wording import known_names
from cutset.report.replaying import DEFAULT_STORE, from_here

COST, STATE = "cost:", "is:"  # before the name of an API or a call site


class ApiState(StrEnum):
    """Whether something may be done at an API or call site."""

    OPEN = "open"
    UNTOUCHABLE = "untouchable"
    HARDENED = "hardened"


Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class HardenQuery:
    campaign: str = ""
    budget: float | None = None  # None: what is usual
    level: CandidateLevel = CandidateLevel.API
    objective: Objective = Objective.COVERAGE
    high: tuple[str, ...] = ()
    costs: Mapping[str, float] = field(default_factory=dict, hash=False)
    states: Mapping[str, ApiState] = field(default_factory=dict, hash=False)

    @property
    def options(self) -> HardenOptions:
        """All but the budget."""
        return HardenOptions(level=self.level, objective=self.objective, high=self.high)

    @property
    def edits(self) -> bool:
        return bool(self.costs or self.states)

    def without_usual(self, wishes: HardenChoice) -> "HardenQuery":
        """A form without a script says of each call what it costs, also where nobody changed that."""
        costs = {name: cost for name, cost in self.costs.items() if cost != usual_choice(wishes, name).cost}
        states = {name: each for name, each in self.states.items() if each is not state_of(usual_choice(wishes, name))}
        return replace(self, costs=costs, states=states)

    def applied_to(self, wishes: HardenChoice) -> HardenChoice:
        apis, edited = dict(wishes.apis), self.without_usual(wishes)
        for name, cost in edited.costs.items():
            apis[name] = replace(apis.get(name, ApiChoice()), cost=cost)
        for name, state in edited.states.items():
            apis[name] = replace(
                apis.get(name, ApiChoice()),
                untouchable=state is ApiState.UNTOUCHABLE,
                hardened=state is ApiState.HARDENED,
            )
        return replace(wishes, apis=apis)

    def pairs(self) -> list[tuple[str, str]]:
        """For another address, or the hidden fields of a form."""
        return [
            ("campaign", self.campaign),
            *([("budget", f"{self.budget:g}")] if self.budget is not None else []),
            *([("level", self.level)] if self.level is not CandidateLevel.API else []),
            *([("objective", self.objective)] if self.objective is not Objective.COVERAGE else []),
            *(("high", name) for name in self.high),
            *((f"{COST}{name}", f"{cost:g}") for name, cost in self.costs.items()),
            *((f"{STATE}{name}", str(state)) for name, state in self.states.items()),
        ]

    def address(self, path: str = "/harden") -> str:
        return f"{path}?{urlencode(self.pairs())}"

    def command(self, store: Path, *more: str) -> str:
        """That does the same in a terminal."""
        words = ["cutset", "harden", self.campaign, "--budget", f"{self.budget or 0:g}"]
        words += ["--level", self.level] if self.level is not CandidateLevel.API else []
        words += ["--objective", self.objective] if self.objective is not Objective.COVERAGE else []
        words += [word for name in self.high for word in ("--high", name)]
        words += ["--cost", "costs.yaml"] if self.edits else []
        words += ["--store", str(from_here(store))] if from_here(store) != DEFAULT_STORE else []
        return shlex.join([*words, *more])


def usual_choice(wishes: HardenChoice, name: str) -> ApiChoice:
    """What the configuration says of a call site, else of its API."""
    return wishes.apis.get(name) or wishes.apis.get(name.rpartition(">")[2]) or ApiChoice()


def state_of(choice: ApiChoice) -> ApiState:
    return ApiState.HARDENED if choice.hardened else ApiState.UNTOUCHABLE if choice.untouchable else ApiState.OPEN


def query_of(pairs: Iterable[tuple[str, str]]) -> HardenQuery:
    """Raises UsageError for what makes no sense. What is left empty was not said."""
    said = [(name, value.strip()) for name, value in pairs if value.strip()]
    last = dict(said)
    return HardenQuery(
        campaign=last.get("campaign", ""),
        budget=_number(last["budget"], "budget") if "budget" in last else None,
        level=_word(CandidateLevel, last.get("level", CandidateLevel.API)),
        objective=_word(Objective, last.get("objective", Objective.COVERAGE)),
        high=tuple(dict.fromkeys(value for name, value in said if name == "high")),
        costs={
            name.removeprefix(COST): _number(value, "cost", above=0) for name, value in said if name.startswith(COST)
        },
        states={name.removeprefix(STATE): _word(ApiState, value) for name, value in said if name.startswith(STATE)},
    )


def _number(text: str, what: str, *, above: float = -1) -> float:
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"`{text}` is not a number", hint=f"Go back, and correct the {what}") from None
    if not isfinite(number) or number < 0 or number <= above:
        least = "above 0" if above >= 0 else "from 0 on"
        raise UsageError(f"A {what} of `{text}`: expected a number {least}", hint="Go back, and correct it")
    return number


def _word(kind: type[Word], text: str) -> Word:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"There is no `{text}` to choose", hint=known_names(kind)) from None
