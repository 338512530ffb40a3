"""Tells a failure from an answer by the three rules of MicroFI §4.4.5: status, keywords in the payload, response time.

Differs from the paper in that each rule is held against the request's own baseline (an answer need not be a 200; a
healthy page may contain the word "error"), and in a fourth verdict: an answer that lacks parts, or in which values are
not what they always are, is degraded. What a user expects of an answer's content is a rule of its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from cutset.judge.expectations import unmet_expectations
from cutset.judge.graphql import graphql_error
from cutset.judge.learnt import MOST_KEPT, Usual, differences, in_words, narrowed, usual_of
from cutset.judge.quotes import SNIPPET_LENGTH, TEXT_LENGTH, as_words, one_line, snippet, spaced_once
from cutset.judge.sequential import chance_of_so_many
from cutset.judge.shape import main_text, visible_text
from cutset.judge.values import values_of
from cutset.judge.writes import Operations, UsualWrites, lost_writes, narrowed_writes
from cutset.model.difference import Difference
from cutset.model.outcome import Verdict
from cutset.model.request import Expectation, Response

KEYWORDS = ("error", "exception", "timeout", "timed out", "unavailable", "traceback")
HEALTHY_STATUSES = frozenset(range(100, 400))  # of a baseline, unless the user expects others
UNUSUAL = 0.05  # so seldom may chance alone let as many requests without a fault fail: more, and they are not healthy


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the request's answers have in common when nothing is injected."""

    statuses: frozenset[int]
    seconds: float  # the slowest answer
    keywords: frozenset[str]  # failure keywords that a healthy answer contains anyway, so that they tell nothing
    usual: Usual = field(default_factory=Usual)  # what is the same in all of them
    has_errors: bool = False  # GraphQL's, in some of them
    writes: UsualWrites = field(default_factory=UsualWrites)  # that all of them make, as far as agents tell


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    reason: str
    late: bool = False  # it took longer than it may
    differences: tuple[Difference, ...] = ()  # of a degraded answer
    says: str = ""  # of a failed one: its text, as far as anybody would read


def baseline_of(responses: Sequence[Response], expect: Expectation, flake_rate: float = 0.0) -> Baseline | Judgement:
    """A judgement says why there is none: on an unhealthy baseline, faults would be blamed for what they did not do."""
    if not responses:
        return Judgement(Verdict.UNKNOWN, "no baseline: nothing was sent without faults")
    problems = [problem for response in responses if (problem := _unhealthy(response, expect))]
    chance = chance_of_so_many(len(problems), len(responses), flake_rate)
    if len(problems) == len(responses) or chance < UNUSUAL:
        reason = f"unhealthy baseline: {len(problems)} of {len(responses)} without faults failed: {problems[0]}"
        return Judgement(Verdict.UNKNOWN, reason)
    healthy = [response for response in responses if not _unhealthy(response, expect)]
    found = [_keywords_in(response, expect) for response in healthy]
    return Baseline(
        statuses=frozenset(response.status for response in healthy),
        seconds=max(response.seconds for response in healthy),
        keywords=frozenset().union(*found),
        usual=usual_of(healthy),
        has_errors=any(map(graphql_error, healthy)),
    )


def sharpened(baseline: Baseline, response: Response, operations: Operations | None = None) -> Baseline:
    """By one more answer without a fault: what it has otherwise varies, and tells nothing."""
    writes = baseline.writes if operations is None else narrowed_writes(baseline.writes, operations)
    return replace(baseline, usual=narrowed(baseline.usual, response), writes=writes)


def judge(
    response: Response,
    expect: Expectation,
    baseline: Baseline,
    operations: Operations | None = None,
    certain: Collection[str] = (),
) -> Judgement:
    """`operations` are those that agents told of, if anybody asked; services that are `certain` told of all of them."""
    statuses = frozenset(expect.status) or baseline.statuses
    usual_seconds = f", {baseline.seconds:.2g}s without faults"
    if failure := _no_answer(response, statuses, expect, usual_seconds) or _betrayed(response, expect, baseline):
        return replace(failure, late=response.seconds > expect.max_seconds)
    found = differences(baseline.usual, response)
    found += lost_writes(baseline.writes, operations, certain) if operations is not None else []
    if found:
        reason = f"{response.status}, but {in_words(found)}"
        return Judgement(Verdict.DEGRADED, reason, differences=tuple(found[:MOST_KEPT]))
    return Judgement(Verdict.SURVIVED, str(response.status))


def _unhealthy(response: Response, expect: Expectation) -> str:
    problem = _no_answer(response, frozenset(expect.status) or HEALTHY_STATUSES, expect)
    advice = " (if that is right, name it in `expect.status`)" if response.status >= 400 and not expect.status else ""
    return problem.reason + advice if problem else ""


def _betrayed(response: Response, expect: Expectation, baseline: Baseline) -> Judgement | None:
    """By what the answer says of itself."""
    if telling := _keywords_in(response, expect) - baseline.keywords:
        text = _news(response, baseline, min(telling))
        return _failed(f"{response.status}, but says `{snippet(text, min(telling))}`", text, min(telling))
    if not baseline.has_errors and (error := graphql_error(response)):
        return _failed(f"{response.status}, but its `errors` say `{snippet(error)}`", error)
    return None


def _news(response: Response, baseline: Baseline, keyword: str) -> str:
    """What a page says with that word in it and says only now; else all that it says."""
    new = values_of(response.content_type, response.body) - baseline.usual.values
    text = " ".join(piece for _, piece in new)
    is_page = "html" in response.content_type.lower()
    return text if is_page and as_words(keyword).search(text) else visible_text(response.content_type, response.body)


def _no_answer(
    response: Response, statuses: frozenset[int], expect: Expectation, usual_seconds: str = ""
) -> Judgement | None:
    if response.error:
        return _failed(f"no answer: {one_line(response.error)[: 2 * SNIPPET_LENGTH]}")
    if response.status not in statuses:
        text = main_text(response.content_type, response.body)
        quoted = snippet(text)
        return _failed(f"{response.status} with `{quoted}`" if quoted else f"{response.status} with no text", text)
    if response.seconds > expect.max_seconds:
        limit = f"limit {expect.max_seconds:g}s{usual_seconds}"
        return _failed(f"{response.status} only after {response.seconds:.1f}s ({limit})")
    if unmet := next(unmet_expectations(response, expect), ""):
        return _failed(f"{response.status}, but {unmet}")
    return None


def _failed(reason: str, text: str = "", keyword: str = "") -> Judgement:
    """`text` is what the reason quotes a piece of."""
    return Judgement(Verdict.FAILED, reason, says=snippet(text, keyword, length=TEXT_LENGTH))


def _keywords_in(response: Response, expect: Expectation) -> frozenset[str]:
    text = spaced_once(visible_text(response.content_type, response.body)).lower()
    keywords = {spaced_once(keyword).lower() for keyword in expect.keywords or KEYWORDS}
    return frozenset(keyword for keyword in keywords if keyword in text and as_words(keyword).search(text))
