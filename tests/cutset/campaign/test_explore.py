import asyncio
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.samples import simulated_campaign
from tests.samples.simulated_campaign import REQUESTS, SETTINGS, SYSTEMS, SimulatedLaboratory, changed

from cutset.app.report import exit_code
from cutset.campaign.explore import explore
from cutset.campaign.settings import CampaignSettings
from cutset.errors import HaltedError
from cutset.model.coverage import nothing_reached
from cutset.model.event import (
    CampaignEvent,
    CampaignStarted,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.evidence import EvidenceKept
from cutset.model.fault import Cut, cut_of, points_of
from cutset.model.finding import findings_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.model.run import RunFinished
from cutset.model.summary import summarise
from cutset.search.cuts import CutSearch
from cutset.search.strategies import STRATEGIES, AcrossRequests, Strategy, StrategyName
from cutset.search.strategy import Certificates
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.store.ledger import open_ledger
from cutset.store.runs import campaign_events

TRUTH = {(name, cut) for name, system in SYSTEMS.items() for cut in minimal_cuts_by_brute_force(system, 3)}


def run(store: Path, laboratory: SimulatedLaboratory, settings: CampaignSettings = SETTINGS) -> list[CampaignEvent]:
    async def consume() -> list[CampaignEvent]:
        with open_ledger(store) as ledger:
            return [event async for event in explore("only", REQUESTS, laboratory, ledger, settings)]

    return asyncio.run(consume())


class KilledError(Exception):
    pass


class MortalLedger:
    """In memory. Dies at the n-th event, which it writes or not."""

    def __init__(self, dies_at: int, *, writes_last: bool) -> None:
        self.written: list[CampaignEvent] = []
        self.dies_at = dies_at
        self._writes_last = writes_last

    def append(self, _run: str, event: CampaignEvent) -> None:
        self.dies_at -= 1
        if self.dies_at != 0 or self._writes_last:
            self.written.append(event)
        if self.dies_at == 0:
            raise KilledError

    def events(self, _run: str) -> list[CampaignEvent]:
        return list(self.written)

    def run(self, settings: CampaignSettings) -> None:
        async def consume() -> None:
            async for _ in explore("only", REQUESTS, SimulatedLaboratory(), self, settings):  # type: ignore[arg-type]
                pass

        asyncio.run(consume())


def recorded(store: Path) -> list[CampaignEvent]:
    with open_ledger(store) as ledger:
        return campaign_events(ledger, "only")


def experiments_of(events: list[CampaignEvent]) -> list[tuple[str, Cut]]:
    return [(event.request, event.outcome.cut) for event in events if isinstance(event, ExperimentFinished)]


def found(events: list[CampaignEvent]) -> set[tuple[str, Points]]:
    return {(finding.request, finding.cut) for finding in findings_of(events)}


def test_finds_every_minimal_cut_of_every_request(tmp_path: Path) -> None:
    events = run(tmp_path, SimulatedLaboratory())

    assert found(events) == TRUTH
    assert isinstance(events[0], CampaignStarted)
    assert events[-1] == RunFinished(reason="")
    assert events == recorded(tmp_path)


def test_evidence_is_recorded_before_what_it_is_evidence_of_and_is_no_news_to_a_search(tmp_path: Path) -> None:
    class Keeping(SimulatedLaboratory):
        """Each outcome has a trace, and something is kept of each."""

        kept: EvidenceKept | None = None

        async def audit(self, request: Request) -> RequestAudited:
            self.kept = EvidenceKept(request=request.name, cut=frozenset(), trace_id="audit")
            return replace(await super().audit(request), trace_ids=("audit",))

        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            outcome = await super().run(request, cut)
            self.kept = EvidenceKept(request=request.name, cut=cut, trace_id=f"{len(self.ran)}")
            return replace(outcome, trace_ids=(f"{len(self.ran)}",))

        def evidence(self, trace_ids: Sequence[str]) -> EvidenceKept | None:
            return self.kept if self.kept and self.kept.trace_id in trace_ids else None

    events = run(tmp_path, Keeping())

    assert found(events) == TRUTH
    assert events == recorded(tmp_path)
    told = [each for each in events if isinstance(each, EvidenceKept | RequestAudited | ExperimentFinished)]
    for before, event in pairwise(told):
        match event:
            case RequestAudited(request=request):
                assert before == EvidenceKept(request=request, cut=frozenset(), trace_id="audit")
            case ExperimentFinished(request=request, outcome=outcome) if len(outcome.cut) <= SETTINGS.max_size:
                trace_id = outcome.trace_ids[0]
                assert before == EvidenceKept(request=request, cut=outcome.cut, trace_id=trace_id)
            case ExperimentFinished():  # larger than what is looked for
                assert not isinstance(before, EvidenceKept)
    again = run(tmp_path / "without", SimulatedLaboratory())
    assert [each for each in again if not isinstance(each, ExperimentFinished | RequestAudited)] == [
        each for each in events if not isinstance(each, EvidenceKept | ExperimentFinished | RequestAudited)
    ]


def test_a_request_that_behaves_unlike_when_it_was_audited_is_not_complete_until_it_is_audited_anew(
    tmp_path: Path,
) -> None:
    class Changed(SimulatedLaboratory):
        async def unlike_audit(self, request: Request) -> str:
            return "it calls more" if request.name == "GET /" else ""

    events = run(tmp_path, Changed())

    assert found(events) == TRUTH
    ends = {event.request: event for event in events if isinstance(event, RequestFinished)}
    assert (ends["GET /"].complete_up_to, ends["GET /"].exact_up_to) == (-1, -1)
    assert ends["GET /"].reason == "it calls more; `--resume` audits it anew"
    assert ends["POST /checkout"].complete_up_to == 3

    run(tmp_path, SimulatedLaboratory())
    assert summarise(recorded(tmp_path)).complete


def test_what_survived_once_is_tried_again_when_requests_turn_out_to_vary(tmp_path: Path) -> None:
    class Moody(SimulatedLaboratory):
        """By good luck the first request with a fatal fault survives. That the next one fails a share is a warning."""

        lucky: Cut = frozenset()
        varying = False

        def expect_variation(self, request: Request) -> None:
            assert request.name == "GET /"
            self.varying = True

        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            outcome = await super().run(request, cut)
            if request.name != "GET /":
                return outcome
            if self.varying or (outcome.verdict is Verdict.FAILED and self.lucky):
                return replace(outcome, trials=10, failures=5 if outcome.verdict is Verdict.FAILED else 0)
            if outcome.verdict is not Verdict.FAILED:
                return outcome
            self.lucky, points = cut, points_of(cut)
            path = outcome.calls - points
            return replace(outcome, verdict=Verdict.SURVIVED, path=path, failed=points, trials=1, failures=0)

    laboratory = Moody()
    events = run(tmp_path, laboratory, changed(SETTINGS, parallel=1))

    assert found(events) == TRUTH
    assert experiments_of(events).count(("GET /", laboratory.lucky)) == 2
    summary = next(each for each in summarise(events).requests if each.name == "GET /")
    assert (summary.complete_up_to, summary.trials) == (3, 10)
    assert summary.varies == "of requests with the same failures some failed and some did not"


def test_what_fails_a_share_of_requests_is_not_blamed_on_what_fails_along_with_it(tmp_path: Path) -> None:
    cause = cut_of([Point("simulated", "ads")])

    class Overlooking(SimulatedLaboratory):
        """Half of the requests fail without ads, which by bad luck is seen only by who looks closely, or for more."""

        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            outcome = await super().run(request, cut)
            if request.name != "GET /" or outcome.verdict is not Verdict.SURVIVED or not cause <= cut:
                return replace(outcome, trials=10, failures=10 if outcome.verdict is Verdict.FAILED else 0)
            if cut == cause and not share:
                return replace(outcome, trials=10)
            return replace(outcome, verdict=Verdict.FAILED, trials=10, failures=5, healthy_after=True)

    events = run(tmp_path, Overlooking(), changed(SETTINGS, parallel=1))

    assert found(events) == TRUTH | {("GET /", cause)}


@pytest.mark.parametrize("strategy", [StrategyName.LDFI, StrategyName.MICROFI, StrategyName.FASTFI])
def test_the_papers_strategies_report_only_what_fails(tmp_path: Path, strategy: StrategyName) -> None:
    """They lose cuts where a tolerated failure hides a mandatory call; FastFI also all that are not the smallest."""
    events = run(tmp_path, SimulatedLaboratory(), changed(SETTINGS, strategy=strategy))

    assert {cut for cut in TRUTH if len(cut[1]) == 1 and cut[0] == "GET /"} <= found(events) <= TRUTH
    assert isinstance(events[-1], RunFinished)


def test_independent_certificates_find_the_same(tmp_path: Path) -> None:
    events = run(tmp_path, SimulatedLaboratory(), changed(SETTINGS, certificates=Certificates.INDEPENDENT))

    assert found(events) == TRUTH
    assert events[-1] == RunFinished(reason="")


def test_requests_under_way_are_answered_while_a_search_thinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    in_time: list[bool] = []

    class Thoughtful(CutSearch):
        def ask(self, limit: int) -> list[Points]:
            if in_flight:
                in_time.append(answered.wait(10))
            return super().ask(limit)

    in_flight: list[Cut] = []

    class AnsweringLaboratory(SimulatedLaboratory):
        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            in_flight.append(cut)
            outcome = await super().run(request, cut)
            answered.set()
            return outcome

    monkeypatch.setitem(STRATEGIES, StrategyName.CUTS, Strategy(Thoughtful, "takes its time"))
    run(tmp_path, AnsweringLaboratory(pause=0.01))

    assert in_time
    assert all(in_time)


def test_a_strategy_that_proves_less_than_was_asked_for_is_not_complete(tmp_path: Path) -> None:
    events = run(tmp_path, SimulatedLaboratory(), changed(SETTINGS, strategy=StrategyName.FASTFI))

    ends = [event for event in events if isinstance(event, RequestFinished)]
    assert {end.reason for end in ends} == {
        "the strategy `fastfi` has nothing left to try, or its proof takes too long"
    }
    assert all(end.complete_up_to < SETTINGS.max_size and "as printed" in end.assumption for end in ends)


def test_another_strategy_continues_what_one_has_begun(tmp_path: Path) -> None:
    first, second = SimulatedLaboratory(), SimulatedLaboratory()
    run(tmp_path, first, changed(SETTINGS, strategy=StrategyName.FASTFI))
    run(tmp_path, second)

    assert not set(first.ran) & set(second.ran)
    assert found(recorded(tmp_path)) == TRUTH


@pytest.mark.parametrize("writes_last", [True, False])
@pytest.mark.parametrize("limits", [{}, {"experiments": 9}, {"rounds": 2}])
def test_killed_at_any_event_and_resumed_nothing_is_lost_or_repeated(limits: dict[str, int], writes_last: bool) -> None:
    limited = changed(SETTINGS, **limits)  # type: ignore[arg-type]
    whole = MortalLedger(dies_at=0, writes_last=True)
    whole.run(limited)
    for dies_at in range(1, len(whole.written) + 1):
        ledger = MortalLedger(dies_at, writes_last=writes_last)
        with pytest.raises(KilledError):
            ledger.run(limited)
        before = experiments_of(ledger.written)

        ledger.run(limited)
        ledger.run(SETTINGS)

        after = experiments_of(ledger.written)
        assert after[: len(before)] == before
        decided = [event for event in ledger.written if not _is_unknown(event)]
        assert max(Counter(experiments_of(decided)).values()) == 1
        assert found(ledger.written) == TRUTH


def _is_unknown(event: CampaignEvent) -> bool:
    return isinstance(event, ExperimentFinished) and event.outcome.verdict is Verdict.UNKNOWN


def test_a_campaign_killed_many_times_repeats_nothing_and_finds_the_same(tmp_path: Path) -> None:
    random_delays = random.Random(7)
    kills = 0
    while not any(isinstance(event, RunFinished) for event in recorded(tmp_path)):
        process = subprocess.Popen([sys.executable, simulated_campaign.__file__, tmp_path])
        before = len(experiments_of(recorded(tmp_path)))
        # Strike at some moment after the next experiment, wherever that is: in another one, in a write, in between.
        while process.poll() is None and len(experiments_of(recorded(tmp_path))) <= before:
            time.sleep(0.001)
        time.sleep(random_delays.uniform(0, 0.04))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL

    assert kills >= 5
    decided = [event for event in recorded(tmp_path) if not _is_unknown(event)]  # that is tried again
    assert max(Counter(experiments_of(decided)).values()) == 1
    assert found(recorded(tmp_path)) == TRUTH


def test_a_finished_request_is_not_explored_again_on_resumption(tmp_path: Path) -> None:
    run(tmp_path, SimulatedLaboratory())
    again = SimulatedLaboratory()

    run(tmp_path, again)

    assert again.ran == []


def test_a_spent_budget_ends_the_campaign_and_a_larger_one_continues_it(tmp_path: Path) -> None:
    first = SimulatedLaboratory()
    events = run(tmp_path, first, changed(SETTINGS, experiments=10))

    assert len(first.ran) == 10
    reasons = [event.reason for event in events if isinstance(event, RequestFinished)]
    assert "the budget of experiments is spent" in reasons
    assert isinstance(events[-1], RunFinished)
    assert events[-1].reason != ""

    second = SimulatedLaboratory()
    run(tmp_path, second)
    assert not set(first.ran) & set(second.ran)
    assert found(recorded(tmp_path)) == TRUTH


def test_the_runs_of_the_audit_take_the_place_of_the_first_experiment(tmp_path: Path) -> None:
    laboratory = SimulatedLaboratory()
    run(tmp_path, laboratory)

    assert all(cut for _, cut in laboratory.ran)


def test_a_spent_number_of_rounds_ends_each_request_class(tmp_path: Path) -> None:
    events = run(tmp_path, SimulatedLaboratory(), changed(SETTINGS, strategy=StrategyName.FASTFI, rounds=1))

    assert Counter(request for request, _ in experiments_of(events)) == dict.fromkeys(SYSTEMS, 1)
    rounds = [event.round for event in events if isinstance(event, ExperimentFinished)]
    assert rounds == [1, 1]
    ends = [event for event in events if isinstance(event, RequestFinished)]
    assert [end.reason for end in ends] == ["the budget of rounds is spent"] * 2


def test_when_the_time_is_spent_the_experiments_in_flight_end_and_none_begins(tmp_path: Path) -> None:
    class SlowLaboratory(SimulatedLaboratory):
        ended = 0

        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            outcome = await super().run(request, cut)
            self.ended += 1
            return outcome

    laboratory = SlowLaboratory()
    settings = changed(SETTINGS, minutes=1.0)

    async def consume() -> list[CampaignEvent]:
        with open_ledger(tmp_path) as ledger:
            # A minute passes with the third experiment that ends.
            events = explore("only", REQUESTS, laboratory, ledger, settings, clock=lambda: 20.0 * laboratory.ended)
            return [event async for event in events]

    events = asyncio.run(consume())

    assert 3 <= len(laboratory.ran) < 3 + SETTINGS.limits.parallel
    assert len(experiments_of(events)) == len(laboratory.ran)
    assert [event.reason for event in events if isinstance(event, RequestFinished)] == [
        "the budget of time is spent"
    ] * 2
    assert isinstance(events[-1], RunFinished)

    run(tmp_path, SimulatedLaboratory())
    assert found(recorded(tmp_path)) == TRUTH


def test_resuming_without_a_larger_budget_changes_nothing(tmp_path: Path) -> None:
    limited = changed(SETTINGS, experiments=7)
    first = run(tmp_path, SimulatedLaboratory(), limited)
    again = SimulatedLaboratory()
    second = run(tmp_path, again, limited)

    def ends(events: list[CampaignEvent]) -> set[tuple[str, int, str]]:
        return {
            (event.request, event.complete_up_to, event.reason)
            for event in events
            if isinstance(event, RequestFinished)
        }

    assert again.ran == []
    assert ends(second) == ends(first)


def test_a_budget_that_is_just_enough_leaves_nothing_to_do(tmp_path: Path) -> None:
    needed = SimulatedLaboratory()
    run(tmp_path / "first", needed)

    events = run(tmp_path / "second", SimulatedLaboratory(), changed(SETTINGS, experiments=len(needed.ran)))

    assert events[-1] == RunFinished(reason="")


def test_every_request_class_gets_its_share_of_the_slots(tmp_path: Path) -> None:
    laboratory = SimulatedLaboratory(pause=0.03)
    run(tmp_path, laboratory, changed(SETTINGS, parallel=2))

    # The second class begins after a poolful of answers to the first, although that one has more to ask.
    names = [name for name, _ in laboratory.ran]
    assert set(names[: 3 * 2]) == set(SYSTEMS)
    last = {name: len(names) - names[::-1].index(name) for name in SYSTEMS}
    assert last["GET /"] > names.index("POST /checkout") + 1


def test_what_failed_one_class_is_trusted_by_the_next_only_if_told_so(tmp_path: Path) -> None:
    """Both fail without `session` or `currency`. The one that calls more begins, and the other need not try them."""
    settings = changed(SETTINGS, strategy=StrategyName.MICROFI, parallel=9, max_size=1)
    verified = run(tmp_path / "verify", SimulatedLaboratory(), settings)
    trusting = changed(settings, across_requests=AcrossRequests.TRUST)
    trusted = run(tmp_path / "trust", SimulatedLaboratory(), trusting)

    shared = {cut_of({Point("simulated", api)}) for api in ("session", "currency")}
    assert {("GET /", cut) for cut in shared} <= found(verified)
    assert not {("GET /", cut) for cut in shared} & found(trusted)
    assert {("POST /checkout", cut) for cut in shared} <= found(trusted)
    (end,) = [event for event in trusted if isinstance(event, RequestFinished) and event.request == "GET /"]
    assert set(end.predicted) == shared
    assert end.reason == "the strategy `microfi` has nothing left to try, or its proof takes too long"


def test_no_more_experiments_are_in_flight_than_allowed(tmp_path: Path) -> None:
    class CountingLaboratory(SimulatedLaboratory):
        now = most = 0
        full = asyncio.Event()

        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now >= SETTINGS.limits.parallel:
                self.full.set()
            # Long enough for the searches, in their threads, to fill the slots on a busy machine too.
            with suppress(TimeoutError):
                await asyncio.wait_for(self.full.wait(), timeout=1)
            try:
                return await super().run(request, cut)
            finally:
                self.now -= 1

    laboratory = CountingLaboratory()
    run(tmp_path, laboratory)

    assert laboratory.most == SETTINGS.limits.parallel


def test_an_unhealthy_request_is_reported_and_not_explored(tmp_path: Path) -> None:
    class SickLaboratory(SimulatedLaboratory):
        async def audit(self, request: Request) -> RequestAudited:
            audited = await super().audit(request)
            return replace(audited, healthy=False, reason="down") if request.name == "GET /" else audited

    laboratory = SickLaboratory()
    events = run(tmp_path, laboratory)

    assert RequestFinished(request="GET /", complete_up_to=-1, reason="down") in events
    assert {name for name, _ in laboratory.ran} == {"POST /checkout"}
    assert events[-1] == RunFinished(reason="GET /: down")


def test_a_request_that_fails_without_faults_after_its_audit_is_not_called_complete(tmp_path: Path) -> None:
    class WorseningLaboratory(SimulatedLaboratory):
        async def audit(self, request: Request) -> RequestAudited:
            return replace(await super().audit(request), runs=())

        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            return replace(await super().run(request, cut), verdict=Verdict.FAILED)

    events = run(tmp_path, WorseningLaboratory())

    ends = [event for event in events if isinstance(event, RequestFinished)]
    assert {(end.complete_up_to, end.reason) for end in ends} == {(-1, "the request fails without any fault")}


def test_a_server_that_dies_and_stays_dead_halts_the_campaign_after_recording_it(tmp_path: Path) -> None:
    class DeadlyLaboratory(SimulatedLaboratory):
        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            outcome = await super().run(request, cut)
            return replace(outcome, dead=("127.0.0.1:9",)) if outcome.verdict is Verdict.FAILED else outcome

        async def recovered(self) -> bool:
            return False

    with pytest.raises(HaltedError, match=r"127\.0\.0\.1:9 stopped answering"):
        run(tmp_path, DeadlyLaboratory())

    assert any(isinstance(event, ExperimentFinished) and event.outcome.dead for event in recorded(tmp_path))


class BlindLaboratory(SimulatedLaboratory):
    """Cannot tell what comes of cuts with one of these points."""

    def __init__(self, *hidden: str) -> None:
        super().__init__()
        self.hidden = {Point("simulated", name) for name in hidden}

    async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
        outcome = await super().run(request, cut)
        if {point.of_api for point in points_of(cut)} & self.hidden:
            return Outcome(cut, Verdict.UNKNOWN, "the trace of the request did not arrive")
        return outcome


def test_what_stays_unknown_limits_what_is_complete_and_is_tried_again_when_it_is_resumed(tmp_path: Path) -> None:
    blind = BlindLaboratory("currency")
    before = run(tmp_path, blind)

    ends = [event for event in before if isinstance(event, RequestFinished)]
    assert all(end.complete_up_to < min(map(len, end.undecided)) for end in ends if end.undecided)
    assert [end.complete_up_to for end in ends if end.request == "GET /"] == [0]
    assert "1 cut could not be decided" in before[-1].reason
    assert not summarise(before).complete

    after = run(tmp_path, seeing := SimulatedLaboratory())

    assert found(recorded(tmp_path)) == TRUTH
    assert after[-1] == RunFinished(reason="")
    assert summarise(recorded(tmp_path)).complete
    decided = {(name, cut) for name, cut in blind.ran if not {p.of_api for p in points_of(cut)} & blind.hidden}
    assert not decided & set(seeing.ran)


def test_a_campaign_that_could_inject_nothing_has_shown_nothing(tmp_path: Path) -> None:
    class Nothing(SimulatedLaboratory):
        async def audit(self, request: Request) -> RequestAudited:
            audited = await super().audit(request)
            runs = tuple(replace(each, path=frozenset(), calls=frozenset()) for each in audited.runs)
            return replace(audited, calls=frozenset(), runs=runs)

        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            outcome = await super().run(request, cut)
            return replace(outcome, path=frozenset(), failed=frozenset(), calls=frozenset())

    events = run(tmp_path, Nothing())

    ends = [event for event in events if isinstance(event, RequestFinished)]
    assert {(end.complete_up_to, end.reason) for end in ends} == {(-1, nothing_reached([]))}
    assert exit_code(summarise(events)) == 3
