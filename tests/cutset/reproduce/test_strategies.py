"""Each strategy's own choice among the same few faults."""

import pytest

from cutset.model.reproduction.log import Observable
from cutset.model.reproduction.site import Visit
from cutset.reproduce.fault_space import WINDOW, FaultSpace, RoundKnowledge, SiteFacts
from cutset.reproduce.strategies import ANOTHER_TRY, EVERYTHING, STRATEGIES, SiteStrategyName

NAME = SiteStrategyName
SITES = (
    SiteFacts("near, wrong time", {"lost": 1}, ("a", "b")),
    SiteFacts("far, right time", {"lost": 4}, ("a", "b"), ("traced",)),
    SiteFacts("no path", {}, ("a",)),
)
VISITS = [Visit(0, number, 2 * number, 0, "") for number in range(1, 6)] + [
    Visit(1, 1, 19, 0, ""),
    Visit(2, 1, 20, 0, ""),
]


def ranked(name: SiteStrategyName, *, seen: int = 0) -> list[tuple[int, tuple[int, ...], str]]:
    """Site, occurrences and effect of each candidate, best first."""
    space = FaultSpace(SITES, [Observable("lost", "", 20)], VISITS, lambda visit, _: float(20 - visit.log_lines))
    known = RoundKnowledge()
    known.seen.update({"lost": seen})
    return [
        (each.site, tuple(one.occurrence for one in each.choices), each.choices[0].effect)
        for each in space.rank(STRATEGIES[name], known)
    ]


def test_every_strategy_has_a_name_and_a_line_of_help():
    assert set(STRATEGIES) == set(SiteStrategyName)
    assert all(strategy.description for strategy in STRATEGIES.values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (NAME.BEST_FIRST, [(0, (5,), "a"), (1, (1,), "a"), (2, (1,), "a")]),
        (NAME.FULL, [(0, (5,), "a"), (1, (1,), "a"), (2, (1,), "a")]),
        (NAME.EXHAUSTIVE, [(0, (1, 2, 3, 4, 5), "a"), (1, (1,), "a")]),
        (NAME.DISTANCE, [(0, (1, 2, 3, 4, 5), "a"), (1, (1,), "a")]),
        (NAME.DISTANCE_LIMITED, [(0, (1, 2, 3), "a"), (1, (1,), "a")]),
        (NAME.SITE_FEEDBACK, [(0, (1, 2, 3), "a"), (1, (1,), "a")]),
        (NAME.STACK_TRACE, [(1, (1,), "traced")]),
    ],
)
def test_the_first_choice_of_each(name: SiteStrategyName, expected: list[tuple[int, tuple[int, ...], str]]):
    found = [(site, tuple(sorted(occurrences)), effect) for site, occurrences, effect in ranked(name)]
    assert found == expected


def test_multiplying_ranks_instances_not_sites():
    found = ranked(NAME.MULTIPLY)
    assert found[0] == (1, (1,), "a")  # 4 steps × 1 line
    assert [site for site, _, _ in found].count(0) == 5  # each occurrence with its best effect first


def test_only_what_goes_by_feedback_heeds_it():
    assert {name for name, strategy in STRATEGIES.items() if strategy.feedback} == {
        NAME.BEST_FIRST,
        NAME.FULL,
        NAME.SITE_FEEDBACK,
        NAME.MULTIPLY,
    }


def test_windows_are_as_large_as_the_paper_has_them():
    assert STRATEGIES[NAME.FULL].window == WINDOW
    assert STRATEGIES[NAME.EXHAUSTIVE].window == STRATEGIES[NAME.STACK_TRACE].window == EVERYTHING
    assert [name for name, strategy in STRATEGIES.items() if strategy.best_fires_first] == [NAME.BEST_FIRST]


def test_another_try_at_a_site_waits_for_sites_that_are_a_few_steps_further():
    facts = [
        SiteFacts("twice", {"lost": 1}, ("a",)),
        SiteFacts("just before", {"lost": ANOTHER_TRY}, ("a",)),
        SiteFacts("just after", {"lost": ANOTHER_TRY + 2}, ("a",)),
    ]
    visits = [Visit(0, 1, 9, 0, ""), Visit(0, 2, 5, 0, ""), Visit(1, 1, 9, 0, ""), Visit(2, 1, 9, 0, "")]
    space = FaultSpace(facts, [Observable("lost", "", 10)], visits, lambda visit, _: float(10 - visit.log_lines))
    known = RoundKnowledge()
    order = []
    while ranking := space.rank(STRATEGIES[NAME.BEST_FIRST], known):
        order.append(ranking[0].site)
        known.tried.update(ranking[0].choices)
    assert order == [0, 1, 0, 2]
