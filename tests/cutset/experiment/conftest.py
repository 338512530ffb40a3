"""One shop for all tests of the folder, in one event loop, which stands still between them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from tests.samples.small_shop import Shop, open_shop

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def open_for_all(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    opening = open_shop(tmp_path_factory.mktemp("mesh"))
    yield run(opening.__aenter__())
    run(opening.__aexit__(None, None, None))


@pytest.fixture
def shop(open_for_all: Shop) -> Shop:
    open_for_all.stumbles.clear()
    open_for_all.flakes.clear()
    return open_for_all
