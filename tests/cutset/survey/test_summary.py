import random
from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.survey.summary import ClassSummary, Representative, Survey, absorb

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
        st.builds(Representative, st.sampled_from([1.0, 2.0]), st.sampled_from(["1", "2"]), st.just(())),
        st.dictionaries(st.sampled_from(TREES), st.integers(1, 9), min_size=1),
        numbers,
        numbers,
        numbers,
        st.booleans(),
    )


@given(st.lists(surveys(), max_size=5), st.randoms(use_true_random=False))
def test_merging_in_any_order_and_grouping_gives_the_same(parts: list[Survey], rng: random.Random) -> None:
    together = Survey()
    for part in deepcopy(parts):
        absorb(together, part)

    pending = [Survey(), *deepcopy(parts)]
    while len(pending) > 1:
        rng.shuffle(pending)
        absorb(pending[0], pending.pop())
    assert pending == [together]
    assert together.traces == sum(part.traces for part in parts)
    assert together.spans == sum(part.spans for part in parts)
    assert sum(together.kinds.values()) == together.traces


def test_of_equally_complex_traces_the_smallest_id_stands_for_the_class() -> None:
    survey = Survey({"a": ClassSummary(Representative(2.0, "7", ()))})
    absorb(survey, Survey({"a": ClassSummary(Representative(2.0, "3", ()))}))
    absorb(survey, Survey({"a": ClassSummary(Representative(1.0, "1", ()))}))

    assert survey.classes["a"].representative.trace_id == "3"


def test_failed_requests_are_those_whose_own_answer_failed() -> None:
    summary = ClassSummary(Representative(1.0, "1", ()), dict.fromkeys(TREES, 2))

    assert (summary.traces, summary.failed) == (8, 4)
