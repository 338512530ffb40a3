"""Runs twice: as `payment` and, at another provider, as `paymentbackup`."""

import uuid

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import CHARGE
from cutset_demo.replica import Handlers, Replica


async def charge(_replica: Replica, _request: pb.ChargeRequest) -> pb.ChargeResponse:
    return pb.ChargeResponse(transaction_id=str(uuid.uuid4()))


HANDLERS: Handlers = {CHARGE: charge}
