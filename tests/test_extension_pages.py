"""The examples of `docs/how-to/extend` work as they are written."""

import asyncio
import inspect
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.cutset.search.test_strategies import SYSTEM, outcome
from tests.samples.campaign import EVENTS

from cutset.campaign.explore import explore
from cutset.campaign.settings import CampaignSettings
from cutset.model.fault import cut_of
from cutset.model.point import Point
from cutset.model.request import Request, Step
from cutset.model.summary import summarise
from cutset.reproduce.front_end import AnalysedProgram, FrontEnd
from cutset.reproduce.logs.dialect import LogDialect
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.store.ledger import open_ledger
from cutset.traces.tally import ReadTally
from cutset_agent.calls import HookedCall

PAGES = Path(__file__).parent.parent / "docs" / "how-to" / "extend"


def example(page: str) -> dict[str, Any]:
    """The names that the code on the page defines."""
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(), re.DOTALL):
        exec(code, names)
    return names


def test_the_strategy_finds_what_brute_force_finds() -> None:
    search = example("strategy")["Everything"](SearchSettings(2))
    while cuts := search.ask(9):
        for cut in cuts:
            search.learn(outcome(cut))

    assert set(search.result().minimal_cuts) == minimal_cuts_by_brute_force(SYSTEM, 2)
    assert search.result().finished


def test_the_fault_is_for_one_call_of_its_library_and_says_what_it_stands_for() -> None:
    names = example("effect")
    (name,) = names["FAULTS"]

    assert isinstance(names["FAULTS"][name](HookedCall("db/boto3/put_object"), (), {}), OSError)
    assert names["FAULTS"][name](HookedCall("db/boto3/get_object"), (), {}) is None
    assert names["CATALOGUE"][name].keys() == {"what", "incident", "resilient", "needs_timeout"}


def test_the_trace_reader_reads_spans_and_counts_what_it_cannot_read() -> None:
    tally = ReadTally()
    lines = b"0af7651916cd43dd8448eb211c80319c b7ad6b7169203331 - web GET/ 10 20\nhalf a line\n"

    (span,) = example("trace-reader")["read"](BytesIO(lines), tally)

    assert (span.service, span.parent_id, span.start_ns, span.end_ns) == ("web", "", 10_000, 20_000)
    assert sum(tally.skipped.values()) == 1


def test_the_report_has_a_row_for_each_finding() -> None:
    summary = summarise(EVENTS)

    text = example("report")["to_csv"](summary)

    assert [finding.id in text for finding in summary.findings] == [True] * len(summary.findings)


def test_a_campaign_in_the_laboratory_finds_what_its_table_says(tmp_path: Path) -> None:
    needed = frozenset({Point("cart", "GetCart"), Point("shipping", "GetQuote")})
    laboratory = example("laboratory")["Table"]({"GET /": needed})

    async def campaign() -> set[Any]:
        with open_ledger(tmp_path) as ledger:
            requests = [Request("GET /", Step("GET", "/"))]
            events = [event async for event in explore("only", requests, laboratory, ledger, CampaignSettings())]
        return {finding.cut for finding in summarise(events).findings}

    assert asyncio.run(campaign()) == {cut_of([point]) for point in needed}


@pytest.mark.parametrize("protocol", [AnalysedProgram, FrontEnd, LogDialect], ids=lambda each: each.__name__)
def test_all_that_a_front_end_is_asked_for_is_explained(protocol: type) -> None:
    asked = {name for each in protocol.__mro__ for name in (*vars(each), *inspect.get_annotations(each))}
    page = (PAGES / "front-end.md").read_text()
    assert {name for name in asked if name[0] != "_" and not re.search(rf"`{name}[`(]", page)} == set()
