import uuid

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import ADD_ITEM, EMPTY_CART, GET_CART


def test_a_cart_adds_quantities_up_keeps_users_apart_and_can_be_emptied(boutique):
    one, other = str(uuid.uuid4()), str(uuid.uuid4())

    def add(user, product, quantity):
        item = pb.CartItem(product_id=product, quantity=quantity)
        boutique.call("cart", ADD_ITEM, pb.AddItemRequest(user_id=user, item=item))

    def cart_of(user):
        cart = boutique.call("cart", GET_CART, pb.GetCartRequest(user_id=user))
        return [(item.product_id, item.quantity) for item in cart.items]

    add(one, "mug", 1)
    add(one, "candle", 2)
    add(one, "mug", 3)
    add(other, "mug", 9)
    assert cart_of(one) == [("candle", 2), ("mug", 4)]
    assert cart_of(other) == [("mug", 9)]

    boutique.call("cart", EMPTY_CART, pb.EmptyCartRequest(user_id=one))
    assert (cart_of(one), cart_of(other)) == ([], [("mug", 9)])
