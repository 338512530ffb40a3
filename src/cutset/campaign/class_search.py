"""The search of one request class within a campaign: what it starts from, its rounds, and how it ends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from cutset.campaign.settings import CampaignSettings
from cutset.model.coverage import Uncoverable, nothing_reached
from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import Cut, points_of
from cutset.model.finding import findings_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.model.wording import count
from cutset.search.stand_ins import stand_ins
from cutset.search.strategies import STRATEGIES, AcrossRequests
from cutset.search.strategy import Search, SearchSettings
from cutset.select.api_rank import rank_of_audits


class ClassSearch:
    def __init__(
        self,
        request: Request,
        search: Search,
        settings: CampaignSettings,
        past: Sequence[Outcome],
        past_rounds: int,
        *,
        uncoverable: Sequence[Uncoverable] = (),
    ) -> None:
        self.request = request
        self._search = search
        self._settings = settings
        self._past_rounds = past_rounds  # a round that was interrupted counts
        self._failing: set[Cut] = set()
        self._stopped = ""
        self._is_reached = False  # by a plan, at any call
        self._uncoverable = uncoverable
        for outcome in past:
            self._tell(outcome)
        self.answered = 0  # since it began or was resumed
        self.result = search.result()

    @property
    def round(self) -> int:
        return self._past_rounds + self.result.rounds

    @property
    def complete_up_to(self) -> int:
        """Complete means decided: the size below that of each set whose outcome is unknown.

        Where nothing can be injected, everything survives in vain: who sees no call cannot tell that there is none.
        """
        result = self.result
        if frozenset() in result.minimal_cuts or not self._is_reached:
            return -1
        return min([result.complete_up_to, *(len(cut) - 1 for cut in result.undecided)])

    def ask(self, limit: int) -> list[Cut]:
        if self._stopped:
            return []
        cuts = self._search.ask(limit)
        self.result = self._search.result()
        if cuts and 0 < self._settings.limits.rounds < self.round:
            self._stopped = "the budget of rounds is spent"
            return []
        return cuts

    def learn(self, outcome: Outcome) -> None:
        self._tell(outcome)
        self.result = self._search.result()
        self.answered += 1

    def end(self, spent: str = "") -> RequestFinished:
        """`spent` says which budget keeps it from asking more."""
        result = self.result
        trusted = [cut for cut in result.minimal_cuts if cut not in self._failing]
        complete_up_to, reason = self.complete_up_to, spent or self._stopped
        if frozenset() in result.minimal_cuts:
            reason = "the request fails without any fault"
        elif not self._is_reached:
            reason = nothing_reached(self._uncoverable)
        elif result.undecided:
            reason = reason or f"{count(len(result.undecided), 'cut')} could not be decided"
        elif not reason and complete_up_to < self._settings.max_size:
            strategy = self._settings.search.strategy
            reason = f"the strategy `{strategy}` has nothing left to try, or its proof takes too long"
        return RequestFinished(
            request=self.request.name,
            complete_up_to=complete_up_to,
            reason=reason,
            undecided=result.undecided,
            assumption=result.assumption,
            # What is only trusted to fail is not decided by what this request did.
            exact_up_to=min([result.exact_up_to, complete_up_to, *(len(cut) - 1 for cut in trusted)]),
            masked=tuple((each.cut, each.survived) for each in result.masked if each.cut in result.minimal_cuts),
            predicted=(*result.predicted, *trusted),
        )

    def _tell(self, outcome: Outcome) -> None:
        self._search.learn(outcome)
        self._is_reached |= bool(outcome.calls)
        if outcome.verdict is Verdict.FAILED:
            self._failing.add(outcome.cut)


def begin(request: Request, settings: CampaignSettings, events: Sequence[CampaignEvent]) -> ClassSearch:
    """`events` are all of the campaign so far, the audit of this request included."""
    own = [event for event in events if getattr(event, "request", None) == request.name]
    audited = next(event for event in reversed(own) if isinstance(event, RequestAudited))
    inventory = audited.calls | frozenset(_replicas(audited.calls, settings.replicas))
    before = _before(request.name, events)
    hints = tuple(cut for cut in _failing(before) if points_of(cut) <= inventory and len(cut) <= settings.max_size)
    trusting = settings.search.across_requests is AcrossRequests.TRUST
    search = STRATEGIES[settings.search.strategy].start(
        SearchSettings(
            max_size=settings.max_size,
            certificates=settings.search.certificates,
            effects=settings.effects,
            inventory=inventory,
            weights=rank_of_audits(event for event in before if isinstance(event, RequestAudited)),  # MicroFI §4.4.4
            hints=hints,
            trust_hints=trusting,
            stand_ins=stand_ins(hints, _proven_runs(before, settings), inventory) if trusting else frozenset(),
        )
    )
    past = [
        outcome
        for outcome in _past_outcomes(request.name, events)
        if outcome.is_proof(settings.limits.trials, varying=bool(audited.varies))
    ]
    past_rounds = max((event.round for event in own if isinstance(event, ExperimentFinished)), default=0)
    return ClassSearch(request, search, settings, past, past_rounds, uncoverable=audited.uncoverable)


def _past_outcomes(request: str, events: Sequence[CampaignEvent]) -> list[Outcome]:
    """What stayed unknown before the campaign was resumed is tried again, and each audit takes the place of the last.

    An audit during an outage, or right after it with empty caches, shows calls that the request does not make. A call
    of the audit that none of its proven runs made is made at times: each is taken to have made it.
    """
    resumed = max((number for number, event in enumerate(events) if isinstance(event, CampaignStarted)), default=0)
    usual: tuple[Outcome, ...] = ()
    past: list[Outcome] = []
    for number, event in enumerate(events):
        match event:
            case RequestAudited(request=name, runs=runs, calls=calls) if name == request:
                more = calls.difference(*(run.calls for run in runs))
                usual = tuple(replace(run, calls=run.calls | more) for run in runs)
            case ExperimentFinished(request=name, outcome=outcome) if name == request:
                if number > resumed or outcome.verdict is not Verdict.UNKNOWN:
                    past.append(outcome)
    return [*usual, *past]


def _before(request: str, events: Sequence[CampaignEvent]) -> list[CampaignEvent]:
    """What was known before this class's first experiment, so that resuming changes nothing."""
    return list(
        takewhile(lambda event: not (isinstance(event, ExperimentFinished) and event.request == request), events)
    )


def _proven_runs(events: Sequence[CampaignEvent], settings: CampaignSettings) -> list[Outcome]:
    """Of all classes."""
    audits = [event for event in events if isinstance(event, RequestAudited)]
    varying = {event.request for event in audits if event.varies}
    return [run for event in audits for run in event.runs] + [
        event.outcome
        for event in events
        if isinstance(event, ExperimentFinished)
        and event.outcome.is_proof(settings.limits.trials, varying=event.request in varying)
    ]


def _failing(events: Sequence[CampaignEvent]) -> tuple[Cut, ...]:
    """What fails other classes."""
    return tuple(dict.fromkeys(finding.cut for finding in findings_of(events)))


def _replicas(calls: Points, numbers: Mapping[str, int]) -> Iterator[Point]:
    """All replicas of the APIs that were seen to be called, if replicas are told apart."""
    for point in calls:
        if point.replica:
            for number in range(1, numbers.get(point.service, 0) + 1):
                yield replace(point, replica=str(number))
