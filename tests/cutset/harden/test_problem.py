from hypothesis import given
from hypothesis import strategies as st

from cutset.harden.needs import needs
from cutset.harden.problem import (
    Candidate,
    CandidateLevel,
    Problem,
    Weakness,
    busiest,
    callers_of,
    candidate_name,
    choice_of,
    expected_afvr,
    problem_of,
)
from cutset.model.event import RequestAudited
from cutset.model.fault import Fault, cut_of
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point


def finding(request: str, *points: str) -> Finding:
    return Finding(request, Outcome(cut_of(map(Point.parse, points)), Verdict.FAILED))


def clauses(problem: Problem) -> list[list[str]]:
    """Of each weakness."""
    return [
        [" ".join(sorted(problem.candidates[index].name for index in clause)) for clause in weakness.clauses]
        for weakness in problem.weaknesses
    ]


def test_replicas_and_occurrences_of_an_api_are_one_candidate() -> None:
    found = [finding("GET /", "cart/Get#1", "cart/Get#2"), finding("GET /", "ads/Get@1", "cart/Get")]
    problem = problem_of(found)
    assert [each.name for each in problem.candidates] == ["ads/Get", "cart/Get"]
    assert clauses(problem) == [["cart/Get"], ["ads/Get cart/Get"]]
    assert [each.finding for each in problem.weaknesses] == [each.id for each in found]


def test_priorities_weights_costs_and_ranks_are_found_by_name() -> None:
    problem = problem_of(
        [finding("GET /", "cart/Get"), finding("GET /cart", "ads/Get"), finding("GET /cart", "tax/Get")],
        high={"GET /"},
        weights={"GET /cart": 0.25},
        costs={"cart/Get": 3, "elsewhere/Get": 9},
        untouchable={"tax/Get"},
        already={"ads/Get"},
        ranks={Point("cart", "Get"): 0.5},
    )
    assert problem.candidates == (
        Candidate("ads/Get", already=True),
        Candidate("cart/Get", cost=3, rank=0.5),
        Candidate("tax/Get", untouchable=True),
    )
    assert [(each.hard, each.weight) for each in problem.weaknesses] == [(True, 1), (False, 0.25), (False, 0.25)]


def test_at_call_sites_all_callers_of_one_point_have_to_be_hardened() -> None:
    callers = {("GET /", Point("cart", "Get")): frozenset({"web", "checkout"})}
    problem = problem_of([finding("GET /", "cart/Get", "web>ads/Get")], level=CandidateLevel.CALL_SITE, callers=callers)
    assert clauses(problem) == [["checkout>cart/Get web>ads/Get", "web>ads/Get web>cart/Get"]]


def test_a_call_whose_caller_nobody_knows_is_one_candidate_named_as_its_api() -> None:
    problem = problem_of([finding("GET /", "cart/Get")], level=CandidateLevel.CALL_SITE, costs={"cart/Get": 2})
    assert problem.candidates == (Candidate("cart/Get", cost=2),)


def test_what_is_said_of_an_api_holds_for_its_call_sites_unless_they_have_their_own() -> None:
    found = [finding("GET /", "web>cart/Get"), finding("GET /", "tax>cart/Get")]
    costs = {"cart/Get": 2.0, "tax>cart/Get": 5.0}
    problem = problem_of(found, level=CandidateLevel.CALL_SITE, costs=costs, untouchable={"cart/Get"})
    assert [(each.name, each.cost, each.untouchable) for each in problem.candidates] == [
        ("tax>cart/Get", 5, True),
        ("web>cart/Get", 2, True),
    ]


def test_audits_know_who_calls_what() -> None:
    edges = ((Point("web", "Page"), Point("cart", "Get")), (Point("tax", "Rate"), Point("cart", "Get")))
    audited = RequestAudited(
        request="GET /", healthy=True, reason="", calls=frozenset(), not_reached=frozenset(), trace_ids=(), edges=edges
    )
    assert callers_of([audited]) == {("GET /", Point("cart", "Get")): frozenset({"web", "tax"})}


def test_the_busiest_requests_have_the_highest_priority() -> None:
    assert busiest({"a": 1, "b": 5, "c": 5}, 2) == {"b", "c"}
    assert busiest({}, 2) == frozenset()


def test_expected_afvr_is_averaged_over_requests_with_weaknesses() -> None:
    problem = Problem(
        (Candidate("a"), Candidate("b")),
        (Weakness("r", (frozenset({0}),)), Weakness("r", (frozenset({1}),)), Weakness("s", (frozenset({1}),))),
    )
    assert expected_afvr(problem, choice_of(problem, 1, {0}, proven=True)) == (1 / 2 + 1) / 2
    assert expected_afvr(problem, choice_of(problem, 2, {0, 1}, proven=True)) == 0
    assert expected_afvr(Problem((), ()), choice_of(Problem((), ()), 0, (), proven=True)) == 0


def with_effects(request: str, *faults: str) -> Finding:
    return Finding(request, Outcome(frozenset(map(Fault.parse, faults)), Verdict.FAILED))


def test_a_candidate_is_a_measure_against_the_effects_that_it_helps_against() -> None:
    aborted, slow, lost = (
        with_effects("GET /", f"pay/Charge:{effect}") for effect in ("abort(503)", "timeout", "abort(503),attempts=1")
    )
    problem = problem_of([aborted, slow, lost], costs={"pay/Charge": 2})

    assert [(each.name, str(each.site), each.measure, each.cost) for each in problem.candidates] == [
        ("pay/Charge", "pay/Charge", "fallback", 2),
        ("retry at pay/Charge", "pay/Charge", "retry", 2),
        ("timeout at pay/Charge", "pay/Charge", "timeout", 2),
    ]
    assert clauses(problem) == [
        ["pay/Charge"],
        ["pay/Charge", "timeout at pay/Charge"],
        ["pay/Charge retry at pay/Charge"],
    ]


def test_where_its_failure_is_survived_a_timeout_is_all_that_a_slow_answer_takes() -> None:
    slow = with_effects("GET /", "pay/Charge:timeout")
    problem = problem_of([slow], softened=frozenset({(slow.id, *slow.cut)}))

    assert clauses(problem) == [["timeout at pay/Charge"]]


def test_a_data_store_is_its_callers_own() -> None:
    problem = problem_of([with_effects("GET /", "cart>cache/redis/get:connection-refused")])

    assert [each.name for each in problem.candidates] == ["cart>cache/redis/get"]


@given(st.lists(st.sampled_from(["a/A", "b/B"]), min_size=1, max_size=2, unique=True), st.data())
def test_a_finding_is_mitigated_exactly_if_all_that_one_of_its_faults_takes_is_done(
    points: list[str], data: st.DataObject
) -> None:
    effects = data.draw(
        st.lists(st.sampled_from(["abort(503)", "timeout", "empty,attempts=1"]), min_size=2, max_size=2)
    )
    found = with_effects("GET /", *(f"{point}:{effect}" for point, effect in zip(points, effects, strict=False)))
    problem = problem_of([found])
    done = frozenset(data.draw(st.sets(st.integers(0, len(problem.candidates) - 1))))
    names = {problem.candidates[index].name for index in done}

    def is_done(fault: Fault) -> bool:
        ways = needs(fault.effect, softened=False)
        return any({candidate_name(fault.point, each) for each in way} <= names for way in ways)

    assert problem.weaknesses[0].mitigated_by(done) == any(map(is_done, found.cut))
