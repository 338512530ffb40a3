"""A process that hosts several services: each call is that of the service whose code makes it."""

import asyncio
import contextvars

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from tests.cutset_agent.conftest import plan_headers, served
from tests.samples.hooked_library import ENDPOINT, LibraryError

import cutset_agent
from cutset_agent import services


def fails(client):
    try:
        client.execute("a")
    except LibraryError:
        return True
    return False


def test_calls_are_of_the_service_that_the_code_says_it_is(installed, client):
    with installed.request((ENDPOINT, "connection-refused"), service="cart"):
        assert not fails(client)  # of `orders`, as the process is called
        with cutset_agent.serving("cart"):
            assert fails(client)
            with cutset_agent.serving("users"):
                assert not fails(client)
            assert fails(client)
    assert [span["service"] for span in installed.spans(ENDPOINT)] == ["orders", "cart", "users", "cart"]


def test_functions_can_be_those_of_a_service(installed, client):
    @cutset_agent.serving("cart")
    def cart():
        return fails(client)

    @cutset_agent.serving("users")
    async def users():
        await asyncio.sleep(0)
        return fails(client)

    with installed.request((ENDPOINT, "connection-refused"), service="cart"):
        assert cart()
        assert not asyncio.run(users())
        assert services.present() == ""
    assert (cart.__name__, asyncio.iscoroutinefunction(users)) == ("cart", True)
    with pytest.raises(TypeError, match="is a generator"):
        cutset_agent.serving("cart")(lambda: (yield))


def test_applications_of_one_process_have_their_own_names(installed, client):
    async def page(_request):
        return PlainTextResponse(str(fails(client)))

    def application():
        return Starlette(routes=[Route("/", page)])

    with cutset_agent.serving("users"):
        users = cutset_agent.asgi(application())
    mounted = Starlette(
        routes=[Mount("/cart", cutset_agent.asgi(application(), "cart")), Mount("/users", users), Route("/", page)]
    )
    headers = plan_headers((ENDPOINT, "connection-refused"), service="cart")
    with served(mounted) as url:
        answers = [httpx.get(f"{url}{path}", headers=headers).text for path in ("/cart/", "/users/", "/")]
    assert answers == ["True", "False", "False"]
    assert [span["service"] for span in installed.spans(ENDPOINT)] == ["cart", "users", "orders"]


def test_a_server_that_is_made_within_serves_that_service(installed, client):
    async def page(_request):
        return PlainTextResponse(str(fails(client)))

    with (
        cutset_agent.serving("cart"),
        served(cutset_agent.asgi(Starlette(routes=[Route("/", page)]))) as url,
    ):
        assert httpx.get(url, headers=plan_headers((ENDPOINT, "timeout"), service="cart")).text == "False"
    entry, call = installed.spans()
    assert (entry["service"], call["service"]) == ("cart", "cart")
    assert call["not_fired"] == "timeout: the call site has no timeout"


def test_what_is_left_in_another_context_is_left_all_the_same():
    def generate():
        with services.Serving("cart"):
            yield services.present()

    started = generate()
    assert contextvars.copy_context().run(next, started) == "cart"
    started.close()
    assert services.present() == ""
