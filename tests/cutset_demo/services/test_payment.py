import grpc
import pytest

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import CHARGE


def test_both_providers_charge_each_time_under_a_number_of_its_own(boutique):
    charged = [
        boutique.call(service, CHARGE, pb.ChargeRequest()).transaction_id
        for service in ("payment", "payment", "paymentbackup")
    ]

    assert len(set(filter(None, charged))) == 3


def test_a_retry_is_taken_for_a_second_charge(boutique):
    with grpc.insecure_channel(boutique.addresses["payment"], options=[("grpc.enable_http_proxy", 0)]) as channel:
        invoke = channel.unary_unary(f"/{CHARGE.full_name}", CHARGE.request.SerializeToString, CHARGE.reply.FromString)
        assert invoke(pb.ChargeRequest(), timeout=20, metadata=[("x-envoy-attempt-count", "1")]).transaction_id
        with pytest.raises(grpc.RpcError) as refusal:
            invoke(pb.ChargeRequest(), timeout=20, metadata=[("x-envoy-attempt-count", "2")])

    assert refusal.value.code() is grpc.StatusCode.ALREADY_EXISTS
