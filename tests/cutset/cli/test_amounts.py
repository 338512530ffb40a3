import pytest

from cutset.cli.amounts import pairs, percentage, percentages, seconds, whole_percentage
from cutset.errors import UsageError


def test_percentages_are_read_as_people_write_them() -> None:
    assert [percentage(text, "--share") for text in ("5%", "0.1 %", "100%", " 12.5%")] == [5.0, 0.1, 100.0, 12.5]
    assert percentages("0.1%,1%, 5%", "--ramp") == (0.1, 1.0, 5.0)
    assert whole_percentage("30%", "--rate") == 30


@pytest.mark.parametrize("text", ["5", "0.05", "0%", "101%", "-5%", "five%", "", "5%%", "1e2%"])
def test_what_may_be_meant_otherwise_is_refused_with_the_option_and_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        percentage(text, "--share")
    assert caught.value.message == f"`--share {text}`: expected a percentage above 0%, at most 100%"
    assert caught.value.hint == "As `--share 5%`"


def test_a_rate_that_sidecars_cannot_decide_by_is_refused_with_the_nearest_that_they_can() -> None:
    with pytest.raises(UsageError, match="whole percentage") as caught:
        whole_percentage("0.5%", "--rate")
    assert "`--rate 1%`" in caught.value.hint


def test_durations_have_a_unit() -> None:
    assert [seconds(text, "--before") for text in ("30s", "2m", "1h", "0s")] == [30.0, 120.0, 3600.0, 0.0]
    with pytest.raises(UsageError, match=r"`--before 30`: expected a duration") as caught:
        seconds("30", "--before")
    assert "`--before 30s`" in caught.value.hint


def test_pairs_may_lack_their_value_but_not_their_name() -> None:
    assert pairs(["X-Team=shop", "beta", "a=b=c"], "--header") == {"X-Team": "shop", "beta": "", "a": "b=c"}
    with pytest.raises(UsageError, match="NAME=VALUE"):
        pairs(["=shop"], "--header")
