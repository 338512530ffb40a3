import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.call_systems import faults, hidden_calls, points, run, subsets, systems

from cutset.model.effect import EffectChoice
from cutset.model.fault import cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.search.certificates import Evidence, explain, explain_by
from cutset.search.elements import Elements
from cutset.search.strategy import Certificates, Masked
from cutset.simulation.simulated import Call, FirstOf, Optional, System, all_points


def survived(cut: Points, path: Points, *, failed: Points = frozenset(), calls: Points | None = None) -> Outcome:
    calls = path | cut if calls is None else calls
    return Outcome(cut_of(cut), Verdict.SURVIVED, path=path, failed=failed, calls=calls, fired=cut & calls)


def failing(cut: Points) -> Outcome:
    return Outcome(cut_of(cut), Verdict.FAILED, calls=cut)


def unknown(cut: Points) -> Outcome:
    return Outcome(cut_of(cut), Verdict.UNKNOWN)


def evidence_of(kind: Certificates, *outcomes: Outcome) -> Evidence:
    evidence = Evidence(kind, Elements(EffectChoice()))
    for outcome in outcomes:
        evidence.learn(outcome)
    return evidence


def covers(evidence: Evidence, *names: str) -> bool:
    return evidence.covers(evidence.elements.to_bits(faults(*names)))


# ------------------------------------------------------------------------------------- soundness


@st.composite
def evidences(draw: st.DrawFn, system: System, kind: Certificates) -> Evidence:
    cuts = draw(st.lists(st.frozensets(st.sampled_from(sorted(all_points(system)))), max_size=6))
    return evidence_of(kind, *(run(system, cut, turn) for turn, cut in enumerate([faults(), *map(cut_of, cuts)])))


def assert_sound(system: System, evidence: Evidence) -> None:
    for each in subsets(all_points(system), 4):
        if evidence.covers(evidence.elements.to_bits(each)):
            assert run(system, each).verdict is Verdict.SURVIVED, sorted(map(str, each))


@pytest.mark.parametrize("kind", Certificates)
@settings(max_examples=150, deadline=None)
@given(data=st.data(), system=systems(most_replicas=2))
def test_what_certificates_cover_survives_in_monotone_systems(
    data: st.DataObject, system: System, kind: Certificates
) -> None:
    assert_sound(system, data.draw(evidences(system, kind)))


@settings(max_examples=300, deadline=None)
@given(st.data(), hidden_calls(shared=True))
def test_what_exact_certificates_cover_survives_where_calls_are_hidden(data: st.DataObject, system: System) -> None:
    assert_sound(system, data.draw(evidences(system, Certificates.EXACT)))


@settings(max_examples=300, deadline=None)
@given(st.data(), systems(hidden=True, most_replicas=2))
def test_what_exact_certificates_cover_survives_wherever_calls_are_hidden(data: st.DataObject, system: System) -> None:
    assert_sound(system, data.draw(evidences(system, Certificates.EXACT)))


def test_a_call_that_answered_in_vain_is_relied_on_by_exact_certificates() -> None:
    """Y's loss skips M only because X answered; without X, too, M is called after all."""
    system = Optional(Optional(Call("X"), Call("Y")), Call("M"))
    evidence = evidence_of(Certificates.EXACT, run(system, faults()), run(system, faults("Y")))

    assert run(system, faults("X", "Y", "M")).verdict is Verdict.FAILED
    assert not covers(evidence, "X", "Y", "M")


@settings(max_examples=200, deadline=None)
@given(st.data(), systems(hidden=True, most_replicas=2))
def test_independent_covers_all_that_exact_covers(data: st.DataObject, system: System) -> None:
    cuts = data.draw(st.lists(st.frozensets(st.sampled_from(sorted(all_points(system)))), max_size=6))
    outcomes = [run(system, cut_of(cut), turn) for turn, cut in enumerate(cuts)]
    exact, independent = (evidence_of(kind, *outcomes) for kind in (Certificates.EXACT, Certificates.INDEPENDENT))

    for each in subsets(all_points(system), 4):
        assert independent.covers(independent.elements.to_bits(each)) or not exact.covers(exact.elements.to_bits(each))


# ------------------------------------------------------------------------------------- what a survivor proves


