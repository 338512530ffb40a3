import pytest

from cutset.cli.output import notes, print_document, print_lines


def test_results_go_to_standard_output_and_notes_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(["[bold]a[/] `b` 12", "x" * 300])
    print_document({"a": ["ü", 1]})
    notes().print("[yellow]warning:[/] c")

    out, err = capsys.readouterr()
    assert out == "a `b` 12\n" + "x" * 300 + '\n{\n  "a": [\n    "\\u00fc",\n    1\n  ]\n}\n'
    assert err == "warning: c\n"
