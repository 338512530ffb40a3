import grpc
from psycopg.rows import TupleRow

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import GET_PRODUCT, LIST_PRODUCTS
from cutset_demo.money import NANOS, from_nanos
from cutset_demo.replica import Handlers, RefusedError, Replica
from cutset_demo.stores import select

_COLUMNS = "SELECT id, name, description, picture, price_usd_cents, categories FROM products"


async def list_products(replica: Replica, _request: pb.Empty) -> pb.ListProductsResponse:
    rows = await select(replica.tracer, replica.stores.catalogue, f"{_COLUMNS} ORDER BY id")
    return pb.ListProductsResponse(products=[_product(row) for row in rows])


async def get_product(replica: Replica, request: pb.GetProductRequest) -> pb.Product:
    rows = await select(replica.tracer, replica.stores.catalogue, f"{_COLUMNS} WHERE id = %s", request.id)
    if not rows:
        raise RefusedError(grpc.StatusCode.NOT_FOUND, f"no product with id `{request.id}`")
    return _product(rows[0])


def _product(row: TupleRow) -> pb.Product:
    product_id, name, description, picture, price_usd_cents, categories = row
    return pb.Product(
        id=product_id,
        name=name,
        description=description,
        picture=picture,
        price_usd=from_nanos(price_usd_cents * NANOS // 100, "USD"),
        categories=categories.split(","),
    )


HANDLERS: Handlers = {LIST_PRODUCTS: list_products, GET_PRODUCT: get_product}