def test_exact_certificates_cover_only_sets_in_which_as_much_fails() -> None:
    system = FirstOf((Call("A"), Call("B")))
    outcomes = run(system, faults()), run(system, faults("A"))

    exact, independent = (evidence_of(kind, *outcomes) for kind in (Certificates.EXACT, Certificates.INDEPENDENT))

    assert covers(exact, "A", "C")
    assert covers(exact, "B")  # by the baseline
    assert not covers(exact, "A", "B")
    assert not covers(independent, "A", "B")


def test_independent_certificates_say_nothing_of_a_call_that_vanished_unless_as_much_fails() -> None:
    system = Optional(Call("X"), Call("Y"))
    evidence = evidence_of(Certificates.INDEPENDENT, run(system, faults()), run(system, faults("X")))

    assert not covers(evidence, "Y")
    assert covers(evidence, "X", "Y")
    assert covers(evidence, "X")


def test_a_call_vanishes_whichever_of_the_two_runs_is_learnt_first() -> None:
    system = Optional(Call("X"), Call("Y"))
    evidence = evidence_of(Certificates.INDEPENDENT, run(system, faults("X")), run(system, faults()))

    assert not covers(evidence, "Y")


def test_a_replica_of_a_vanished_call_that_appears_later_is_not_covered_either() -> None:
    system = Optional(Call("X"), Call("Y", replicas=2))
    evidence = evidence_of(Certificates.INDEPENDENT, run(system, faults()), run(system, faults("X")))
    assert not covers(evidence, "Y1")

    assert not covers(evidence, "Y1", "Y2")


def test_a_point_that_succeeded_despite_its_fault_is_not_relied_on() -> None:
    evidence = evidence_of(Certificates.INDEPENDENT, survived(points("A"), points("A", "B")))

    assert covers(evidence, "A")
    assert not covers(evidence, "B")


@pytest.mark.parametrize("kind", Certificates)
def test_a_call_that_failed_by_itself_is_not_proven_to_be_harmless(kind: Certificates) -> None:
    """Its caller tolerated the 500 that A answered when B was faulted. That is no word on a 503."""
    tolerated = survived(points("B"), points("M"), failed=points("A", "B"), calls=points("A", "B", "M"))
    evidence = evidence_of(kind, survived(points(), points("A", "B", "M")), tolerated)

    assert not covers(evidence, "A")
    assert covers(evidence, "B")


@pytest.mark.parametrize("kind", Certificates)
@pytest.mark.parametrize("stepped_in", [True, False])
def test_replicas_are_alternatives_once_one_was_seen_to_step_in(kind: Certificates, *, stepped_in: bool) -> None:
    """A balancer that sends every other request to A1 lets half of them through when that fails."""
    first, second = points("A1"), points("A2")
    both = first | second
    elsewhere = [survived(points(), each) for each in (first, second)]
    retried = Outcome(
        cut_of(points("A1", "X")),
        Verdict.FAILED,
        calls=both,
        fired=points("A1") if stepped_in else frozenset(),
        retried=both,  # also where a call turned to another for a reason of its own
    )
    evidence = evidence_of(kind, *elsewhere, retried)

    assert covers(evidence, "A1") == stepped_in
    assert not covers(evidence, "A1", "A2")


def test_a_delay_that_was_waited_for_is_a_condition_of_what_its_run_proves() -> None:
    evidence = evidence_of(Certificates.EXACT, survived(points("A"), points("A", "B")))

    assert covers(evidence, "A", "C")
    assert not covers(evidence, "C")


@pytest.mark.parametrize("kind", Certificates)
def test_a_certificate_says_nothing_of_a_call_that_wavers(kind: Certificates) -> None:
    """Without any fault B is called in one run and, by a cache, not in the other."""
    evidence = evidence_of(kind, survived(points(), points("A", "B")), survived(points(), points("A")))

    assert not covers(evidence, "B")
    assert covers(evidence, "C")


def test_a_call_does_not_waver_where_the_fault_explains_its_absence() -> None:
    """All replicas of B are faulted, so that this run could not go the other's way."""
    evidence = evidence_of(
        Certificates.INDEPENDENT,
        survived(points(), points("A", "B")),
        survived(points("B"), points("A", "C"), calls=points("A", "C")),
    )

    assert covers(evidence, "B")


# ------------------------------------------------------------------------------------- failing and unknown


