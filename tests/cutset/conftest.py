from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples.cluster_resources import shop
from tests.samples.small_api_server import SmallApiServer, small_api_server, with_istio


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallApiServer]:
    """A cluster with Istio and a shop in it, to which the kubeconfig leads; keys are kept apart."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("CUTSET_KEY", raising=False)
    with small_api_server(tmp_path) as (found, kubeconfig):
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        with_istio(found, shop())
        yield found
