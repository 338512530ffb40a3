from dataclasses import replace

from cutset.harden.mesh_settings import mesh_settings
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.registry import advise
from cutset.model.hardening import Latency
from cutset.model.point import Point

LATENCY = Latency(calls=5_000, median=0.1, p99=0.5, p999=0.6, longest=2.0)
GET = SiteEvidence(Point("cart", "GetCart"), latency=LATENCY, replicas=2, retries=0)
ADD = replace(GET, site=Point("cart", "AddItem"), latency=replace(LATENCY, p999=1.0))


def settings_of(*known: SiteEvidence) -> tuple[dict[str, dict[str, object]], list[str]]:
    return mesh_settings({GET.site: advise(GET)[0]}, {each.site: each for each in known})


def test_settings_of_a_service_with_one_api_are_those_of_the_api() -> None:
    settings, left_out = settings_of(GET)
    assert left_out == []
    assert settings == {
        "cart": {
            "fallback": {"GetCart": "last-good"},
            "timeout_seconds": 0.9,
            "retries": 1,
            "retry_budget_percent": 20.0,
            "outlier_detection": True,
            "hedge_after_seconds": 0.5,
        }
    }


def test_what_would_not_do_for_another_api_of_the_service_is_left_out_or_widened() -> None:
    settings, left_out = settings_of(GET, ADD)
    assert settings["cart"]["timeout_seconds"] == 1.5
    assert not settings["cart"].keys() & {"retries", "retry_budget_percent", "hedge_after_seconds"}
    assert [each.partition(":")[0] for each in left_out] == [
        "cart.retries",
        "cart.retry_budget_percent",
        "cart.hedge_after_seconds",
    ]
    settings, left_out = settings_of(GET, replace(ADD, latency=None))
    assert "timeout_seconds" not in settings["cart"]
    assert "AddItem too, whose latencies are not known" in left_out[0]


def test_nobody_hedges_after_the_timeout() -> None:
    late = replace(GET, latency=replace(LATENCY, p99=0.2, median=0.01, p999=0.1))
    settings, left_out = mesh_settings({late.site: advise(late)[0]}, {late.site: late})
    assert settings["cart"]["hedge_after_seconds"] == 0.2 < settings["cart"]["timeout_seconds"] == 0.25
    later = replace(late, latency=replace(LATENCY, p99=20.0))
    settings, left_out = mesh_settings({later.site: advise(later)[0]}, {later.site: later})
    assert "hedge_after_seconds" not in settings["cart"]
    assert left_out == ["cart.hedge_after_seconds: it is not shorter than the timeout"]
