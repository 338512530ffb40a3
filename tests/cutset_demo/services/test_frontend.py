import re

import pytest

PRODUCT = "6E92ZMYYFZ"
ITEM = {"product_id": PRODUCT, "quantity": "2"}


def parts(page: str) -> set[str]:
    return set(re.findall(r'<(?:section|p) id="([a-z-]+)"', page))


def main_text(page: str) -> str:
    main = page.partition("<main>")[2].partition("</main>")[0]
    return " ".join(re.sub("<[^>]*>", " ", main).split())


def test_the_home_page_shows_nine_products_and_an_ad(boutique):
    with boutique.client() as client:
        page = client.get("/").text
    assert parts(page) == {"products", "ads"}
    assert page.count('class="card"') == 9
    assert "degraded" not in page


def test_the_product_page_shows_price_recommendations_and_ad(boutique):
    with boutique.client() as client:
        page = client.get(f"/product/{PRODUCT}").text
    assert parts(page) == {"product", "recommendations", "ads"}
    assert "Mug" in page
    assert "$8.99" in page
    assert page.count('class="card"') == 5


def test_the_cart_page_adds_items_and_shipping_up(boutique):
    with boutique.client() as client:
        added = client.post("/cart", data=ITEM)
        assert (added.status_code, added.headers["location"]) == (302, "/cart")
        page = client.get("/cart").text
    assert parts(page) == {"items", "shipping-quote", "total", "recommendations"}
    assert "$26.97" in page  # 2 × 8.99 + 8.99


def test_an_emptied_cart_is_empty(boutique):
    with boutique.client() as client:
        client.post("/cart", data=ITEM)
        assert client.post("/cart/empty").status_code == 302
        assert "empty-cart" in parts(client.get("/cart").text)


def test_an_order_is_paid_by_card_and_empties_the_cart(boutique):
    with boutique.client() as client:
        client.post("/cart", data=ITEM)
        page = client.post("/cart/checkout", data={"email": "ada@example.com"}).text
        assert parts(page) == {"order", "paid-by-card", "recommendations"}
        assert "ada@example.com" in page
        assert "empty-cart" in parts(client.get("/cart").text)


@pytest.mark.parametrize(
    ("fail", "paid_by"),
    [
        (["payment/Charge"], "paid-by-backup"),
        (["payment/Charge", "paymentbackup/Charge"], "paid-by-invoice"),
    ],
)
def test_an_order_that_the_card_cannot_pay_is_paid_another_way(boutique, fail, paid_by):
    with boutique.client(fail) as client:
        client.post("/cart", data=ITEM)
        assert paid_by in parts(client.post("/cart/checkout").text)


@pytest.mark.parametrize(
    ("path", "fail", "missing"),
    [
        ("/", "ad/GetAds", "ads"),
        (f"/product/{PRODUCT}", "ad/GetAds", "ads"),
        ("/cart", "recommendation/ListRecommendations", "recommendations"),
        ("/cart", "productcatalog/ListProducts", "recommendations"),
        ("/cart", "shipping/GetQuote", "shipping-quote"),
    ],
)
def test_a_part_whose_dependency_fails_is_left_out_with_a_note(boutique, path, fail, missing):
    with boutique.client() as client, boutique.client([fail]) as unlucky_client:
        client.post("/cart", data=ITEM)
        unlucky_client.cookies = client.cookies
        whole, page = client.get(path), unlucky_client.get(path)
    assert page.status_code == 200
    assert missing in parts(whole.text)
    assert missing not in parts(page.text)
    assert 'class="degraded"' in page.text


def test_a_failed_quote_falls_back_to_the_flat_rate(boutique):
    with boutique.client(["shipping/GetQuote"]) as client:
        client.post("/cart", data=ITEM)
        assert "shipping-flat-rate" in parts(client.get("/cart").text)


