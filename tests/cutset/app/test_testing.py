import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.simulated_campaign import REQUESTS, SETTINGS, SimulatedLaboratory

from cutset.app.explore import Retrial
from cutset.app.testing import (
    ExploredTest,
    PlaceForTests,
    concluded,
    explore_code,
    narrowed,
    recorded_finding,
    try_finding_again,
)
from cutset.config.explore import Config
from cutset.errors import InputError
from cutset.model.effect import Effect
from cutset.model.outcome import Verdict
from cutset.model.target import Target
from cutset.report.campaign.baseline import accept, to_yaml
from cutset.search.strategy import Certificates
from cutset.store.ledger import open_ledger
from cutset.store.runs import latest_run

CONFIG = Config(Target("http://127.0.0.1:1"), (), limits=SETTINGS.limits, search=SETTINGS.search)


class Laboratory(SimulatedLaboratory):
    replicas = None
    gate = None


def explored(store: Path, *, baseline: Path | None = None, experiments: int | None = None) -> ExploredTest:
    place = PlaceForTests(CONFIG, b"k" * 32, store)

    async def all_events() -> list:
        config = narrowed(CONFIG, experiments=experiments)
        async with aclosing(explore_code(config, REQUESTS[0], Laboratory(), place)) as events:
            return [event async for event in events]

    return concluded(asyncio.run(all_events()), place, baseline)


def test_what_a_test_wants_wins_over_the_configuration():
    config = narrowed(CONFIG, max_size=1, effects=["timeout", "abort(500)"], certificates="independent", minutes=2)

    assert (config.limits.max_size, config.limits.minutes, config.limits.parallel) == (1, 2, 1)
    assert config.search.certificates is Certificates.INDEPENDENT
    assert config.effects.usual == (Effect.parse("timeout"), Effect.parse("abort(500)"))
    assert narrowed(CONFIG).effects == CONFIG.effects
    with pytest.raises(InputError):
        narrowed(CONFIG, effects=["lightning"])


def test_a_campaign_is_recorded_proven_again_and_told(tmp_path):
    test = explored(tmp_path)

    assert test.failures == test.campaign.findings != []
    document = test.to_document()
    assert (document["test"], document["campaign"]) == (REQUESTS[0].name, test.campaign.id)
    assert [each["replay"] for each in document["findings"]] == [
        f"pytest --cutset-store {tmp_path} --cutset-replay {finding.id}" for finding in test.failures
    ]


def test_what_was_accepted_is_no_failure(tmp_path):
    file = tmp_path / "accepted.yaml"
    file.write_text(to_yaml(accept(explored(tmp_path).campaign.summary)))

    test = explored(tmp_path, baseline=file)

    assert test.failures == []
    assert not test.is_open
    assert all(each["accepted"] for each in test.to_document()["findings"])


def test_what_is_left_open_is_told(tmp_path):
    test = explored(tmp_path, experiments=1)

    assert any("budget of experiments" in each for each in test.left_open)
    assert test.is_open == (not test.failures)


def test_campaigns_of_tests_do_not_pass_for_the_latest_of_a_person(tmp_path):
    explored(tmp_path)

    with open_ledger(tmp_path) as ledger, pytest.raises(Exception, match="holds no campaign"):
        latest_run(ledger, ledger.runs()[0].started.loop)


def test_a_finding_is_tried_again(tmp_path):
    finding = explored(tmp_path).failures[0]

    again = asyncio.run(try_finding_again(recorded_finding(tmp_path, finding.id), REQUESTS[0], Laboratory()))

    assert again == Retrial(finding, again.outcome)
    assert again.outcome.verdict is Verdict.FAILED
    assert replace(again.outcome, cut=finding.cut) == again.outcome
