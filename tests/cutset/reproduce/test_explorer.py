"""The explorer on hand-made cases with known ranks, and on simulated programs with a known fault behind the symptom."""

from collections import Counter
from dataclasses import dataclass
from random import Random
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.model.reproduction.log import Observable
from cutset.model.reproduction.site import SiteFault, Visit
from cutset.reproduce.explorer import GIVE_UP_AFTER, Explorer, PlannedRound
from cutset.reproduce.fault_space import ANY, WINDOW, SiteFacts
from cutset.reproduce.strategies import STRATEGIES, SiteStrategyName

ABLATIONS = [name for name in SiteStrategyName if name not in (SiteStrategyName.BEST_FIRST, SiteStrategyName.FULL)]
FIRST, SECOND = Observable("first", "", 10), Observable("second", "", 20)


@dataclass(frozen=True)
class Program:
    """It has one bug, which one fault at one moment exposes."""

    sites: tuple[SiteFacts, ...]
    visits: tuple[Visit, ...]
    observables: tuple[Observable, ...]
    brings: tuple[frozenset[str], ...]  # the messages that a fault at a site makes, at any occurrence
    truth: frozenset[SiteFault]
    only_with_truth: frozenset[str]
    skipped: float = 0.0  # how often a visit does not take place

    def apart(self, visit: Visit, key: str) -> float:
        lines = next(one.line for one in self.observables if one.key == key) - visit.log_lines
        return float(lines if lines >= 0 else -3 * lines)

    def explorer(self, strategy: SiteStrategyName, window: int = 0) -> Explorer:
        return Explorer(self.sites, self.observables, self.visits, self.apart, strategy, window=window)

    def run(self, planned: PlannedRound, random: Random) -> tuple[SiteFault | None, frozenset[str]]:
        armed = {(choice.site, choice.occurrence): choice for choice in planned.window}
        executed = Counter[int]()
        for visit in self.visits:
            if random.random() < self.skipped:
                continue
            executed[visit.site] += 1
            fired = armed.get((visit.site, executed[visit.site]))
            if fired:
                return fired, self.brings[fired.site] | (self.only_with_truth if fired in self.truth else frozenset())
        return None, frozenset()

    def rounds_needed(self, strategy: SiteStrategyName, most: int = 400, seed: int = 0, jobs: int = 1) -> int:
        explorer, random, rounds = self.explorer(strategy), Random(seed), 0
        while rounds < most and (batch := explorer.next_rounds(jobs)):
            for planned in batch:
                rounds += 1
                fired, present = self.run(planned, random)
                if fired in self.truth:
                    return rounds
                explorer.learn(planned, fired, present)
        return most


