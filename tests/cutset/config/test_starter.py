from pathlib import Path

from tests.samples.cluster_resources import pod, port, service, shop

from cutset.config.explore import load_config
from cutset.config.starter import Entry, entry_of, starter_text
from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.routes import RoutedRequest
from cutset.model.cluster import IstioPlace
from cutset.model.request import Request, Step
from cutset.model.target import Target

VIEW = view_of(shop(), ["shop"])


def written(tmp_path: Path, requests: list[RoutedRequest], place: IstioPlace, entry: Entry) -> Path:
    file = tmp_path / "cutset.yaml"
    file.write_text(starter_text(place, entry, "staging", requests, VIEW))
    return file


def test_the_file_is_read_as_it_was_meant(tmp_path: Path) -> None:
    entry = entry_of(VIEW)
    assert entry == Entry("istio-ingress/ingress", 80)
    requests = [RoutedRequest("/"), RoutedRequest("/cart", host="shop.example", source="VirtualService shop/front")]
    place = IstioPlace(("shop", "pay"), "kind", entry.gateway, entry.port)
    config = load_config(written(tmp_path, requests, place, entry))
    assert config.istio == place
    assert config.target == Target("http://ingress.istio-ingress:80", environment="staging")
    assert config.requests == (
        Request("GET /", Step("GET", "/")),
        Request("GET /cart at shop.example", Step("GET", "/cart", {"host": "shop.example"})),
    )


def test_without_routes_there_is_one_request_and_without_a_gateway_a_service_is_the_entry(tmp_path: Path) -> None:
    view = view_of(shop() | {"Gateway": [], "VirtualService": []}, ["shop"])
    entry = entry_of(view)
    assert entry == Entry(url="http://frontend.shop:80")
    file = written(tmp_path, [], IstioPlace(("shop",)), entry)
    config = load_config(file)
    assert config.target.url == "http://frontend.shop:80"
    assert [each.name for each in config.requests] == ["GET /"]
    assert "No ingress gateway leads here" in file.read_text()


def test_where_nothing_serves_http_there_is_no_entry() -> None:
    listed = {"Service": [service("db", port(5432, "tcp"))], "Pod": [pod("db-1")]}
    assert entry_of(view_of(listed, ["shop"])) is None


def test_what_would_not_be_answered_as_it_stands_is_a_comment(tmp_path: Path) -> None:
    requests = [
        RoutedRequest("/productpage"),
        RoutedRequest("/static", exact=False, source="VirtualService shop/front"),
        RoutedRequest("/login"),
        RoutedRequest("/api/v1/products", exact=False),
        RoutedRequest("/cart", "POST"),
    ]
    place, entry = IstioPlace(("shop",), gateway="a/b"), Entry("a/b")
    file = written(tmp_path, requests, place, entry)
    assert [each.name for each in load_config(file).requests] == ["GET /productpage"]
    text = file.read_text()
    assert '  # - path: "/login"\n' in text
    uncommented = text.replace("  # - path", "  - path").replace("  #   ", "    ").replace("# expect", "#")
    file.write_text(uncommented)
    assert len(load_config(file).requests) == 5


def test_where_only_beginnings_of_paths_are_known_the_front_page_is_asked_for(tmp_path: Path) -> None:
    requests = [RoutedRequest("/", exact=False, host="shop.example")]
    config = load_config(written(tmp_path, requests, IstioPlace(("shop",), gateway="a/b"), Entry("a/b")))
    assert config.requests == (Request("GET /", Step("GET", "/", {"host": "shop.example"})),)


def test_many_routes_are_cut_short(tmp_path: Path) -> None:
    requests = [RoutedRequest(f"/{number}") for number in range(30)]
    file = written(tmp_path, requests, IstioPlace(("shop",), gateway="a/b"), Entry("a/b"))
    assert len(load_config(file).requests) == 12
    assert "# 6 more: GET /24, GET /25" in file.read_text()


def test_what_no_plan_reaches_is_in_the_file() -> None:
    listed = shop()
    listed["Pod"][2] = pod("cart-1", proxy="")
    text = starter_text(IstioPlace(("shop",)), Entry("a/b"), "e", [], view_of(listed, ["shop"]))
    assert "# - Service shop/cart: it has no sidecar" in text


def test_requests_of_a_source_take_the_place_of_those_of_routes(tmp_path: Path) -> None:
    place, entry = IstioPlace(("shop",), gateway="istio-ingress/ingress"), Entry("istio-ingress/ingress")
    text = starter_text(place, entry, "shop", [RoutedRequest("/routed")], VIEW, known=['  - path: "/known"'])
    (tmp_path / "cutset.yaml").write_text(text)
    assert [each.name for each in load_config(tmp_path / "cutset.yaml").requests] == ["GET /known"]
