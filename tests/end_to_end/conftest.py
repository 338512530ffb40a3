from collections.abc import Iterator
from pathlib import Path

import pytest

from cutset.app.demo import Boutique, run_boutique

KEY = b"a key for tests that nobody guesses"


@pytest.fixture(scope="session")
def boutique(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Boutique, Path]]:
    """The shop behind its mesh, and the folder of its cutset.yaml."""
    store = tmp_path_factory.mktemp("boutique")
    with run_boutique(2, KEY, store) as running:
        yield running, store
