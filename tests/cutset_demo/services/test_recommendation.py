import grpc
import pytest

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import LIST_RECOMMENDATIONS
from cutset_demo.services.recommendation import RECOMMENDATIONS


def test_the_same_products_are_recommended_each_time_and_none_that_was_seen(boutique):
    def recommended(*seen):
        request = pb.ListRecommendationsRequest(user_id="ada", product_ids=seen)
        return list(boutique.call("recommendation", LIST_RECOMMENDATIONS, request).product_ids)

    first = recommended()
    assert len(first) == RECOMMENDATIONS
    assert recommended() == first
    assert not set(first) & set(recommended(*first))


def test_without_the_catalogue_there_are_none(boutique):
    request = pb.ListRecommendationsRequest(user_id="ada")
    with pytest.raises(grpc.RpcError) as failure:
        boutique.call("recommendation", LIST_RECOMMENDATIONS, request, ["productcatalog/ListProducts"])

    assert failure.value.code() is grpc.StatusCode.INTERNAL
