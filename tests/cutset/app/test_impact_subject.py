import pytest

from cutset.app.impact_learning import KnownCalls
from cutset.app.impact_subject import cut_of_named, faults_named, is_known
from cutset.errors import InputError, UsageError
from cutset.impact.settings import ImpactSettings
from cutset.model.fault import Fault, format_cut
from cutset.model.point import Point

CALLS = (
    "payment/Charge",
    "payment/Refund",
    "cart/GetCart",
    "cart>cache/redis/get sessions",
    "cart>cache/redis/set sessions",
)
KNOWN = KnownCalls(frozenset(map(Point.parse, CALLS)), frozenset({Point.parse("web/POST /checkout")}))
THIRTY = ImpactSettings(rate=30)


def cut(*texts: str, settings: ImpactSettings = THIRTY) -> str:
    return format_cut(cut_of_named(faults_named(texts, settings), KNOWN))


def test_a_point_gets_the_effect_and_the_rate_of_the_settings_where_it_has_none() -> None:
    assert cut("payment/Charge") == "payment/Charge:abort(503),30%"
    assert cut("payment/Charge:timeout") == "payment/Charge:timeout,30%"
    assert cut("payment/Charge:abort(500),70%") == "payment/Charge:abort(500),70%"
    assert cut("payment/Charge", settings=ImpactSettings(effect="delay(2s)")) == "payment/Charge:delay(2000ms)"


def test_a_service_is_all_of_its_apis_and_a_replica_of_it_too() -> None:
    assert cut("payment") == "payment/*:abort(503),30%"
    assert cut("payment:timeout") == "payment/*:timeout,30%"
    assert cut("payment#2") == "payment/*#2:abort(503),30%"
    assert cut("payment:abort(503,a/b)") == "payment/*:abort(503,a/b),30%"


def test_several_happen_together() -> None:
    assert cut("payment/Charge", "cart:timeout") == "cart/*:timeout,30% + payment/Charge:abort(503),30%"


def test_what_a_caller_s_agent_calls_is_named_by_endpoint_or_by_component() -> None:
    assert cut("cart>cache/redis/get") == "cart>cache/redis/get:abort(503),30%"
    assert cut("cart>cache") == (
        "cart>cache/redis/get sessions:abort(503),30% + cart>cache/redis/set sessions:abort(503),30%"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("payment/Charg", "Did you mean `payment/Charge`? Known: `cart/GetCart`, "),
        ("paymet", "Did you mean `payment`?"),
        ("cart>db/psycopg/execute", "Known: "),
    ],
)
def test_what_nobody_calls_is_corrected(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        cut(text)
    assert caught.value.message == f"No request was seen to call `{text}`"
    assert caught.value.hint.startswith(hint)


def test_of_many_names_some_are_shown() -> None:
    many = KnownCalls(frozenset(Point("service", f"Api{number:02}") for number in range(20)))
    with pytest.raises(UsageError) as caught:
        cut_of_named((Fault.parse("x/y"),), many)
    assert caught.value.hint.endswith("`service/Api11` and 8 more")


@pytest.mark.parametrize("text", ["web", "web/POST /checkout"])
def test_what_users_call_has_nothing_upstream(text: str) -> None:
    with pytest.raises(UsageError, match="nothing is upstream of it"):
        cut(text)


def test_one_point_has_one_effect() -> None:
    with pytest.raises(UsageError, match="`payment/Charge` is named with two effects"):
        cut("payment/Charge", "payment/Charge:timeout")
    assert cut("payment/Charge", "payment/Charge") == "payment/Charge:abort(503),30%"


@pytest.mark.parametrize("text", ["payment/Charge:abort(50)", "payment:nonsense", "payment/Charge:Timeout"])
def test_a_misspelt_effect_is_refused_before_anything_is_sent(text: str) -> None:
    with pytest.raises(InputError):
        faults_named((text,), THIRTY)


def test_known_is_what_was_seen_of_it() -> None:
    (fault,) = faults_named(("payment",), THIRTY)
    assert is_known(fault, KNOWN)
    assert not is_known(fault, KnownCalls())
