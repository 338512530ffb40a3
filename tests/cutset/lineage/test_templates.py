import importlib.util
import pickle
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.lineage import templates as module
from cutset.lineage.identifiers import mask
from cutset.lineage.templates import MANY, Templates, learn, merge, templates_of

_RANDOM = random.Random(7)
WORDS = sorted({"".join(_RANDOM.choices("bcdfghklmnprstvw", k=7)) for _ in range(1500)})


def learned(*paths: str, method: str = "GET") -> Templates:
    return templates_of(learn(("shop", method, path, 1) for path in paths))


def template(templates: Templates, path: str) -> str:
    return templates.template("shop", "GET", path)


def test_a_handful_of_siblings_never_merges() -> None:
    templates = learned("/cart/checkout", "/cart/empty", "/cart", method="POST")
    assert template(templates, "/cart/checkout") == "/cart/checkout"
    assert template(templates, "/cart/empty") == "/cart/empty"
    assert template(templates, "/cart/unheard-of") == "/cart/unheard-of"


@pytest.mark.parametrize("collections", [30, 2 * MANY])
@pytest.mark.parametrize("alike", [True, False])
def test_collections_do_not_merge_even_if_there_are_many_with_the_same_methods(collections: int, alike: bool) -> None:
    paths = [
        f"/api/{word}{rest}"
        for word in WORDS[:collections]
        for rest in ("", "/42", "/42/history" if alike else f"/42/{word[::-1]}")
    ]
    templates = learned(*paths)
    assert {template(templates, path) for path in paths} == {path.replace("42", "*") for path in paths}


def test_the_methods_of_an_rpc_interface_do_not_merge() -> None:
    paths = [f"/api/{verb}{word.title()}" for verb in ("get", "list", "create") for word in WORDS[:40]]
    paths += [f"/api/{word}.post{word.title()}" for word in WORDS[:200]]
    templates = learned(*paths, method="POST")
    assert [template(templates, path) for path in paths] == paths


def test_programs_do_not_merge() -> None:
    paths = [f"/{word}.php" for word in WORDS[:100]]
    templates = learned(*paths)
    assert [template(templates, path) for path in paths] == paths


def test_slugs_merge_and_what_is_part_of_the_route_stays() -> None:
    templates = learned("/blog", "/blog/search", *(f"/blog/{a}-{b}" for a, b in pairwise(WORDS[:501])))
    assert template(templates, "/blog/how-to-x") == "/blog/*"
    assert template(templates, "/blog/search") == "/blog/search"
    assert template(templates, "/blog/archive") == "/blog/archive"
    assert template(templates, "/blog/") == "/blog/"
    assert template(templates, "/blog") == "/blog"
    assert template(templates, "/shop/how-to-x") == "/shop/how-to-x"
    assert templates.template("another service", "GET", "/blog/how-to-x") == "/blog/how-to-x"


def test_names_of_users_merge_once_there_are_many() -> None:
    def of(users: int) -> str:
        paths = (f"/users/{name}{rest}" for name in WORDS[:users] for rest in ("", "/posts", "/posts/7"))
        return template(learned(*paths), "/users/alice/posts/1")

    assert of(MANY - 1) == "/users/alice/posts/*"
    assert of(MANY) == "/users/*/posts/*"


def test_a_word_with_routes_of_its_own_stays_beside_the_variable_ones() -> None:
    templates = learned(
        *(f"/users/{name}{rest}" for name in WORDS[:100] for rest in ("", "/posts")),
        *("/users/lists", "/users/lists/shared", "/users/lists/shared/by-date"),
    )
    assert template(templates, "/users/lists/shared") == "/users/lists/shared"
    assert template(templates, "/users/alice/posts") == "/users/*/posts"


def test_a_word_with_a_method_of_its_own_stays_beside_the_variable_ones() -> None:
    named = [("shop", "GET", f"/users/{name}", 1) for name in WORDS]
    templates = templates_of(learn([*named, ("shop", "POST", "/users/provision", 1)]))
    assert templates.template("shop", "POST", "/users/provision") == "/users/provision"
    assert template(templates, "/users/alice") == "/users/*"


