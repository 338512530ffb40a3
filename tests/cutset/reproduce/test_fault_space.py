from math import inf

from cutset.model.reproduction.log import Observable
from cutset.model.reproduction.site import SiteFault, Visit
from cutset.reproduce.fault_space import ANY, NEIGHBOURS, FaultSpace, PlacedVisit, RoundKnowledge, SiteFacts
from cutset.reproduce.strategies import STRATEGIES, SiteStrategyName

FIRST, SECOND = Observable("first", "", 10), Observable("second", "", 20)
BEST = STRATEGIES[SiteStrategyName.BEST_FIRST]


def visit(site: int, occurrence: int, lines: int, thread: str = "", process: int = 0) -> Visit:
    return Visit(site, occurrence, lines, process, thread)


def lines_between(visit: Visit, key: str) -> float:
    return float(abs({"first": 10, "second": 20}[key] - visit.log_lines))


def space(*sites: SiteFacts, visits: list[Visit], observables: tuple[Observable, ...] = (FIRST, SECOND)) -> FaultSpace:
    return FaultSpace(sites, observables, visits, lines_between)


def ranked(found: FaultSpace, knowledge: RoundKnowledge | None = None) -> list[tuple[int, int, str]]:
    known = knowledge or RoundKnowledge()
    return [(one.site, one.occurrence, one.effect) for each in found.rank(BEST, known) for one in each.choices]


def test_the_site_that_is_nearer_to_a_message_comes_first():
    sites = [SiteFacts("far", {"first": 5}, ("a",)), SiteFacts("near", {"second": 2}, ("a",))]
    assert ranked(space(*sites, visits=[visit(0, 1, 10), visit(1, 1, 0)])) == [(1, 1, "a"), (0, 1, "a")]


def test_a_message_that_failed_rounds_have_shown_makes_its_sites_wait():
    sites = [SiteFacts("one", {"first": 2}, ("a",)), SiteFacts("other", {"second": 3}, ("a",))]
    known = RoundKnowledge()
    known.seen.update({"first": 2})
    assert ranked(space(*sites, visits=[visit(0, 1, 9), visit(1, 1, 9)]), known)[0] == (1, 1, "a")


def test_of_a_sites_instances_the_one_nearest_in_time_comes_first():
    facts = SiteFacts("site", {"first": 1}, ("a",))
    visits = [visit(0, 1, 2), visit(0, 2, 9), visit(0, 3, 15)]
    known = RoundKnowledge()
    order = []
    for _ in visits:
        (best, *_rest) = ranked(space(facts, visits=visits), known)
        order.append(best[1])
        known.tried.add(SiteFault(*best))
    assert order == [2, 3, 1]


def test_instances_without_a_line_between_them_are_spread():
    facts = SiteFacts("site", {"first": 1}, ("a",))
    found = space(facts, visits=[visit(0, number, 9) for number in range(1, 10)])
    known = RoundKnowledge()
    order = []
    for _ in range(4):
        best = ranked(found, known)[0]
        order.append(best[1])
        known.tried.add(SiteFault(*best))
    assert order == [9, 1, 5, 3]


def test_an_instance_that_is_off_and_an_effect_that_is_off_take_turns():
    facts = SiteFacts("site", {"first": 1}, ("a", "b"))
    found = space(facts, visits=[visit(0, 1, 9), visit(0, 2, 5)])
    known = RoundKnowledge()
    order = []
    while left := ranked(found, known):
        order.append(left[0][1:])
        known.tried.add(SiteFault(*left[0]))
    assert order == [(1, "a"), (2, "a"), (1, "b"), (2, "b")]


def test_effects_that_cost_more_come_later():
    facts = SiteFacts("site", {"first": 1}, ("a", "b"), costs=(0, 9))
    found = space(facts, visits=[visit(0, 1, 9), visit(0, 2, 5)])
    known = RoundKnowledge(tried={SiteFault(0, 1, "a")})
    assert ranked(found, known)[0] == (0, 2, "a")


def test_what_is_tried_given_up_or_excluded_is_left_out():
    sites = [SiteFacts("one", {"first": 1}, ("a",)), SiteFacts("other", {"first": 1}, ("a",))]
    found = space(*sites, visits=[visit(0, 1, 9), visit(1, 1, 9), visit(1, 2, 9)])
    known = RoundKnowledge(given_up={SiteFault(1, 2, "a")}, excluded={0})
    assert ranked(found, known) == [(1, 1, "a")]
    known.tried.add(SiteFault(1, 1, "a"))
    assert ranked(found, known) == []


