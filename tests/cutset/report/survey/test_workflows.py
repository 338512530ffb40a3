from tests.samples.surveyed_shop import surveyed_shop

from cutset.app.survey import find_workflows
from cutset.report.survey.frequency import ANECDOTES_IN_WORDS
from cutset.report.survey.workflows import to_document, to_lines
from cutset.select.workflows import CriticalWorkflows

FOUND = find_workflows(surveyed_shop())


def test_workflows_are_listed_with_their_calls_and_those_of_few_traces_are_marked() -> None:
    assert list(to_lines(FOUND)) == [
        "[bold]1.[/] redis · web  [dim]20 traces, 69.0 % (51–83 %)[/]",
        "     web>redis/GET",
        "[bold]2.[/] cart · redis · web  [dim]4 traces, 13.8 % (5–31 %)[/]  [yellow]anecdote[/]",
        "     web>cart/GetCart",
        "     web>redis/GET",
        f"[dim]{ANECDOTES_IN_WORDS}[/]",
    ]


def test_nothing_and_too_much_are_told() -> None:
    nothing, too_many = to_lines(CriticalWorkflows((), 10, 3, stopped=True))
    assert nothing.startswith("No workflow is that common")
    assert "those in less than 3 traces may be missing" in too_many


def test_the_document_has_all_of_it() -> None:
    document = to_document(FOUND)
    assert (document["traces"], document["stopped"]) == (29, False)
    first, second = document["workflows"]
    assert (first["services"], first["calls"]) == (("redis", "web"), ["web>redis/GET"])
    assert (first["traces"], first["share"], first["anecdote"]) == (20, 20 / 29, False)
    assert (round(second["share_low"], 2), round(second["share_high"], 2), second["anecdote"]) == (0.05, 0.31, True)
