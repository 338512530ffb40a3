import re

from cutset.report.impact.style import STYLE


def test_every_colour_is_there_for_light_and_for_dark_ground() -> None:
    light, dark = re.findall(r":root\{(.*?)\}", STYLE, re.DOTALL)
    names = re.compile(r"--([a-z-]+):#")

    assert names.findall(light) == names.findall(dark)
    assert set(re.findall(r"var\(--([a-z-]+)\)", STYLE)) - {"own", "own-soft"} <= set(names.findall(light))


def test_nothing_comes_from_elsewhere() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE
