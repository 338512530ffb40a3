from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.impacts import impact_started

from cutset.model.impact import Matching, TrafficSource, UserKey
from cutset.model.run import Loop, RunStarted
from cutset.report.replaying import impact_command, replay_command, resume_command


@pytest.mark.parametrize(
    ("command", "config", "store", "expected"),
    [
        ("explore", "cutset.yaml", ".cutset", "cutset explore --replay"),
        ("explore", "other/shop.yaml", ".cutset", "cutset explore -c other/shop.yaml --replay"),
        ("explore", "my shop.yaml", "kept", "cutset explore -c 'my shop.yaml' --store kept --replay"),
        ("demo", "", ".cutset", "cutset demo --replay"),
        ("drill", "/elsewhere/cutset.yaml", "/kept", "cutset drill -c /elsewhere/cutset.yaml --store /kept --replay"),
    ],
)
def test_the_command_fits_where_the_reader_is(command: str, config: str, store: str, expected: str) -> None:
    started = RunStarted(loop=Loop.CAMPAIGN, command=command, config=str(Path(config).absolute()) if config else "")

    assert replay_command(started, Path(store)) == expected
    assert replay_command(started, Path(store).absolute()) == expected
    assert resume_command(started, Path(store)) == expected.replace("--replay", "--resume")


def test_a_finding_of_a_test_is_tried_again_by_pytest() -> None:
    started = RunStarted(loop=Loop.CAMPAIGN, command="pytest", config=str(Path("other/shop.yaml").absolute()))

    expected = "pytest --cutset-config other/shop.yaml --cutset-store kept --cutset-replay"
    assert replay_command(started, Path("kept")) == expected
    assert replay_command(RunStarted(loop=Loop.CAMPAIGN, command="pytest"), Path(".cutset")) == "pytest --cutset-replay"


def test_an_impact_is_repeated_on_the_same_requests_with_the_same_faults() -> None:
    started = RunStarted(loop=Loop.IMPACT, command="impact")
    matching = Matching("GET", "/product/*", {"x-beta": ""}, query={"q": "a b"})
    live = replace(impact_started(shares=(0.001, 0.05)), matching=matching, user=UserKey(cookie="session"))
    mixed = impact_started("a/B:abort(503),30%", "c/*:timeout", traffic=TrafficSource.LOAD, shares=(0.5,))

    assert impact_command(started, live, Path(".cutset")) == (
        "cutset impact 'currency/Convert:abort(503)' --rate 30% --ramp 0.1%,5% --method GET --path '/product/*' "
        "--header x-beta --query 'q=a b' --user-cookie session"
    )
    assert impact_command(started, mixed, Path("kept")) == (
        "cutset impact --store kept 'a/B:abort(503),30%' 'c/*:timeout' --share 50% --load …"
    )
