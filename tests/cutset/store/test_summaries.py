import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Kinds, Representative, Survey
from cutset.store.summaries import (
    MOST_UNUSED,
    drop_unused,
    keep,
    key_of,
    pack,
    recalled,
    survey_of_content,
    survey_to_content,
    unpack,
)

points = st.builds(Point, st.sampled_from(["cart", "", "ü"]), st.sampled_from(["GET /", "put", "unknown"]))
leaves = st.builds(CallTree, points, st.booleans(), st.sampled_from(Component), framework=st.sampled_from(["", "grpc"]))
trees = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda tree, calls, orphans: replace(tree, calls=tuple(sorted(calls)), orphans=tuple(sorted(orphans))),
        leaves,
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=2),
    ),
    max_leaves=8,
)
kinds = st.dictionaries(trees, st.integers(1, 2**40), max_size=3)
summaries = st.builds(
    ClassSummary,
    st.text(max_size=3),
    st.text(max_size=3),
    st.builds(
        Representative,
        st.floats(0, 1e12),
        st.text(max_size=3),
        st.lists(st.tuples(st.text(max_size=2), trees), max_size=3).map(tuple),
    ),
    kinds,
    kinds,
    st.integers(0, 2**50),
    st.integers(0, 2**50),
    st.integers(0, 2**90),
    st.booleans(),
)
surveys = st.builds(
    Survey,
    st.dictionaries(st.text(max_size=3), summaries, max_size=3),
    st.integers(0, 9),
    st.dictionaries(st.tuples(points, points), st.frozensets(points, max_size=3), max_size=3),
)


@given(surveys)
def test_a_survey_comes_back_as_it_was(survey: Survey) -> None:
    assert survey_of_content(unpack(pack(survey_to_content(survey)))) == survey


def test_all_that_trees_classes_and_surveys_have_is_kept() -> None:
    """Whoever adds to one of these something of another kind has a look at how it is kept."""
    plain = {str, int, float, bool}
    assert set(get_type_hints(CallTree).values()) <= {*plain, Point, Component, tuple[CallTree, ...]}
    assert set(get_type_hints(ClassSummary).values()) <= {*plain, Representative, Kinds}
    assert set(get_type_hints(Representative)) == {"score", "trace_id", "calls"}
    others = {name: kind for name, kind in get_type_hints(Survey).items() if name not in ("classes", "answers", "kept")}
    assert set(others.values()) <= {*plain, Mapping[str, frozenset[str]]}


def test_equal_trees_of_different_summaries_are_one_object() -> None:
    inner = CallTree(Point("cart", "get"))
    survey = Survey(
        {"a": ClassSummary("a", "s", Representative(1.0, "t"), {CallTree(Point("s", "a"), calls=(inner,)): 1})}
    )
    known: dict[CallTree, CallTree] = {}
    first, second = (survey_of_content(unpack(pack(survey_to_content(survey))), known) for _ in range(2))
    assert next(iter(first.kinds)) is next(iter(second.kinds))


def test_keys_are_equal_for_what_looks_the_same_only() -> None:
    assert key_of(("a", "b"), 1) == key_of(("a", "b"), 1)
    assert len({key_of("a", "b"), key_of("ab"), key_of("a\0b"), key_of(("a", "b")), key_of("\ud800")}) == 5


def test_what_is_absent_or_damaged_is_not_recalled(tmp_path: Path) -> None:
    assert recalled(tmp_path, "key", list) is None
    keep(tmp_path, "key", pack(["found"] * 50))
    assert recalled(tmp_path, "key", list) == ["found"] * 50
    file = tmp_path / "cache" / "key"
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        assert recalled(tmp_path, "key", list) in (None, ["found"] * 50)
        file.write_bytes(whole[:position])
        assert recalled(tmp_path, "key", list) is None
    keep(tmp_path, "key", pack(7))
    assert recalled(tmp_path, "key", list) is None


def test_a_place_that_is_taken_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")
    keep(tmp_path, "key", pack([]))
    drop_unused(tmp_path, ())
    assert recalled(tmp_path, "key", list) is None


def test_of_what_is_not_used_the_latest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    for number in range(MOST_UNUSED + 20):
        file = tmp_path / "cache" / f"{number}"
        file.touch()
        os.utime(file, (number, number))
    drop_unused(tmp_path, ["3"])
    left = {int(file.name) for file in (tmp_path / "cache").iterdir()}
    assert left == {3, *range(20, MOST_UNUSED + 20)}
