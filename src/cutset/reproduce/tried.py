"""A round of a search, as far as the search needs it, and as the ledger keeps it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from cutset.model.reproduction import Choice, Visit
from cutset.reproduce.events import Stage
from cutset.reproduce.runner import Fired
from cutset.reproduce.symptoms import Answer


@dataclass(frozen=True, slots=True)
class Tried:
    number: int
    stage: Stage
    first: tuple[Choice, ...]  # faults on top of which the window was tried
    window: tuple[Choice, ...]
    size: int  # of the window, in sites
    fired: Fired | None
    fired_first: tuple[Fired, ...]
    answer: Answer
    reason: str
    shown: frozenset[str]  # keys of observables
    unlike: int  # messages that set its log apart from the failure log
    visits: tuple[Visit, ...]  # of sites that the good run does not visit
    logs: tuple[str, ...]
    seconds: float
    problems: tuple[str, ...]

    @property
    def reproduces(self) -> bool:
        return self.answer is Answer.YES and self.fired is not None

    @property
    def ground(self) -> tuple[Choice, ...]:
        """Faults of `first` that did fire."""
        return tuple(fired.choice for fired in self.fired_first)

    @property
    def choice(self) -> Choice:
        """The fault that fired, with its occurrence."""
        assert self.fired is not None
        return self.fired.choice


def choice_rows(choices: Iterable[Choice]) -> list[list[Any]]:
    """As a plan has them."""
    return [[choice.site, choice.occurrence, choice.effect] for choice in choices]


def tried_fields(tried: Tried) -> dict[str, Any]:
    return {
        **asdict(tried),
        "first": choice_rows(tried.first),
        "window": choice_rows(tried.window),
        "shown": sorted(tried.shown),
        "visits": list(map(astuple, tried.visits)),
    }


def tried_of(fields: Mapping[str, Any]) -> Tried:
    return Tried(
        number=fields["number"],
        stage=Stage(fields["stage"]),
        first=_choices(fields["first"]),
        window=_choices(fields["window"]),
        size=fields["size"],
        fired=_fired(fields["fired"]) if fields["fired"] else None,
        fired_first=tuple(map(_fired, fields["fired_first"])),
        answer=Answer(fields["answer"]),
        reason=fields["reason"],
        shown=frozenset(fields["shown"]),
        unlike=fields["unlike"],
        visits=tuple(Visit(*row) for row in fields["visits"]),
        logs=tuple(fields["logs"]),
        seconds=fields["seconds"],
        problems=tuple(fields["problems"]),
    )


def _choices(rows: Sequence[Sequence[Any]]) -> tuple[Choice, ...]:
    return tuple(Choice(*row) for row in rows)


def _fired(fields: Mapping[str, Any]) -> Fired:
    return Fired(**{**fields, "choice": Choice(**fields["choice"]), "stack": tuple(fields["stack"])})
