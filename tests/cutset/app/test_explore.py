"""What does not need services; campaigns on real ones are in `tests/end_to_end`."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.broken_service import broken_service
from tests.samples.campaign import EVENTS, RUN

from cutset.app.explore import explore, find_finding, replay_finding
from cutset.config.explore import load_config
from cutset.errors import TargetError, UsageError
from cutset.model.event import CampaignEvent, RequestFinished
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.model.summary import summarise
from cutset.store.ledger import open_ledger

SECRET = "hunter2"
KEY = b"a key for tests, of 32 bytes or more"
CONFIG = f"""\
target: {{url: URL}}
collector: {{http_port: PORT, grpc_port: 0, export_interval: 0.1}}
limits: {{trace_timeout: 2}}
requests:
- path: /account
  headers: {{authorization: Bearer {SECRET}}}
  form: {{password: {SECRET}}}
  method: POST
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Iterator[Path]:
    """Of a system in which nothing works."""
    with broken_service() as (url, collector_port):
        (tmp_path / "cutset.yaml").write_text(CONFIG.replace("URL", url).replace("PORT", str(collector_port)))
        yield tmp_path / "cutset.yaml"


def run(config_file: Path, *, resume: bool = False) -> list[CampaignEvent]:
    async def collected() -> list[CampaignEvent]:
        events = explore(load_config(config_file), key=KEY, store=config_file.parent / "store", resume=resume)
        return [event async for event in events]

    return asyncio.run(collected())


def test_a_request_that_fails_by_itself_was_not_tested(config_file: Path) -> None:
    first, *_, ended, last = run(config_file)

    assert isinstance(first, RunStarted)
    assert (first.loop, first.command, first.config) == (Loop.CAMPAIGN, "explore", str(config_file))
    assert isinstance(ended, RequestFinished)
    assert ended.complete_up_to == -1
    assert isinstance(last, RunFinished)
    assert last.reason


def test_what_does_not_go_together_is_refused_before_anything_is_sent_or_written(tmp_path: Path) -> None:
    file = tmp_path / "cutset.yaml"
    nobody = CONFIG.replace("URL", "http://127.0.0.1:1").replace("PORT", "0")
    file.write_text(nobody + "effects: [abort(503), timeout]\nsearch: {strategy: fastfi}\n")

    with pytest.raises(UsageError, match="one effect"):
        run(file)

    assert not (tmp_path / "store").exists()


def test_what_is_not_finished_goes_on_in_the_same_run_and_tells_all_of_it(config_file: Path) -> None:
    before = run(config_file)
    after = run(config_file, resume=True)

    *told, ended = before
    assert after[: len(told)] == told
    assert replace(after[len(told)], seal="") == ended  # the ledger seals it
    assert len(after) > len(before)


def test_who_stops_listening_ends_it_and_it_can_go_on(config_file: Path) -> None:
    async def only_the_first() -> None:
        events = explore(load_config(config_file), key=KEY, store=config_file.parent / "store")
        await anext(events)
        await events.aclose()

    asyncio.run(only_the_first())

    assert isinstance(run(config_file, resume=True)[-1], RunFinished)


def test_it_is_not_resumed_with_other_requests_which_are_named_but_not_shown(config_file: Path) -> None:
    run(config_file)
    config_file.write_text(config_file.read_text().replace("/account", "/other"))

    with pytest.raises(UsageError, match="begun with other requests, so it cannot be resumed"):
        run(config_file, resume=True)


def test_no_secret_of_a_request_gets_into_the_store(config_file: Path) -> None:
    run(config_file)

    files = [path for path in (config_file.parent / "store").rglob("*") if path.is_file()]
    assert len(files) > 2
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


def test_where_nobody_listens_nothing_begins(config_file: Path) -> None:
    file = config_file.with_name("nobody.yaml")
    file.write_text(
        "target: {url: 'http://127.0.0.1:9'}\ncollector: {http_port: 0, grpc_port: 0}\nrequests: [{path: /}]\n"
    )

    with pytest.raises(TargetError, match=r"the entry at 127\.0\.0\.1:9 does not accept connections") as refused:
        run(file)
    assert "`cutset mesh up`" in refused.value.hint
    with open_ledger(config_file.parent / "store") as ledger:
        assert ledger.runs(Loop.CAMPAIGN) == []


def test_what_fails_or_degrades_a_request_is_found_by_its_id(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for event in (RUN, *EVENTS):
            ledger.append(RUN.run, event)
        summary = summarise(EVENTS)
        for finding in (*summary.findings, *summary.degradations):
            assert find_finding(ledger, finding.id).cut == finding.cut


def test_a_finding_that_nobody_knows_is_not_replayed(config_file: Path) -> None:
    store = config_file.parent / "store"
    with open_ledger(store):
        pass

    with pytest.raises(UsageError, match="There is no finding `1f3a90bc`"):
        asyncio.run(replay_finding(load_config(config_file), "1f3a90bc", key=KEY, store=store))
