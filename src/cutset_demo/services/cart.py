from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import ADD_ITEM, EMPTY_CART, GET_CART
from cutset_demo.replica import Handlers, Replica
from cutset_demo.stores import redis_command


async def add_item(replica: Replica, request: pb.AddItemRequest) -> pb.Empty:
    key, item = _key(request.user_id), request.item
    await redis_command(replica.tracer, replica.stores.carts, "HINCRBY", key, item.product_id, item.quantity)
    return pb.Empty()


async def get_cart(replica: Replica, request: pb.GetCartRequest) -> pb.Cart:
    quantities = await redis_command(replica.tracer, replica.stores.carts, "HGETALL", _key(request.user_id))
    items = [
        pb.CartItem(product_id=product_id.decode(), quantity=int(quantity))
        for product_id, quantity in sorted(quantities.items())
    ]
    return pb.Cart(user_id=request.user_id, items=items)


async def empty_cart(replica: Replica, request: pb.EmptyCartRequest) -> pb.Empty:
    await redis_command(replica.tracer, replica.stores.carts, "DEL", _key(request.user_id))
    return pb.Empty()


def _key(user_id: str) -> str:
    return f"cart:{user_id}"


HANDLERS: Handlers = {ADD_ITEM: add_item, GET_CART: get_cart, EMPTY_CART: empty_cart}
