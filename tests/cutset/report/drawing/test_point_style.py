import re

from cutset.report.drawing.point_style import POINT_STYLE


def test_light_and_dark_have_colours_of_their_own() -> None:
    light, dark = POINT_STYLE.split("@media (prefers-color-scheme:dark)")
    assert ".point-graph .ground{fill:#ffffff}" in light
    assert ".point-graph .ground{fill:#0d1117}" in dark


def test_every_rule_is_of_the_picture_alone() -> None:
    selectors = [each for rule in re.findall(r"^([^@{}]+)\{", POINT_STYLE, re.MULTILINE) for each in rule.split(",")]
    assert selectors
    assert all(selector.strip().startswith(".point-graph ") for selector in selectors)
