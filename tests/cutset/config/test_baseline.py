from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.campaign import EVENTS

from cutset.config.baseline import load_baseline
from cutset.errors import UsageError
from cutset.model.fault import Fault
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.summary import summarise
from cutset.report.campaign.baseline import Accepted, accept, to_yaml

ENTRY = "{id: 4006342a, request: GET /, cut: ['cart/GetCart:abort(503)']}"
words = st.text(st.characters(exclude_categories=["Cs"]))
names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)


def read(tmp_path: Path, text: str) -> list[Accepted]:
    (tmp_path / "b.yaml").write_text(text)
    return load_baseline(tmp_path / "b.yaml")


def test_a_file_that_was_written_is_read_as_it_was_meant(tmp_path: Path) -> None:
    found = read(tmp_path, to_yaml(accept(summarise(EVENTS))))

    assert to_yaml(found) == to_yaml(accept(summarise(EVENTS)))
    assert [each.finding.id for each in found] == [each.finding.id for each in accept(summarise(EVENTS))]


@given(names, words, words, st.sampled_from([Verdict.FAILED, Verdict.DEGRADED]))
def test_whatever_a_service_answers_and_people_write_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, request_name: str, sees: str, because: str, verdict: Verdict
) -> None:
    cut = frozenset({Fault.parse("cart/GetCart:delay(250ms),50%"), Fault.parse("12/34")})
    written = Accepted(Finding(request_name, Outcome(cut, verdict, sees)), because)

    path = tmp_path_factory.mktemp("baseline") / "b.yaml"
    path.write_text(to_yaml([written]), encoding="utf-8")

    assert load_baseline(path) == [written]


def test_a_finding_that_people_write_themselves_needs_only_what_identifies_it(tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"format: 1\naccepted: [{ENTRY}]")

    assert (found.failed, found.because, found.finding.request) == (True, "", "GET /")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "`b.yaml` is empty"),
        ("- a", "`b.yaml`: expected a mapping of keys to values, found a list"),
        ("a: b: c", "`b.yaml`, line 1, column 5: mapping values are not allowed here"),
        ("<<<<<<< HEAD\nformat: 1\n", "`b.yaml`, line 2, column 7: mapping values are not allowed here"),
        ("requests: []", "`b.yaml` has 3 problems:"),
        ("format: 1", "`b.yaml`, `accepted`: required, but missing"),
        ("format: 2\naccepted: []", "`b.yaml`, `format`: expected the format 1, which this version reads, found 2"),
        ("format: 1\naccepted: {}", "`b.yaml`, `accepted`: expected a list, found an empty mapping"),
        (
            f"format: 1\naccepted: [{ENTRY.replace('request:', 'requets:')}]",
            "`b.yaml` has 2 problems:\n  `accepted[0].request`: required, but missing\n  `accepted[0].requets`: ",
        ),
        (
            f"format: 1\naccepted: [{ENTRY.replace('cart/GetCart:abort(503)', 'cart')}]",
            '`b.yaml`, `accepted[0].cut[0]`: expected a fault such as `cart/GetCart:abort(503)`, found "cart"',
        ),
        (
            "format: 1\naccepted: [{id: a, request: GET /, cut: []}]",
            "`b.yaml`, `accepted[0].cut`: expected at least one fault, found an empty list",
        ),
        (
            f"format: 1\naccepted: [{ENTRY.replace('GetCart', 'AddItem')}]",
            "`b.yaml`, `accepted[0]`: `id`: expected `c73ea207`, which this request and cut have, found `4006342a`",
        ),
        (f"format: 1\naccepted: [{ENTRY}, {ENTRY}]", "`b.yaml`, `accepted`: `4006342a` is given twice"),
        (
            f"format: 1\naccepted: [{ENTRY.replace('}', ', verdict: survived}')}]",
            "`b.yaml`, `accepted[0].verdict`: expected `failed` or `degraded`, found",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.yaml").write_text(text)

    with pytest.raises(UsageError) as error:
        load_baseline(Path("b.yaml"))

    assert error.value.message.startswith(problem)


def test_a_file_that_is_not_there_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        load_baseline(tmp_path / "absent.yaml")

    assert error.value.message.endswith("absent.yaml`: No such file or directory")
    assert error.value.hint.startswith("Correct it, or write a new one with `cutset baseline")
