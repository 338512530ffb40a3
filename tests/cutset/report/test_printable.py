from rich.text import Text

from cutset.report.printable import printable


def test_neither_markup_nor_control_characters_get_through() -> None:
    shown = printable("[red]\x1b[2J\nü")
    assert shown == "\\[red]\\x1b[2J\\nü"
    assert Text.from_markup(shown).plain == "[red]\\x1b[2J\\nü"
