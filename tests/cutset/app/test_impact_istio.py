"""With real gateways and users in tests/istio/test_impact.py."""

import asyncio

import pytest
from tests.samples.small_api_server import SmallApiServer

from cutset.app.impact_istio import refuse_unmarkable
from cutset.app.install import InstallOptions, install_environment
from cutset.errors import UsageError
from cutset.model.cluster import IstioPlace

PLACE = IstioPlace(("shop",), gateway="istio-ingress/ingress")


def installed(*, marking: bool) -> None:
    async def run() -> None:
        async for _ in install_environment(InstallOptions(("shop",), marking=marking, wait=False)):
            pass

    asyncio.run(run())


def test_who_did_not_install_it_is_told_how_and_nothing_is_changed(server: SmallApiServer) -> None:
    installed(marking=False)
    before = server.versions()
    with pytest.raises(UsageError, match="has no provider `cutset-marker-shop`") as refused:
        asyncio.run(refuse_unmarkable(PLACE, "shop"))
    assert "`cutset install --marking`" in refused.value.hint
    assert server.versions() == before


def test_who_did_may_go_on_and_nothing_is_changed_yet(server: SmallApiServer) -> None:
    installed(marking=True)
    before = server.versions()
    asyncio.run(refuse_unmarkable(PLACE, "shop"))
    assert server.versions() == before
