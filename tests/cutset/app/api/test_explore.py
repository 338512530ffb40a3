"""What does not need services; `examples/` and `tests/end_to_end` use it on real ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples.broken_service import broken_service

from cutset.app.api.explore import explore, replay
from cutset.config.explore import load_config
from cutset.errors import UsageError
from cutset.model.event import CampaignEvent, CampaignStarted

KEY = b"a key for tests, of 32 bytes or more"
CONFIG = """\
target: {url: URL}
collector: {http_port: PORT, grpc_port: 0, export_interval: 0.1}
limits: {trace_timeout: 2}
requests: [{path: /a}, {path: /b}]
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Iterator[Path]:
    """Of a system in which nothing works."""
    with broken_service() as (url, collector_port):
        (tmp_path / "cutset.yaml").write_text(CONFIG.replace("URL", url).replace("PORT", str(collector_port)))
        yield tmp_path / "cutset.yaml"


def test_a_campaign_comes_back_whole_and_every_event_is_told_as_it_happens(config_file: Path) -> None:
    told: list[CampaignEvent] = []
    campaign = explore(
        config_file, requests=["GET /a"], max_size=2, key=KEY, store=config_file.parent / "s", on_event=told.append
    )

    assert tuple(told) == campaign.events
    assert campaign.id
    assert (campaign.findings, campaign.complete) == ([], False)
    (started,) = (event for event in told if isinstance(event, CampaignStarted))
    assert (started.requests, started.max_size) == (("GET /a",), 2)


def test_a_configuration_may_be_a_file_or_read_already(config_file: Path) -> None:
    campaign = explore(load_config(config_file), key=KEY, store=config_file.parent / "s")

    assert [request.name for request in campaign.summary.requests] == ["GET /a", "GET /b"]
    assert campaign.started.config == str(config_file)


def test_without_a_key_nothing_is_sent(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTSET_KEY", raising=False)

    with pytest.raises(UsageError, match="CUTSET_KEY"):
        explore(config_file, store=config_file.parent / "s")
    assert not (config_file.parent / "s").exists()


def test_a_finding_that_nobody_knows_is_an_error(config_file: Path) -> None:
    explore(config_file, key=KEY, store=config_file.parent / "s")

    with pytest.raises(UsageError, match="no finding `1f3a90bc`"):
        replay("1f3a90bc", config_file, key=KEY, store=config_file.parent / "s")
