from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import GET_FLAT_RATE, GET_QUOTE, SHIP_ORDER


def test_nothing_ships_free_something_for_a_quote_and_anything_for_the_flat_rate(boutique):
    nothing = boutique.call("shipping", GET_QUOTE, pb.GetQuoteRequest())
    something = boutique.call(
        "shipping", GET_QUOTE, pb.GetQuoteRequest(items=[pb.CartItem(product_id="mug", quantity=1)])
    )
    anything = boutique.call("shipping", GET_FLAT_RATE, pb.Empty())

    assert [cost.cost_usd.units for cost in (nothing, something, anything)] == [0, 8, 12]


def test_each_shipment_can_be_tracked(boutique):
    tracked = {boutique.call("shipping", SHIP_ORDER, pb.ShipOrderRequest()).tracking_id for _ in range(3)}

    assert len(tracked) == 3