def test_only_the_smallest_failing_sets_are_kept() -> None:
    evidence = evidence_of(
        Certificates.INDEPENDENT, failing(points("A", "B")), failing(points("C", "D")), failing(points("A"))
    )
    evidence.learn(failing(points("A", "D")))

    assert {evidence.elements.to_cut(cut) for cut in evidence.failing} == {faults("A"), faults("C", "D")}
    assert evidence.contains_failing(evidence.elements.to_bits(faults("A", "X")))
    assert not evidence.contains_failing(evidence.elements.to_bits(faults("C")))


def test_undecided_is_what_stayed_unknown_and_nothing_else_decides() -> None:
    evidence = evidence_of(
        Certificates.INDEPENDENT, unknown(points("A")), unknown(points("B", "C")), unknown(points("D"))
    )
    evidence.learn(unknown(points("A")))
    assert list(map(evidence.elements.to_cut, evidence.undecided())) == [faults("A"), faults("B", "C"), faults("D")]

    evidence.learn(failing(points("B")))
    evidence.learn(survived(points(), points("A")))

    assert list(map(evidence.elements.to_cut, evidence.undecided())) == [faults("A")]


def test_masked_names_the_smallest_survivor() -> None:
    evidence = evidence_of(
        Certificates.INDEPENDENT,
        failing(points("Y")),
        survived(points("X", "Y", "Z"), points("A")),
        survived(points("X", "Y"), points("A")),
        failing(points("B")),
    )

    assert evidence.masked() == (Masked(faults("Y"), faults("X", "Y")),)


# ------------------------------------------------------------------------------------- explanations


BASELINE = survived(points(), points("A", "B"))
WITHOUT_A = survived(points("A"), points("B", "C"), failed=points("A"))
HISTORY = (BASELINE, WITHOUT_A, failing(points("B")), unknown(points("C")))


@pytest.mark.parametrize(
    ("names", "verdict", "because", "reason"),
    [
        (("A",), Verdict.SURVIVED, WITHOUT_A, "injected and survived"),
        (("B",), Verdict.FAILED, failing(points("B")), "injected and failed"),
        (("B", "A"), Verdict.FAILED, failing(points("B")), "contains a cut that was injected and failed"),
        (("A", "D"), Verdict.SURVIVED, WITHOUT_A, "that differs from it in nothing that was called"),
        (("A", "C"), Verdict.UNKNOWN, None, "No experiment tells"),
    ],
)
def test_explains_by_the_experiment_that_proves_it(
    names: tuple[str, ...], verdict: Verdict, because: Outcome | None, reason: str
) -> None:
    explanation = explain(HISTORY, faults(*names), Certificates.INDEPENDENT)

    assert (explanation.verdict, explanation.because) == (verdict, because)
    assert reason in explanation.reason


def test_a_masked_cut_is_explained_by_its_own_failure_and_what_masks_it_by_its_own_survival() -> None:
    survivor = survived(points("X", "Y"), points("A"))
    history = (survived(points(), points("A", "Y")), failing(points("Y")), survivor)

    assert explain(history, faults("Y"), Certificates.INDEPENDENT).verdict is Verdict.FAILED
    assert explain(history, faults("X", "Y"), Certificates.INDEPENDENT).because == survivor


def test_a_cut_that_survived_by_chance_and_then_failed_is_explained_as_failing() -> None:
    """As in the result of the search: where paths vary, a set is asked for again."""
    history = (survived(points(), points("A", "B")), survived(points("A"), points("B")), failing(points("A")))

    assert explain(history, faults("A"), Certificates.INDEPENDENT).verdict is Verdict.FAILED


def test_who_asks_about_what_never_appeared_changes_nothing_for_who_asks_next() -> None:
    evidence = evidence_of(Certificates.INDEPENDENT, *HISTORY)
    known = len(evidence.elements)

    explanation = explain_by(evidence, faults("A", "nobody"))

    assert (explanation.verdict, explanation.because, explanation.same_run) == (Verdict.SURVIVED, WITHOUT_A, True)
    assert len(evidence.elements) == known


def test_a_run_is_also_that_of_what_differs_from_it_in_nothing_that_was_called() -> None:
    evidence = evidence_of(Certificates.EXACT, *HISTORY)

    assert evidence.run_of(faults("A", "D")) == WITHOUT_A
    assert evidence.run_of(faults("A", "C")) is None
