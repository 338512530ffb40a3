import pytest
from rich.text import Text

from cutset.report.printable import all_visible, printable


def test_neither_markup_nor_control_characters_get_through() -> None:
    shown = printable("[red]\x1b[2J\nü")
    assert shown == "\\[red]\\x1b[2J\\nü"
    assert Text.from_markup(shown).plain == "[red]\\x1b[2J\\nü"


@pytest.mark.parametrize("text", [r"\[Errno 28\] full", r"[Errno 28] \\[x", r"\[red] \\[red]", "[/] [", r"[a-z]+\[\d]"])
def test_brackets_and_the_backslashes_before_them_are_shown_as_they_are(text: str) -> None:
    assert Text.from_markup(f"[bold]{printable(text)}[/]").plain == text


def test_every_text_of_a_document_is_shown() -> None:
    assert all_visible({"a": ["\x1b", 1, {"b": "\x07"}], "c": None}) == {"a": ["\\x1b", 1, {"b": "\\x07"}], "c": None}
