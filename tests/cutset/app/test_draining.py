import asyncio
from contextlib import asynccontextmanager

import pytest

from cutset.app import draining
from cutset.app.draining import wait_until_drained
from cutset.model.cluster import IstioPlace

NOON = 1_700_000_000.0  # 2023-11-14T22:13:20Z


def written(at, manager="cutset"):
    return {
        "metadata": {
            "creationTimestamp": "2023-11-14T22:00:00Z",
            "managedFields": [{"manager": manager, "time": at}],
        }
    }


@pytest.mark.parametrize(
    ("filters", "mesh", "words"),
    [
        ([written("2023-11-14T22:13:10Z")], "", "waiting 38 s"),
        ([written("2023-11-14T22:13:10Z")], "defaultConfig: {drainDuration: 60s}", "waiting 53 s"),
        ([written("2023-11-14T22:13:10Z")], "defaultConfig: {drainDuration: 5s}", ""),
        ([written("2023-11-14T22:13:10Z", "istiod")], "", ""),
        ([written("2023-11-14T22:10:00Z")], "", ""),
        ([], "", ""),
    ],
)
def test_experiments_wait_until_what_was_open_before_the_installation_has_ended(monkeypatch, filters, mesh, words):
    class Cluster:
        async def list(self, kind, namespace, labels):
            assert (kind, namespace, dict(labels)) == (
                "EnvoyFilter",
                "shop",
                {"app.kubernetes.io/managed-by": "cutset"},
            )
            return filters

        async def get(self, kind, name, namespace):
            assert (kind, name, namespace) == ("ConfigMap", "istio", "istio-system")
            return {"data": {"mesh": mesh}}

        async def clock(self):
            return NOON

    @asynccontextmanager
    async def connected(_):
        yield Cluster()

    slept, notes = [], []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(draining, "connected", connected)
    monkeypatch.setattr(draining.asyncio, "sleep", sleep)

    asyncio.run(wait_until_drained(IstioPlace(("shop",)), notes.append))

    assert [words in note for note in notes] == ([True] if words else [])
    assert len(slept) == len(notes)
