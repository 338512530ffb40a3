"""What is looked at is tested in tests/cutset/inject/istio/test_status.py."""

import asyncio

import pytest
from tests.samples.cluster_resources import shop
from tests.samples.small_api_server import small_api_server, with_istio

from cutset.app.status import installed_status
from cutset.errors import UsageError


def test_it_is_asked_of_the_cluster_of_the_kubeconfig(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_api_server(tmp_path) as (server, kubeconfig):
        with_istio(server, shop())
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        assert asyncio.run(installed_status()).environments == ()
        with pytest.raises(UsageError, match="elsewhere"):
            asyncio.run(installed_status(context="elsewhere"))
