"""The problem that findings and wishes pose, and its best solution for any budget, by either objective."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from cutset.app.harden_grounds import Grounds, failure_rates_of
from cutset.config.harden import HardenChoice, Objective
from cutset.errors import UsageError
from cutset.harden.availability import best_for_availability
from cutset.harden.choose import Infeasible, choose
from cutset.harden.frontier import Frontier, frontier_with_choices
from cutset.harden.needs import softened_by_errors
from cutset.harden.odds import request_classes
from cutset.harden.probability import RequestClass
from cutset.harden.problem import CandidateLevel, Choice, Problem, busiest, callers_of, choice_of, problem_of
from cutset.harden.reduced import reduced
from cutset.harden.remedies.authority import decides_who_may
from cutset.model.point import Point
from cutset.model.wording import known_names
from cutset.report.hardening.terminal import infeasible_message

BUSIEST = "busiest"  # stands for the request with the most traffic, which FastFI takes to be of high priority


@dataclass(frozen=True, slots=True)
class HardenOptions:
    budget: float = 3.0
    level: CandidateLevel = CandidateLevel.API
    objective: Objective = Objective.COVERAGE
    high: tuple[str, ...] = ()  # requests whose findings must all be covered


@dataclass(frozen=True, slots=True)
class Posed:
    """All but the budget is settled: what each would buy can be asked."""

    grounds: Grounds
    wishes: HardenChoice
    options: HardenOptions
    problem: Problem
    frontier: Frontier
    covering: Callable[[int], Choice]  # by position on the frontier: the choice that covers the most

    def within(self, budget: float) -> "Posed":
        return replace(self, options=replace(self.options, budget=budget))


def pose(grounds: Grounds, wishes: HardenChoice, options: HardenOptions) -> Posed:
    """Raises UsageError if no budget does what is wished."""
    problem = posed_problem(grounds, wishes, options)
    if reduced(problem).impossible:
        raise _infeasible(problem, options.budget)
    return Posed(grounds, wishes, options, problem, *frontier_with_choices(problem))


def posed_problem(grounds: Grounds, wishes: HardenChoice, options: HardenOptions) -> Problem:
    problem = problem_of(
        grounds.findings,
        level=options.level,
        high=_high(grounds, [*options.high, *wishes.high]),
        weights={request: float(max(1, round(per_day))) for request, per_day in grounds.traffic.items()},
        costs=wishes.costs,
        untouchable=wishes.untouchable,
        already=wishes.already,
        ranks=grounds.ranks,
        callers=callers_of(grounds.campaign.events),
        softened=softened_by_errors(grounds.campaign.summary),
    )
    names = {str(site) for each in problem.candidates for site in (each.site, each.site.of_api)}
    for name in sorted(wishes.fallbacks):
        if why := decides_who_may(Point.parse(name)):
            raise UsageError(
                f"No older answer may stand for `{name}`: {why}",
                hint="Take its `fallback` out; if it decides no such thing, put one into mesh.yaml by hand",
            )
    for name in sorted(wishes.apis):
        if name not in names and name not in map(str, grounds.evidence):
            raise UsageError(f"`{name}` was not called in this campaign", hint="Write `service/API`, as findings do")
    return problem


def best_choice(posed: Posed) -> Choice:
    """For the budget of the options. Raises UsageError if it does not cover what must be."""
    problem, budget = posed.problem, posed.options.budget
    if budget + 1e-9 < posed.frontier.points[0].budget:
        raise _infeasible(problem, budget)
    if posed.options.objective is Objective.COVERAGE:
        return replace(posed.covering(posed.frontier.at(budget)), budget=budget)
    best = best_for_availability(
        classes_of(posed.grounds, problem),
        problem.candidates,
        budget,
        failure_rates_of(posed.grounds, posed.wishes),
        required=[clause for each in problem.weaknesses if each.hard for clause in each.clauses],
    )
    assert best is not None  # as the budget covers what is required
    chosen = [problem.candidates.index(each) for each in best.chosen]
    return choice_of(problem, budget, chosen, proven=best.proven)


def _infeasible(problem: Problem, budget: float) -> UsageError:
    found = choose(problem, budget)
    assert isinstance(found, Infeasible)
    message, hint = infeasible_message(found)
    return UsageError(message, hint=hint)


def classes_of(grounds: Grounds, problem: Problem) -> list[RequestClass]:
    summary, callers = grounds.campaign.summary, callers_of(grounds.campaign.events)
    return request_classes(summary.requests, problem, callers, grounds.traffic, softened_by_errors(summary))


def _high(grounds: Grounds, wanted: Iterable[str]) -> frozenset[str]:
    names = {request.name for request in grounds.campaign.summary.requests}
    high: set[str] = set()
    for name in wanted:
        if name == BUSIEST:
            if not grounds.traffic:
                raise UsageError("Which request is the busiest is not known", hint="Read traces with `cutset ingest`")
            high |= busiest(grounds.traffic)
        elif name not in names:
            raise UsageError(f"There is no request `{name}` in this campaign", hint=known_names(sorted(names)))
        else:
            high.add(name)
    return frozenset(high)
