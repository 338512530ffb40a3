from dataclasses import replace
from itertools import pairwise

import pytest

from cutset.model.event import RequestAudited
from cutset.model.point import Point
from cutset.select.api_rank import Preference, TraceKind, api_rank, rank_of_audits

GET_R, GET_P, INDEX, LS_R, DEF_R, LS_P = APIS = tuple(
    Point(*name.split(".")) for name in ("Frt.GetR", "Prod.GetP", "Frt.Index", "Rec.LsR", "Rec.DefR", "Prod.LsP")
)


def chain(*apis: Point, seen: int = 1) -> TraceKind[Point]:
    return TraceKind(frozenset(apis), frozenset(pairwise(apis)), seen)


# MicroFI's example (Fig. 5 and 7): Req1, Req1 after Rec.LsR was failed, and Req2.
EXAMPLE = (chain(INDEX, LS_R, LS_P), chain(INDEX, DEF_R), chain(GET_R, GET_P))


@pytest.mark.parametrize(
    ("steps", "scores"),
    [
        (20, [0.616, 0.625, 1.0, 0.498, 0.516, 0.498]),
        (25, [0.615, 0.624, 1.0, 0.498, 0.517, 0.498]),
    ],
)
def test_scores_the_papers_example_as_its_published_code_does(steps: int, scores: list[float]) -> None:
    assert [api_rank(EXAMPLE, steps=steps)[api] for api in APIS] == pytest.approx(scores, abs=0.001)


def test_ranks_the_hypotheses_of_the_papers_example_as_the_paper_does() -> None:
    rank = api_rank(EXAMPLE)

    assert max(rank, key=rank.__getitem__) == INDEX
    assert max(rank[LS_R], rank[DEF_R]) > rank[LS_P]


@pytest.mark.parametrize(("preference", "more_important"), [(Preference.UNIFORM, False), (Preference.FREQUENCY, True)])
def test_an_api_of_a_frequent_request_counts_more_only_by_frequency(
    preference: Preference, more_important: bool
) -> None:
    frequent, rare = Point("a", "Frequent"), Point("b", "Rare")

    rank = api_rank((chain(frequent, seen=98), chain(rare)), preference=preference)

    assert (rank[frequent] > rank[rare]) is more_important


def test_an_api_that_more_kinds_of_traces_have_counts_more() -> None:
    shared, first, second = Point("s", "Shared"), Point("f", "First"), Point("s", "Second")

    rank = api_rank((chain(first, shared), chain(second, shared)))

    assert rank[shared] == 1.0
    assert rank[first] == pytest.approx(rank[second])
    assert rank[first] < 1.0


def test_nothing_called_is_nothing_ranked() -> None:
    assert api_rank(()) == {}
    assert api_rank((TraceKind(frozenset[Point](), frozenset[tuple[Point, Point]]()),)) == {}


def audit(request: str, *apis: Point, healthy: bool = True) -> RequestAudited:
    return RequestAudited(
        request=request,
        healthy=healthy,
        reason="",
        calls=frozenset(apis),
        not_reached=frozenset(),
        trace_ids=(),
        edges=tuple(pairwise(apis)),
    )


AUDITS = (audit("Req1", INDEX, LS_R, LS_P), audit("Req2", GET_R, GET_P))


def test_each_request_class_that_was_audited_is_a_kind_of_trace() -> None:
    assert rank_of_audits(AUDITS) == api_rank((chain(INDEX, LS_R, LS_P), chain(GET_R, GET_P)))


def test_the_order_of_classes_and_later_audits_of_a_class_change_nothing() -> None:
    rank = rank_of_audits(AUDITS)

    assert rank_of_audits(reversed(AUDITS)) == rank
    assert rank_of_audits((*AUDITS, audit("Req1", INDEX, DEF_R), audit("Req2", INDEX))) == rank


def test_an_audit_of_a_request_that_fails_without_any_fault_does_not_count() -> None:
    assert rank_of_audits((audit("Req1", INDEX, healthy=False), *AUDITS)) == rank_of_audits(AUDITS)
    assert rank_of_audits((audit("Req1", INDEX, healthy=False),)) == {}


def test_replicas_and_calls_from_elsewhere_are_told_by_their_apis() -> None:
    replica, entry = replace(LS_P, replica="2"), Point("Frt", "Entry")
    audited = replace(audit("Req1", INDEX, replica), edges=((entry, INDEX), (INDEX, replica)))

    assert rank_of_audits([audited]) == api_rank([chain(INDEX, LS_P)])


def test_a_class_without_calls_is_no_kind_of_trace() -> None:
    assert rank_of_audits((*AUDITS, audit("Req3"))) == rank_of_audits(AUDITS)
