"""Where faults can be injected, and the few places that stand for all (CAST §3.4.2)."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.select.endpoints import EndpointChoice


def to_lines(choice: EndpointChoice) -> Iterator[str]:
    """Each endpoint with who uses it, and below it the points to inject at, each on a line of its own to be copied."""
    for endpoint, targets in groupby(choice.targets, lambda target: target.endpoint):
        users = choice.used[endpoint]
        used = f"{count(sum(users.values()), 'call')} by {count(len(users), 'service')}"
        yield f"[bold]{printable(str(endpoint))}[/]  [dim]{used}[/]"
        for target in targets:
            yield f"     {printable(str(target.point))}  [dim]in {printable(target.request_class)}[/]"
    places = sum(map(len, choice.used.values()))
    yield (
        f"\n[dim]{count(len(choice.targets), 'target')} for {count(len(choice.used), 'endpoint')}, "
        f"which services use in {count(places, 'place')}.[/]"
    )


def to_document(choice: EndpointChoice) -> dict[str, Any]:
    return {
        "endpoints": [{"endpoint": str(endpoint), "services": services} for endpoint, services in choice.used.items()],
        "targets": [
            {
                "endpoint": str(target.endpoint),
                "point": str(target.point),
                "request_class": target.request_class,
                "trace_id": choice.trace_ids[target.request_class],
            }
            for target in choice.targets
        ],
    }
