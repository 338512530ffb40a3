"""A campaign as JUnit XML, which every CI system shows: a suite per request class, red exactly where the exit code is.

Each suite begins with a case for the search itself, which is an *error* where the campaign could not tell. Then comes a
case per finding: a *failure*, or, compared with a baseline, *skipped* if it was accepted. Accepted findings that no
longer fail are cases that pass. There are no times: events have none, and the same ledger makes the same file.

The structure is the one that Jenkins' xUnit plugin checks (`junit-10.xsd`), which is the strictest in wide use.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cutset.model.finding import Finding
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.model.wording import visible
from cutset.report.campaign.baseline import Comparison, Standing
from cutset.report.campaign.effects import otherwise, rows, sentence, why_alone
from cutset.report.campaign.gaps import asides, gaps
from cutset.report.campaign.scope import complete, evidence, of_effect, of_variation
from cutset.report.campaign.terminal import describe_cut


def to_xml(summary: CampaignSummary, replay: str, comparison: Comparison | None = None) -> str:
    suites = [_suite(request, summary, replay, comparison) for request in summary.requests]
    root = Element("testsuites", {"name": "cutset"} | _counts(suites, "tests", "failures", "errors"))
    root.extend(suites)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _suite(request: RequestSummary, summary: CampaignSummary, replay: str, comparison: Comparison | None) -> Element:
    cases = [_search_case(request, summary, comparison.blind(request.name) if comparison else "")]
    cases += [_finding_case(finding, request, replay, comparison) for finding in request.findings]
    cases += _better_cases(request.name, comparison)
    suite = Element("testsuite", {"name": _text(request.name), "tests": str(len(cases))})
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.extend(cases)
    return suite


def _search_case(request: RequestSummary, summary: CampaignSummary, blind: str) -> Element:
    case, started = _case(request.name, "search"), summary.started
    headline = complete(request, started) if request.complete_up_to >= 0 else "not tested"
    scope = [each for each in (of_effect(started), of_variation(request, started)) if each]
    besides = [*asides(request), *(f"{row.point} {sentence(row)}" for row in rows(request)), *scope]
    if problems := [*gaps(request, summary), *filter(None, [blind])]:
        _add(case, "error", headline, "incomplete", "\n".join([*problems, *besides]))
    else:
        SubElement(case, "system-out").text = _text("\n".join([headline, *besides]))
    return case


def _finding_case(finding: Finding, request: RequestSummary, replay: str, comparison: Comparison | None) -> Element:
    case = _case(finding.request, _name(finding))
    compared = comparison.standing_of(finding) if comparison else None
    lines = [f"user sees  {finding.outcome.reason}"]
    lines += [f"killed     {', '.join(finding.outcome.dead)}"] if finding.outcome.dead else []
    lines += [f"because    {why}" for why in filter(None, [why_alone(finding, request)])]
    lines += [f"otherwise  {each}" for each in otherwise(finding, request)]
    lines += [f"evidence   {evidence(finding.outcome)}; trace {' '.join(finding.outcome.trace_ids)}"]
    lines += [f"replay     {replay} {finding.id}"]
    if compared and compared.standing is Standing.ACCEPTED:
        because = compared.because or "no reason given"
        SubElement(case, "skipped", {"message": _text(f"accepted: {because}")}).text = _text("\n".join(lines))
    else:
        kind = compared.standing.value if compared else "finding"
        lines += [f"worse      {compared.because}"] if compared and compared.because else []
        _add(case, "failure", finding.outcome.reason, kind, "\n".join(lines))
    return case


def _better_cases(request: str, comparison: Comparison | None) -> Iterator[Element]:
    for each in comparison.better if comparison else ():
        if each.accepted.failed and each.accepted.finding.request == request:
            case = _case(request, _name(each.accepted.finding))
            SubElement(case, "system-out").text = _text(f"better: {each.words}")
            yield case


def _name(finding: Finding) -> str:
    return f"survives {describe_cut(finding.cut)} ({finding.id})"


def _case(request: str, name: str) -> Element:
    return Element("testcase", {"classname": _text(request), "name": _text(name)})


def _add(case: Element, tag: str, message: str, kind: str, text: str) -> None:
    SubElement(case, tag, {"message": _text(message), "type": kind}).text = _text(text)


def _counts(suites: list[Element], *attributes: str) -> dict[str, str]:
    return {name: str(sum(int(suite.get(name, "0")) for suite in suites)) for name in attributes}


def _text(text: str) -> str:
    """Answers of services hold anything; what XML cannot hold is not printable, and nor are U+FFFE and U+FFFF."""
    return visible(text)
