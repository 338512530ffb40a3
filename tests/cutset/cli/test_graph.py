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
    assert calls == {("web", "redis"): "always", ("web", "cart"): "after-failure"}


def test_mistakes_are_named(cutset: Callable[..., Result], tmp_path: Path) -> None:
    unwritable = cutset("graph", "-o", str(tmp_path / "absent" / "shop.svg")).exception
    assert isinstance(unwritable, TargetError)
    assert unwritable.message.startswith(f"Cannot write `{tmp_path}/absent/shop.svg`")
    unknown = cutset("graph", "--class", "x").exception
    assert isinstance(unknown, UsageError)
    assert unknown.message == "There is no class `x`"
