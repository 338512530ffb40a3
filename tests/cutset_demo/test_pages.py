import re
from http import HTTPStatus

import pytest

from cutset_demo.pages import error_page


def test_what_others_said_is_escaped_on_the_page_of_an_error():
    page = error_page(HTTPStatus.BAD_REQUEST, "<script>alert(1)</script>")

    assert page.status_code == 400
    assert "<script>alert" not in page.body.decode()
    assert "&lt;script&gt;" in page.body.decode()


@pytest.mark.parametrize(("path", "status"), [("/product/none", 404), ("/static/shop.css", 200), ("/nowhere", 404)])
def test_a_request_that_is_wrong_is_no_failure_of_ours(boutique, path, status):
    with boutique.client() as client:
        pages = re.findall(r'href="(/static/[^"]+)"', client.get("/").text)
        assert client.get(path if "static" not in path else pages[0]).status_code == status


def test_a_visitor_gets_a_session_once(boutique):
    with boutique.client() as client:
        assert "set-cookie" in client.get("/").headers
        assert "set-cookie" not in client.get("/").headers
