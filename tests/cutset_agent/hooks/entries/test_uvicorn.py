import httpx
import pytest
from tests.cutset_agent.conftest import TRACE_ID, plan_headers, served

from cutset_agent import request


def test_uvicorn_gives_any_application_an_entry(installed):
    found = []

    async def app(scope, receive, send):
        assert scope["type"] == "http"
        found.append(request.current())
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body"})

    with served(app) as url:
        assert httpx.get(url, headers=plan_headers()).status_code == 204
        assert httpx.get(url).status_code == 204
    assert [each is None for each in found] == [False, True]


def test_uvicorn_gives_wsgi_applications_an_entry_too(installed):
    found = []

    def app(environ, start_response):
        found.append(request.current())
        start_response("204 No Content", [])
        return []

    with pytest.warns(DeprecationWarning, match="WSGI"), served(app, interface="wsgi") as url:
        assert httpx.get(url, headers=plan_headers()).status_code == 204
    assert found[0].trace_id == TRACE_ID
