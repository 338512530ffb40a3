"""Draws `docs/images/checkout.svg`: `python docs/pictures.py`.

The demo's shop is explored, and the largest cut of its checkout that is found is watched once more, beside a checkout
without a fault: what is called only then are fallbacks.
"""

import asyncio
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import cutset
from cutset.app.demo import run_boutique
from cutset.app.explore import open_laboratory
from cutset.experiment.trial import Trial
from cutset.lineage.calls import calls_of
from cutset.model.call_tree import Component, Role
from cutset.report.drawing.graph import Edge, Node, ServiceGraph
from cutset.report.drawing.service_graph import service_graph_svg

CHECKOUT = "POST /cart/checkout"
ENTRY = "frontend"
KEY = b"of a shop that ends with this script"
OUT = Path(__file__).parent / "images" / "checkout.svg"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, run_boutique(1, KEY, Path(folder)) as shop:
        config = cutset.load_config(shop.config_file)
        campaign = cutset.explore(config, requests=[CHECKOUT], key=KEY, store=folder)
        largest = max(campaign.findings, key=lambda finding: len(finding.cut))
        trials = asyncio.run(watch(config, largest.cut))
    title = f"{CHECKOUT} fails when these {len(largest.cut)} fail together"
    OUT.write_text(service_graph_svg(graph_of(trials, largest.cut), title=title))


async def watch(config: cutset.Config, cut: cutset.Cut) -> list[Trial]:
    (request,) = (each for each in config.requests if each.name == CHECKOUT)
    async with open_laboratory(config, KEY) as laboratory:
        await laboratory.audit(request)
        return [await laboratory.observe(request, faults) for faults in (frozenset(), cut)]


def graph_of(trials: list[Trial], cut: cutset.Cut) -> ServiceGraph:
    apis: dict[tuple[str, str], set[str]] = defaultdict(set)
    usual: set[tuple[str, str]] = set()
    calls: Counter[tuple[str, str]] = Counter()
    failures: Counter[tuple[str, str]] = Counter()
    for number, trial in enumerate(trials):
        services = {span.span_id: span.service for span in trial.spans}
        for call in calls_of(trial.spans, trial.root_id):
            first = call.attempts[0]
            ends = services[first.span.parent_id], first.point.service
            apis[ends].add(first.point.api)
            calls[ends] += 1
            failures[ends] += call.failed
            if number == 0:
                usual.add(ends)
    called, failed = Counter({ENTRY: len(trials)}), Counter({ENTRY: len(trials) - 1})
    for ends, number in calls.items():
        called[ends[1]] += number
        failed[ends[1]] += failures[ends]
    return ServiceGraph(
        tuple(Node(name, Component.RPC, name == ENTRY, called[name], failed[name]) for name in called),
        tuple(Edge(*ends, tuple(sorted(apis[ends])), calls[ends], failures[ends], role(ends, usual)) for ends in calls),
        cut=frozenset(fault.point.service for fault in cut),
    )


def role(ends: tuple[str, str], usual: set[tuple[str, str]]) -> Role:
    return Role.ALWAYS if ends in usual else Role.AFTER_FAILURE


if __name__ == "__main__":
    main()
