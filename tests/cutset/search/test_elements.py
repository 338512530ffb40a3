from cutset.model.effect import Effect, EffectChoice
from cutset.model.fault import Fault
from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point
from cutset.search.elements import Elements

A, B = Point("shop", "A"), Point("shop", "B")
AGENT = Point("rpc", "httpx/GET /", caller="shop")
ABORT, SLOW, SECOND = (Effect.parse(text) for text in ("abort(503)", "delay(100ms)", "abort(503),call=2"))
REFUSED = Effect.parse("connection-refused")


def elements(*effects: Effect) -> Elements:
    return Elements(EffectChoice(effects))


def test_a_point_has_a_fault_for_each_effect_that_is_possible_there() -> None:
    known = elements(ABORT, SLOW, REFUSED)  # no mesh can refuse a connection

    assert known.to_cut(known.at({A})) == {Fault(A, ABORT), Fault(A, SLOW)}
    assert known.know(frozenset({Fault(A, SLOW)}))
    assert not known.know(frozenset({Fault(A, REFUSED)}))
    assert not known.know(frozenset({Fault(A, SLOW, percent=50)}))


def test_bits_and_faults_are_the_same_sets() -> None:
    known = elements(ABORT, SLOW)
    cut = frozenset({Fault(A, SLOW), Fault(B, ABORT)})

    assert known.to_cut(known.to_bits(cut)) == cut
    assert known.everything() == known.at({A, B})
    assert known.have_several_effects()
    assert not elements(ABORT).have_several_effects()


def test_two_effects_of_one_point_exclude_each_other() -> None:
    known = elements(ABORT, SLOW)
    both, mixed = (
        known.to_bits(frozenset(faults))
        for faults in ({Fault(A, ABORT), Fault(A, SLOW)}, {Fault(A, ABORT), Fault(B, SLOW)})
    )

    assert not known.is_plan(both)
    assert known.is_plan(mixed)
    assert known.whole(mixed) == known.at({A, B})


def test_replicas_are_told_apart_by_points_and_not_by_effects() -> None:
    known = elements(ABORT, SLOW)
    known.at({A})
    assert not known.tell_replicas_apart()

    known.at({Point("shop", "B", replica="1"), Point("shop", "B", replica="2")})
    assert known.tell_replicas_apart()
    assert known.in_faults(known.in_calls(known.at({Point("shop", "B", replica="1")}))).bit_count() == 4


def test_a_fault_for_the_second_call_is_asked_for_by_a_second_call() -> None:
    known = elements(ABORT, SECOND)
    call = CallSeen(AGENT, "", "200", 1)
    once, twice, untold = (
        Outcome(frozenset(), Verdict.SURVIVED, calls=frozenset({AGENT}), seen=(call,) * number) for number in (1, 2, 0)
    )

    assert known.to_cut(known.asked_for_in(once)) == {Fault(AGENT, ABORT)}
    assert known.asked_for_in(twice) == known.asked_for_in(untold) == known.at({AGENT})
