"""Where failures together do what they do alone, and where they do not: each way in which that was once mistaken."""

from itertools import combinations

import pytest
from tests.samples.call_systems import explore

from cutset.model.effect import UNAVAILABLE, Effect, EffectChoice, EffectKind
from cutset.model.fault import Cut, cut_of, points_of
from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point
from cutset.search.cuts import CutSearch
from cutset.search.elements import Elements
from cutset.search.observed_run import NOT_CALLED, REQUEST, ObservedRun
from cutset.search.strategy import Certificates, SearchResult, SearchSettings
from cutset.search.superposition import Superposition
from cutset.simulation.program_laboratory import ProgramLaboratory
from cutset.simulation.program_truth import Does, minimal_sets
from cutset.simulation.programs import (
    DELAY_MS,
    Behaviour,
    CallSite,
    Fail,
    Instead,
    InTurn,
    RequestProgram,
    Tolerate,
)

A, B, C, D = (1 << number for number in range(4))


def four_points() -> Elements:
    elements = Elements(EffectChoice())
    elements.at(Point("simulated", name) for name in "ABCD")
    return elements


def optional(api: str, body: Behaviour | None = None) -> CallSite:
    return CallSite(api, Tolerate(), body=body)


def or_else(api: str, other: Behaviour) -> CallSite:
    return CallSite(api, Instead(other))


# ------------------------------------------------------------------------------------- what is foretold


def observed() -> Superposition:
    """A, B and C are called and optional; without A, D is called."""
    known = Superposition(four_points())
    base = {A: ("200@",), B: ("200@",), C: ("200@",)}
    known.learn(0, ObservedRun(A | B | C, base))
    known.learn(A, ObservedRun(A | B | C | D, base | {A: ("503@",), D: ("200@",)}))
    known.learn(B, ObservedRun(A | B | C, base | {B: ("503@",)}))
    known.learn(C, ObservedRun(A | B | C, base | {C: ("503@",)}))
    return known


def test_what_parts_change_is_expected_of_the_whole() -> None:
    known = observed()

    assert known.expected(A | B) == {A: {("503@",)}, B: {("503@",)}, D: {("200@",)}}
    assert known.may_call(A | B) == A | B | C | D
    assert known.may_call(B | C) == A | B | C
    assert known.may_be_merged(A | B)
    assert not known.may_be_merged(A)  # single failures are tried by themselves
    assert not known.may_be_merged(A | D)  # nobody has seen D fail


def test_a_run_of_many_proves_the_few_whose_consequences_it_shows() -> None:
    known = observed()
    everything = {A: ("503@",), B: ("503@",), C: ("503@",), D: ("200@",)}
    known.learn(A | B | C, ObservedRun(A | B | C | D, everything))

    assert known.is_explained(A | B | C)
    assert all(known.shown_by(pair) == A | B | C for pair in (A | B, A | C, B | C))
    assert not known.is_inferred(A)
    assert [each.cut for each in known.open_sets((), (), 3)] == [A | D, A | B | D, A | C | D]


def test_a_run_that_hides_a_consequence_proves_nothing_of_its_cause() -> None:
    known = observed()
    known.learn(
        A | B | C, ObservedRun(A | B | C, {A: ("503@",), B: ("503@",), C: ("503@",)})
    )  # D was not called after all

    assert not known.is_inferred(A | B)
    assert known.is_inferred(B | C)


def test_a_call_that_is_not_made_when_another_fails_never_fires_with_it() -> None:
    known = Superposition(four_points())
    known.learn(0, ObservedRun(A | B, {A: ("200@",), B: ("200@",)}))
    known.learn(A, ObservedRun(A, {A: ("503@",)}))
    known.learn(B, ObservedRun(A | B, {A: ("200@",), B: ("503@",)}))

    assert known.expected(A)[B] == {NOT_CALLED}
    assert known.never_fires(A | B)
    assert known.decided_by(A | B, ()) == A
    assert not list(known.open_sets((), (), 2))


def test_runs_of_the_same_faults_that_differ_end_all_inference() -> None:
    known = observed()
    known.learn(B, ObservedRun(A | B, {A: ("200@",), B: ("503@",)}))

    assert not known.is_usable


# ------------------------------------------------------------------------------------- counter-examples


TELLS_STATUSES_APART = InTurn(
    (
        CallSite("p00"),
        CallSite("p01", Fail(), {"502": Tolerate()}, body=CallSite("p02", Fail("502"))),
    )
)
FALLBACK_THAT_IS_OPTIONAL_ELSEWHERE = InTurn((optional("p03"), or_else("p02", or_else("p03", CallSite("p04")))))
ANOTHER_CALLER = InTurn((or_else("p05", CallSite("p07")), optional("p06", CallSite("p07")), optional("p08")))
HIDES_A_PART = InTurn(
    (CallSite("p02", Tolerate(), then=or_else("p03", CallSite("p04"))), optional("p05"), optional("p06"))
)


@pytest.mark.parametrize("kind", Certificates)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(TELLS_STATUSES_APART, id="a caller that tolerates a service's own failure, and no other"),
        pytest.param(FALLBACK_THAT_IS_OPTIONAL_ELSEWHERE, id="a fallback that is tolerated elsewhere"),
        pytest.param(ANOTHER_CALLER, id="the same call by another caller"),
        pytest.param(HIDES_A_PART, id="a part that another one hides"),
    ],
)
def test_what_inference_once_got_wrong(program: Behaviour, kind: Certificates, seed: int) -> None:
    request = RequestProgram(program)
    search = CutSearch(SearchSettings(3, kind, seed=seed))

    explore(search, ProgramLaboratory(request))

    assert set(search.result().minimal_cuts) == minimal_sets(request, 3)[Does.FAIL]
    assert search.result().finished


