from collections.abc import Callable
from typing import Any

from typer.testing import Result


def test_apis_are_ranked(cutset: Callable[..., Result], document: Callable[..., Any]) -> None:
    apis = document("rank", "--by", "dynamic")["apis"]
    assert [api["api"] for api in apis] == ["redis(web)/GET", "cart/GetCart"]
    assert "cart/GetCart" in cutset("rank").stdout
    assert "`--top` shows more" in cutset("rank", "--top", "1").stdout
