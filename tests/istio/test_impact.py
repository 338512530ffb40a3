"""Live requests marked at the real gateway, from outside of the cluster: some, nobody else's, and nobody is hurt."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster.api import Resource
from cluster.control_plane import named
from cluster.shops import route, workload
from tests.istio.commands import configured
from tests.istio.conftest import Laboratory, eventually
from tests.istio.cutset_command import CutsetCommand, changes, everything
from tests.istio.marked_users import Answer, asked_by_users, marking

from cutset.errors import UsageError
from cutset.impact.live import LiveTraffic
from cutset.model.impact import Group, ImpactWindow, Mark

MESH_CONFIG = "/api/v1/namespaces/istio-system/configmaps/istio"
POLICIES = "/apis/security.istio.io/v1/namespaces/istio-ingress/authorizationpolicies"
FATAL = "backend/GET /:abort(503)"
REQUESTS = 160
KIOSK = "kiosk.example"
SHARE = 0.25  # with the fault; as many again are control


@pytest.fixture(scope="module")
def command(laboratory: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CutsetCommand]:
    found = CutsetCommand(tmp_path_factory.mktemp("config"))
    configured(found.folder, laboratory)
    found.run("install", "-n", "shop", "--marking")
    eventually(lambda: laboratory.pods("cutset", "app=cutset-marker-shop"))
    for _ in range(4):  # connections from before, each of which carries one more request past the filter
        eventually(lambda: laboratory.ask(headers=found.plan("backend/GET /"))[0] == 502)
    yield found
    found.run("uninstall", "-n", "shop")


@pytest.fixture(scope="module")
def kiosk(laboratory: Laboratory, command: CutsetCommand, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A service that needs the backend and can do without quotes, behind the same gateway; in a folder of its own."""
    serving = ["python", "-m", "cluster.shop_service", "http", "8080", "http://backend:8080", "~grpc://quote:9090"]
    made = [*workload("shop", "kiosk", serving, 8080), *map(_for_kiosk, route("shop", "kiosk", 8080)[1:])]
    laboratory.api.apply(*made)
    eventually(lambda: laboratory.ask(headers={"host": KIOSK})[0] == 200)
    command.run("install", "-n", "shop", "--marking")
    folder = tmp_path_factory.mktemp("kiosk")
    configured(folder, laboratory, requests=[{"name": "kiosk", "path": "/", "headers": {"host": KIOSK}}])
    yield folder
    for each in made:
        laboratory.api.call("DELETE", laboratory.api.address(each))
    eventually(lambda: not laboratory.pods("shop", "app=kiosk"))


def _for_kiosk(resource: Resource) -> Resource:
    spec, metadata = {**resource["spec"], "hosts": [KIOSK]}, {**resource["metadata"], "name": "kiosk"}
    return {**resource, "metadata": metadata, "spec": spec}


def impact(command: CutsetCommand, folder: Path, *arguments: str, expected: int) -> dict[str, Any]:
    windows = ("--before", "3s", "--during", "60s", "--after", "0s")
    places = ("-c", str(folder / "cutset.yaml"), "--store", str(folder / ".cutset"))
    return command.document("impact", *arguments, *windows, *places, expected=expected)


def test_what_is_sent_by_us_shows_which_call_is_fatal_and_which_is_not(command: CutsetCommand, kiosk: Path) -> None:
    fatal = impact(command, kiosk, "backend/GET /", "--load", "10", expected=1)
    assert (fatal["verdict"], [each["api"] for each in fatal["apis"]]) == ("affected", ["kiosk/GET /"])
    spared = impact(command, kiosk, "quote/Say", "--load", "10", "--margin", "25%", expected=0)
    assert (spared["verdict"], [each["api"] for each in spared["apis"]]) == ("resilient", ["kiosk/GET /"])
    assert spared["faulted_attempts"] > 10


