"""`cutset endpoints`: where faults can be injected, and the few places that stand for all."""

import json
import random
from collections import defaultdict
from typing import Annotated

import typer
from rich.console import Console

from cutset.cli.options import (
    DEFAULT_STORE,
    ByCallsOption,
    JsonOption,
    SinceOption,
    StoreOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.survey import print_table, run_survey
from cutset.model.wording import count
from cutset.select.complexity import DEFAULT_WEIGHTS
from cutset.select.endpoints import Endpoint, endpoints, injection_targets


def endpoints_command(
    top: Annotated[int, typer.Option("--top", min=1, help="Targets of so many of the most complex classes.")] = 20,
    services_each: Annotated[
        int, typer.Option("--services-each", min=1, help="In how many services each endpoint is a target.")
    ] = 3,
    seed: Annotated[int, typer.Option("--seed", help="Decides which services, where there are more.")] = 0,
    by_calls: ByCallsOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """List the endpoints of the stored traces (component/framework/method), and which of them to inject at (CAST).

    Services that share a library handle its failures alike, so that a few of them stand for all. Within a trace the
    last call of an endpoint is the one to fail: the system's state is the most advanced then.

    Examples:

    - `cutset endpoints --top 5`: targets within the five most complex request classes
    - `cutset endpoints --json | jq -r '.targets[].point'`: as points that other commands understand
    """
    survey = run_survey(store, since, until, workers, by_calls=by_calls)
    used: dict[Endpoint, dict[str, int]] = defaultdict(dict)
    for (endpoint, service), calls in sorted(endpoints(survey.kinds).items()):
        used[endpoint][service] = calls
    ranked = sorted(survey.classes.items(), key=lambda item: (-item[1].complexity(DEFAULT_WEIGHTS), item[0]))
    shown = {name: summary.representative.calls for name, summary in ranked[:top]}
    traces = {name: summary.representative.trace_id for name, summary in ranked[:top]}
    targets = injection_targets(shown, services_each=services_each, rng=random.Random(seed))  # noqa: S311 -- no secret
    if as_json:
        document = {
            "endpoints": [{"endpoint": str(endpoint), "services": services} for endpoint, services in used.items()],
            "targets": [
                {
                    "endpoint": str(target.endpoint),
                    "point": str(target.point),
                    "request_class": target.request_class,
                    "trace_id": traces[target.request_class],
                }
                for target in targets
            ],
        }
        print(json.dumps(document, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    rows = [(str(target.endpoint), str(target.point), target.request_class) for target in targets]
    print_table(console, ("endpoint", "inject at", "seen in"), rows)
    console.print(
        f"\n{count(len(targets), 'target')} for {count(len(used), 'endpoint')}, which services use in "
        f"{count(sum(map(len, used.values())), 'place')}.",
        style="dim",
    )
