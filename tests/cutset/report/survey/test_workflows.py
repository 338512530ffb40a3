from tests.samples.surveyed_shop import surveyed_shop

from cutset.app.survey import find_workflows
from cutset.report.survey.workflows import to_document, to_lines
from cutset.select.workflows import CriticalWorkflows

FOUND = find_workflows(surveyed_shop())


def test_workflows_are_listed_with_their_calls() -> None:
    assert list(to_lines(FOUND)) == [
        "[bold]1.[/] redis · web  [dim]20 traces, 69.0%[/]",
        "     web>redis/GET",
        "[bold]2.[/] cart · redis · web  [dim]4 traces, 13.8%[/]",
        "     web>cart/GetCart",
        "     web>redis/GET",
    ]


def test_nothing_and_too_much_are_told() -> None:
    nothing, too_many = to_lines(CriticalWorkflows((), 10, 3, stopped=True))
    assert nothing.startswith("No workflow is that common")
    assert "those in less than 3 traces may be missing" in too_many


def test_the_document_has_all_of_it() -> None:
    document = to_document(FOUND)
    assert (document["traces"], document["stopped"]) == (29, False)
    assert document["workflows"][0] == {
        "services": ("redis", "web"),
        "calls": ["web>redis/GET"],
        "traces": 20,
        "share": 20 / 29,
    }
