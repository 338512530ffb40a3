from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import CallTree, Role
from cutset.model.point import Point


def call(name: str, *calls: CallTree) -> CallTree:
    """`cart/GetCart!` has failed."""
    return CallTree(Point.parse(name.rstrip("!")), failed=name.endswith("!"), calls=tuple(sorted(calls)))


def uses(kinds: dict[CallTree, int]) -> dict[str, CallUse]:
    return {f"{use.caller.service}>{use.callee}": use for use in call_uses(kinds)}


def test_calls_of_every_successful_request_are_made_always_the_others_sometimes() -> None:
    found = uses(
        {
            call("shop/page", call("cart/Get"), call("ad/Get")): 3,
            call("shop/page", call("cart/Get"), call("cart/Get")): 2,
            call("shop/page!", call("cart/Get!")): 1,
            call("shop/page!"): 7,
        }
    )

    assert found["shop>cart/Get"].role is Role.ALWAYS
    assert (found["shop>cart/Get"].traces, found["shop>cart/Get"].calls) == (6, 8)
    assert found["shop>ad/Get"].role is Role.SOMETIMES


def test_a_call_made_only_beside_a_failed_one_is_a_fallback() -> None:
    found = uses(
        {
            call("shop/pay", call("bank/Charge"), call("log/Write!")): 10,
            call("shop/pay", call("bank/Charge")): 10,
            call("shop/pay", call("bank/Charge!"), call("backup/Charge")): 2,
            call("shop/pay", call("bank/Charge!"), call("backup/Charge"), call("log/Write!")): 1,
        }
    )

    assert found["shop>backup/Charge"].role is Role.AFTER_FAILURE
    assert found["shop>backup/Charge"].instead_of == {Point("bank", "Charge")}
    assert found["shop>bank/Charge"].role is Role.ALWAYS
    assert found["shop>log/Write"].role is Role.SOMETIMES
    assert found["shop>log/Write"].instead_of == frozenset()


def test_a_repetition_is_no_fallback() -> None:
    found = uses(
        {call("shop/pay", call("bank/Charge!"), call("bank/Charge")): 1, call("shop/pay", call("bank/Charge")): 1}
    )

    assert found["shop>bank/Charge"].role is Role.ALWAYS


def test_where_something_always_fails_nobody_knows_what_is_a_fallback() -> None:
    found = uses({call("shop/page", call("ad/Get!"), call("cart/Get")): 5})

    assert found["shop>cart/Get"].role is Role.ALWAYS


def test_a_failure_is_tolerated_if_its_caller_answered_well() -> None:
    found = uses(
        {
            call("shop/page", call("reviews/Get", call("ratings/Get!"))): 4,
            call("shop/page!", call("reviews/Get!", call("ratings/Get!"))): 3,
        }
    )

    assert (found["reviews>ratings/Get"].failures, found["reviews>ratings/Get"].tolerated) == (7, 4)
    assert (found["shop>reviews/Get"].failures, found["shop>reviews/Get"].tolerated) == (3, 0)


def test_no_traces_no_calls() -> None:
    assert call_uses({}) == ()


def test_a_failure_that_was_made_up_for_by_asking_again_was_not_tolerated() -> None:
    found = uses(
        {call("shop/pay", call("bank/Charge!"), call("bank/Charge")): 3, call("shop/pay", call("bank/Charge!")): 2}
    )

    assert (found["shop>bank/Charge"].failures, found["shop>bank/Charge"].tolerated) == (5, 2)


def test_what_failures_prevent_is_still_made_always() -> None:
    page = call("shop/page", call("reviews/Get", call("ratings/Get")), call("cart/Get"))
    without = call("shop/page", call("reviews/Get!"), call("cart/Get"))

    assert uses({page: 99, without: 1})["reviews>ratings/Get"].role is Role.ALWAYS


def test_what_was_seen_once_beside_a_common_failure_is_no_fallback() -> None:
    kinds = {
        call("shop/page", call("ad/Get!")): 30,
        call("shop/page", call("ad/Get")): 70,
        call("shop/page", call("ad/Get!"), call("offer/Get")): 1,
    }

    assert uses(kinds)["shop>offer/Get"].role is Role.SOMETIMES
    kinds[call("shop/page", call("ad/Get!"), call("offer/Get"))] = 10
    assert uses(kinds)["shop>offer/Get"].role is Role.AFTER_FAILURE


def test_what_only_a_fallback_calls_is_part_of_it() -> None:
    found = uses(
        {
            call("shop/pay", call("bank/Charge")): 99,
            call("shop/pay", call("bank/Charge!"), call("backup/Charge", call("ledger/Write"))): 5,
            call("shop/pay", call("bank/Charge!"), call("backup/Charge")): 5,
        }
    )

    assert found["backup>ledger/Write"].role is Role.AFTER_FAILURE
    assert found["backup>ledger/Write"].instead_of == frozenset()


def test_what_is_called_before_giving_up_is_in_place_of_nothing() -> None:
    found = uses(
        {call("shop/pay", call("bank/Charge")): 99, call("shop/pay!", call("bank/Charge!"), call("log/Report")): 5}
    )

    assert found["shop>log/Report"].role is Role.AFTER_FAILURE
    assert found["shop>log/Report"].instead_of == frozenset()
