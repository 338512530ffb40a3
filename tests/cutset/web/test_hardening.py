import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from tests.samples.hardening import MESH, fill, ingest_home_pages

from cutset.app.harden_place import Apply
from cutset.config.explore import load_config
from cutset.errors import UsageError
from cutset.web.dashboard import Dashboard
from cutset.web.harden_query import HardenQuery
from cutset.web.hardening import config_file_of, decided_for, found_for, posed_for, steps_for, with_campaign
from cutset.web.reading import Reading

CONFIG = {"requests": [{"path": "/"}], "target": {"url": "http://127.0.0.1:1"}}


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[Dashboard]:
    fill(tmp_path / "store")
    (tmp_path / "cutset.yaml").write_text(yaml.safe_dump(CONFIG))
    with ExitStack() as stack:
        yield Dashboard(Reading(tmp_path / "store", stack), config_file=tmp_path / "cutset.yaml")


def test_a_problem_is_posed_once_for_all_budgets(dashboard: Dashboard) -> None:
    async def ask() -> None:
        campaign = dashboard.reading.campaign()
        first = await posed_for(dashboard, campaign, HardenQuery(budget=1))
        second = await posed_for(dashboard, campaign, HardenQuery(budget=2))
        assert first.problem is second.problem
        assert [len((await found_for(each, None)).sites) for each in (first, second)] == [1, 2]
        dearer = await posed_for(dashboard, campaign, HardenQuery(costs={"cart/GetCart": 5.0}))
        assert dearer.problem is not first.problem
        ingest_home_pages(dashboard.store)
        assert (await posed_for(dashboard, campaign, HardenQuery(budget=1))).grounds.traffic  # traces tell of it now

    asyncio.run(ask())


def test_the_usual_budget_is_one_that_the_curve_has(dashboard: Dashboard) -> None:
    async def usual(**query: object) -> float:
        posed = await posed_for(dashboard, dashboard.reading.campaign(), HardenQuery(**query))  # type: ignore[arg-type]
        return posed.options.budget

    assert asyncio.run(usual()) == 3
    assert asyncio.run(usual(costs={"cart/GetCart": 0.5, "ad/GetAds": 0.5, "payment/Charge": 0.5})) == 1.5
    assert asyncio.run(usual(high=("GET /", "POST /pay"), costs={"cart/GetCart": 9.0})) == 11


def test_what_makes_no_sense_is_told(dashboard: Dashboard) -> None:
    campaign = dashboard.reading.campaign()
    with pytest.raises(UsageError, match="There is no request `GET /x`"):
        asyncio.run(decided_for(dashboard, campaign, HardenQuery(high=("GET /x",))))
    with pytest.raises(UsageError, match="does not cover all high-priority requests"):
        asyncio.run(decided_for(dashboard, campaign, HardenQuery(high=("GET /",), budget=1)))


def test_the_mesh_beside_the_configuration_is_what_can_be_changed(dashboard: Dashboard) -> None:
    assert dashboard.config_file
    config = load_config(dashboard.config_file)
    nothing = steps_for(dashboard, config, verify=False)
    assert (nothing.apply, nothing.verify) == (None, True)  # else there would be nothing to do
    dashboard.config_file.with_name("mesh.yaml").write_text(MESH)
    steps = steps_for(dashboard, config, verify=False, explore=False)
    assert (steps.apply, steps.verify, steps.explore) == (Apply.LOCAL, False, False)


def test_without_a_configuration_of_its_own_it_reads_that_of_the_campaign(dashboard: Dashboard) -> None:
    campaign = dashboard.reading.campaign()
    assert config_file_of(dashboard, campaign) == dashboard.config_file
    dashboard.config_file = None
    assert config_file_of(dashboard, campaign) == Path("cutset.yaml")
    assert with_campaign(HardenQuery(), campaign).campaign == "one"
