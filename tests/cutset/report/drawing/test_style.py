from cutset.report.drawing.style import style_sheet


def test_light_and_dark_have_colours_of_their_own() -> None:
    light, dark = style_sheet(1).split("@media (prefers-color-scheme:dark)")
    assert ".service-graph .ground{fill:#ffffff}" in light
    assert ".service-graph .ground{fill:#0d1117}" in dark


def test_every_rule_is_of_the_picture_alone() -> None:
    rules = [line for line in style_sheet(2).splitlines() if line.endswith("}") and "{" in line]
    assert all(
        selector.startswith(".service-graph") for rule in rules for selector in rule.partition("{")[0].split(",")
    )


def test_pointing_at_a_service_fades_the_calls_of_others() -> None:
    assert ".service-graph:has(.box.n1:hover) .edge:not(.n1){opacity:.08}" in style_sheet(2)
    assert ".n2:hover" not in style_sheet(2)
