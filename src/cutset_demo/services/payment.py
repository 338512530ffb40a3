"""Runs twice: as `payment` and, at another provider, as `paymentbackup`."""

import uuid

import grpc

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import CHARGE
from cutset_demo.replica import ATTEMPT, Handlers, RefusedError, Replica


async def charge(_replica: Replica, _request: pb.ChargeRequest) -> pb.ChargeResponse:
    # A weakness: the first attempt may never have arrived, but here it is taken for one that was charged.
    if ATTEMPT.get() > 1:
        raise RefusedError(grpc.StatusCode.ALREADY_EXISTS, "this order was charged before")
    return pb.ChargeResponse(transaction_id=str(uuid.uuid4()))


HANDLERS: Handlers = {CHARGE: charge}
