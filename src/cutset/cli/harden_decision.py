"""How `cutset harden` decides: the problem that findings and wishes pose, and its best solution by either objective."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from cutset.cli.harden_knowledge import Knowledge, failure_rates_of
from cutset.config.harden import HardenChoice, Objective
from cutset.errors import InputError, UsageError
from cutset.harden.availability import best_for_availability
from cutset.harden.choose import Infeasible, choose
from cutset.harden.importance import failures_per_day
from cutset.harden.probability import RequestClass, likelihood, overall
from cutset.harden.problem import Choice, Level, Problem, busiest, callers_of, choice_of, problem_of
from cutset.model.fault import points_of
from cutset.model.point import Point
from cutset.model.wording import known_names
from cutset.report.hardening.terminal import Odds, infeasible_message

BUSIEST = "busiest"  # stands for the request with the most traffic, which FastFI takes to be of high priority


def posed_problem(known: Knowledge, wishes: HardenChoice, level: Level, high: Collection[str]) -> Problem:
    problem = problem_of(
        known.findings,
        level=level,
        high=_high(known, [*high, *wishes.high]),
        weights={request: float(max(1, round(per_day))) for request, per_day in known.traffic.items()},
        costs=wishes.costs,
        untouchable=wishes.untouchable,
        already=wishes.already,
        ranks=known.ranks,
        callers=callers_of(known.events),
    )
    names = {each.name for each in problem.candidates}
    names |= {str(Point.parse(name).of_api) for name in names}
    for name in sorted(wishes.apis):
        if name not in names and name not in map(str, known.evidence):
            raise UsageError(f"`{name}` was not called in this campaign", hint="Write `service/API`, as findings do")
    return problem


def best_choice(
    problem: Problem, budget: float, objective: Objective, known: Knowledge, wishes: HardenChoice
) -> Choice:
    found = choose(problem, budget)
    if isinstance(found, Infeasible):
        message, hint = infeasible_message(found)
        raise UsageError(message, hint=hint)
    if objective is Objective.COVERAGE:
        return found
    best = best_for_availability(
        _classes(known, problem),
        problem.candidates,
        budget,
        failure_rates_of(known, wishes),
        required=[clause for each in problem.weaknesses if each.hard for clause in each.clauses],
    )
    assert best is not None  # as the budget covers what is required
    return choice_of(problem, budget, [problem.candidates.index(each) for each in best.chosen], proven=best.proven)


def odds_of(known: Knowledge, wishes: HardenChoice, problem: Problem, best: Choice) -> Odds | None:
    """None where failure rates are not known."""
    try:
        rates = failure_rates_of(known, wishes)
    except InputError:
        return None
    classes = _classes(known, problem)
    hardened = {each.name: 0.0 for each in (*best.chosen, *(each for each in problem.candidates if each.already))}
    before = overall([likelihood(each, rates) for each in classes])
    after = overall([likelihood(each, rates, hardened) for each in classes])
    likeliest = failures_per_day(known.findings, rates, known.traffic)
    return Odds(before.per_day, before.failed_per_day, after.failed_per_day, tuple(likeliest))


def _high(known: Knowledge, wanted: Iterable[str]) -> frozenset[str]:
    names = {request.name for request in known.summary.requests}
    high: set[str] = set()
    for name in wanted:
        if name == BUSIEST:
            if not known.traffic:
                raise UsageError("Which request is the busiest is not known", hint="Read traces with `cutset ingest`")
            high |= busiest(known.traffic)
        elif name not in names:
            raise UsageError(
                f"There is no request `{name}` in this campaign",
                hint=known_names(sorted(names)),
            )
        else:
            high.add(name)
    return frozenset(high)


def _classes(known: Knowledge, problem: Problem) -> list[RequestClass]:
    """Where candidates are call sites, those of a point are all to be hardened before its failure does no harm."""
    names = {each.name for each in problem.candidates}
    callers = callers_of(known.events)

    def sites(request: str, point: Point) -> frozenset[str]:
        known_callers = {point.caller} if point.caller else callers.get((request, point.of_api), frozenset())
        found = {str(replace(point.of_api, caller=caller)) for caller in known_callers} & names
        return frozenset(found or {str(point.of_api)})

    return [
        RequestClass(
            request.name,
            tuple(points_of(finding.cut) for finding in request.findings),
            per_day=known.traffic.get(request.name, 1.0),
            sites={p: sites(request.name, p) for finding in request.findings for p in points_of(finding.cut)},
        )
        for request in known.summary.requests
    ]
