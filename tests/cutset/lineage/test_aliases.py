from cutset.lineage.aliases import renamed, sole_names, with_aliases
from cutset.model.call_tree import CallTree
from cutset.model.point import Point

ALIASES = {"the-cart": "cart"}


def test_a_name_that_several_services_have_or_a_sidecar_stands_for_none() -> None:
    seen = {"the-cart": {"cart"}, "app": {"web", "shop"}, "shop": {"mall"}, "mall-app": {"shop"}}

    assert sole_names(seen) == {"the-cart": "cart", "mall-app": "shop"}


def test_a_store_of_a_service_is_called_after_the_same_name() -> None:
    assert [renamed(name, ALIASES) for name in ("the-cart", "redis(the-cart)", "redis(web)", "web")] == [
        "cart",
        "redis(cart)",
        "redis(web)",
        "web",
    ]


def test_all_of_a_tree_is_renamed_and_what_needs_nothing_stays_the_same_object() -> None:
    query = CallTree(Point("redis(the-cart)", "GET"))
    tree = CallTree(
        Point("web", "GET /"),
        calls=(CallTree(Point("the-cart", "Get"), calls=(query,)),),
        orphans=(CallTree(Point("the-cart", "Put")),),
    )

    found = with_aliases(tree, ALIASES)

    assert [str(call.point) for call in found.walk()] == ["web/GET /", "cart/Get", "redis(cart)/GET", "cart/Put"]
    assert with_aliases(found, ALIASES) is found
