"""What does not need services; `examples/` and `tests/end_to_end` use it on real ones."""

from pathlib import Path

import pytest

from cutset.app.api.explore import explore, replay
from cutset.config.explore import load_config
from cutset.errors import UsageError
from cutset.model.event import CampaignEvent, CampaignStarted

CONFIG = """\
target: {url: 'http://127.0.0.1:1'}
collector: {http_port: 0, grpc_port: 0, export_interval: 0.1}
limits: {trace_timeout: 0.2}
requests: [{path: /a}, {path: /b}]
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    (tmp_path / "cutset.yaml").write_text(CONFIG)
    return tmp_path / "cutset.yaml"


def test_a_campaign_comes_back_whole_and_every_event_is_told_as_it_happens(config_file: Path) -> None:
    told: list[CampaignEvent] = []
    campaign = explore(
        config_file, requests=["GET /a"], max_size=2, key=b"k", store=config_file.parent / "s", on_event=told.append
    )

    assert tuple(told) == campaign.events
    assert campaign.id
    assert (campaign.findings, campaign.complete) == ([], False)
    (started,) = (event for event in told if isinstance(event, CampaignStarted))
    assert (started.requests, started.max_size) == (("GET /a",), 2)


def test_a_configuration_may_be_a_file_or_read_already(config_file: Path) -> None:
    campaign = explore(load_config(config_file), key=b"k", store=config_file.parent / "s")

    assert [request.name for request in campaign.summary.requests] == ["GET /a", "GET /b"]
    assert campaign.started.config == str(config_file)


def test_without_a_key_nothing_is_sent(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTSET_KEY", raising=False)

    with pytest.raises(UsageError, match="CUTSET_KEY"):
        explore(config_file, store=config_file.parent / "s")
    assert not (config_file.parent / "s").exists()


def test_a_finding_that_nobody_knows_is_an_error(config_file: Path) -> None:
    explore(config_file, key=b"k", store=config_file.parent / "s")

    with pytest.raises(UsageError, match="no finding `1f3a90bc`"):
        replay("1f3a90bc", config_file, key=b"k", store=config_file.parent / "s")
