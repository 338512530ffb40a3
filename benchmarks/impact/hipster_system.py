"""The system that ART was evaluated on (§5.1), in its shape: a front end for browsers, gRPC services behind it.

As in the version of that time, nothing but advertisements is optional to the front end.
"""

from benchmarks.impact.habits import Services, at_once, both, needs, tolerates

ENTRY = "frontend"
PATHS = ("/", "/product", "/cart", "/checkout")
_ADS = tolerates("adservice", "GetAds")


def services() -> Services:
    catalogue, cart, recommendations = "productcatalog", "cartservice", ("recommendation", "ListRecommendations")
    return {
        ENTRY: {
            "/": both(needs((catalogue, "ListProducts"), (cart, "GetCart"), ("currency", "Convert")), _ADS),
            "/product": both(needs((catalogue, "GetProduct"), (cart, "GetCart"), recommendations), _ADS),
            "/cart": needs((cart, "GetCart"), recommendations, (catalogue, "GetProduct"), ("shipping", "GetQuote")),
            "/checkout": needs(("checkout", "PlaceOrder")),
        },
        "recommendation": {"ListRecommendations": needs((catalogue, "ListProducts"))},
        "checkout": {
            "PlaceOrder": needs(
                (cart, "GetCart"), (catalogue, "GetProduct"), ("payment", "Charge"), ("shipping", "ShipOrder")
            )
        },
        catalogue: {"ListProducts": at_once, "GetProduct": at_once},
        cart: {"GetCart": at_once},
        "currency": {"Convert": at_once},
        "adservice": {"GetAds": at_once},
        "shipping": {"GetQuote": at_once, "ShipOrder": at_once},
        "payment": {"Charge": at_once},
    }


GRPC = tuple(name for name in services() if name != ENTRY)
