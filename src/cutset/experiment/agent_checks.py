"""What the traces of a check-up say of agents: who has one, whether it obeys us, and what only one could reach."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from cutset.lineage.agent_spans import is_agent_request, is_agent_span
from cutset.lineage.calls import served_by
from cutset.lineage.completeness import without_agent
from cutset.lineage.uncoverable import past_mesh
from cutset.model.checkup import CheckupLine, note, well, wrong
from cutset.model.coverage import OutOfReach
from cutset.model.span import Span, SpanKind


def agent_checks(traces: Sequence[Sequence[Span]]) -> Iterator[CheckupLine]:
    versions: dict[str, set[str]] = defaultdict(set)  # by service, of agents that obey us
    names: dict[str, set[str]] = defaultdict(set)  # by service, what its agents call it
    refusing: set[str] = set()
    for service, span in _requests(traces):
        names[service].add(str(span.attributes.get("cutset.service", "")))
        if is_agent_request(span):
            versions[service].add(str(span.attributes.get("cutset.agent", "")))
        else:
            refusing.add(service)
    if versions:
        told = ", ".join(f"{service} ({', '.join(sorted(versions[service]))})" for service in sorted(versions))
        yield well("agents", f"agents obey our plans in {told}")
    for service in sorted(refusing):
        yield wrong(
            "agents",
            f"the agent in {service} refuses our plans: it knows another key or environment, or its clock differs",
            f"Start {service} with the `CUTSET_KEY` and `CUTSET_ENVIRONMENT` of the mesh",
        )
    yield from _misnamed(names)
    for service, replicas in sorted(without_agent(traces).items()):
        lacking = ", ".join(f"{service}#{each}" for each in sorted(replicas))
        yield note(
            "agents",
            f"{lacking} answered without an agent, which other replicas of {service} have, so that what only an agent "
            "could reach is not tested",
            f"Start all replicas of {service} with `cutset agent run`",
        )
    yield from _out_of_reach(traces, versions.keys())


def _misnamed(names: dict[str, set[str]]) -> Iterator[CheckupLine]:
    for service, own in sorted(names.items()):
        if own != {service}:
            yield note(
                "agents",
                f"the agent in {service} calls it {', '.join(sorted(own))}: points at its calls are named so",
                f"Start it with `cutset agent run --service {service}`",
            )


def _out_of_reach(traces: Sequence[Sequence[Span]], having: Collection[str]) -> Iterator[CheckupLine]:
    stores = {each for each in past_mesh(traces) if each.why is OutOfReach.DATA_STORE}
    if stores:
        told = ", ".join(f"{each.call} ({each.reason})" for each in sorted(stores))
        callers = sorted({each.caller for each in stores} - set(having))
        yield note(
            "agents",
            f"nothing can be injected into {told}",
            f"Put the agent into {', '.join(callers)}: `cutset agent run --service {callers[0]} -- COMMAND`"
            if callers
            else "The agents there have no hook for these libraries",
        )


def _requests(traces: Sequence[Sequence[Span]]) -> Iterator[tuple[str, Span]]:
    """Each request as an agent told of it, with the name that its service has in the mesh."""
    for spans in traces:
        by_id = {span.span_id: span for span in spans}
        for span in spans:
            if is_agent_span(span) and span.kind is SpanKind.SERVER and (mesh := served_by(span, by_id)):
                yield str(mesh.attributes["cutset.service"]), span
