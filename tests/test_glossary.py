"""The glossary names things that are there: a type that was renamed takes its row with it."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from checks.sources import product_files
from checks.type_names import public_types

ROOT = Path(__file__).parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("| \n").split(" | ")]
    for line in (ROOT / "docs" / "reference" / "glossary.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| word ")
]
TYPES = {name for path in product_files(ROOT) for name in public_types(ast.parse(path.read_text()))}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_word_has_a_meaning_and_its_type_exists(row: list[str]) -> None:
    word, meaning, *last = row
    assert word
    assert meaning
    for name in re.findall(r"`(\w+)`", " ".join(last)):
        assert name in TYPES


def test_a_word_is_explained_once() -> None:
    words = Counter(word for row in ROWS for word in row[0].split(", "))
    assert [word for word, times in words.items() if times > 1] == []


def test_the_words_of_the_architecture_are_in_the_glossary() -> None:
    section = (ROOT / "ARCHITECTURE.md").read_text().partition("## Words")[2].partition("\n## ")[0]
    words = {word.lower() for word in re.findall(r"\*\*(.+?)\*\*", section)}
    assert words <= {word for row in ROWS for word in row[0].split(", ")}
