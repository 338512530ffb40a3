import logging
import uuid

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import SEND_INVOICE
from cutset_demo.money import format_money
from cutset_demo.replica import Handlers, Replica
from cutset_demo.stores import ORDERS_PLACED, subscribe

logger = logging.getLogger(__name__)


async def send_invoice(_replica: Replica, request: pb.SendInvoiceRequest) -> pb.SendInvoiceResponse:
    invoice_id = f"INVOICE-{uuid.uuid4().hex[:8].upper()}"
    logger.info("sent %s of %s to %s", invoice_id, format_money(request.amount), request.email)
    return pb.SendInvoiceResponse(invoice_id=invoice_id)


async def confirm_orders(replica: Replica) -> None:
    await subscribe(replica.tracer, replica.stores.events, ORDERS_PLACED, "email", _confirm)


async def _confirm(event: bytes) -> None:
    order = pb.OrderPlaced.FromString(event)
    logger.info("confirmed order %s of %s to %s", order.order_id, format_money(order.total), order.email)


HANDLERS: Handlers = {SEND_INVOICE: send_invoice}
