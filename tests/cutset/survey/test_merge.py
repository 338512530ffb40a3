import random

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Representative, Survey
from cutset.survey.merge import concluded, merged

TREES = [
    CallTree(Point("web", "page"), failed, calls=calls)
    for failed in (False, True)
    for calls in ((), (CallTree(Point("cart", "Get")),))
]


@st.composite
def surveys(draw: st.DrawFn) -> Survey:
    names = draw(st.lists(st.sampled_from("abc"), unique=True))
    return Survey({name: draw(summaries()) for name in names})


def summaries() -> st.SearchStrategy[ClassSummary]:
    numbers = st.integers(0, 9)
    return st.builds(
        ClassSummary,
        st.just("GET /"),
        st.just("web"),
        st.builds(Representative, st.sampled_from([1.0, 2.0]), st.sampled_from(["1", "2"]), st.just(())),
        st.dictionaries(st.sampled_from(TREES), st.integers(1, 9), min_size=1),
        st.dictionaries(st.sampled_from(TREES), st.integers(1, 9)),
        numbers,
        numbers,
        numbers,
        st.booleans(),
    )


@given(st.lists(surveys(), max_size=5), st.randoms(use_true_random=False))
def test_merging_in_any_order_and_grouping_gives_the_same(parts: list[Survey], rng: random.Random) -> None:
    together = merged(*parts)

    pending = [Survey(), *parts]
    while len(pending) > 1:
        rng.shuffle(pending)
        pending.append(merged(pending.pop(), pending.pop()))
    assert pending == [together]
    assert together.traces == sum(part.traces for part in parts)
    assert together.spans == sum(part.spans for part in parts)


def test_of_equally_complex_traces_the_smallest_id_stands_for_the_class() -> None:
    parts = [
        Survey({"a": ClassSummary("GET /", "web", Representative(score, trace_id, ()))})
        for score, trace_id in ((2.0, "7"), (2.0, "3"), (1.0, "1"))
    ]

    assert merged(*parts).classes["a"].representative.trace_id == "3"


def page(*calls: CallTree) -> CallTree:
    return CallTree(Point("web", "page"), calls=calls)


def test_a_call_that_reached_nobody_is_of_whom_it_reaches_otherwise() -> None:
    named, meant = Point("cart.default", "Get"), Point("cart", "Get")
    web = (Point("web", "page"), named)
    answers = {web: frozenset({meant}), (Point("other", "page"), named): frozenset({Point("x", "y")})}
    kinds = {page(CallTree(named, failed=True)): 1, page(CallTree(meant)): 9, page(CallTree(meant, failed=True)): 2}
    survey = Survey({"a": ClassSummary("GET /", "web", Representative(1.0, "1", ()), kinds)}, answers=answers)

    assert concluded(survey).classes["GET /"].kinds == {page(CallTree(meant)): 9, page(CallTree(meant, failed=True)): 3}
    answers[web] |= {Point("cart-canary", "Get")}
    assert concluded(survey).classes["GET /"].kinds == kinds


def test_classes_of_one_name_are_told_apart_by_their_services() -> None:
    first = Representative(1.0, "1", ())
    survey = Survey(
        {
            "a": ClassSummary("GET /", "shop", first, {page(): 1}),
            "b": ClassSummary("GET /", "admin", first, {page(): 1}),
            "c": ClassSummary("GET /cart", "shop", first, {page(): 1}),
        }
    )

    assert set(concluded(survey).classes) == {"shop GET /", "admin GET /", "GET /cart"}


def test_a_service_that_sidecars_call_otherwise_has_one_name_in_all_traces() -> None:
    """What `the-cart` begins by itself, and what it does for a request: one class, one tree."""
    own, sidecars = (
        Survey(
            {f"{name} tidy": ClassSummary("tidy", name, Representative(1.0, "1", ((name, query),)), {tree: 2})},
            aliases=aliases,
            joined=1,
        )
        for name, aliases in (("the-cart", {}), ("cart", {"the-cart": frozenset({"cart"})}))
        for query in (CallTree(Point(f"redis({name})", "GET")),)
        for tree in (CallTree(Point(name, "tidy"), calls=(query,)),)
    )

    together = concluded(merged(own, sidecars))

    (summary,) = together.classes.values()
    ((tree, traces),) = summary.kinds.items()
    assert (summary.service, traces, together.joined) == ("cart", 4, 2)
    assert [str(call.point) for call in tree.walk()] == ["cart/tidy", "redis(cart)/GET"]
    assert [(caller, str(call.point)) for caller, call in summary.representative.calls] == [("cart", "redis(cart)/GET")]


def test_calls_of_unknown_callers_are_renamed_as_others_are() -> None:
    named, cart = Point("cart.svc", "Get"), Point("cart", "Get")
    work = CallTree(Point("web", "unknown"), calls=(CallTree(named),))
    tree = CallTree(Point("web", "page"), orphans=(work,))
    survey = Survey(
        {"a": ClassSummary("page", "web", Representative(1.0, "1"), {}, {tree: 1})},
        answers={(Point("web", "unknown"), named): frozenset({cart})},
    )

    (summary,) = concluded(survey).classes.values()
    assert [str(call.point) for tree in summary.torn for call in tree.walk()] == ["web/page", "web/unknown", "cart/Get"]