def test_variable_words_below_variable_words_merge_if_there_are_very_many() -> None:
    owners = [(owner, WORDS[number * 3 % 1000 :][:3]) for number, owner in enumerate(WORDS[:400])]
    paths = [f"/{owner}/{name}{rest}" for owner, names in owners for name in names for rest in ("", "/issues/7")]
    templates = learned(*paths, "/login", "/settings/profile", "/api/v3/zen")
    assert template(templates, "/torvalds/linux") == "/*/*"
    assert template(templates, "/torvalds/linux/issues/1") == "/*/*/issues/*"
    for path in ("/login", "/settings/profile", "/api/v3/zen"):
        assert template(templates, path) == path


def test_numbers_do_not_make_the_words_beside_them_variable() -> None:
    templates = learned(*(f"/products/{number}" for number in range(500)), "/products/on-sale")
    assert template(templates, "/products/7") == "/products/*"
    assert template(templates, "/products/on-sale") == "/products/on-sale"


@pytest.mark.parametrize(
    ("paths", "path", "expected"),
    [
        (("/en-US/home", "/de/cart", "/pt-br/help"), "/de/cart", "/*/cart"),
        (("/en-US/home", "/de/cart", "/pt-br/help"), "/zh-Hans/cart", "/*/cart"),
        (("/en/home", "/de/home"), "/de/home", "/*/home"),
        (("/en/home", "/de/home", "/fr/home", "/shops/home"), "/fr/home", "/*/home"),
        (("/en/home", "/de/home", "/fr/home", "/shops/home"), "/shops/home", "/shops/home"),
        (("/en/home", "/de/home", "/fr/home", "/it/tickets", "/x"), "/it/tickets", "/it/tickets"),
        (("/it/home", "/shops/home"), "/it/home", "/it/home"),
        (("/no/home", "/yes/home"), "/no/home", "/no/home"),
        (("/it/tickets", "/hr/holidays", "/sales/leads"), "/it/tickets", "/it/tickets"),
        (("/it", "/hr", "/sales"), "/hr", "/hr"),
    ],
)
def test_locales_merge_among_locales(paths: tuple[str, ...], path: str, expected: str) -> None:
    assert template(learned(*paths), path) == expected


def test_millions_of_paths_in_one_place_leave_room_for_those_in_others() -> None:
    articles = (f"/blog/{a}-{b}{rest}" for a in WORDS[:100] for b in WORDS[:70] for rest in ("", "/comments"))
    users = (f"/users/{word}" for word in WORDS[:100])
    templates = learned(*articles, *users)
    assert template(templates, "/blog/how-to-x/comments") == "/blog/*/comments"
    assert template(templates, "/users/alice") == "/users/*"


def test_templates_survive_pickling() -> None:
    templates = learned(*(f"/blog/{word}" for word in WORDS))
    assert pickle.loads(pickle.dumps(templates)) == templates


SEGMENTS = st.one_of(
    st.sampled_from(
        ["users", "cart", "en", "de", "fr", "v1", "*", "", "42", "order-1234", "oauth2", "a;b=1", "%20", "search"]
    ),
    st.sampled_from(WORDS),
    st.text(max_size=12),
)
PATHS = st.lists(SEGMENTS, max_size=5).map("/".join)
REQUESTS = st.lists(st.tuples(st.sampled_from(["shop", "cart"]), st.sampled_from(["GET", "POST"]), PATHS, st.just(1)))


@settings(deadline=None, max_examples=40)
@given(REQUESTS, st.randoms(use_true_random=False), st.integers(1, 4))
def test_neither_order_nor_grouping_changes_what_is_learned(
    requests: list[tuple[str, str, str, int]], rng: random.Random, parts: int
) -> None:
    # Enough beside them for the sample to be full, so that something has to be left out.
    requests = requests + [("shop", "GET", f"/{a}/{b}", 1) for a in WORDS[:2] for b in WORDS[:300]]
    expected = learn(requests)
    rng.shuffle(requests)
    counts = [learn(requests[part::parts]) for part in range(parts)]
    while len(counts) > 1:
        counts.append(merge(counts.pop(rng.randrange(len(counts))), counts.pop(0)))
    assert counts[0] == expected
    assert pickle.dumps(templates_of(counts[0])) == pickle.dumps(templates_of(expected))


