from cutset.model.exchange import Exchange
from cutset.report.traffic.templates import to_document, to_lines
from cutset.workload.templates.template import Template, TemplateStep
from cutset.workload.templates.variables import Variable

JSON = (("content-type", "application/json"),)
LOGIN = Exchange("1", "web", "", 1.0, 0.0, "POST", "/login", JSON, b'{"user":"[ann]"}', 200)
ORDER = Exchange("2", "web", "", 2.0, 0.0, "POST", "/orders/17", JSON, b'{"key":"k"}', 201)
STEPS = (
    TemplateStep("POST /login", LOGIN, (), (Variable("body/user", "constant", "the same in all"),)),
    TemplateStep(
        "POST /orders/*",
        ORDER,
        (Variable("path/2", "chained", "an answer gave it", 0, "body/id"), Variable("body/key", "fresh", "made up")),
        (Variable("header/x-key", "secret", "masked"),),
    ),
)
TEMPLATES = [Template("aa", STEPS), Template("bb", STEPS)]


def test_flows_alike_are_shown_once_with_their_variables_marked() -> None:
    assert list(to_lines(TEMPLATES, constants=False)) == [
        "[bold]flow aa, and 1 more like it[/]",
        "  1  POST /login  -> 200",
        '     {"user":"\\[ann]"}',
        "  2  POST /orders/[cyan]#{1: body/id}[/]  -> 201",
        '     {"key":"[cyan]#{fresh}[/]"}',
        "[dim]       path/2                       chained  an answer gave it[/]",
        "[dim]       body/key                     fresh    made up[/]",
        "[dim]       header/x-key                 secret   masked[/]",
        "",
        "requests: 4, flows: 2, kinds of flows: 1",
    ]


def test_constants_are_explained_on_demand() -> None:
    assert any("the same in all" in line for line in to_lines(TEMPLATES, constants=True))


def test_the_document_has_every_flow_with_all_variables() -> None:
    first, second = to_document(TEMPLATES)
    assert (first["id"], second["id"]) == ("aa", "bb")
    login, order = first["steps"]
    assert login["variables"] == [{"place": "body/user", "kind": "constant", "why": "the same in all"}]
    assert order["path"] == "/orders/#{1: body/id}"
    assert order["variables"][0] == {
        "place": "path/2",
        "kind": "chained",
        "why": "an answer gave it",
        "from_step": 1,
        "source": "body/id",
    }