def test_a_site_that_was_not_executed_is_armed_at_any_occurrence_until_it_is_seen():
    found = space(SiteFacts("site", {"first": 1}, ("a",)), visits=[])
    assert ranked(found) == [(0, ANY, "a")]
    known = RoundKnowledge(tried={SiteFault(0, ANY, "a")}, later_visits={0: {4: visit(0, 4, 9)}})
    assert ranked(found, known) == [(0, 4, "a")]
    assert found.rank(BEST, RoundKnowledge())[0].apart == inf


def test_where_a_stack_trace_shows_a_site_the_thread_that_logged_it_was_there():
    facts = SiteFacts("site", {"first": 1}, ("a",), traced_effects=("a",))
    visits = [visit(0, 1, 9, "Thread-7"), visit(0, 2, 2, "worker-3")]
    logged = Observable("first", "worker-12", 10)
    assert ranked(space(facts, visits=visits, observables=(logged,)))[0] == (0, 2, "a")


def test_of_threads_that_the_program_numbers_the_one_that_logged_it_comes_first_and_others_by_turns():
    facts = SiteFacts("site", {"first": 1}, ("a",), traced_effects=("a",))
    visits = [visit(0, number, 9, f"Sync:{1 + number % 2}") for number in range(1, 7)]
    found, known = space(facts, visits=visits, observables=(Observable("first", "Sync:2", 10),)), RoundKnowledge()
    threads = []
    for _ in range(4):
        best = ranked(found, known)[0]
        threads.append(visits[best[1] - 1].thread)
        known.tried.add(SiteFault(*best))
    assert threads == ["Sync:2", "Sync:1", "Sync:2", "Sync:1"]


def test_executions_are_counted_within_their_calling_context() -> None:
    visits = [
        Visit(0, 1, 1, 0, "", "io.py:write < log.py:flush", 1),
        Visit(0, 2, 2, 0, "", "io.py:write < queue.py:push", 1),
        Visit(0, 3, 3, 0, "", "io.py:write < log.py:flush", 2),
    ]
    found = space(SiteFacts("write", {"first": 1}, ("a",)), visits=visits)
    assert found.moments.keys() == {
        (0, (1, "io.py:write < log.py:flush")),
        (0, (2, "io.py:write < log.py:flush")),
        (0, (1, "io.py:write < queue.py:push")),
    }


def test_where_a_stack_trace_shows_how_a_site_was_called_such_calls_come_first() -> None:
    visits = [
        Visit(0, 1, 1, 0, "", "io.py:write < log.py:flush < app.py:main", 1),
        Visit(0, 2, 9, 0, "", "io.py:write < queue.py:push < app.py:main", 1),  # further from the message
    ]
    facts = SiteFacts("write", {"first": 1}, ("a",), contexts=("io.py:write < queue.py:push",))
    (candidate,) = space(facts, visits=visits).rank(BEST, RoundKnowledge())
    assert candidate.choices == (SiteFault(0, 1, "a", "io.py:write < queue.py:push < app.py:main"),)


def test_executions_below_the_function_that_says_a_message_take_turns_with_the_others_and_come_first() -> None:
    facts = SiteFacts("site", {"first": 1}, ("a",))
    fetch, defer = "sql.py:run < jobs.py:fetch", "sql.py:run < jobs.py:store < tick.py:defer"
    visits = [Visit(0, n, n, 0, "", defer if n in (2, 5) else fetch, n) for n in range(1, 10)]
    found = space(facts, visits=visits, observables=(Observable("first", "", 10, "tick.py:defer"),))
    known = RoundKnowledge()
    order = []
    for _ in range(5):
        best = found.rank(BEST, known)[0].choices[0]
        order.append(best.occurrence)
        known.tried.add(best)
    assert order == [5, 9, 2, 8, 7]


def test_a_fault_that_brought_every_message_is_tried_at_neighbouring_moments_when_it_is_their_turn() -> None:
    far = SiteFacts("far", {"first": 9}, ("a",))
    near = SiteFacts("near", {"first": 1}, ("a",))
    found = space(near, far, visits=[visit(0, 1, 1), *(visit(1, n, n) for n in range(1, 20))])
    knowledge = RoundKnowledge(near={(1, "a"): (10, "")}, tried={SiteFault(1, 10, "a")})
    assert found.rank(BEST, knowledge)[0].site == 0
    knowledge.near_first = True
    tried = []
    for _ in range(NEIGHBOURS + 1):
        best = found.rank(BEST, knowledge)[0]
        tried.append((best.site, best.choices[0].occurrence))
        knowledge.tried.add(best.choices[0])
    *beside, last = tried
    assert {occurrence for site, occurrence in beside if site == 1} >= {8, 9, 11, 12}
    assert last == (0, 1)


