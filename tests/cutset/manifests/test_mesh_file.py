import pytest
import yaml

from cutset.errors import InputError
from cutset.manifests.mesh_file import merge_settings

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
