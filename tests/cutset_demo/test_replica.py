import grpc
import pytest

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import GET_ADS, GET_CART, GET_PRODUCT, LIST_RECOMMENDATIONS
from cutset_demo.replica import DependencyError


def failure(code, details):
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


def test_a_failed_call_is_told_with_its_purpose_and_the_words_of_the_service():
    own = DependencyError("cart", GET_CART, failure(grpc.StatusCode.INTERNAL, "cart/GetCart: Redis is away"))
    of_a_proxy = DependencyError("cart", GET_CART, failure(grpc.StatusCode.UNAVAILABLE, "upstream connect error"))

    assert str(own) == "could not read the cart (cart/GetCart: Redis is away)"
    assert str(of_a_proxy) == "could not read the cart (cart/GetCart: UNAVAILABLE)"
    assert of_a_proxy.code is grpc.StatusCode.UNAVAILABLE


def test_a_refusal_has_its_own_status_and_a_failure_below_is_never_worth_a_retry(boutique):
    with pytest.raises(grpc.RpcError) as refused:
        boutique.call("productcatalog", GET_PRODUCT, pb.GetProductRequest(id="none"))
    request = pb.ListRecommendationsRequest(user_id="ada")
    with pytest.raises(grpc.RpcError) as failed:
        boutique.call("recommendation", LIST_RECOMMENDATIONS, request, ["productcatalog/ListProducts"])

    assert refused.value.details() == "productcatalog/GetProduct: no product with id `none`"
    assert failed.value.code() is grpc.StatusCode.INTERNAL
    assert failed.value.details().startswith("recommendation/ListRecommendations: could not list the products")


def test_a_method_of_another_service_is_not_served(boutique):
    with pytest.raises(grpc.RpcError) as refused:
        boutique.call("cart", GET_ADS, pb.AdRequest())

    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
