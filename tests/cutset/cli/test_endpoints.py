from collections.abc import Callable
from typing import Any

from typer.testing import Result


def test_targets_are_chosen(cutset: Callable[..., Result], document: Callable[..., Any]) -> None:
    targets = document("endpoints")["targets"]
    assert [(target["endpoint"], target["point"]) for target in targets] == [
        ("cache/redis/GET", "web>redis(web)/GET"),
        ("rpc/grpc/cart/GetCart", "web>cart/GetCart"),
    ]
    assert "cache/redis/GET" in cutset("endpoints", "--services-each", "1").stdout
