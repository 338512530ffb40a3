"""The entry of WSGI applications, served by wsgiref."""

import base64
import threading
from contextlib import contextmanager
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.validate import validator

import httpx
import pytest
import redis
from tests.cutset_agent.conftest import TRACE_ID, plan_headers

import cutset_agent
from cutset_agent import request


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(app):
    server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def shop(redis_address):
    """A service that answers in pieces, and reads from Redis between them."""
    client = redis.Redis.from_url(f"redis://{redis_address}")

    def app(environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if environ["PATH_INFO"] == "/fail":
            start_response("503 Service Unavailable", [("Content-Type", "text/plain")])
            return [b""]
        start_response("200 OK", [("Content-Type", "text/plain")])
        return pieces(body)

    def pieces(body):
        yield body
        yield str(client.exists("missing")).encode()

    yield app
    client.close()


@pytest.mark.parametrize("entry", [lambda app: app, cutset_agent.wsgi], ids=["by wsgiref's hook", "by hand"])
def test_the_request_lasts_until_the_answer_is_whole(installed, shop, entry):
    with served(validator(entry(validator(shop)))) as url:
        assert httpx.post(f"{url}/a", content=b"x", headers=plan_headers()).text == "x0"
        assert httpx.post(f"{url}/a", content=b"x").text == "x0"
        assert httpx.get(f"{url}/fail", headers=plan_headers()).status_code == 503
    first, call, failed = installed.spans()
    assert (first["name"], first["http.status_code"], first["traceId"]) == ("POST /a", "200", TRACE_ID)
    assert (call["endpoint"], call["parentSpanId"]) == ("cache/redis/exists", first["spanId"])
    assert (failed["http.status_code"], failed["error"]) == ("503", "true")
    assert request.current() is None


def test_a_fault_reaches_the_application(installed, shop, redis_address):
    client = redis.Redis.from_url(f"redis://{redis_address}")

    def app(environ, start_response):
        try:
            client.get("key")
        except redis.ConnectionError:
            start_response("500 Internal Server Error", [])
        else:
            start_response("200 OK", [])
        return []

    with client, served(app) as url:
        assert httpx.get(url, headers=plan_headers(("cache/redis/get", "connection-lost"))).status_code == 500
        assert httpx.get(url).status_code == 200


def test_a_recording_has_both_bodies(installed, recorded, shop):
    with served(shop) as url:
        httpx.post(f"{url}/%C3%A4?q=%20", content=b"hello", headers={"content-type": "text/plain"})
    (exchange,) = recorded()
    assert (exchange["method"], exchange["path"], exchange["status"]) == ("POST", "/%C3%A4?q=%20", 200)
    assert ["content-type", "text/plain"] in exchange["request_headers"]
    assert exchange["response_headers"] == [["Content-Type", "text/plain"]]
    assert base64.b64decode(exchange["request_body"]) == b"hello"
    assert base64.b64decode(exchange["response_body"]) == b"hello0"
    assert [operation["endpoint"] for operation in exchange["operations"]] == ["cache/redis/exists"]


def test_an_application_that_raises_is_reported_as_failed(installed):
    def app(environ, start_response):
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        cutset_agent.wsgi(app)({"REQUEST_METHOD": "GET", "PATH_INFO": "/", "wsgi.input": None, **in_environ()}, None)
    (span,) = installed.spans()
    assert span["error"] == "true"


def in_environ():
    return {f"HTTP_{name.upper()}": value for name, value in plan_headers().items()}


def test_a_request_ends_with_its_body_also_if_nobody_closes_it(installed):
    def app(environ, start_response):
        start_response("200 OK", [])
        yield b"1"

    headers = {f"HTTP_{name.upper()}": value for name, value in plan_headers().items()}
    answer = cutset_agent.wsgi(app)({"REQUEST_METHOD": "GET", "wsgi.input": None, **headers}, lambda *_: None)
    reach = request.current().reach
    pieces = iter(answer)
    assert next(pieces) == b"1"
    assert reach.ended is None
    assert next(pieces, None) is None
    assert reach.ended is not None
    answer.close()


def test_a_service_has_the_name_that_its_application_is_given(installed, shop, redis_address):
    with served(cutset_agent.wsgi(shop, "cart")) as url:
        httpx.post(f"{url}/a", content=b"x", headers=plan_headers())
    assert {span["service"] for span in installed.spans()} == {"cart"}
    assert len(installed.spans()) == 2  # also what is read while the answer goes out


def test_flask_tells_its_route(installed):
    flask = pytest.importorskip("flask")
    app = flask.Flask("shop")
    app.add_url_rule("/items/<int:number>", view_func=lambda number: f"{number}", endpoint="item")
    with served(app) as url:
        httpx.get(f"{url}/items/7", headers=plan_headers())
        httpx.get(f"{url}/nowhere", headers=plan_headers())
    assert [span.get("http.route") for span in installed.spans()] == ["/items/<int:number>", None]


def test_django_tells_its_route(installed):
    django = pytest.importorskip("django")
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIHandler
    from django.http import HttpResponse
    from django.urls import path

    urls = [path("items/<int:number>/", lambda _request, number: HttpResponse(str(number)))]
    module = type("Urls", (), {"urlpatterns": urls})
    settings.configure(ROOT_URLCONF=module, ALLOWED_HOSTS=["*"], DEBUG=False)
    django.setup()
    with served(WSGIHandler()) as url:
        assert httpx.get(f"{url}/items/7/", headers=plan_headers()).text == "7"
    assert installed.spans()[0]["http.route"] == "/items/<int:number>/"