def test_what_is_remembered_is_bounded_and_does_not_depend_on_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_SAMPLE", 8), ("_BUCKETS", 4), ("_LEVELS", 3)):
        monkeypatch.setattr(module, name, value)
    requests = [("shop", "GET", "/".join(_RANDOM.choices(WORDS, k=5)), 1) for _ in range(5000)]
    forward, backward = learn(requests), learn(reversed(requests))
    assert forward == backward == merge(learn(requests[:100]), learn(requests[100:]))
    assert 8 < len(forward.paths["shop"]) <= 8 * 4 * 3


@settings(deadline=None)
@given(REQUESTS, PATHS)
def test_a_template_is_its_own_template(requests: list[tuple[str, str, str, int]], path: str) -> None:
    users = [("shop", "GET", f"/{word}/posts", 1) for word in WORDS[:MANY]]
    templates = templates_of(learn([*requests, *users]))
    once = template(templates, path)
    assert template(templates, once) == once
    assert mask(once) == once


@given(st.lists(st.lists(st.sampled_from(WORDS[: MANY - 1]), max_size=4).map(lambda words: "/" + "/".join(words))))
def test_paths_merge_only_where_there_are_many_siblings(paths: list[str]) -> None:
    templates = learned(*paths)
    assert [template(templates, path) for path in paths] == paths


@pytest.mark.skipif(importlib.util.find_spec("drain3") is None, reason="drain3 is not installed")
@pytest.mark.parametrize(
    "paths",
    [
        ("/cart/checkout", "/cart/empty"),
        tuple(f"/api/v1/{word}/list" for word in WORDS[:30]),
        ("/account/orders/open", "/account/orders/returned", "/account/orders/paid"),
    ],
)
def test_what_drain3_merges_stays_apart(paths: tuple[str, ...]) -> None:
    from benchmarks.templates_vs_drain3 import drain_clusters

    assert len(set(drain_clusters(paths))) < len(paths)
    templates = learned(*paths)
    assert [template(templates, path) for path in paths] == list(paths)


ROUTES = [
    ("GET", "/carts/{id}"),
    ("GET", "/carts/total"),
    ("GET", "/users/:name/orders"),
    ("GET", "/shops/<int:shop>/{item}"),
    ("GET", "/{anything}"),
    ("GET", "/files/{path:.*}"),
    ("GET", "/a/{x}/c"),
    ("GET", "/{y}/b/c"),
]


@pytest.mark.parametrize(
    ("method", "path", "template"),
    [
        ("GET", "/carts/17", "/carts/{id}"),
        ("GET", "/carts/total", "/carts/total"),
        ("GET", "/carts/17?full=1", "/carts/{id}"),
        ("POST", "/carts/17", "/carts/*"),
        ("GET", "/users/alice/orders", "/users/:name/orders"),
        ("GET", "/shops/7/lamp", "/shops/<int:shop>/{item}"),
        ("GET", "/about", "/about"),  # a route that fits everything tells nothing
        ("GET", "/a/b/c", "/a/b/c"),  # two fit equally well
        ("GET", "/a/z/c", "/a/{x}/c"),
    ],
)
def test_a_path_is_named_by_the_route_that_it_fits_best(method: str, path: str, template: str) -> None:
    assert templates_of(learn([], ROUTES)).template("any", method, path) == template


def test_routes_are_merged_and_bounded() -> None:
    together = merge(learn([], ROUTES[:3]), learn([("s", "GET", "/x", 1)], ROUTES[3:]))

    assert together == merge(learn([("s", "GET", "/x", 1)], ROUTES[3:]), learn([], ROUTES[:3]))
    assert templates_of(together).template("any", "GET", "/carts/1") == "/carts/{id}"


def test_a_few_slugs_are_enough_since_routes_are_short() -> None:
    slugs = [
        ("blog", "GET", f"/blog/how-to-{word}-a-shirt", 1)
        for word in ["wash", "fold", "iron", "dye", "sew", "wear", "buy", "sell", "mend"]
    ]

    assert (
        templates_of(learn(slugs)).template("blog", "GET", "/blog/how-to-wash-a-shirt") == "/blog/how-to-wash-a-shirt"
    )
    slugs.append(("blog", "GET", "/blog/what-to-do-now", 1))
    assert templates_of(learn(slugs)).template("blog", "GET", "/blog/how-to-wash-a-shirt") == "/blog/*"