def test_the_first_visit_starts_a_session_and_later_ones_keep_it(boutique):
    with boutique.client() as client:
        first = client.get("/")
        assert "shop_session" in first.cookies
        assert "shop_session" not in client.get("/").cookies


def test_prices_follow_the_chosen_currency(boutique):
    with boutique.client() as client:
        assert client.post("/setCurrency", data={"currency_code": "EUR"}).status_code == 302
        assert "€7.95" in client.get(f"/product/{PRODUCT}").text


def test_product_meta_is_the_same_from_the_cache_and_from_the_catalogue(boutique):
    with boutique.client() as client:
        cold, warm = client.get(f"/product-meta/{PRODUCT}"), client.get(f"/product-meta/{PRODUCT}")
    with boutique.client(["cache/Get"]) as client:
        without_cache = client.get(f"/product-meta/{PRODUCT}")
    assert cold.json() == warm.json() == without_cache.json()
    assert warm.json()["name"] == "Mug"


def test_a_warm_cache_spares_the_catalogue(boutique):
    with boutique.client() as client:
        client.get(f"/product-meta/{PRODUCT}")
        boutique.calls.clear()
        client.get(f"/product-meta/{PRODUCT}")
    assert [(call.service, call.method) for call in boutique.calls] == [("cache", "Get")]


@pytest.mark.parametrize(
    ("request_line", "fail", "reason"),
    [
        (("GET", "/"), "cart/GetCart", "could not read the cart (cart/GetCart: UNAVAILABLE)"),
        (
            ("GET", f"/product/{PRODUCT}"),
            "productcatalog/ListProducts",
            (
                "could not find recommendations (recommendation/ListRecommendations: "
                "could not list the products (productcatalog/ListProducts: UNAVAILABLE))"
            ),
        ),
        (
            ("POST", "/cart/checkout"),
            "shipping/ShipOrder",
            (
                "could not place the order (checkout/PlaceOrder: "
                "could not ship the order (shipping/ShipOrder: UNAVAILABLE))"
            ),
        ),
    ],
)
def test_a_failure_page_starts_with_what_could_not_be_done(boutique, request_line, fail, reason):
    with boutique.client() as client, boutique.client([fail]) as unlucky_client:
        client.post("/cart", data=ITEM)
        unlucky_client.cookies = client.cookies
        page = unlucky_client.request(*request_line)
    assert page.status_code == 500
    assert main_text(page.text).startswith(reason)


def test_a_failure_page_quotes_the_service_that_refused(boutique):
    with boutique.client() as client:
        assert main_text(client.get("/product/none").text).startswith(
            "could not look up the product (productcatalog/GetProduct: no product with id `none`)"
        )
        assert main_text(client.post("/cart/checkout").text).startswith(
            "could not place the order (checkout/PlaceOrder: the cart is empty)"
        )


def test_an_unknown_product_is_not_found(boutique):
    with boutique.client() as client:
        assert client.get("/product/none").status_code == 404
        assert client.post("/cart", data={"product_id": "none"}).status_code == 404
        assert client.get("/product-meta/none").status_code == 404


@pytest.mark.parametrize("quantity", ["0", "11", "-1", "many", ""])
def test_an_impossible_quantity_is_refused(boutique, quantity):
    with boutique.client() as client:
        expected = 302 if quantity == "" else 400  # an empty field is one that was not filled in
        assert client.post("/cart", data={"product_id": PRODUCT, "quantity": quantity}).status_code == expected


def test_an_empty_cart_cannot_be_ordered(boutique):
    with boutique.client() as client:
        assert client.post("/cart/checkout").status_code == 400


def test_the_health_page_calls_nobody(boutique):
    boutique.calls.clear()
    with boutique.client() as client:
        assert client.get("/healthz").text == "ok"
    assert boutique.calls == []


def test_the_style_sheet_is_served(boutique):
    with boutique.client() as client:
        assert client.get("/static/shop.css").headers["content-type"].startswith("text/css")
