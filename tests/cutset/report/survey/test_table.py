from cutset.report.survey.table import is_number, percent, table_lines


def test_numbers_stand_to_the_right_and_the_last_column_is_never_padded() -> None:
    rows = [("1,200", "a", "first"), ("7", "long", "a name that is copied whole")]
    assert list(table_lines(("traces", "kind", "name"), rows)) == [
        "[bold]traces  kind  name[/]",
        " 1,200  a     first",
        "     7  long  a name that is copied whole",
    ]


def test_text_from_traces_is_neither_markup_nor_control() -> None:
    assert list(table_lines(("name",), [("[bold]",)])) == ["[bold]name[/]", "\\[bold]"]


def test_nothing_is_a_dash_and_not_a_percentage() -> None:
    assert percent(0, 0) == "–"
    assert percent(1, 3) == "33.3 %"
    assert percent(1, 10_000) == "<0.1 %"


def test_intervals_and_bounds_are_numbers_too() -> None:
    assert all(map(is_number, ("", "–", "1,200", "33.3 %", "<0.1 %", "62.0–64.4 %")))
    assert not is_number("GET /")
