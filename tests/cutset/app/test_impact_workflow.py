import pytest
from tests.samples.otlp_shop import LINES

from cutset.app.impact_workflow import targets_of, workflow_numbered
from cutset.app.ingest import ingest_traces
from cutset.app.survey import survey_traces
from cutset.errors import UsageError
from cutset.model.point import Point
from cutset.model.steps import finished
from cutset.model.survey import Survey
from cutset.select.workflows import Workflow


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    folder = tmp_path_factory.mktemp("stored")
    (folder / "spans.jsonl").write_text("\n".join(LINES) + "\n")
    finished(ingest_traces(folder, [str(folder / "spans.jsonl")]))
    return finished(survey_traces(folder))


def test_a_workflow_is_the_one_that_cutset_workflows_lists_there(surveyed: Survey) -> None:
    first = workflow_numbered(surveyed, 1)
    assert targets_of(first) == (("redis(web)",), ("redis(web)/GET",))
    with pytest.raises(UsageError, match="There is no workflow 99") as caught:
        workflow_numbered(surveyed, 99)
    assert caught.value.hint == "`cutset workflows` lists them"


def test_services_come_before_calls_and_who_is_not_called_is_none() -> None:
    calls = tuple(map(Point.parse, ("checkout>payment/Charge", "web>checkout/PlaceOrder", "web>payment/Charge")))
    workflow = Workflow(("checkout", "payment", "web"), calls, traces=9, share=0.9)
    assert targets_of(workflow) == (
        ("checkout",),
        ("payment",),
        ("payment/Charge",),
        ("checkout/PlaceOrder",),
    )
