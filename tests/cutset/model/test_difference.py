import pytest

from cutset.model.difference import Difference, DifferenceKind


@pytest.mark.parametrize("kind", DifferenceKind)
def test_what_is_missing_is_not_wrong_and_all_else_is(kind: DifferenceKind) -> None:
    assert Difference(kind, "a").is_wrong == (kind not in (DifferenceKind.MISSING, DifferenceKind.WRITE))
