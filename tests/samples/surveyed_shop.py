"""A survey of a small shop, as traces of it would give, without reading any."""

from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Representative, Survey

CACHE = CallTree(Point("redis", "GET"), component=Component.CACHE, framework="redis")
CACHE_FAILED = CallTree(Point("redis", "GET"), failed=True, component=Component.CACHE, framework="redis")
CART = CallTree(Point("cart", "GetCart"), component=Component.RPC, framework="grpc")
CART_PAGE = CallTree(Point("web", "GET /cart"), component=Component.HTTP, calls=(CACHE,))
# If the cache fails, the page asks the service.
CART_PAGE_AFTER_FAILURE = CallTree(Point("web", "GET /cart"), component=Component.HTTP, calls=(CART, CACHE_FAILED))
HOME_PAGE = CallTree(Point("web", "GET /"), component=Component.HTTP)
HOME_PAGE_FAILED = CallTree(Point("web", "GET /"), failed=True, component=Component.HTTP)


def surveyed_shop(**changes: object) -> Survey:
    cart = ClassSummary(
        "GET /cart",
        "web",
        Representative(34.0, "5a", (("web", CACHE_FAILED), ("web", CART))),
        {CART_PAGE: 16, CART_PAGE_AFTER_FAILURE: 4},
        spans=48,
        components=44,
        total_ns=100_000_000,
    )
    home = ClassSummary(
        "GET /",
        "web",
        Representative(6.0, "7b"),
        {HOME_PAGE: 9},
        {HOME_PAGE_FAILED: 1},
        spans=10,
        components=10,
        total_ns=10_000_000,
    )
    classes = {"GET /cart": cart, "GET /": home}
    return Survey(**({"classes": classes, "headless": 2} | changes))  # type: ignore[arg-type]
