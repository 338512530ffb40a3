from typing import Any

import pytest
from tests.samples.cluster_resources import gateway_pod, shop

from cutset.experiment.istio_checks import IstioSituation, istio_checks
from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.rights import AccessQuestion
from cutset.model.checkup import CheckupLine, LineState


def checks(listed: dict[str, Any] | None = None, **situation: Any) -> dict[str, CheckupLine]:
    """By name; the last one of each."""
    known = listed if listed is not None else shop()
    base: dict[str, Any] = {"kubernetes": "v1.36.3", "gateway": "istio-ingress/ingress"}
    found = IstioSituation(("shop",), view_of(known, ["shop"]), known, **base | situation)
    return {check.name: check for check in istio_checks(found)}


def test_where_all_is_well_that_is_said() -> None:
    found = checks()
    assert not [check for check in found.values() if check.state is LineState.WRONG]
    assert found["istio"].text == "Kubernetes v1.36.3, Istio 1.31.0"
    assert found["gateway"].text == "istio-ingress/ingress leads there"
    assert found["rights"].state is LineState.WELL


def test_a_cluster_without_istio_is_told_and_nothing_else() -> None:
    found = checks(unknown_kinds=("EnvoyFilter",))
    assert found["istio"].fatal
    assert "`EnvoyFilter`" in found["istio"].text
    assert "namespaces" not in found


def test_a_version_that_was_not_tested_is_a_note() -> None:
    listed = shop()
    for pod in listed["Pod"]:
        pod["spec"]["containers"][-1]["image"] = "istio/proxyv2:1.24.1"
    found = checks(listed)["istio"]
    assert (found.state, found.text) == (
        LineState.NOTE,
        "Kubernetes v1.36.3, Istio 1.24.1; Cutset was tested with 1.31",
    )


def test_rights_that_are_missing_are_told_with_the_command_that_needs_them() -> None:
    missing = AccessQuestion("cutset install", "patch", "EnvoyFilter", "shop")
    found = checks(missing_rights=(missing,))["rights"]
    assert found.state is LineState.WRONG
    assert found.text == "you may not patch envoyfilters.networking.istio.io in shop: `cutset install` will not work"
    assert "--print-role" in found.remedy


def test_rights_that_only_hardening_needs_are_a_note() -> None:
    missing = AccessQuestion("cutset harden --apply istio", "patch", "VirtualService", "shop")
    assert checks(missing_rights=(missing,))["rights"].state is LineState.NOTE


@pytest.mark.parametrize(("ahead", "words"), [(60.0, "60 s ahead of"), (-60.0, "60 s behind")])
def test_clocks_that_differ_are_told(ahead: float, words: str) -> None:
    assert words in checks(clock_ahead=ahead)["clock"].text
    assert "clock" not in checks(clock_ahead=3.0)


def test_a_gateway_that_is_not_there_is_told_with_those_that_are() -> None:
    found = checks(gateway="edge/front")["gateway"]
    assert found.fatal
    assert found.remedy == "Set it to istio-ingress/ingress"


def test_a_port_that_the_gateway_does_not_have_is_told() -> None:
    assert "has no port 8443" in checks(gateway_port=8443)["gateway"].text


def test_a_gateway_whose_pods_are_not_ready_is_told() -> None:
    listed = shop()
    dead = gateway_pod()
    dead["status"]["conditions"] = []
    listed["Pod"][3] = dead
    assert "no pod of istio-ingress/ingress is ready" in checks(listed)["gateway"].text


def test_without_any_gateway_experiments_run_inside() -> None:
    listed = shop() | {"Gateway": []}
    found = checks(listed, gateway="")["gateway"]
    assert found.state is LineState.NOTE
    assert "--in-cluster" in found.remedy
