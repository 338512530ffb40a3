"""A cluster in a few dictionaries, whose only pod is a campaign behind a real port; tests/istio runs a real Job."""

import asyncio
import base64
from contextlib import asynccontextmanager

import pytest
import yaml
from tests.cutset.app.test_served_run import campaign, free_port

from cutset.app import in_cluster
from cutset.app.in_cluster import JobOptions, _as_inside, explore_in_cluster, printed_job
from cutset.app.served_run import serve_run
from cutset.config.explore import load_config
from cutset.errors import TargetError, UsageError
from cutset.inject.ecdsa import new_private_key
from cutset.model.run import RunStarted
from cutset.store.ledger import open_ledger


class OnePod:
    """`run` is what the Job does."""

    def __init__(self, run=None, waiting=None):
        self.resources = {}
        self.deleted = []
        self._run, self._waiting = run, waiting
        self.running = None
        self.port = free_port()
        self.breaks = 0  # connections that break, to begin with

    async def get(self, kind, name, namespace=""):
        return self.resources.get((kind, name))

    async def apply(self, resource):
        self.resources[resource["kind"], resource["metadata"]["name"]] = resource
        if resource["kind"] == "Job" and self._run:
            self.running = asyncio.ensure_future(self._run(self.port))

    async def delete(self, resource):
        self.deleted.append(resource["kind"])
        self.resources.pop((resource["kind"], resource["metadata"]["name"]), None)
        return True

    async def list(self, kind, namespace="", labels=None):
        assert (kind, namespace, labels["app"]) == ("Pod", "cutset", "cutset-explore")
        status = {"phase": "Running"} if self.running else {"phase": "Pending"}
        if self._waiting:
            status["containerStatuses"] = [{"state": {"waiting": self._waiting}}]
        return [{"metadata": {"name": "explore-1"}, "status": status}]

    @asynccontextmanager
    async def forwarded(self, pod, namespace, port):
        assert (pod, namespace) == ("explore-1", "cutset")
        self.breaks -= 1
        yield free_port() if self.breaks >= 0 else self.port


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "cutset.yaml"
    file.write_text("istio: {namespaces: [shop], gateway: edge/gateway, context: mine}\nrequests: [{path: /}]\n")
    return load_config(file)


@pytest.fixture
def key():
    return new_private_key()


@pytest.fixture
def inside(monkeypatch, tmp_path):
    """A cluster with a campaign in it."""
    monkeypatch.setattr(in_cluster, "POLL_SECONDS", 0.01)

    async def run(port, *, fails=False):
        events = serve_run(campaign(tmp_path / "there", fails=fails), tmp_path / "there", port)
        try:
            async for _ in events:
                pass
        except TargetError:
            pass

    def use(cluster):
        @asynccontextmanager
        async def connected(context):
            assert context == "mine"
            yield cluster

        monkeypatch.setattr(in_cluster, "connected", connected)
        return cluster

    return use, run


async def explored(config, key, store, **options):
    return [event async for event in explore_in_cluster(config, JobOptions(**options), key=key, store=store)]


def test_what_the_job_finds_is_copied_as_it_was_recorded_and_all_is_removed(config, key, inside, tmp_path):
    use, run = inside
    cluster = use(OnePod(run))
    cluster.breaks = 2

    events = asyncio.run(explored(config, key, tmp_path / "here"))

    with open_ledger(tmp_path / "here") as here, open_ledger(tmp_path / "there") as there:
        assert [each[:2] for each in here.records("run")] == [each[:2] for each in there.records("run")]
        assert len(here.events("run")) == len(events)
    assert isinstance(events[0], RunStarted)
    assert events[0].config == str(config.path)
    assert cluster.resources == {}
    assert cluster.deleted[0] == "Job"


def test_who_left_attaches_later_and_nothing_is_copied_twice(config, key, inside, tmp_path):
    use, run = inside
    cluster = use(OnePod(run))

    async def scenario():
        events = explore_in_cluster(config, JobOptions(), key=key, store=tmp_path / "here")
        await anext(events)
        await events.aclose()
        assert ("Job", "cutset-explore-shop") in cluster.resources
        with pytest.raises(UsageError, match="already"):
            await explored(config, key, tmp_path / "here")
        return await explored(config, key, tmp_path / "here", attach=True)

    events = asyncio.run(scenario())
    with open_ledger(tmp_path / "here") as here:
        assert len(here.events("run")) == len(events)
    assert cluster.resources == {}


def test_what_went_wrong_there_is_raised_here(config, key, inside, tmp_path):
    use, run = inside
    cluster = use(OnePod(lambda port: run(port, fails=True)))
    with pytest.raises(TargetError, match="nobody is there"):
        asyncio.run(explored(config, key, tmp_path / "here"))
    assert cluster.resources == {}


def test_an_image_that_cannot_be_had_is_told(config, key, inside, tmp_path):
    use, _ = inside
    use(OnePod(waiting={"reason": "ErrImagePull", "message": "no such thing"}))
    with pytest.raises(TargetError, match="ErrImagePull: no such thing"):
        asyncio.run(explored(config, key, tmp_path / "here"))


def test_there_must_be_a_job_to_attach_to(config, key, inside, tmp_path):
    use, _ = inside
    use(OnePod())
    with pytest.raises(UsageError, match="There is no Job cutset/cutset-explore-shop"):
        asyncio.run(explored(config, key, tmp_path / "here", attach=True))


def test_inside_the_cluster_there_is_no_context(config):
    assert yaml.safe_load(_as_inside(config.path)) == {
        "istio": {"namespaces": ["shop"], "gateway": "edge/gateway"},
        "requests": [{"path": "/"}],
    }


def test_a_manifest_of_it_has_all_but_the_key(config):
    resources = list(yaml.safe_load_all(printed_job(config, JobOptions("registry/cutset:1", arguments=("-k", "2")))))
    assert resources[-1]["kind"] == "Job"
    (container,) = resources[-1]["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["command"][-2:]) == ("registry/cutset:1", ["-k", "2"])
    (secret,) = [each for each in resources if each["kind"] == "Secret"]
    assert b"put the private key" in base64.b64decode(secret["data"]["key.pem"])


def test_requests_that_need_other_files_are_refused(tmp_path):
    (tmp_path / "buy.py").write_text("def buy(call): ...\n")
    (tmp_path / "cutset.yaml").write_text(
        "istio: {namespaces: [shop], gateway: a/b}\nrequests: [{workload: buy.py:buy, setup: [{command: [x]}]}]\n"
    )
    with pytest.raises(UsageError, match="need files that are not in the cluster: `command`, `workload`"):
        printed_job(load_config(tmp_path / "cutset.yaml"), JobOptions())