@pytest.mark.parametrize("kind", Certificates)
def test_delays_that_add_up_to_a_timeout_are_no_longer_answered_as_alone(kind: Certificates) -> None:
    """Each is waited for; together they exceed the limit of p01, which then calls p05, and that is needed."""
    slow = CallSite("p01", Instead(CallSite("p05")), body=InTurn((CallSite("p02"), CallSite("p03"))), limit=1)
    request = RequestProgram(InTurn((slow, CallSite("p04"))), deadline=3)
    delays = EffectChoice((Effect(EffectKind.DELAY, DELAY_MS),))
    search = CutSearch(SearchSettings(3, kind, delays))

    explore(search, ProgramLaboratory(request))

    assert set(search.result().minimal_cuts) == minimal_sets(request, 3, delays)[Does.FAIL]


@pytest.mark.parametrize("kind", Certificates)
@pytest.mark.parametrize("seed", range(5))
def test_what_another_failure_made_quicker_shows_no_delays(kind: Certificates, seed: int) -> None:
    """Without X there is no A to wait for; A and B together are more than the user waits for."""
    page = InTurn((optional("X", optional("A")), optional("B"), optional("C")))
    request = RequestProgram(page, deadline=1)
    effects = EffectChoice((UNAVAILABLE, Effect(EffectKind.DELAY, DELAY_MS)))
    search = CutSearch(SearchSettings(3, kind, effects, seed=seed))

    explore(search, ProgramLaboratory(request))

    truth = minimal_sets(request, 3, effects)[Does.FAIL]
    assert set(search.result().minimal_cuts) == truth
    assert len(truth) == 6  # two of X, A, B, C


def timed(*, measured: bool) -> Superposition:
    """A, B and C are optional; A and B were delayed by 100 ms each, C was not answered; then all at once."""
    delays = EffectChoice((Effect(EffectKind.DELAY, DELAY_MS),))
    elements = Elements(delays)
    elements.at(Point("simulated", name) for name in "ABC")
    known = Superposition(elements)

    def learn(fired: int, *milliseconds: int) -> None:
        took = dict(zip((REQUEST, A, B, C), (sum(milliseconds), *milliseconds), strict=True))
        answers = dict.fromkeys((A, B, C), ("200@",))
        known.learn(fired, ObservedRun(A | B | C, answers, took if measured else {}))

    learn(0, 3, 3, 3)
    learn(A, 105, 4, 3)
    learn(B, 3, 103, 2)
    learn(C, 3, 2, 101)
    learn(A | B | C, 101, 102, 4)  # C's delay was cut short
    return known


def test_a_run_shows_delays_if_it_took_as_long_to_within_half_of_one() -> None:
    known = timed(measured=True)

    assert known.quantum() == 98
    assert known.is_inferred(A | B)
    assert not known.is_inferred(A | C)


def test_where_nobody_measured_how_long_requests_took_no_delays_are_inferred() -> None:
    known = timed(measured=False)

    assert not known.is_inferred(A | B)
    assert not known.may_be_merged(A | B)


class JointHandler:
    """Fails if Y and Z failed, unless X failed, too. All of them are optional by themselves."""

    every = frozenset(Point("joint", name) for name in "XYZ")

    def run(self, cut: Cut) -> Outcome:
        failed = points_of(cut)
        verdict = Verdict.FAILED if {point.api for point in failed} == {"Y", "Z"} else Verdict.SURVIVED
        seen = tuple(CallSeen(point, "", "503" if point in failed else "200", 0) for point in sorted(self.every))
        path = self.every - failed
        return Outcome(cut, verdict, path=path, failed=failed, calls=self.every, fired=failed, seen=seen)


def joint(kind: Certificates, max_size: int) -> SearchResult:
    search = CutSearch(SearchSettings(max_size, kind))
    explore(search, JointHandler())
    return search.result()


def test_where_one_handler_judges_failures_jointly_independence_is_wrong_and_says_what_it_rests_on() -> None:
    cut = cut_of(Point("joint", name) for name in "YZ")
    exact, independent = joint(Certificates.EXACT, 3), joint(Certificates.INDEPENDENT, 3)

    assert exact.minimal_cuts == (cut,)
    assert exact.exact_up_to == 3
    assert "unseen" not in exact.assumption
    assert independent.minimal_cuts == ()  # wrong
    assert (independent.complete_up_to, independent.exact_up_to) == (3, 1)
    assert "beyond size 1, failures that do together what they do alone" in independent.assumption


def test_where_nothing_tells_how_calls_were_answered_nothing_is_inferred() -> None:
    class Silent(JointHandler):
        def run(self, cut: Cut) -> Outcome:
            told = super().run(cut)
            return Outcome(
                told.cut, told.verdict, path=told.path, failed=told.failed, calls=told.calls, fired=told.fired
            )

    search = CutSearch(SearchSettings(3, Certificates.INDEPENDENT))
    asked = explore(search, Silent())

    assert len(asked) == 1 + sum(1 for size in (1, 2) for _ in combinations("XYZ", size))
    assert search.result().exact_up_to == search.result().complete_up_to == 3
