import re

import pytest
from tests.samples.campaign import EVENTS, MIXED, REPLAY, RUN, audited, cut, experiment
from tests.samples.hostile import HOSTILE

from cutset.model.event import CampaignEvent, CampaignStarted, RequestFinished
from cutset.model.outcome import Verdict
from cutset.model.point import Point
from cutset.model.run import RunFinished
from cutset.model.summary import summarise
from cutset.report.campaign.baseline import accept, compare
from cutset.report.campaign.markdown import MARKER, MOST, ROWS_SHOWN, to_markdown


def comment(events: list[CampaignEvent], accepted: list[CampaignEvent] | None = None) -> str:
    comparison = None if accepted is None else compare(accept(summarise(accepted)), events)
    return to_markdown(summarise(events), RUN.run, REPLAY, comparison, "baseline.yaml" if comparison else "")


def test_without_a_baseline_it_lists_the_cuts_and_folds_the_rest() -> None:
    text = comment(EVENTS)

    assert text.startswith(f"{MARKER}\n### ❌ Cutset: 2 minimal cuts\n")
    assert "| ❌ fails | `GET /` | `cart/GetCart` | 500 with \\`no cart\\` |" in text
    assert "<details><summary>Degraded: 1</summary>" in text
    assert re.search(r"- ❓ `POST /pay` unknown\\: x/Y\\: never fired", text)
    assert "Open in 2 of 3 request classes." in text
    assert re.search(rf"```sh\n{REPLAY} \w{{8}}\n```", text)
    assert text.count("<details>") == text.count("</details>")


def test_against_a_baseline_only_what_is_new_or_worse_is_in_the_open() -> None:
    text = comment(EVENTS, MIXED)
    table = text[text.index("#### New or worse") : text.index("<details>")]

    assert "### ❌ Cutset: 2 new or worse" in text
    assert "Compared with `baseline.yaml`." in text
    assert "❌ new" in table


def test_where_all_is_accepted_it_says_so_and_names_what_is_open() -> None:
    assert comment(EVENTS, EVENTS).startswith(f"{MARKER}\n### ❓ Cutset: nothing new or worse\n")


def test_where_nothing_fails_and_all_is_decided_it_is_good_news() -> None:
    started = CampaignStarted(requests=("GET /",), max_size=2)
    events = [started, audited("GET /"), RequestFinished(request="GET /", complete_up_to=2, reason=""), RunFinished()]

    assert "### ✅ Cutset: no minimal cut was found" in comment(events)
    assert "Complete up to size 2 in each of 1 request class." in comment(events)


@pytest.mark.parametrize("letters", [3, 250])
def test_it_fits_a_comment_and_says_how_much_is_left_out(letters: int) -> None:
    many = [experiment("GET /", Verdict.FAILED, "x" * letters, f"service-{number:04}/Call") for number in range(2500)]
    undecided = tuple(cut(f"u/{number}") for number in range(1000))
    unknown = [experiment("GET /", Verdict.UNKNOWN, "never fired", f"u/{number}") for number in range(1000)]
    end = RequestFinished(request="GET /", complete_up_to=0, reason="", undecided=undecided)
    text = comment(
        [CampaignStarted(requests=("GET /",), max_size=1), audited("GET /"), *many, *unknown, end, RunFinished()]
    )

    shown = text.count("| ❌ fails |") + text.count("- ❓")
    (left_out,) = re.findall(r"\*([\d,]+) lines are left out", text)
    assert MOST / 3 < len(text) <= MOST
    assert shown + int(left_out.replace(",", "")) == 3500
    assert text.count("- ❓") > 20  # something is said of everything
    assert text.count("<details>") == text.count("</details>")
    assert text.index("<details><summary>More") > text.index("| ❌ fails |")
    assert text[: text.index("<details>")].count("| ❌ fails |") == ROWS_SHOWN


def test_what_others_wrote_is_neither_markup_nor_a_mention() -> None:
    said = f"{HOSTILE} @everybody [x](http://evil) | `code`"
    started = CampaignStarted(requests=(said,), max_size=1)
    text = comment([started, audited(said), experiment(said, Verdict.FAILED, said, str(Point(said, "x")))])
    outside = re.sub(r"(`+).*?\1", "", text.replace("\\`", ""))  # code is shown as it is

    assert not re.search(r"(?<!\\)<(script|img)", outside)
    assert "@everybody" not in outside
    assert "](http" not in outside
    (row,) = (line for line in text.splitlines() if line.startswith("| ❌"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 6  # cells of five columns