def test_what_users_send_shows_it_too_and_no_other_user_fails(
    laboratory: Laboratory, command: CutsetCommand, kiosk: Path
) -> None:
    async def run() -> tuple[dict[str, Any], list[Answer]]:
        measuring = asyncio.ensure_future(
            asyncio.to_thread(impact, command, kiosk, "backend/GET /", "--yes", "--share", "25%", expected=1)
        )
        answers: list[Answer] = []
        while not measuring.done():
            answers += await asked_by_users(laboratory, 15, host=KIOSK)
        return await measuring, answers

    found, answers = asyncio.run(run())
    assert (found["verdict"], [each["api"] for each in found["apis"]]) == ("affected", ["kiosk/GET /"])
    failed = [each for each in answers if each.status != 200]
    assert {(each.status, each.marked) for each in failed} == {(502, True)}
    assert 0 < found["faulted_attempts"] <= len(failed)
    assert policies(laboratory) == []


def policies(laboratory: Laboratory) -> list[str]:
    return [each["metadata"]["name"] for each in laboratory.api.get(POLICIES)["items"]]


def taken(traffic: LiveTraffic) -> list[Mark]:
    return [traffic.marks.get_nowait() for _ in range(traffic.marks.qsize())]


async def until_asked(laboratory: Laboratory, traffic: LiveTraffic) -> None:
    """istiod and the gateway take a moment."""
    async with asyncio.timeout(60):
        while traffic.marks.empty():
            await asked_by_users(laboratory, 5)
    await asyncio.sleep(1)
    taken(traffic)


def test_a_share_of_users_is_marked_half_of_them_with_the_fault_and_nobody_else(
    laboratory: Laboratory, command: CutsetCommand
) -> None:
    async def run() -> None:
        async with marking(command.folder, FATAL) as traffic:
            assert not any(each.marked for each in await asked_by_users(laboratory, 20))
            await traffic.start(ImpactWindow.BEFORE, SHARE)
            await until_asked(laboratory, traffic)
            before, marks = await asked_by_users(laboratory, REQUESTS), taken(traffic)
            assert {each.group for each in marks} == {Group.CONTROL}
            assert {each.status for each in before} == {200}
            assert within(len(marks), REQUESTS, 2 * SHARE)

            await traffic.start(ImpactWindow.DURING, SHARE)
            during, marks = await asked_by_users(laboratory, REQUESTS), taken(traffic)
            groups = Counter(each.group for each in marks)
            assert within(len(marks), REQUESTS, 2 * SHARE)
            assert within(groups[Group.FAULT], len(marks), 0.5)
            # An answer that came too late for the gateway marks nobody: seldom, on a machine that is not busy.
            failed = [each for each in during if each.status != 200]
            assert 0 < len(failed) <= groups[Group.FAULT]
            assert {(each.status, each.marked) for each in failed} == {(502, True)}
            assert await traffic.stop() >= 2 * len(marks) * SHARE
            assert not any(each.marked for each in await asked_by_users(laboratory, 20))
            while policies(laboratory):  # noqa: ASYNC110 -- the cluster tells nobody
                await asyncio.sleep(0.1)

    asyncio.run(run())
    assert policies(laboratory) == []


