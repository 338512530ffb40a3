import uuid

import grpc
import pytest

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import ADD_ITEM, GET_CART, PLACE_ORDER


def place(boutique, user, fail=()):
    item = pb.CartItem(product_id="6E92ZMYYFZ", quantity=2)
    boutique.call("cart", ADD_ITEM, pb.AddItemRequest(user_id=user, item=item))
    order = pb.PlaceOrderRequest(
        user_id=user, user_currency="USD", email="ada@example.com", card_number="4432801561520454"
    )
    return boutique.call("checkout", PLACE_ORDER, order, fail)


@pytest.mark.parametrize(
    ("fail", "paid_by"),
    [
        ((), pb.CARD),
        (("payment/Charge",), pb.BACKUP),
        (("payment/Charge", "paymentbackup/Charge"), pb.INVOICE),
    ],
)
def test_an_order_is_paid_by_the_first_provider_that_works(boutique, fail, paid_by):
    order = place(boutique, str(uuid.uuid4()), fail)

    assert order.paid_by == paid_by
    assert order.payment_reference
    assert order.shipping_tracking_id.startswith("TRACK-")
    assert (order.total.units, order.total.nanos) == (26, 970_000_000)  # 2 × 8.99, and 8.99 for the shipping


def test_an_order_stands_although_the_cart_stays_full(boutique):
    user = str(uuid.uuid4())
    place(boutique, user, ["cart/EmptyCart"])

    assert boutique.call("cart", GET_CART, pb.GetCartRequest(user_id=user)).items


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        (("payment/Charge", "paymentbackup/Charge", "email/SendInvoice"), "could not send the invoice"),
        (("shipping/GetQuote",), "could not quote the shipping"),
    ],
)
def test_an_order_that_cannot_be_placed_says_which_call_it_was(boutique, fail, reason):
    with pytest.raises(grpc.RpcError) as failure:
        place(boutique, str(uuid.uuid4()), fail)

    assert failure.value.code() is grpc.StatusCode.INTERNAL
    assert reason in failure.value.details()


def test_an_empty_cart_cannot_be_ordered(boutique):
    with pytest.raises(grpc.RpcError) as refusal:
        boutique.call("checkout", PLACE_ORDER, pb.PlaceOrderRequest(user_id=str(uuid.uuid4()), user_currency="USD"))

    assert refusal.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert refusal.value.details() == "checkout/PlaceOrder: the cart is empty"