def test_a_fault_explains_the_failure_by_all_messages_or_by_the_stack_trace_that_shows_it() -> None:
    traced = SiteFacts("traced", {"first": 1, "second": 2}, ("a", "b"), traced_effects=("a",))
    found = space(traced, SiteFacts("other", {"first": 1}, ("a",)), visits=[])
    assert found.explains(SiteFault(1, 1, "a"), {"first", "second"})
    assert not found.explains(SiteFault(1, 1, "a"), {"first"})
    assert found.explains(SiteFault(0, 1, "a"), {"first"})
    assert not found.explains(SiteFault(0, 1, "a"), {"second"})  # that is further away
    assert not found.explains(SiteFault(0, 1, "b"), {"first"})


def test_neighbours_are_spread_where_many_executions_are_as_near_to_the_message() -> None:
    found = space(SiteFacts("write", {"first": 1}, ("a",)), visits=[visit(0, n, 5) for n in range(1, 61)])
    first_tries = found.neighbours(0, (60, ""), RoundKnowledge())[:4]
    assert [occurrence for occurrence, _ in first_tries] == [59, 1, 58, 30]


def test_a_fault_is_of_the_first_process_that_gets_there():
    found = space(
        SiteFacts("site", {"first": 1}, ("a",)), visits=[visit(0, 1, 1, process=0), visit(0, 1, 9, process=1)]
    )
    ((moment, placed),) = found.moments.items()
    assert (moment, placed.place, placed.visit.process) == ((0, (1, "")), 0, 0)


def test_which_of_two_threads_is_first_is_known_where_something_is_logged_in_between():
    first = PlacedVisit(0, visit(0, 1, 3, "a"))
    assert PlacedVisit(1, visit(1, 1, 3, "a")).is_after(first)
    assert not PlacedVisit(1, visit(1, 1, 3, "b")).is_after(first)
    assert PlacedVisit(1, visit(1, 1, 4, "b")).is_after(first)
    assert not first.is_after(PlacedVisit(1, visit(1, 1, 0, "a")))


def test_sites_without_a_path_are_further_than_all_that_have_one():
    found = space(
        SiteFacts("unrelated", {}, ("a",)),
        SiteFacts("far", {"first": 30}, ("a",)),
        visits=[visit(0, 1, 10), visit(1, 1, 0)],
    )
    assert [candidate.distance for candidate in found.rank(BEST, RoundKnowledge())] == [30, 31]
    assert (found.related(0), found.related(1)) == (False, True)


def test_time_counts_as_much_as_the_logs_are_alike():
    sites = [SiteFacts("early", {"first": 1}, ("a",)), SiteFacts("late", {"first": 3}, ("a",))]
    visits = [Visit(0, 1, -990, 0, ""), visit(1, 1, 9)]
    for alike, first in ((0.0, 0), (0.3, 0), (1.0, 1)):
        assert ranked(FaultSpace(sites, (FIRST,), visits, lines_between, alike))[0][0] == first


def _order(found: FaultSpace, most: int) -> list[tuple[int, str]]:
    known, order = RoundKnowledge(), []
    for _ in range(most):
        best = found.rank(BEST, known)[0].choices[0]
        order.append((best.occurrence, best.within))
        known.tried.add(best)
    return order


def _within(occurrence: int, within: str) -> Visit:
    return Visit(0, occurrence, 9, 0, "", within, occurrence)


def test_of_executions_that_are_as_near_each_calling_context_has_its_turn():
    visits = [_within(1, "read < get"), _within(2, "read < get"), _within(3, "read < get"), _within(4, "read < put")]
    found = space(SiteFacts("site", {"first": 1}, ("a",)), visits=visits, observables=(FIRST,))
    assert {within for _, within in _order(found, 2)} == {"read < get", "read < put"}


def test_where_a_call_must_have_failed_executions_below_it_come_first_and_others_by_turns():
    visits = [_within(1, "Net.send < Lock.acquire < Node.run"), _within(2, "Net.send < Lock.release < Node.run")]
    visits.append(_within(3, "Net.send < Admin.main"))
    said = Observable("first", "", 10, said_in="Node.run", called=frozenset({"release", "warn"}))
    found = space(SiteFacts("site", {"first": 1}, ("a",)), visits=visits, observables=(said,))
    assert _order(found, 1) == [(2, "Net.send < Lock.release < Node.run")]
