import logging
import uuid

import grpc
from nats.errors import TimeoutError as NatsTimeoutError
from opentelemetry.context import Context

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import (
    CHARGE,
    CONVERT,
    EMPTY_CART,
    GET_CART,
    GET_PRODUCT,
    GET_QUOTE,
    PLACE_ORDER,
    SEND_INVOICE,
    SHIP_ORDER,
)
from cutset_demo.money import from_nanos, times, to_nanos
from cutset_demo.replica import DependencyError, Handlers, RefusedError, Replica
from cutset_demo.stores import ORDERS_PLACED, publish

logger = logging.getLogger(__name__)


async def place_order(replica: Replica, request: pb.PlaceOrderRequest) -> pb.PlaceOrderResponse:
    cart = await replica.call("cart", GET_CART, pb.GetCartRequest(user_id=request.user_id))
    if not cart.items:
        raise RefusedError(grpc.StatusCode.FAILED_PRECONDITION, "the cart is empty")
    items = [await _order_item(replica, item, request.user_currency) for item in cart.items]
    quote = await replica.call("shipping", GET_QUOTE, pb.GetQuoteRequest(items=cart.items))
    shipping_cost = await _convert(replica, quote.cost_usd, request.user_currency)
    costs = [shipping_cost, *(times(item.cost, item.item.quantity) for item in items)]
    total = from_nanos(sum(to_nanos(cost) for cost in costs), request.user_currency)
    paid_by, payment_reference = await _pay(replica, request, total)
    shipment = await replica.call(
        "shipping", SHIP_ORDER, pb.ShipOrderRequest(address=request.address, items=cart.items)
    )
    order = pb.PlaceOrderResponse(
        order_id=str(uuid.uuid4()),
        shipping_tracking_id=shipment.tracking_id,
        shipping_cost=shipping_cost,
        total=total,
        paid_by=paid_by,
        payment_reference=payment_reference,
        items=items,
    )
    await _tell_others(replica, request, order)
    return order


async def _order_item(replica: Replica, item: pb.CartItem, currency_code: str) -> pb.OrderItem:
    product = await replica.call("productcatalog", GET_PRODUCT, pb.GetProductRequest(id=item.product_id))
    return pb.OrderItem(item=item, cost=await _convert(replica, product.price_usd, currency_code))


async def _convert(replica: Replica, money: pb.Money, currency_code: str) -> pb.Money:
    # The fresh context is Online Boutique's own mistake (`context.TODO()`), kept: the call leaves the request's trace.
    request = pb.CurrencyConversionRequest(amount=money, to_code=currency_code)
    return await replica.call("currency", CONVERT, request, context=Context())


async def _pay(replica: Replica, order: pb.PlaceOrderRequest, total: pb.Money) -> tuple[pb.PaidBy, str]:
    charge = pb.ChargeRequest(amount=total, card_number=order.card_number)
    for service, paid_by in (("payment", pb.CARD), ("paymentbackup", pb.BACKUP)):
        try:
            return paid_by, (await replica.call(service, CHARGE, charge)).transaction_id
        except DependencyError as failure:
            if failure.code is grpc.StatusCode.ALREADY_EXISTS:  # never charge twice
                raise
            logger.info("%s did not take the card: %s", service, failure.code.name)
    invoice = await replica.call("email", SEND_INVOICE, pb.SendInvoiceRequest(email=order.email, amount=total))
    return pb.INVOICE, invoice.invoice_id


async def _tell_others(replica: Replica, request: pb.PlaceOrderRequest, order: pb.PlaceOrderResponse) -> None:
    """The order stands whether or not this works. Two weaknesses: nobody bounds how long it may take, and of all that
    may happen to a broker only slowness is thought of.
    """
    try:
        await replica.call("cart", EMPTY_CART, pb.EmptyCartRequest(user_id=request.user_id), deadline_seconds=None)
    except DependencyError as failure:
        logger.info("the cart of order %s stays full: %s", order.order_id, failure.code.name)
    event = pb.OrderPlaced(order_id=order.order_id, email=request.email, total=order.total)
    try:
        await publish(replica.tracer, replica.stores.events, ORDERS_PLACED, event.SerializeToString())
    except NatsTimeoutError as error:
        logger.info("order %s was not announced: %s", order.order_id, error)


HANDLERS: Handlers = {PLACE_ORDER: place_order}
