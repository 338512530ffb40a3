"""The pages. A dependency that matters fails the page; one that does not is left out, with a note in its place."""

import json
import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import parse_qs

import grpc
from google.protobuf.json_format import MessageToDict
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import (
    ADD_ITEM,
    CACHE_GET,
    CACHE_PUT,
    CONVERT,
    EMPTY_CART,
    GET_ADS,
    GET_CART,
    GET_FLAT_RATE,
    GET_PRODUCT,
    GET_QUOTE,
    GET_SUPPORTED_CURRENCIES,
    LIST_PRODUCTS,
    LIST_RECOMMENDATIONS,
    PLACE_ORDER,
)
from cutset_demo.money import from_nanos, times, to_nanos
from cutset_demo.pages import error_page, page
from cutset_demo.replica import DependencyError, Replica

AD_DEADLINE_SECONDS = 0.1  # as in Online Boutique: an ad is not worth waiting for
ORDER_DEADLINE_SECONDS = 8.0  # longer than three payment attempts that all run into their own deadline
MAXIMUM_QUANTITY = 10
DEFAULT_CURRENCY = "USD"
SESSION_COOKIE = "shop_session"
CURRENCY_COOKIE = "shop_currency"

# What the checkout form offers, so that a bare POST is an order too.
CUSTOMER = {
    "email": "someone@example.com",
    "street_address": "1600 Amphitheatre Parkway",
    "city": "Mountain View",
    "zip_code": "94043",
    "country": "United States",
    "card_number": "4432-8015-6152-0454",
}

RouteHandler = Callable[[Replica, Request, str], Awaitable[Response]]
Value = TypeVar("Value")


async def home(replica: Replica, request: Request, session: str) -> Response:
    currencies = await _currencies(replica)
    products = (await replica.call("productcatalog", LIST_PRODUCTS, pb.Empty())).products
    cart = await _cart(replica, session)
    prices = [await _convert(replica, product.price_usd, _currency(request)) for product in products]
    return page(
        "home.html",
        currencies=currencies,
        currency=_currency(request),
        cart=cart,
        products=list(zip(products, prices, strict=True)),
        ad=await _optional(_ad(replica, [])),
    )


async def product_page(replica: Replica, request: Request, session: str) -> Response:
    product = await _product(replica, request.path_params["id"])
    currencies = await _currencies(replica)
    cart = await _cart(replica, session)
    price = await _convert(replica, product.price_usd, _currency(request))
    # Fatal here, as in Online Boutique before 0.5 (FastFI §4.2.1); the other pages tolerate it.
    recommendations = await _recommendations(replica, session, [product.id])
    return page(
        "product.html",
        currencies=currencies,
        currency=_currency(request),
        cart=cart,
        product=product,
        price=price,
        maximum_quantity=MAXIMUM_QUANTITY,
        recommendations=recommendations,
        ad=await _optional(_ad(replica, list(product.categories))),
    )


async def cart_page(replica: Replica, request: Request, session: str) -> Response:
    currency = _currency(request)
    currencies = await _currencies(replica)
    cart = await _cart(replica, session)
    seen = [item.product_id for item in cart.items]
    recommendations = await _optional(_recommendations(replica, session, seen))
    quote = await _optional(replica.call("shipping", GET_QUOTE, pb.GetQuoteRequest(items=cart.items)))
    shipping = quote or await replica.call("shipping", GET_FLAT_RATE, pb.Empty())
    shipping_cost = await _convert(replica, shipping.cost_usd, currency)
    lines = []
    for item in cart.items:
        product = await _product(replica, item.product_id)
        price = await _convert(replica, product.price_usd, currency)
        lines.append((product, item.quantity, times(price, item.quantity)))
    total = sum((to_nanos(cost) for _, _, cost in lines), to_nanos(shipping_cost))
    return page(
        "cart.html",
        currencies=currencies,
        currency=currency,
        cart=cart,
        lines=lines,
        shipping_is_quoted=quote is not None,
        shipping_cost=shipping_cost,
        total=from_nanos(total, currency),
        customer=CUSTOMER,
        recommendations=recommendations,
    )


async def add_to_cart(replica: Replica, request: Request, session: str) -> Response:
    form = await _form(request)
    quantity = form.get("quantity", "1")
    if not quantity.isdecimal() or not 1 <= int(quantity) <= MAXIMUM_QUANTITY:
        return error_page(
            HTTPStatus.BAD_REQUEST, f"The quantity must be from 1 to {MAXIMUM_QUANTITY}, not “{quantity}”."
        )
    product = await _product(replica, form.get("product_id", ""))
    item = pb.CartItem(product_id=product.id, quantity=int(quantity))
    await replica.call("cart", ADD_ITEM, pb.AddItemRequest(user_id=session, item=item))
    return RedirectResponse("/cart", 302)


