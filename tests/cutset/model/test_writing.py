import re

import pytest

from cutset.model.writing import SQL_WRITES, WRITE_METHODS


@pytest.mark.parametrize(
    "method", ["publish", "basic_publish", "insert_many", "send_and_wait", "commit", "POST /v1/charges"]
)
def test_methods_that_change_something_are_told_by_their_names(method: str) -> None:
    assert re.fullmatch(WRITE_METHODS, method)


@pytest.mark.parametrize("method", ["get", "set", "find_one", "GET /v1/charges", "subscribe", "execute"])
def test_others_are_not(method: str) -> None:
    assert not re.fullmatch(WRITE_METHODS, method)
    assert method.upper() not in SQL_WRITES
