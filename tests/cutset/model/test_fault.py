import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.effects import EFFECTS

from cutset.errors import InputError
from cutset.model.effect import UNAVAILABLE, Effect, EffectKind
from cutset.model.fault import BASELINE, Fault, cut_of, format_cut, points_of
from cutset.model.point import Point

# Names that look like parts of the grammar are the ones that could be confused with it.
TRICKY_NAMES = (
    st.text(min_size=1)
    | st.text(alphabet=" :,%()", min_size=1)
    | st.sampled_from(
        [
            "x:abort(503)",
            "x:abort(503),50%",
            "x:delay(1ms),attempts=1",
            "x:timeout",
            "x:empty,call=2",
            " x ",
            "\nx",
            "x,50%",
        ]
    )
)
FIRST_ATTEMPT = Effect(EffectKind.ABORT, 503, attempts=1)
FAULTS = st.builds(
    Fault,
    point=st.builds(Point, service=TRICKY_NAMES, api=TRICKY_NAMES, caller=st.text(), replica=st.text()),
    effect=EFFECTS,
    percent=st.integers(1, 100),
)


@given(FAULTS)
def test_a_fault_parses_back(fault):
    assert Fault.parse(str(fault)) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("payment/Charge:abort(503)", Fault(Point("payment", "Charge"))),
        ("payment/Charge:grpc(8),50%", Fault(Point("payment", "Charge"), Effect(EffectKind.GRPC, 8), percent=50)),
        ("payment/Charge:abort(503),attempts=1", Fault(Point("payment", "Charge"), FIRST_ATTEMPT)),
        ("payment/Charge:timeout", Fault(Point("payment", "Charge"), Effect(EffectKind.TIMEOUT))),
        ("a>b/c#1@2:delay(250ms)", Fault(Point("b", "c", "a", "1", "2"), Effect(EffectKind.DELAY, 250))),
    ],
)
def test_faults_are_written_as_documented(text, fault):
    assert Fault.parse(text) == fault
    assert str(fault) == text


@pytest.mark.parametrize("text", ["b/users:batchGet", " b/users:batchGet ", "b/users:batchGet:abort(503)"])
def test_a_bare_point_stands_for_the_default_effect(text):
    assert Fault.parse(text) == Fault(Point("b", "users:batchGet"), UNAVAILABLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a/b:abort(600)", "`abort(600)`: expected an HTTP status from 200 to 599, found 600"),
        ("a/b:grpc(0)", "`grpc(0)`: expected a gRPC status from 1 to 16, found 0"),
        ("a/b:delay(0ms)", "`delay(0ms)`: expected milliseconds from 1 to 3600000, found 0"),
        ("a/b:delay(5)", "`delay(5)` is not an effect"),
        ("a/b:abort(503ms)", "`abort(503ms)` is not an effect"),
        ("a/b:abort()", "`abort()` is not an effect"),
        ("a/b:explode(1)", "`explode(1)` is not an effect"),
        ("a/b:abort(503),0%", "`a/b:abort(503),0%`: expected a percentage from 1 to 100, found 0"),
        ("a/b:abort(503),attempts=100", "`abort(503),attempts=100`: expected 0 to 99 attempts, found 100"),
        ("a/b:abort(503),50", "`a/b:abort(503),50` is not a fault"),
        ("a/b:abort(503),1000%", "`a/b:abort(503),1000%` is not a fault"),
        ("a/b:Abort(503)", "`a/b:Abort(503)` is not a fault"),
        ("a/b: abort 503", "`a/b: abort 503` is not a fault"),
        ("abort(503)", "`abort(503)` is not a point"),
        ("", "`` is not a point"),
    ],
)
def test_what_is_no_fault_is_refused(text, message):
    with pytest.raises(InputError) as caught:
        Fault.parse(text)
    assert caught.value.message == message


def test_a_cut_is_shown_in_a_stable_order():
    cut = cut_of([Point("b", "y"), Point("a", "x")])
    assert format_cut(cut) == "a/x:abort(503) + b/y:abort(503)"
    assert points_of(cut) == {Point("a", "x"), Point("b", "y")}


def test_the_empty_cut_is_the_baseline():
    assert cut_of([]) == BASELINE
    assert format_cut(BASELINE) == "nothing"
