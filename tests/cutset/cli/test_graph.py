from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from typer.testing import Result

from cutset.errors import TargetError, UsageError


def test_the_graph_is_a_picture_with_the_fallback_dashed(
    cutset: Callable[..., Result], document: Callable[..., Any], tmp_path: Path
) -> None:
    done = cutset("graph", "-o", str(tmp_path / "shop.svg"))
    assert done.stdout == f"Drew 3 services and 2 connections in {tmp_path}/shop.svg\n"

    picture = ET.fromstring((tmp_path / "shop.svg").read_text())
    drawn = {group.get("class", "") for group in picture.iter("{http://www.w3.org/2000/svg}g")}
    assert any("after-failure" in classes for classes in drawn)
    calls = {(call["caller"], call["callee"]): call["when"] for call in document("graph")["calls"]}
    assert calls == {("web", "redis(web)"): "always", ("web", "cart"): "after-failure"}


def test_a_part_is_drawn_around_a_service_or_of_the_largest(
    cutset: Callable[..., Result], document: Callable[..., Any], tmp_path: Path
) -> None:
    out = str(tmp_path / "part.svg")
    drawn = cutset("graph", "--around", "cart", "-o", out).stdout
    assert drawn.endswith("\nNot drawn: 1 service and 1 connection\n")
    assert "Calls around cart" in Path(out).read_text()
    part = document("graph", "--top", "2")
    assert {service["name"] for service in part["services"]} == {"web", "redis(web)"}
    assert part["left_out"] == {"services": 1, "calls": 1}


def test_the_highlighted_workflow_is_the_first_that_is_listed(document: Callable[..., Any]) -> None:
    first = document("workflows", "--top", "5")["workflows"][0]
    critical = [call for call in document("graph")["calls"] if call["critical"]]
    assert [f"{call['caller']}>{call['callee']}/{api}" for call in critical for api in call["apis"]] == first["calls"]
    of_class = document("workflows", "--class", "GET /cart")["workflows"][0]
    assert of_class["calls"] == ["web>redis(web)/GET"]


def test_mistakes_are_named(cutset: Callable[..., Result], tmp_path: Path) -> None:
    unwritable = cutset("graph", "-o", str(tmp_path / "absent" / "shop.svg")).exception
    assert isinstance(unwritable, TargetError)
    assert unwritable.message.startswith(f"Cannot write `{tmp_path}/absent/shop.svg`")
    absent = cutset("graph", "--around", "kart").exception
    assert isinstance(absent, UsageError)
    assert (absent.message, "Did you mean `cart`?" in absent.hint) == ("There is no service `kart`", True)
    unknown = cutset("graph", "--class", "x").exception
    assert isinstance(unknown, UsageError)
    assert unknown.message == "There is no class `x`"
