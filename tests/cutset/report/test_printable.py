from rich.text import Text

from cutset.report.printable import all_visible, printable


def test_neither_markup_nor_control_characters_get_through() -> None:
    shown = printable("[red]\x1b[2J\nü")
    assert shown == "\\[red]\\x1b[2J\\nü"
    assert Text.from_markup(shown).plain == "[red]\\x1b[2J\\nü"


def test_every_text_of_a_document_is_shown() -> None:
    assert all_visible({"a": ["\x1b", 1, {"b": "\x07"}], "c": None}) == {"a": ["\\x1b", 1, {"b": "\\x07"}], "c": None}
