import grpc
import pytest

from cutset_demo import boutique_pb2 as pb
from cutset_demo.catalogue import PRODUCTS
from cutset_demo.methods import GET_PRODUCT, LIST_PRODUCTS


def test_the_catalogue_is_what_the_database_was_filled_with_in_order_of_its_ids(boutique):
    listed = boutique.call("productcatalog", LIST_PRODUCTS, pb.Empty()).products

    assert [product.id for product in listed] == sorted(row[0] for row in PRODUCTS)
    assert all(product.name and product.categories and product.price_usd.currency_code == "USD" for product in listed)


def test_one_product_is_the_same_as_in_the_list(boutique):
    listed = boutique.call("productcatalog", LIST_PRODUCTS, pb.Empty()).products

    assert boutique.call("productcatalog", GET_PRODUCT, pb.GetProductRequest(id=listed[3].id)) == listed[3]


def test_a_product_that_does_not_exist_is_not_found(boutique):
    with pytest.raises(grpc.RpcError) as refusal:
        boutique.call("productcatalog", GET_PRODUCT, pb.GetProductRequest(id="'; DROP TABLE products"))

    assert refusal.value.code() is grpc.StatusCode.NOT_FOUND
