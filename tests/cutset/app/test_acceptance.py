from pathlib import Path

import pytest
from tests.samples.campaign import EVENTS, RUN, cut

from cutset.app.acceptance import LONGEST_REASON, accept_finding, accepted_in
from cutset.config.baseline import load_baseline
from cutset.errors import TargetError, UsageError
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.report.campaign.baseline import to_yaml
from cutset.store.ledger import open_ledger

CART = Finding("GET /", Outcome(cut("cart/GetCart"), Verdict.FAILED)).id
ADS = Finding("GET /", Outcome(cut("ad/GetAds"), Verdict.DEGRADED)).id


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "store") as ledger:
        for event in (RUN, *EVENTS):
            ledger.append(RUN.run, event)
    return tmp_path / "store"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "reviewed" / "baseline.yaml"


def reasons(file: Path) -> dict[str, str]:
    return {each.finding.id: each.because for each in load_baseline(file)}


def test_a_finding_is_accepted_for_a_reason_and_the_others_stay(store: Path, file: Path) -> None:
    accept_finding(store, RUN.run, CART, "  known since\nMay ", file)
    accept_finding(store, RUN.run, ADS, "ads are optional", file)

    assert reasons(file) == {CART: "known since May", ADS: "ads are optional"}
    accepted = accepted_in(file, CART)
    assert accepted is not None
    assert (accepted.failed, accepted.finding.outcome.reason) == (True, "500 with `no cart`")
    assert accepted_in(file, "00000000") is None
    assert [each.name for each in file.parent.iterdir()] == ["baseline.yaml"]


def test_a_reason_can_be_changed(store: Path, file: Path) -> None:
    accept_finding(store, RUN.run, CART, "first", file)
    accept_finding(store, RUN.run, CART, "second", file)

    assert reasons(file) == {CART: "second"}


def test_without_a_reason_or_with_an_endless_one_nothing_is_accepted(store: Path, file: Path) -> None:
    for because in ("", " \n", "x" * (LONGEST_REASON + 1)):
        with pytest.raises(UsageError, match="reason"):
            accept_finding(store, RUN.run, CART, because, file)
    assert not file.exists()
    assert accepted_in(file, CART) is None


def test_what_the_campaign_has_not_found_cannot_be_accepted(store: Path, file: Path) -> None:
    with pytest.raises(UsageError, match="There is no finding `00000000` in this campaign"):
        accept_finding(store, RUN.run, "00000000", "why not", file)


@pytest.mark.parametrize(
    "broken", ["<<<<<<< ours\nformat: 1\n", "format: 7\naccepted: []\n", "accepted: [\n", "- a\n- list\n"]
)
def test_a_file_that_cannot_be_read_is_named_and_left_alone(store: Path, file: Path, broken: str) -> None:
    file.parent.mkdir()
    file.write_text(broken)

    with pytest.raises(UsageError, match=r"baseline\.yaml"):
        accept_finding(store, RUN.run, CART, "known", file)
    assert file.read_text() == broken


@pytest.mark.parametrize("comment", ["# ask Ada\n", "  # in the midst\n"])
def test_a_file_with_comments_is_left_alone_because_they_would_get_lost(store: Path, file: Path, comment: str) -> None:
    accept_finding(store, RUN.run, CART, "it is #1 on our list", file)
    ours = file.read_text()
    commented = ours.replace("accepted:\n", f"accepted:\n{comment}")
    file.write_text(commented)

    with pytest.raises(UsageError, match="has comments, which would get lost: `# "):
        accept_finding(store, RUN.run, ADS, "ads are optional", file)
    assert file.read_text() == commented
    file.write_text(ours)
    assert accept_finding(store, RUN.run, ADS, "ads are optional", file)


def test_a_comment_behind_a_value_is_one_too(store: Path, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("format: 1  # of the file\naccepted: []\n")

    with pytest.raises(UsageError, match="comments"):
        accept_finding(store, RUN.run, CART, "known", file)


def test_a_file_that_cannot_be_written_stays_as_it_was(store: Path, tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")

    with pytest.raises(TargetError, match="Cannot write"):
        accept_finding(store, RUN.run, CART, "known", tmp_path / "occupied" / "baseline.yaml")


def test_links_and_modes_are_kept(store: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real.yaml", tmp_path / "baseline.yaml"
    real.write_text(to_yaml([]))
    real.chmod(0o640)
    link.symlink_to(real)

    accept_finding(store, RUN.run, CART, "known", link)

    assert link.is_symlink()
    assert reasons(real) == {CART: "known"}
    assert real.stat().st_mode & 0o777 == 0o640
