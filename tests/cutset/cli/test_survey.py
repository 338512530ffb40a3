from pathlib import Path

import pytest

from cutset.cli.survey import show_survey
from cutset.errors import UsageError


def test_moments_choose_what_is_surveyed(stored_shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_survey(stored_shop, "", "", "1").traces == 20
    assert show_survey(stored_shop, "2023-11-14T22:13:20.0105", "2023-11-14T22:13:20.0155", "1").traces == 5
    assert capsys.readouterr() == ("", "")  # no bar where there is no terminal
    with pytest.raises(UsageError, match="is no moment"):
        show_survey(stored_shop, "x", "", "1")