def within(found: int, of: int, share: float) -> bool:
    """Five standard deviations."""
    return abs(found - of * share) <= 5 * (of * share * (1 - share)) ** 0.5


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGSTOP])
def test_a_marker_that_dies_or_hangs_marks_nobody_and_every_user_is_answered(
    laboratory: Laboratory, command: CutsetCommand, ended_by: signal.Signals
) -> None:
    starting = [sys.executable, "-m", "tests.istio.marked_users", str(command.folder), FATAL, str(SHARE)]
    with subprocess.Popen(starting, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "marking\n"
            eventually(lambda: any(each.marked for each in asyncio.run(asked_by_users(laboratory, 10))))
            os.kill(process.pid, ended_by)
            answers = asyncio.run(asked_by_users(laboratory, 100))
            assert {each.status for each in answers[-80:]} == {200}
            assert not any(each.marked for each in answers[-80:])
            assert "cutset-shop-marking-ingress" in policies(laboratory)
            shown = command.run("status").stdout
            assert "AuthorizationPolicy istio-ingress/cutset-shop-marking-ingress by somebody@here" in shown
        finally:
            process.kill()

    async def again() -> None:
        async with marking(command.folder, FATAL):
            pass

    asyncio.run(again())
    assert policies(laboratory) == []


def test_another_provider_of_the_gateway_is_left_alone_and_nothing_is_done(
    laboratory: Laboratory, command: CutsetCommand
) -> None:
    spec = {
        "selector": {"matchLabels": {"istio": "ingress"}},
        "action": "CUSTOM",
        "provider": {"name": "oauth2-proxy"},
        "rules": [{"to": [{"operation": {"paths": ["/private"]}}]}],
    }
    theirs = named("AuthorizationPolicy", "oauth2", "istio-ingress", "security.istio.io/v1", spec=spec)
    laboratory.api.apply(theirs)
    try:
        refused = refusal(command)
        assert "asks somebody else already (AuthorizationPolicy istio-ingress/oauth2)" in refused.message
        assert "`--load`" in refused.hint
        assert policies(laboratory) == ["oauth2"]
    finally:
        laboratory.api.call("DELETE", laboratory.api.address(theirs))
    eventually(lambda: laboratory.ask("/private")[0] == 200)


def refusal(command: CutsetCommand) -> UsageError:
    async def run() -> None:
        async with marking(command.folder, FATAL):
            pass

    with pytest.raises(UsageError) as refused:
        asyncio.run(run())
    return refused.value


def test_only_gateways_may_ask(laboratory: Laboratory, command: CutsetCommand) -> None:
    (frontend,) = laboratory.pods("shop", "app=frontend")
    service = laboratory.api.get("/api/v1/namespaces/cutset/services/cutset-marker-shop")["spec"]["clusterIP"]
    url = f"http://{service}:9000/envoy.service.auth.v3.Authorization/Check"
    status = ("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST")
    assert laboratory.in_pod("shop", frontend["metadata"]["name"], *status, url) == "403"
    (pod,) = laboratory.pods("cutset", "app=cutset-marker-shop")
    (gateway,) = laboratory.pods("istio-ingress", "istio=ingress")
    plain = f"http://{pod['status']['podIP']}:9000/"  # past the gateway's proxy: without a certificate
    assert laboratory.in_pod("istio-ingress", gateway["metadata"]["name"], *status, plain) == "403"


def test_without_the_provider_or_the_service_nothing_is_begun(laboratory: Laboratory, command: CutsetCommand) -> None:
    command.run("install", "-n", "shop", "--no-wait")
    assert "has no provider `cutset-marker-shop`" in refusal(command).message
    command.run("install", "-n", "shop", "--marking")
    eventually(lambda: laboratory.pods("cutset", "app=cutset-marker-shop"))


def test_uninstalled_while_it_marks_every_user_is_answered_and_nothing_is_left(
    laboratory: Laboratory, command: CutsetCommand
) -> None:
    command.run("uninstall", "-n", "shop")
    eventually(lambda: laboratory.api.find("/api/v1/namespaces/cutset") is None)
    before, text = everything(laboratory.api), laboratory.api.get(MESH_CONFIG)["data"]["mesh"]
    command.run("install", "-n", "shop", "--marking")
    eventually(lambda: laboratory.pods("cutset", "app=cutset-marker-shop"))

    async def run() -> list[Answer]:
        async with marking(command.folder, FATAL) as traffic:
            await traffic.start(ImpactWindow.BEFORE, SHARE)
            await until_asked(laboratory, traffic)
            uninstalling = asyncio.ensure_future(asyncio.to_thread(command.run, "uninstall", "-n", "shop"))
            answers = []
            while not uninstalling.done():
                answers += await asked_by_users(laboratory, 20)
            await uninstalling
            return [*answers, *await asked_by_users(laboratory, 20)]

    assert {each.status for each in asyncio.run(run())} == {200}
    eventually(lambda: laboratory.api.find("/api/v1/namespaces/cutset") is None)
    assert laboratory.api.get(MESH_CONFIG)["data"]["mesh"] == text
    assert changes(before, everything(laboratory.api)) == {}
    command.run("install", "-n", "shop", "--marking")  # for whoever comes next
