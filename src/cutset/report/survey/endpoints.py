"""Where faults can be injected, and the few places that stand for all (CAST §3.4.2)."""

from collections.abc import Iterator
from typing import Any

from cutset.model.wording import count
from cutset.report.survey.table import table_lines
from cutset.select.endpoints import EndpointChoice


def to_lines(choice: EndpointChoice) -> Iterator[str]:
    rows = [(str(target.endpoint), str(target.point), target.request_class) for target in choice.targets]
    yield from table_lines(("endpoint", "inject at", "seen in"), rows)
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
