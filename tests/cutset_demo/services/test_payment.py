from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import CHARGE


def test_both_providers_charge_each_time_under_a_number_of_its_own(boutique):
    charged = [
        boutique.call(service, CHARGE, pb.ChargeRequest()).transaction_id
        for service in ("payment", "payment", "paymentbackup")
    ]

    assert len(set(filter(None, charged))) == 3
