from pathlib import Path

import pytest

from cutset.config.harden import ApiChoice, HardenChoice, load_harden, section_of
from cutset.errors import UsageError

WHOLE = """\
high: [GET /]
traffic: {GET /: 1000}
apis:
  cart/GetCart: {cost: 2, fallback: last-good-or-empty}
  web>ad/GetAds: {untouchable: true, failure_rate: 0.5}
  payment/Charge: {hardened: true}
common_causes:
  zone: {rate: 0.001, members: [cart, ad]}
"""


def test_a_file_of_its_own_wins_over_the_section_of_the_configuration(tmp_path: Path) -> None:
    costs, config = tmp_path / "costs.yaml", tmp_path / "cutset.yaml"
    assert load_harden(None, config) == HardenChoice()
    config.write_text("requests: []\nharden: {high: [POST /pay]}\n")
    costs.write_text(WHOLE)
    assert load_harden(None, config).high == ("POST /pay",)
    found = load_harden(costs, config)
    assert (found.high, found.traffic) == (("GET /",), {"GET /": 1000})
    assert found.costs == {"cart/GetCart": 2, "web>ad/GetAds": 1, "payment/Charge": 1}
    assert (found.untouchable, found.already) == ({"web>ad/GetAds"}, {"payment/Charge"})
    assert (found.fallbacks, found.failure_rates) == (
        {"cart/GetCart": "last-good-or-empty"},
        {"web>ad/GetAds": 0.5},
    )
    assert found.common_causes["zone"].members == ("cart", "ad")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("apis: {cart/GetCart: {cost: 0}}", "expected a cost above 0, found 0"),
        ("apis: {cart/GetCart: {price: 1}}", "unknown key"),
        ("apis: {cart/GetCart: {fallback: guess}}", "last-good"),
        ("apis: {cart/GetCart: {failure_rate: 1.5}}", "expected a share from 0 to 1, found 1.5"),
        ("traffic: {GET /: -1}", "expected requests per day from 0 on"),
        ("common_causes: {zone: {rate: 0.1, members: []}}", "expected at least one member"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "costs.yaml").write_text(content)
    with pytest.raises(UsageError) as caught:
        load_harden(tmp_path / "costs.yaml", tmp_path / "cutset.yaml")
    assert message in caught.value.message


def test_wishes_become_a_section_that_means_the_same(tmp_path: Path) -> None:
    costs, config = tmp_path / "costs.yaml", tmp_path / "cutset.yaml"
    costs.write_text(WHOLE + "  unused: {rate: 0, members: [x]}\n")
    wishes = load_harden(costs, config)
    config.write_text(f"requests: []\n{section_of(wishes)}")
    assert load_harden(None, config) == wishes
    assert section_of(HardenChoice(apis={"cart/GetCart": ApiChoice()})) == "harden: {}\n"
    assert "untouchable" not in section_of(HardenChoice(apis={"cart/GetCart": ApiChoice(cost=2)}))
