import copy
from typing import Any

from tests.samples.cluster_resources import pod, resource, shop
from tests.samples.installations import PUBLIC_KEY, installation

from cutset.experiment.istio_installed import OwnSide, installed_checks
from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.mesh_config import with_entry
from cutset.inject.istio.planning import install_plan
from cutset.model.checkup import CheckupLine, LineState

OWN = OwnSide("shop", PUBLIC_KEY)
EJECTING = resource("DestinationRule", "cart", {"host": "cart", "trafficPolicy": {"outlierDetection": {}}})


def installed(**changes: Any) -> dict[str, list[dict[str, Any]]]:
    """The shop, after `cutset install`."""
    listed: dict[str, list[dict[str, Any]]] = shop() | changes
    listed.setdefault("ConfigMap", [{"metadata": {"name": "istio"}, "data": {"mesh": ""}}])
    plan = install_plan(installation(), view_of(listed, ["shop"]), listed)
    (entry,) = plan.entries
    listed["ConfigMap"][0]["data"]["mesh"] = with_entry("", entry)
    for each in copy.deepcopy(plan.resources):
        listed.setdefault(each["kind"], []).append(each)
    for each in listed["Deployment"]:
        each["status"] = {"readyReplicas": 1}
    return listed


def checks(listed: dict[str, Any], own: OwnSide = OWN) -> list[CheckupLine]:
    return installed_checks(["shop"], view_of(listed, ["shop"]), listed, own)


def wrong(listed: dict[str, Any], own: OwnSide = OWN) -> CheckupLine:
    (found,) = checks(listed, own)
    assert found.state is LineState.WRONG
    assert found.remedy
    return found


def test_what_was_just_installed_is_up_to_date() -> None:
    assert [check.text for check in checks(installed())] == ["what is installed in shop is up to date"]
    assert checks(installed(DestinationRule=[EJECTING]))[0].state is LineState.WELL


def test_where_nothing_is_installed_the_command_is_told() -> None:
    assert wrong(shop()).remedy == "`cutset install -n shop`"


def test_another_environment_is_told() -> None:
    found = wrong(installed(), OwnSide("staging", PUBLIC_KEY))
    assert (found.name, found.remedy) == ("environment", "Set `target.environment: shop`")


def test_another_key_is_told() -> None:
    assert wrong(installed(), OwnSide("shop", b"another")).name == "key"
    assert checks(installed(), OwnSide("shop", b""))[0].state is LineState.WELL


def test_a_rule_that_came_later_is_told() -> None:
    listed = installed() | {"DestinationRule": [EJECTING]}
    missing = checks(listed)
    assert {check.state for check in missing} == {LineState.WRONG}
    assert any("would be ejected" in check.text for check in missing)


def test_a_rule_that_went_leaves_what_is_not_needed() -> None:
    listed = installed(DestinationRule=[EJECTING]) | {"DestinationRule": []}
    assert {check.state for check in checks(listed)} == {LineState.NOTE}


def test_a_workload_that_came_later_has_another_name_table() -> None:
    listed = installed()
    listed["Pod"].append(pod("cart-v2-1", "cart-v2", labels={"app": "cart"}))
    found = wrong(listed)
    assert "EnvoyFilter shop/cutset-shop is not up to date" in found.text


def test_a_telemetry_that_was_removed_is_told() -> None:
    assert "Telemetry shop/cutset-shop is missing" in wrong(installed() | {"Telemetry": []}).text


def test_a_mesh_config_that_was_written_anew_is_told() -> None:
    listed = installed()
    listed["ConfigMap"][0]["data"]["mesh"] = "accessLogFile: /dev/stdout\n"
    assert wrong(listed).name == "tracing"


def test_a_collector_that_is_not_there_or_not_ready_is_told() -> None:
    assert "is not there" in wrong(installed() | {"Deployment": []}).text
    listed = installed()
    listed["Deployment"][0]["status"] = {}
    waiting = pod("collector-1", within="cutset")
    state = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    waiting["status"]["containerStatuses"] = [{"name": "collector", "state": state}]
    listed["Pod"].append(waiting)
    assert "collector waits, ImagePullBackOff no such image" in wrong(listed).text


def test_a_sidecar_resource_that_hides_the_collector_is_told() -> None:
    listed = installed() | {"Sidecar": [resource("Sidecar", "tight", {"egress": [{"hosts": ["./*"]}]})]}
    assert "Sidecar shop/tight keeps the collector" in wrong(listed).text


def test_what_speaks_against_installing_today_is_told() -> None:
    listed = installed()
    listed["Telemetry"].append(resource("Telemetry", "theirs", {"tracing": [{"providers": [{"name": "jaeger"}]}]}))
    assert "Telemetry shop/theirs" in wrong(listed).text
