from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from cutset.errors import UsageError


def test_workflows_are_found(cutset: Callable[..., Result], document: Callable[..., Any]) -> None:
    first = document("workflows")["workflows"][0]
    assert (first["services"], first["calls"], first["traces"]) == (["redis(web)", "web"], ["web>redis(web)/GET"], 20)
    assert (first["share"], round(first["share_low"], 2), first["anecdote"]) == (1.0, 0.84, False)
    assert "web>redis(web)/GET" in cutset("workflows", "--top", "1").stdout
    assert document("workflows", "--no-stores", "--min-share", "50")["workflows"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min-services", "9"], "`--min-services 9` is more than `--max-services 5`"),
        (["--front-end", "wep"], "There is no service `wep`"),
    ],
)
def test_wrong_usage_is_explained(cutset: Callable[..., Result], arguments: list[str], message: str) -> None:
    error = cutset("workflows", *arguments).exception
    assert isinstance(error, UsageError)
    assert error.message == message
