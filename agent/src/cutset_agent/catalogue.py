"""What is known of each fault of the library: `fault_catalogue.json`, and what hooks of third parties add to it."""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any


@functools.cache
def catalogue() -> dict[str, dict[str, Any]]:
    """By the fault's name."""
    text = files("cutset_agent").joinpath("fault_catalogue.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