def random_program(seed: int, *, sites: int = 60, lines: int = 150, skipped: float = 0.0) -> Program:
    """Sites come in groups that share a handler, hence messages; the causal graph has false edges, too; some messages
    are noise that no fault brings. The symptom needs one or two of the occurrences of one site, and at times not the
    first of its exceptions."""
    random = Random(seed)
    groups = [frozenset(random.sample(range(8), random.randint(1, 2))) for _ in range(10)]
    group_of = [random.randrange(len(groups)) for _ in range(sites)]
    visits = _visits(random, sites, lines)
    late = [visit for visit in visits if visit.log_lines > lines // 4]
    root_site = random.choice(sorted({visit.site for visit in late}))
    root = random.choice([visit for visit in late if visit.site == root_site])
    root_effect = random.choice("aaab")
    truth = {SiteFault(root.site, root.occurrence + later, root_effect) for later in range(random.randint(1, 2))}
    handled = [
        Observable(f"handled {number}", "", root.log_lines + random.choice([0, 0, 0, 1, 2])) for number in range(8)
    ]
    noise = [Observable(f"noise {number}", "", random.randrange(lines)) for number in range(4)]
    broken = [Observable(f"broken {number}", "", root.log_lines + random.randint(3, 20)) for number in range(3)]
    facts = []
    for site in range(sites):
        distances = {f"handled {message}": random.randint(1, 8) for message in groups[group_of[site]]}
        for false_edge in random.sample([*handled, *noise, *broken], random.randint(0, 4)):
            distances.setdefault(false_edge.key, random.randint(4, 14))
        if site == root.site:
            distances.setdefault(random.choice(broken).key, random.randint(4, 14))
        facts.append(SiteFacts(f"site {site}", distances, ("a", "b")))
    expected = {handled[message] for message in groups[group_of[root.site]]}
    return Program(
        sites=tuple(facts),
        visits=tuple(visits),
        observables=tuple(sorted(expected.union(noise, broken))),
        brings=tuple(
            frozenset(handled[message].key for message in groups[group] if handled[message] in expected)
            for group in group_of
        ),
        truth=frozenset(truth),
        only_with_truth=frozenset(observable.key for observable in broken),
        skipped=skipped,
    )


def _visits(random: Random, sites: int, lines: int) -> list[Visit]:
    weights = [random.paretovariate(0.8) for _ in range(sites)]  # some sites are executed far more often than others
    executed = Counter[int]()
    visits = []
    for line in range(lines):
        for site in random.choices(range(sites), weights, k=random.randint(0, 8)):
            executed[site] += 1
            visits.append(Visit(site, executed[site], line, 0, ""))
    return visits


def lines_between(visit: Visit, key: str) -> float:
    lines = {"first": FIRST.line, "second": SECOND.line}[key] - visit.log_lines
    return float(lines if lines >= 0 else -3 * lines)


def visit(site: int, occurrence: int, log_lines: int, process: int = 0) -> Visit:
    return Visit(site, occurrence, log_lines, process, "")


def explorer_of(
    *sites: SiteFacts, visits: list[Visit], strategy: SiteStrategyName = SiteStrategyName.FULL, window: int = 0
) -> Explorer:
    return Explorer(sites, [FIRST, SECOND], visits, lines_between, strategy, window=window)


def order_of_sites(explorer: Explorer) -> list[int]:
    return [candidate.site for candidate in explorer.ranking()]


def many_sites(count: int, strategy: SiteStrategyName, window: int = 0) -> Explorer:
    """Site n is n steps away and is executed once; the nearest ones last."""
    sites = [SiteFacts(f"site {n}", {"first": n}, ("a",)) for n in range(1, count + 1)]
    visits = [visit(n, 1, 0) for n in reversed(range(count))]
    return explorer_of(*sites, visits=visits, strategy=strategy, window=window)


@pytest.mark.parametrize("strategy", [SiteStrategyName.FULL, SiteStrategyName.BEST_FIRST])
def test_a_site_is_ranked_by_its_least_distance_plus_what_rounds_have_shown(strategy: SiteStrategyName) -> None:
    near_first = SiteFacts("near first", {"first": 2, "second": 6}, ("a",))
    near_second = SiteFacts("near second", {"first": 5, "second": 3}, ("a",))
    third = SiteFacts("fires", {"second": 99}, ("a", "b", "c"))
    explorer = explorer_of(
        near_first, near_second, third, visits=[visit(0, 1, 1), visit(1, 1, 1), visit(2, 1, 1)], strategy=strategy
    )
    assert [(one.site, one.site_priority, one.observable) for one in explorer.ranking()][:2] == [
        (0, 2, FIRST),
        (1, 3, SECOND),
    ]
    for effect, first_site in (("a", 0), ("b", 1)):  # 2 + 1 = 3, the same as the other; then 2 + 2 > 3
        explorer.learn(PlannedRound((SiteFault(2, 1, effect),), 10), SiteFault(2, 1, effect), {"first"})
        assert order_of_sites(explorer)[0] == first_site
    assert [(one.site_priority, one.distance, one.seen) for one in explorer.ranking()][:2] == [(3, 3, 0), (4, 2, 2)]
    explorer.learn(PlannedRound((SiteFault(2, 1, "c"),), 10), SiteFault(2, 1, "c"), {"first", "second"})
    assert [(one.site_priority, one.observable) for one in explorer.ranking()] == [(4, SECOND), (5, FIRST)]


def test_of_two_messages_with_the_same_sum_the_one_that_was_not_seen_is_aimed_at() -> None:
    site = SiteFacts("site", {"first": 1, "second": 2}, ("a", "b"))
    explorer = explorer_of(site, visits=[visit(0, 1, 9)])
    [planned] = explorer.next_rounds()
    explorer.learn(planned, planned.window[0], {"first"})
    assert explorer.ranking()[0].observable == SECOND


def test_the_instance_nearest_in_time_to_the_message_that_is_aimed_at_is_taken() -> None:
    site = SiteFacts("site", {"first": 1, "second": 2}, ("a",))
    other = SiteFacts("other", {"second": 50}, ("a", "b"))
    explorer = explorer_of(site, other, visits=[*(visit(0, n, 3 * n) for n in range(1, 9)), visit(1, 1, 0)])
    assert explorer.ranking()[0].choices == (SiteFault(0, 3, "a"),)  # line 9, one before the message on line 10
    for effect in "ab":
        explorer.learn(PlannedRound((SiteFault(1, 1, effect),), 10), SiteFault(1, 1, effect), {"first"})
    assert explorer.ranking()[0].choices == (SiteFault(0, 6, "a"),)  # line 18 for the message on line 20


def test_instances_without_a_message_between_them_are_equally_near() -> None:
    """The example of §5.2.3: the first site is executed before a message, the second twice after it and once later."""
    sites = [SiteFacts("f1", {"first": 2}, ("a",)), SiteFacts("f2", {"first": 1}, ("a",))]
    visits = [visit(0, 1, 9), visit(1, 1, 10), visit(1, 2, 10), visit(1, 3, 11)]
    full = explorer_of(*sites, visits=visits)
    assert [(one.site, one.apart, {choice.occurrence for choice in one.choices}) for one in full.ranking()] == [
        (1, 0, {1, 2}),
        (0, 1, {1}),
    ]
    one_by_one = explorer_of(*sites, visits=visits, strategy=SiteStrategyName.BEST_FIRST)
    assert one_by_one.ranking()[0].choices == (SiteFault(1, 2, "a"),)


def test_of_equally_near_instances_the_last_before_the_first_of_the_messages_is_taken() -> None:
    """A message that repeats while a failure lasts has several nearest instances."""
    repeated = [Observable("first", "", line) for line in (30, 10, 20)]
    visits = [visit(0, occurrence, line) for occurrence, line in enumerate([3, 9, 9, 19, 29], start=1)]
    explorer = Explorer(
        [SiteFacts("site", {"first": 1}, ("a",))],
        repeated,
        visits,
        lambda visit, key: min(abs(one.line - visit.log_lines) for one in repeated if one.key == key),
    )
    tried = []
    while rounds := explorer.next_rounds():
        tried.append(rounds[0].window[0].occurrence)
        explorer.learn(rounds[0], rounds[0].window[0], ())
    assert tried == [3, 2, 4, 5, 1]
    assert explorer.ranking() == []


def test_time_never_outweighs_the_site_unless_they_are_multiplied() -> None:
    near_in_code = SiteFacts("near in code", {"first": 2}, ("a",))
    near_in_time = SiteFacts("near in time", {"first": 5}, ("a",))
    visits = [visit(0, 1, 0), visit(1, 1, 9)]
    assert order_of_sites(explorer_of(near_in_code, near_in_time, visits=visits)) == [0, 1]
    multiplied = explorer_of(near_in_code, near_in_time, visits=visits, strategy=SiteStrategyName.MULTIPLY)
    assert [one.site_priority * one.apart for one in multiplied.ranking()] == [5, 20]


def test_the_window_doubles_only_after_a_round_that_fired_nothing_and_never_shrinks() -> None:
    explorer = many_sites(100, SiteStrategyName.FULL)
    sizes = []
    for fires in (True, False, True, False, True):
        [planned] = explorer.next_rounds()
        sizes.append(len(planned.window))
        explorer.learn(planned, planned.window[-1] if fires else None, ())
    assert sizes == [WINDOW, WINDOW, 2 * WINDOW, 2 * WINDOW, 4 * WINDOW]


def test_a_batch_in_which_nothing_fires_doubles_the_window_once() -> None:
    explorer = many_sites(100, SiteStrategyName.FULL)
    for planned in explorer.next_rounds(3):
        explorer.learn(planned, None, ())
    assert explorer.progress().window == 2 * WINDOW


def test_a_round_that_fired_nothing_is_no_feedback() -> None:
    explorer = many_sites(3, SiteStrategyName.FULL)
    [planned] = explorer.next_rounds()
    explorer.learn(planned, None, {"first"})
    assert [one.seen for one in explorer.ranking()] == [0, 0, 0]


@pytest.mark.parametrize("strategy", [SiteStrategyName.FULL, SiteStrategyName.BEST_FIRST])
def test_rounds_of_a_batch_are_led_by_the_best_and_share_nothing(strategy: SiteStrategyName) -> None:
    explorer = many_sites(40, strategy, window=3)
    rounds = explorer.next_rounds(3)
    assert [planned.window[0].site for planned in rounds] == [0, 1, 2]
    armed = [choice for planned in rounds for choice in planned.window]
    assert len(armed) == len(set(armed))


def test_a_round_that_is_asked_for_while_others_run_has_other_faults() -> None:
    explorer = many_sites(40, SiteStrategyName.FULL)
    [under_way], [added] = explorer.next_rounds(), explorer.next_rounds()
    assert set(under_way.window).isdisjoint(added.window)
    best_first = many_sites(40, SiteStrategyName.BEST_FIRST)
    assert [best_first.next_rounds()[0].window[0].site for _ in range(3)] == [0, 1, 2]


def test_only_what_comes_later_is_in_reserve_for_the_best() -> None:
    sites = [SiteFacts(f"site {n}", {"first": n}, ("a",)) for n in range(1, 6)]
    visits = [visit(3, 1, 0), visit(0, 1, 0), visit(1, 1, 0), visit(2, 1, 0, process=1), visit(4, 1, 4)]
    [planned] = explorer_of(*sites, visits=visits, strategy=SiteStrategyName.BEST_FIRST).next_rounds()
    assert [choice.site for choice in planned.window] == [0, 1, 4]


def test_what_some_good_runs_execute_is_not_in_reserve_as_it_may_come_first() -> None:
    sites = [SiteFacts(f"site {n}", {"first": n}, ("a",)) for n in range(1, 4)]
    best_first = SiteStrategyName.BEST_FIRST
    explorer = Explorer(sites, [FIRST], [visit(0, 1, 0)], lines_between, best_first, sometimes=[0, 1])
    [planned] = explorer.next_rounds()
    assert planned.window == (SiteFault(0, 1, "a"), SiteFault(2, ANY, "a"))
    explorer.learn(planned, planned.window[0], ())
    assert explorer.next_rounds()[0].window[0] == SiteFault(1, ANY, "a")


def test_the_best_is_given_up_when_those_in_reserve_fire_again_and_again() -> None:
    sites = [SiteFacts(f"site {n}", {"first": n}, ("a",)) for n in range(1, 9)]
    explorer = explorer_of(*sites, visits=[visit(n, 1, 0) for n in range(8)], strategy=SiteStrategyName.BEST_FIRST)
    for _ in range(GIVE_UP_AFTER):
        [planned] = explorer.next_rounds()
        assert planned.window[0].site == 0
        explorer.learn(planned, planned.window[1], ())
    assert explorer.progress().given_up == 1
    assert explorer.next_rounds()[0].window[0].site == GIVE_UP_AFTER + 1


def test_a_site_that_the_good_run_did_not_execute_is_armed_at_any_occurrence_and_takes_no_place() -> None:
    explorer = explorer_of(
        SiteFacts("unknown", {"first": 1}, ("a", "b")),
        SiteFacts("known", {"first": 2}, ("a",)),
        SiteFacts("known too", {"first": 3}, ("a",)),
        visits=[visit(1, 1, 0), visit(2, 1, 0)],
        window=2,
    )
    [planned] = explorer.next_rounds()
    assert planned.window == (SiteFault(0, ANY, "a"), SiteFault(1, 1, "a"), SiteFault(2, 1, "a"))
    explorer.learn(planned, SiteFault(0, 7, "a"), (), [visit(0, occurrence, 0) for occurrence in (1, 7)])
    armed = set()
    while rounds := explorer.next_rounds():
        armed.update(rounds[0].window)
        explorer.learn(rounds[0], rounds[0].window[0], ())
    of_every_moment = {SiteFault(0, occurrence, effect) for occurrence in (1, 7) for effect in "ab"}
    fired_already = SiteFault(0, 7, "a")
    assert {choice for choice in armed if choice.site == 0} == {SiteFault(0, ANY, "b")} | of_every_moment - {
        fired_already
    }


def test_other_instances_and_other_exceptions_of_a_site_take_turns() -> None:
    site = SiteFacts("site", {"first": 1}, ("a", "b"))
    explorer = explorer_of(site, visits=[visit(0, n, 10 - n) for n in (1, 2, 3)], strategy=SiteStrategyName.BEST_FIRST)
    tried = []
    while rounds := explorer.next_rounds():
        tried.append((rounds[0].window[0].occurrence, rounds[0].window[0].effect))
        explorer.learn(rounds[0], rounds[0].window[0], ())
    assert tried == [(1, "a"), (2, "a"), (1, "b"), (3, "a"), (2, "b"), (3, "b")]


def test_another_try_at_a_site_comes_before_sites_that_are_much_further_away() -> None:
    sites = [SiteFacts(f"site {n}", {"first": n}, ("a",)) for n in (1, 4, 20)]
    visits = [visit(0, 1, 8), visit(0, 2, 9), visit(1, 1, 9), visit(2, 1, 9)]
    tried = {}
    for strategy in (SiteStrategyName.BEST_FIRST, SiteStrategyName.FULL):
        explorer = explorer_of(*sites, visits=visits, strategy=strategy, window=1)
        tried[strategy] = []
        while rounds := explorer.next_rounds():
            tried[strategy].append(rounds[0].window[0].site)
            explorer.learn(rounds[0], rounds[0].window[0], ())
    assert tried == {SiteStrategyName.BEST_FIRST: [0, 1, 0, 2], SiteStrategyName.FULL: [0, 1, 2, 0]}


def test_sites_without_a_path_to_any_message_come_last_and_ablations_leave_them_out() -> None:
    sites = [SiteFacts("unrelated", {}, ("a",)), SiteFacts("far", {"first": 30}, ("a",))]
    visits = [visit(0, 1, 9), visit(1, 1, 0)]
    for strategy in (SiteStrategyName.BEST_FIRST, SiteStrategyName.FULL):
        assert order_of_sites(explorer_of(*sites, visits=visits, strategy=strategy)) == [1, 0]
    explorer = explorer_of(*sites, visits=visits, strategy=SiteStrategyName.DISTANCE)
    assert order_of_sites(explorer) == [1]


def test_a_case_without_any_message_still_tries_every_site() -> None:
    explorer = Explorer([SiteFacts("site", {"gone": 1}, ("a",))], [], [visit(0, 1, 0)], lines_between)
    assert not explorer.ranking()[0].related
    assert explorer.next_rounds()[0].window == (SiteFault(0, 1, "a"),)


def test_limited_strategies_have_the_first_three_instances() -> None:
    site = SiteFacts("site", {"first": 1}, ("a",))
    visits = [visit(0, n, n) for n in range(1, 9)]
    for strategy in (SiteStrategyName.DISTANCE_LIMITED, SiteStrategyName.SITE_FEEDBACK):
        [planned] = explorer_of(site, visits=visits, strategy=strategy).next_rounds()
        assert {choice.occurrence for choice in planned.window} == {1, 2, 3}


def test_feedback_changes_nothing_for_the_strategies_that_have_none() -> None:
    for name in ABLATIONS:
        explorer = many_sites(5, name)
        for planned in explorer.next_rounds():
            explorer.learn(planned, planned.window[0], {"first"})
        assert all(one.seen == STRATEGIES[name].feedback for one in explorer.ranking())


def test_the_stack_trace_injector_knows_only_what_the_failure_log_shows() -> None:
    sites = [SiteFacts("shown", {}, ("a", "b"), ("c",)), SiteFacts("not shown", {"first": 1}, ("a",))]
    visits = [visit(0, 1, 0), visit(0, 2, 0), visit(1, 1, 0)]
    explorer = explorer_of(*sites, visits=visits, strategy=SiteStrategyName.STACK_TRACE)
    [planned] = explorer.next_rounds()
    assert set(planned.window) == {SiteFault(0, 1, "c"), SiteFault(0, 2, "c")}
    assert {candidate.site for candidate in explorer.ranking()} <= {0}


@pytest.mark.parametrize("strategy", SiteStrategyName)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_no_fault_is_tried_twice_and_the_search_ends(strategy: SiteStrategyName, data: st.DataObject) -> None:
    program = random_program(data.draw(st.integers(0, 1_000)), sites=4, lines=8)
    explorer, tried = program.explorer(strategy, window=data.draw(st.integers(1, 3))), Counter[SiteFault]()
    jobs, random = data.draw(st.integers(1, 3)), data.draw(st.randoms())
    while batch := explorer.next_rounds(jobs):
        for planned in batch:
            fired = random.choice([None, *planned.window])
            if fired:
                tried[fired] += 1
            explorer.learn(planned, fired, [one.key for one in random.sample(program.observables, 2)])
    assert set(tried.values()) <= {1}
    assert explorer.progress().exhausted
    assert "nothing is left to try" in str(explorer.progress())


@pytest.mark.parametrize("strategy", SiteStrategyName)
def test_everything_was_tried_when_the_search_ends(strategy: SiteStrategyName) -> None:
    program = random_program(1, sites=6, lines=8)
    explorer, random = program.explorer(strategy), Random(0)
    while batch := explorer.next_rounds():
        fired, present = program.run(batch[0], random)
        explorer.learn(batch[0], fired, present)
    keys = {observable.key for observable in program.observables}
    limited = strategy in (SiteStrategyName.DISTANCE_LIMITED, SiteStrategyName.SITE_FEEDBACK)
    allowed = [
        one
        for one in program.visits
        if (one.occurrence <= 3 or not limited)
        and (STRATEGIES[strategy].unrelated_too or keys.intersection(program.sites[one.site].distances))
    ]
    assert explorer.progress().tried == (0 if strategy == SiteStrategyName.STACK_TRACE else 2 * len(allowed))


@pytest.mark.parametrize("strategy", SiteStrategyName)
def test_an_explorer_that_is_told_the_rounds_of_another_goes_on_like_it(strategy: SiteStrategyName) -> None:
    program, random, ledger = random_program(7), Random(3), []
    first = program.explorer(strategy)
    for _ in range(12):
        for planned in first.next_rounds(2):
            fired, present = program.run(planned, random)
            outcome = (PlannedRound(planned.window, planned.size), fired if random.random() < 0.8 else None, present)
            first.learn(*outcome)
            ledger.append(outcome)
    resumed = program.explorer(strategy)
    for outcome in ledger:
        resumed.learn(*outcome)
    assert resumed.progress() == first.progress()
    assert resumed.next_rounds(2) == first.next_rounds(2)


def test_a_fault_that_was_not_armed_cannot_have_fired() -> None:
    explorer = many_sites(2, SiteStrategyName.FULL)
    [planned] = explorer.next_rounds()
    with pytest.raises(ValueError, match="had not armed"):
        explorer.learn(planned, SiteFault(0, 5, "a"), ())


def test_a_candidate_tells_what_its_rank_follows_from() -> None:
    sites = [
        SiteFacts("app::load::open", {"first": 3}, ("OSError(5, 'I/O')",)),
        SiteFacts("app::f::g", {"second": 1}, ("a",)),
    ]
    other, loading = explorer_of(*sites, visits=[visit(0, 1, 8), visit(0, 2, 20)]).ranking()
    assert (loading.observable, loading.distance, loading.seen, loading.apart) == (FIRST, 3, 0, 2)
    assert loading.choices == (SiteFault(0, 1, "OSError(5, 'I/O')"),)
    assert (other.executed, other.choices) == (False, (SiteFault(1, ANY, "a"),))


def test_the_feedback_strategies_need_fewer_rounds_than_the_ablations() -> None:
    programs = [random_program(seed, sites=24, lines=60) for seed in range(10)]
    rounds = {name: mean(program.rounds_needed(name, most=80) for program in programs) for name in SiteStrategyName}
    assert all(rounds[SiteStrategyName.BEST_FIRST] < rounds[name] for name in ABLATIONS)
    assert rounds[SiteStrategyName.FULL] < min(
        rounds[SiteStrategyName.EXHAUSTIVE], rounds[SiteStrategyName.SITE_FEEDBACK]
    )


def test_faults_are_found_also_where_executions_vary() -> None:
    programs = [random_program(seed, sites=30, lines=80, skipped=0.1) for seed in range(8)]
    assert max(program.rounds_needed(SiteStrategyName.BEST_FIRST, jobs=2) for program in programs) < 400


def test_moments_next_to_a_near_one_take_turns_with_others_also_while_they_do_not_occur():
    """The right fault at the wrong time brings every message; its neighbours do not occur any more."""
    sites = (SiteFacts("near", {"first": 1}, ("a",)), SiteFacts("other", {"first": 9}, ("a",)))
    visits = [visit(0, number, number) for number in range(1, 9)] + [visit(1, 1, 9)]
    explorer = explorer_of(*sites, visits=visits, strategy=SiteStrategyName.BEST_FIRST)
    (planned,) = explorer.next_rounds(1)
    explorer.learn(planned, planned.window[0], {"first", "second"})
    led = []
    for _ in range(4):
        (planned,) = explorer.next_rounds(1)
        led.append(planned.ranking[0].near)
        explorer.learn(planned, None, ())
    assert led in ([True, False, True, False], [False, True, False, True])


def test_a_site_has_other_moments_until_the_fault_was_tried_at_all_of_them() -> None:
    sites = (SiteFacts("twice", {"first": 1}, ("a",)), SiteFacts("once", {"first": 9}, ("a",)))
    visits = [visit(0, 1, 1), visit(0, 2, 2), visit(1, 1, 9)]
    explorer = explorer_of(*sites, visits=visits, strategy=SiteStrategyName.BEST_FIRST)
    assert not explorer.has_other_moments(SiteFault(1, 1, "a"))
    for occurrence, left in ((1, True), (2, False)):
        (planned,) = explorer.next_rounds(1)
        assert planned.window[0].site == 0
        explorer.learn(planned, planned.window[0], {"first", "second"})
        assert explorer.has_other_moments(planned.window[0]) is left, occurrence
