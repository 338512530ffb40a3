"""The `harden` section of `cutset.yaml`, or a file of its own (`--cost`): what hardening costs, and what matters."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import with_config

from cutset.config.yaml import STRICT, read_yaml, validate
from cutset.model.expect import Expect, Name


class Objective(StrEnum):
    COVERAGE = "coverage"
    AVAILABILITY = "availability"


Cost = Annotated[float, Expect("a cost above 0", lambda cost: 0 < cost < float("inf"))]
Probability = Annotated[float, Expect("a share from 0 to 1", lambda share: 0 <= share <= 1)]
Traffic = Annotated[float, Expect("requests per day from 0 on", lambda number: 0 <= number < float("inf"))]


@dataclass(frozen=True, slots=True)
class ApiChoice:
    """Of an API, `service/API`, or a call site, `caller>service/API`."""

    cost: Cost = 1.0
    untouchable: bool = False
    hardened: bool = False
    fallback: Literal["last-good", "last-good-or-empty"] | None = None  # what the local mesh's stand-in shall answer
    failure_rate: Probability | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """What takes several points down together."""

    rate: Probability
    members: Annotated[tuple[Name, ...], Expect("at least one member", len)]  # `cart`, `cart#2`, `cart/GetCart`


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class HardenChoice:
    high: tuple[Name, ...] = ()  # requests that must be covered
    traffic: Mapping[str, Traffic] = field(default_factory=dict)  # by request
    apis: Mapping[str, ApiChoice] = field(default_factory=dict)
    common_causes: Mapping[str, Cause] = field(default_factory=dict)

    @property
    def costs(self) -> dict[str, float]:
        return {name: each.cost for name, each in self.apis.items()}

    @property
    def untouchable(self) -> frozenset[str]:
        return frozenset(name for name, each in self.apis.items() if each.untouchable)

    @property
    def already(self) -> frozenset[str]:
        return frozenset(name for name, each in self.apis.items() if each.hardened)

    @property
    def fallbacks(self) -> dict[str, str]:
        return {name: each.fallback for name, each in self.apis.items() if each.fallback is not None}

    @property
    def failure_rates(self) -> dict[str, float]:
        return {name: each.failure_rate for name, each in self.apis.items() if each.failure_rate is not None}


def load_harden(cost_file: Path | None, config_file: Path) -> HardenChoice:
    """From the file that was named, else from the `harden` section of the configuration, if there is one."""
    if cost_file is not None:
        return validate(cost_file, HardenChoice, read_yaml(cost_file))
    section: Any = read_yaml(config_file).get("harden") if config_file.exists() else None
    return validate(config_file, HardenChoice, section or {})


def section_of(choice: HardenChoice) -> str:
    """As text of cutset.yaml, without what goes without saying."""
    defaults = ApiChoice()
    content = {
        "high": list(choice.high),
        "traffic": dict(choice.traffic),
        "apis": {name: own for name, each in choice.apis.items() if (own := _differing(each, defaults))},
        "common_causes": {
            name: {"rate": each.rate, "members": list(each.members)} for name, each in choice.common_causes.items()
        },
    }
    section = {name: value for name, value in content.items() if value}
    return yaml.safe_dump({"harden": section}, sort_keys=False, allow_unicode=True)


def _differing(choice: ApiChoice, defaults: ApiChoice) -> dict[str, object]:
    values = {each.name: getattr(choice, each.name) for each in fields(choice)}
    return {name: value for name, value in values.items() if value != getattr(defaults, name)}
