import asyncio
from pathlib import Path

import pytest
from tests.samples.strict_shop import PASSWORD, Shop, recorded_visits, served, total

from cutset.app.traffic import read_flows, replay_flows
from cutset.workload.recording.folder import open_recording
from cutset.workload.templates.rules import RULES_FILE

RULES = "register: [{request: POST /login, place: form/password, as: value, from: SHOP_PASSWORD}]\n"


def test_a_recording_is_read_and_sent_again_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)

    async def scenario() -> None:
        shop = Shop()
        with open_recording(tmp_path) as recording:
            recording.append(await recorded_visits(shop, visits=2))
        (tmp_path / RULES_FILE).write_text(RULES)
        recorded, templates = read_flows(tmp_path)
        assert len(recorded.exchanges) == sum(len(template.steps) for template in templates) == 20

        async with served(shop.application()) as url:
            outcomes = await replay_flows(templates, url, naive=True)
            assert list(await replay_flows(templates, url)) == ["templated"]
        assert list(outcomes) == ["naive", "templated"]
        assert total(outcomes["naive"])[0] < total(outcomes["templated"])[0]

    asyncio.run(scenario())
