import uuid

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import GET_FLAT_RATE, GET_QUOTE, SHIP_ORDER
from cutset_demo.replica import Handlers, Replica

_QUOTE = pb.Money(currency_code="USD", units=8, nanos=990_000_000)
_FLAT_RATE = pb.Money(currency_code="USD", units=12)
_FREE = pb.Money(currency_code="USD")


async def get_quote(_replica: Replica, request: pb.GetQuoteRequest) -> pb.GetQuoteResponse:
    return pb.GetQuoteResponse(cost_usd=_QUOTE if request.items else _FREE)


async def get_flat_rate(_replica: Replica, _request: pb.Empty) -> pb.GetQuoteResponse:
    return pb.GetQuoteResponse(cost_usd=_FLAT_RATE)


async def ship_order(_replica: Replica, _request: pb.ShipOrderRequest) -> pb.ShipOrderResponse:
    return pb.ShipOrderResponse(tracking_id=f"TRACK-{uuid.uuid4().hex[:12].upper()}")


HANDLERS: Handlers = {GET_QUOTE: get_quote, GET_FLAT_RATE: get_flat_rate, SHIP_ORDER: ship_order}
