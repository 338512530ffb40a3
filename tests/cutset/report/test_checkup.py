import json

from cutset.model.checkup import Checkup, note, well, wrong
from cutset.report.checkup import to_document, to_lines

FOUND = Checkup(
    (
        well("servers", "25 addresses accept connections"),
        note("retries", "the mesh retries"),
        wrong("key", "refused [red]", "Give both the same", fatal=True),
    ),
    0.25,
)


def test_each_line_says_what_is_wrong_and_what_to_do() -> None:
    assert list(to_lines(FOUND)) == [
        "[green]+[/] [bold]servers[/]  25 addresses accept connections",
        "[yellow]![/] [bold]retries[/]  the mesh retries",
        r"[red]x[/] [bold]key    [/]  refused \[red]",
        "           [dim]Give both the same[/]",
        "[red]1 thing wrong[/]",
    ]
    assert list(to_lines(Checkup(FOUND.checks[:2], 1.0)))[-1] == "[green]All is well[/]: go on with `cutset explore`"


def test_a_machine_reads_the_same() -> None:
    document = json.loads(json.dumps(to_document(FOUND)))

    assert (document["well"], document["export_interval"]) == (False, 0.25)
    assert document["checks"][-1] == {
        "name": "key",
        "state": "wrong",
        "text": "refused [red]",
        "remedy": "Give both the same",
        "fatal": True,
    }
