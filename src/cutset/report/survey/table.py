"""Tables of what traces say, as lines with rich's markup."""

from collections.abc import Iterator, Sequence

from cutset.report.printable import printable


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Numbers to the right. The last column is never cut or folded: names must be copied whole."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    numeric = [all(is_number(row[position]) for row in rows) for position in range(len(headings))]
    for number, row in enumerate((headings, *rows)):
        *cells, last = row
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=False)
        ]
        line = printable("  ".join([*padded, last]))
        yield line if number else f"[bold]{line}[/]"


def percent(part: int, whole: int) -> str:
    share = 100 * part / whole if part else 0
    return "–" if not share else f"{share:.1f} %" if share >= 0.05 else "<0.1 %"


def is_number(cell: str) -> bool:
    """Also a share, or an interval of them."""
    return all(letter.isdecimal() or letter in " –%.,<" for letter in cell)
