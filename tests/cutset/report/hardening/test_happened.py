import re
from collections.abc import Iterator

from tests.samples.hardening_result import ADS, CART, CHANGE, VERIFICATION

from cutset.model.hardening import (
    CallsObserved,
    Effort,
    HardeningStarted,
    HealthJudged,
    MeshChanged,
    MeshRestored,
)
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.report.hardening.happened import happened, in_one_line
from cutset.store.codec import RecordedEvent

OBSERVED = CallsObserved(efforts={"GET /": Effort(0.1, 2, 2)})
WHOLE: list[RecordedEvent] = [
    RunStarted(loop=Loop.HARDENING, run="two"),
    HardeningStarted(campaign="one"),
    OBSERVED,
    CHANGE,
    MeshChanged(),
    HealthJudged(runs=10),
    OBSERVED,
    *VERIFICATION.rechecks,
    HealthJudged(runs=10, ill={"GET /": "3 of 10 times: 503"}),
    MeshRestored(why="what worked before does not", problem="no write access"),
    RunFinished(),
]


def dated(events: list[RecordedEvent]) -> list[tuple[float, RecordedEvent]]:
    return [(1_700_000_000.0 + number, event) for number, event in enumerate(events)]


def told(events: list[RecordedEvent], **more: object) -> list[str]:
    def lines() -> Iterator[str]:
        text = str(happened(dated(events), cuts=2, **more))  # type: ignore[arg-type]
        for item in re.findall(r"<li>(.*?)</li>", text, re.DOTALL):
            yield re.sub(r"<[^>]+>", "", item.partition("</time>")[2])

    return list(lines())


def test_each_step_is_told_once_in_its_order() -> None:
    assert told(WHOLE) == [
        "Began, against campaign one",
        "Timed the calls of 1 request",
        "Announced 1 setting, before anything was touched",
        "The mesh has taken what was announced",
        "Sent each request 10 times without faults: answered as before",
        "Timed the calls of 1 request, again",
        "Injected 2 of 2 known cuts again: 1 gone ",
        "Sent each request 10 times without faults: and not all is well: GET / 3 of 10 times: 503",
        "Took it back: what worked before does not; not all is as it was: no write access",
        "Ended",
    ]


def test_how_far_it_is_is_a_bar_with_a_name() -> None:
    bar = re.search(r"<progress[^>]*>", str(happened(dated(WHOLE[:8]), cuts=2)))
    assert bar
    assert 'value="1" max="2" aria-label="Known cuts injected again"' in bar[0]


def test_what_looks_for_new_cuts_is_told_while_it_does_and_afterwards() -> None:
    begun: list[RecordedEvent] = [RunStarted(loop=Loop.CAMPAIGN, run="three", part_of="two")]
    assert told(WHOLE[:9], explored=dated(begun), experiments=7)[-1] == "Looked for new cuts: 7 experiments so far"
    ended = dated([*begun, RunFinished()])
    assert told(WHOLE, explored=ended, experiments=7)[-2:] == ["Looked for new cuts: 7 experiments", "Ended"]


def test_who_listens_hears_the_latest() -> None:
    assert in_one_line([], cuts=2) == "begun"
    assert in_one_line(dated(WHOLE[:4]), cuts=2) == "the mesh is being changed"
    assert in_one_line(dated(WHOLE[:8]), cuts=2) == "1 of 2 known cuts injected again"
    assert in_one_line(dated(WHOLE), cuts=2) == "ended"


def test_a_recheck_counts_once_however_often_it_was_made() -> None:
    again = [*WHOLE[:9], VERIFICATION.rechecks[0]]
    assert told(again)[-1].startswith("Injected 2 of 2")
    assert {each.finding.id for each in VERIFICATION.rechecks} == {ADS.id, CART.id}
