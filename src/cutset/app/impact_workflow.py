"""The vertices and edges of a critical workflow (ART §3.3), as faults to be measured one after the other."""

from cutset.app.survey import find_workflows
from cutset.errors import UsageError
from cutset.model.survey import Survey
from cutset.select.workflows import Workflow


def workflow_numbered(surveyed: Survey, number: int) -> Workflow:
    """As `cutset workflows` lists them, the first is 1."""
    workflows = find_workflows(surveyed, top=max(number, 10)).workflows
    if not 1 <= number <= len(workflows):
        raise UsageError(
            f"There is no workflow {number}: {len(workflows)} were found", hint="`cutset workflows` lists them"
        )
    return workflows[number - 1]


def targets_of(workflow: Workflow) -> tuple[tuple[str, ...], ...]:
    """Each service but those that no other of the workflow calls, which is to lose the request; then each call.

    An edge is a request path in ART: an API of the callee, whoever calls it, so that no agent is needed at the caller.
    """
    called = {point.service for point in workflow.calls}
    services = [name for name in workflow.services if name in called]
    calls = dict.fromkeys(str(point.of_api) for point in workflow.calls)
    return tuple((name,) for name in (*services, *calls))
