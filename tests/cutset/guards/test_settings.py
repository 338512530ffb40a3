from pathlib import Path

import pytest

from cutset.config.explore import load_config
from cutset.errors import UsageError
from cutset.guards.settings import GuardSettings, PrometheusCondition, UrlCondition, where_users_are

REST = "target: {url: 'http://127.0.0.1:1'}\nrequests: [{path: /}]\n"


def settings(folder: Path, section: str) -> GuardSettings:
    (folder / "cutset.yaml").write_text(f"{REST}guards:\n{section}")
    return load_config(folder / "cutset.yaml").guards


def test_the_section_of_the_file_is_the_settings(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        """\
  error_rate: 0.02
  latency: 1.5
  over: 10
  least_requests: 5
  prometheus:
    - {url: 'http://prometheus:9090', query: 'rate(errors[1m])', above: 0.01, token: PROMETHEUS_TOKEN}
  urls:
    - {url: 'https://shop.example.com/health?deep=1', within: 0.5}
  patience: 20
  max_marked: 100
  max_failed: 10
  hours: Mon-Fri 09:00-17:00
  timezone: Europe/Berlin
  telemetry: 5
""",
    )
    assert found == GuardSettings(
        error_rate=0.02,
        latency=1.5,
        over=10,
        least_requests=5,
        prometheus=(
            PrometheusCondition("http://prometheus:9090", "rate(errors[1m])", above=0.01, token="PROMETHEUS_TOKEN"),
        ),
        urls=(UrlCondition("https://shop.example.com/health?deep=1", 200, 0.5),),
        patience=20,
        max_marked=100,
        max_failed=10,
        hours="Mon-Fri 09:00-17:00",
        timezone="Europe/Berlin",
        telemetry=5,
    )


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("  prometheus: [{url: 'http://p', query: up}]", "expected `above` or `below`, or both"),
        ("  prometheus: [{url: 'p:9090', query: up, above: 1}]", "expected a URL"),
        (
            "  prometheus: [{url: 'http://p', query: up, above: .nan}]",
            "`guards.prometheus[0].above`: expected a number",
        ),
        ("  hours: nine to five", "expected hours such as `Mon-Fri 09:00-17:00`"),
        ("  timezone: Mars/Olympus", "expected a time zone such as `Europe/Berlin`"),
        ("  error_rate: 2", "expected a share from 0 to 1"),
        ("  urls: [{url: shop}]", "expected a URL"),
        ("  max_maked: 2", "Did you mean `max_marked`?"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, section: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        settings(tmp_path, section)
    assert problem in refused.value.message


def test_where_users_are_some_guards_are_on_unless_the_file_says_otherwise() -> None:
    live = where_users_are(GuardSettings(max_failed=0, telemetry=3))

    assert (live.error_rate, live.max_marked, live.max_failed, live.telemetry) == (0.05, 20_000, 0, 3)
    assert GuardSettings().error_rate is None