async def empty_cart(replica: Replica, _request: Request, session: str) -> Response:
    await replica.call("cart", EMPTY_CART, pb.EmptyCartRequest(user_id=session))
    return RedirectResponse("/", 302)


async def checkout(replica: Replica, request: Request, session: str) -> Response:
    customer = CUSTOMER | await _form(request)
    placed = pb.PlaceOrderRequest(
        user_id=session,
        user_currency=_currency(request),
        address=pb.Address(**{name: customer[name] for name in ("street_address", "city", "zip_code", "country")}),
        email=customer["email"],
        card_number=customer["card_number"],
    )
    order = await replica.call("checkout", PLACE_ORDER, placed, deadline_seconds=ORDER_DEADLINE_SECONDS)
    seen = [item.item.product_id for item in order.items]
    recommendations = await _optional(_recommendations(replica, session, seen))
    # After the order, as in the original: whoever gets a failure page here has paid all the same.
    currencies = await _currencies(replica)
    return page(
        "order.html",
        currencies=currencies,
        currency=_currency(request),
        cart=pb.Cart(),
        order=order,
        paid_by=pb.PaidBy.Name(order.paid_by).lower(),
        email=customer["email"],
        recommendations=recommendations,
    )


async def product_meta(replica: Replica, request: Request, _session: str) -> Response:
    """Look-aside: the cache answers if it can, the catalogue answers if the cache cannot."""
    product_id = request.path_params["id"]
    key = f"product-meta:{product_id}"
    cached = await _cached(replica, key)
    if cached is not None and cached.found:
        return Response(cached.value, media_type="application/json")
    product = await _product(replica, product_id)
    body = json.dumps(MessageToDict(product, preserving_proto_field_name=True)).encode()
    await _optional(replica.call("cache", CACHE_PUT, pb.CachePutRequest(key=key, value=body)))
    return Response(body, media_type="application/json")


async def set_currency(_replica: Replica, request: Request, _session: str) -> Response:
    response = RedirectResponse("/", 302)
    response.set_cookie(CURRENCY_COOKIE, (await _form(request)).get("currency_code", DEFAULT_CURRENCY), httponly=True)
    return response


async def healthz(_replica: Replica, _request: Request, _session: str) -> Response:
    return PlainTextResponse("ok")


ROUTES: tuple[tuple[str, str, RouteHandler], ...] = (
    ("GET", "/", home),
    ("GET", "/product/{id}", product_page),
    ("GET", "/cart", cart_page),
    ("POST", "/cart", add_to_cart),
    ("POST", "/cart/empty", empty_cart),
    ("POST", "/cart/checkout", checkout),
    ("GET", "/product-meta/{id}", product_meta),
    ("POST", "/setCurrency", set_currency),
    ("GET", "/healthz", healthz),
)


async def _currencies(replica: Replica) -> list[str]:
    return list((await replica.call("currency", GET_SUPPORTED_CURRENCIES, pb.Empty())).currency_codes)


async def _cart(replica: Replica, session: str) -> pb.Cart:
    return await replica.call("cart", GET_CART, pb.GetCartRequest(user_id=session))


async def _product(replica: Replica, product_id: str) -> pb.Product:
    return await replica.call("productcatalog", GET_PRODUCT, pb.GetProductRequest(id=product_id))


async def _convert(replica: Replica, money: pb.Money, currency_code: str) -> pb.Money:
    # Called for USD to USD too, as in the original.
    return await replica.call("currency", CONVERT, pb.CurrencyConversionRequest(amount=money, to_code=currency_code))


async def _recommendations(replica: Replica, session: str, seen: list[str]) -> list[pb.Product]:
    request = pb.ListRecommendationsRequest(user_id=session, product_ids=seen)
    listed = await replica.call("recommendation", LIST_RECOMMENDATIONS, request)
    return [await _product(replica, product_id) for product_id in listed.product_ids]


async def _ad(replica: Replica, categories: list[str]) -> pb.Ad:
    request = pb.AdRequest(context_keys=categories)
    return (await replica.call("ad", GET_ADS, request, deadline_seconds=AD_DEADLINE_SECONDS)).ads[0]


async def _cached(replica: Replica, key: str) -> pb.CacheGetResponse | None:
    """A weakness: a cache that is gone is thought of, one that has lost its own store is not."""
    try:
        return await replica.call("cache", CACHE_GET, pb.CacheGetRequest(key=key))
    except DependencyError as failure:
        if failure.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
            return None
        raise


async def _optional(dependency: Awaitable[Value]) -> Value | None:
    try:
        return await dependency
    except DependencyError:
        return None


def _currency(request: Request) -> str:
    wanted = request.cookies.get(CURRENCY_COOKIE, DEFAULT_CURRENCY)
    return wanted if re.fullmatch("[A-Z]{3}", wanted) else DEFAULT_CURRENCY


async def _form(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs((await request.body()).decode(errors="replace")).items()}
