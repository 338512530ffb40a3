"""A campaign as a comment on a pull request: what is new or worse first, then what is open; the rest is folded.

GitHub refuses longer comments than `MOST`: what does not fit is left out from the end of the lists, and said.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutset.model.finding import Finding
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.model.wording import count, visible
from cutset.report.campaign.baseline import Comparison, Standing
from cutset.report.campaign.gaps import asides, gaps
from cutset.report.campaign.scope import completeness, effort_of, method, totals
from cutset.report.campaign.terminal import describe_cut
from cutset.report.markdown import block, code, table, text

MOST = 65_536  # characters of a comment on GitHub
MOST_OF_ROOM = 0.6  # for one list, of what is left: so that something is said of everything
ROWS_SHOWN = 20  # of a table; the rest is folded
ROOM = 1_500  # of these, for what frames the lists: the line that says what was left out, and others put beside it
MARKER = "<!-- cutset -->"  # by which a job finds the comment that it wrote before


@dataclass(frozen=True, slots=True)
class _List:
    """Lines under a heading; those that do not fit are left out."""

    heading: str
    before: tuple[str, ...]  # such as the head of a table
    lines: tuple[str, ...]
    after: tuple[str, ...] = ()


def to_markdown(
    summary: CampaignSummary, campaign: str, replay: str, comparison: Comparison | None = None, against: str = ""
) -> str:
    """`against` is the name of the file that it was compared with."""
    head = "\n".join([MARKER, *_head(summary, comparison, against)])
    failing = [each.finding for each in comparison.failures] if comparison is not None else summary.findings
    tail = "\n".join(_tail(summary, campaign, f"{replay} {failing[0].id}" if failing else ""))
    room, lists, left_out = MOST - ROOM - len(head) - len(tail), [], 0
    for each in _lists(summary, comparison):
        shown, missing = _fitting(each, int(room * MOST_OF_ROOM))
        room -= len(shown)
        left_out += missing
        lists.append(shown)
    missing_words = [f"*{left_out:,} lines are left out: a comment has a limit. `cutset report` has all.*", ""]
    return visible("\n".join([head, *lists, *(missing_words if left_out else []), tail])) + "\n"


def _fitting(each: _List, room: int) -> tuple[str, int]:
    """The list as far as there is room, and how many lines are missing."""
    frame = [each.heading, "", *each.before, *each.after, "", ""]
    left = room - sum(len(line) + 1 for line in frame)
    kept: list[str] = []
    for line in each.lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    if not kept:
        return "", len(each.lines)
    return "\n".join([each.heading, "", *each.before, *kept, *each.after, ""]), len(each.lines) - len(kept)


def _head(summary: CampaignSummary, comparison: Comparison | None, against: str) -> Iterator[str]:
    open_ones = [request.name for request in summary.requests if gaps(request, summary)]
    failing = comparison.failures if comparison is not None else summary.findings
    sign = "❌" if failing else "❓" if open_ones else "✅"
    yield f"### {sign} Cutset: {_found(summary, comparison)}"
    yield ""
    classes, size = count(len(summary.requests), "request class"), summary.started.max_size
    decided = (
        f"Open in {len(open_ones)} of {classes}" if open_ones else f"Complete up to size {size} in each of {classes}"
    )
    yield f"{text(totals(summary))}. {decided}."
    if against:
        yield f"Compared with {code(against)}."
    yield ""


def _found(summary: CampaignSummary, comparison: Comparison | None) -> str:
    if comparison is None:
        cuts = len(summary.findings)
        return count(cuts, "minimal cut") if cuts else "no minimal cut was found"
    worse = len(comparison.failures)
    better = f", {len(comparison.better)} became better" if comparison.better else ""
    return (f"{worse} new or worse" if worse else "nothing new or worse") + better


def _lists(summary: CampaignSummary, comparison: Comparison | None) -> Iterator[_List]:
    """What matters most first."""

    def named(finding: Finding) -> tuple[str, str]:
        return code(finding.request), code(describe_cut(finding.cut, summary.started.effects))

    def seen(finding: Finding) -> tuple[str, ...]:
        return *named(finding), text(finding.outcome.reason)

    if comparison is not None:
        yield from _table(
            "#### New or worse",
            ("", "request", "cut", "the user sees", "", "id"),
            (
                (f"❌ {each.standing}", *seen(each.finding), text(each.because), code(each.finding.id))
                for each in comparison.failures
            ),
        )
        yield from _table(
            "#### Better",
            ("", "request", "cut", ""),
            (("✅ better", *named(each.accepted.finding), text(each.words)) for each in comparison.better),
        )
        degraded = [each.finding for each in comparison.degradations if each.standing is Standing.NEW]
        yield from _folded("Degraded, and not accepted", (" ".join(("- ⚠️", *seen(each))) for each in degraded))
        yield from _folded(
            "Accepted, and not decided this time",
            (" ".join(("- ❓", *named(each.accepted.finding), text(each.words))) for each in comparison.undecided),
        )
    else:
        yield from _table(
            "#### Minimal cuts",
            ("", "request", "cut", "the user sees", "id"),
            (("❌ fails", *seen(each), code(each.id)) for each in summary.findings),
        )
        yield from _folded("Degraded", (" ".join(("- ⚠️", *seen(each))) for each in summary.degradations))
    yield from _folded(
        "Open", (f"- ❓ {code(each.name)} {text(gap)}" for each in summary.requests for gap in gaps(each, summary))
    )
    yield from _folded(
        "Not coverable", (f"- {code(each.name)} {text(aside)}" for each in summary.requests for aside in asides(each))
    )
    yield from _folded("Request classes", (_request(each, summary) for each in summary.requests))
    if comparison is not None:
        accepted = [each for each in comparison.findings if each.standing is Standing.ACCEPTED]
        yield from _folded(
            "Accepted findings that stay",
            (" ".join(("-", *named(each.finding), text(each.because))).rstrip() for each in accepted),
        )


def _table(heading: str, heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Iterator[_List]:
    head, line, *lines = table(heads, rows).split("\n")
    if lines:
        yield _List(heading, (head, line), tuple(lines[:ROWS_SHOWN]))
    yield from _folded("More", lines[ROWS_SHOWN:], (head, line))


def _folded(title: str, lines: Iterable[str], before: tuple[str, ...] = ()) -> Iterator[_List]:
    found = tuple(lines)
    if found:
        yield _List(f"<details><summary>{title}: {len(found):,}</summary>", before, found, ("", "</details>"))


def _request(request: RequestSummary, summary: CampaignSummary) -> str:
    said = completeness(request, summary.started)
    return f"- {code(request.name)} {text(said)}{'; ' if said else ''}{text(effort_of(request))}"


def _tail(summary: CampaignSummary, campaign: str, replay: str) -> Iterator[str]:
    if replay:
        yield "Try one again, by its id:"
        yield ""
        yield block([replay], "sh")
        yield ""
    yield f"<sub>Campaign {code(campaign)}. {' '.join(f'{text(said)}.' for said in method(summary.started))}</sub>"
