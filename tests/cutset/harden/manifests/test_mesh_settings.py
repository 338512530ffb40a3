from dataclasses import replace

import pytest
import yaml

from cutset.errors import InputError
from cutset.harden.manifests.mesh_settings import merge_settings, mesh_settings
from cutset.harden.remedies.evidence import Evidence, Latency
from cutset.harden.remedies.registry import advise
from cutset.model.point import Point

LATENCY = Latency(calls=5_000, median=0.1, p99=0.5, p999=0.6, longest=2.0)
GET = Evidence(Point("cart", "GetCart"), latency=LATENCY, replicas=2, retries=0)
ADD = replace(GET, site=Point("cart", "AddItem"), latency=replace(LATENCY, p999=1.0))

MESH = """\
# ours
entry: web
services:
  web: {protocol: http, replicas: ["h:1"]}  # the front
  cart:
    protocol: grpc  # as ever
    replicas:
    - h:2
    fallback:
      GetCart: last-good-or-empty
    outlier_detection: false
"""


def settings_of(*known: Evidence) -> tuple[dict[str, dict[str, object]], list[str]]:
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


def test_settings_are_added_and_everything_else_stays_word_for_word() -> None:
    wanted = {"web": {"retries": 2}, "cart": {"timeout_seconds": 0.5, "fallback": {"ListCarts": "last-good"}}}
    merged = merge_settings(MESH, wanted)
    expected = yaml.safe_load(MESH)
    expected["services"]["web"]["retries"] = 2
    expected["services"]["cart"]["timeout_seconds"] = 0.5
    expected["services"]["cart"]["fallback"]["ListCarts"] = "last-good"
    assert yaml.safe_load(merged.text) == expected
    assert all(line in merged.text for line in ("# ours", "# the front", "    protocol: grpc  # as ever"))
    assert merged.added == (
        "web.retries: 2",
        "cart.timeout_seconds: 0.5",
        'cart.fallback.ListCarts: "last-good"',
    )
    assert merged.kept == ()


def test_what_is_there_is_kept_and_named() -> None:
    merged = merge_settings(MESH, {"cart": {"outlier_detection": True, "fallback": {"GetCart": "last-good"}}})
    assert merged.text == MESH
    assert merged.added == ()
    assert merged.kept == (
        "cart.outlier_detection is false, and would be true",
        'cart.fallback.GetCart is "last-good-or-empty", and would be "last-good"',
    )


def test_adding_twice_adds_nothing_more() -> None:
    wanted = {"cart": {"timeout_seconds": 0.5, "retries": 1}}
    once = merge_settings(MESH, wanted)
    again = merge_settings(once.text, wanted)
    assert (again.text, again.added, again.kept) == (once.text, (), ())


def test_a_mesh_inside_a_cutset_yaml_is_found() -> None:
    indented = "".join(f"  {line}\n" for line in MESH.splitlines())
    merged = merge_settings(f"requests: [{{path: /}}]\nmesh:\n{indented}", {"cart": {"retries": 1}})
    assert yaml.safe_load(merged.text)["mesh"]["services"]["cart"]["retries"] == 1


def test_settings_from_an_anchor_count_as_there() -> None:
    text = "x: &x {retries: 3}\nservices:\n  cart:\n    <<: *x\n    protocol: grpc\n"
    merged = merge_settings(text, {"cart": {"retries": 1}})
    assert merged.kept == ("cart.retries is 3, and would be 1",)
    assert merged.text == text


def test_a_service_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no service `crat`"):
        merge_settings(MESH, {"crat": {"retries": 1}})
