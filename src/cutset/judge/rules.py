"""Tells a failure from an answer by the three rules of MicroFI §4.4.5: status, keywords in the payload, response time.

Differs from the paper in that each rule is held against the request's own baseline (an answer need not be a 200; a
healthy page may contain the word "error"), and in a fourth verdict: an answer that lacks parts, or in which values are
not what they always are, is degraded. What a user expects of an answer's content is a rule of its own.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_

from cutset.judge.sequential import chance_of_so_many
from cutset.judge.shape import MALFORMED, main_text, shape_of, visible_text
from cutset.judge.values import Values, changes, leaves, values_of
from cutset.model.outcome import Verdict
from cutset.model.request import Expectation, Response

KEYWORDS = ("error", "exception", "timeout", "timed out", "unavailable", "traceback")
HEALTHY_STATUSES = frozenset(range(100, 400))  # of a baseline, unless the user expects others
MISSING_SHOWN = 3  # parts named in a reason; more would not fit a line
UNUSUAL = 0.05  # so seldom may chance alone let as many requests without a fault fail: more, and they are not healthy
SNIPPET_LENGTH = 120  # characters quoted from an answer, so that a reason stays on one line


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the request's answers have in common when nothing is injected."""

    statuses: frozenset[int]
    shape: frozenset[str]  # parts present in every answer
    seconds: float  # the slowest answer
    keywords: frozenset[str]  # failure keywords that a healthy answer contains anyway, so that they tell nothing
    values: Values = field(default_factory=Values)  # those that every answer has had


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    reason: str


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
    shapes = [shape_of(response.content_type, response.body) for response in healthy]
    found = [_keywords_in(response, expect) for response in healthy]
    return Baseline(
        statuses=frozenset(response.status for response in healthy),
        shape=frozenset.intersection(*shapes) - {MALFORMED},
        seconds=max(response.seconds for response in healthy),
        keywords=frozenset().union(*found),
        values=reduce(and_, (values_of(response.content_type, response.body) for response in healthy)),
    )


def sharpened(baseline: Baseline, response: Response) -> Baseline:
    """By one more answer without a fault: what it has otherwise varies, and tells nothing."""
    return replace(baseline, values=baseline.values & values_of(response.content_type, response.body))


def judge(response: Response, expect: Expectation, baseline: Baseline) -> Judgement:
    statuses = frozenset(expect.status) or baseline.statuses
    if failure := _failure(response, expect, statuses, baseline):
        return Judgement(Verdict.FAILED, failure)
    shape = shape_of(response.content_type, response.body)
    if missing := baseline.shape - shape:
        what = "its JSON is malformed" if MALFORMED in shape else f"missing {_enumerate(missing)}"
        return Judgement(Verdict.DEGRADED, f"{response.status}, but {what}")
    if changed := changes(baseline.values, response.content_type, response.body):
        more = f" and {len(changed) - MISSING_SHOWN} more" if len(changed) > MISSING_SHOWN else ""
        what = "; ".join(_snippet(each, quotes="`") for each in changed[:MISSING_SHOWN]) + more
        return Judgement(Verdict.DEGRADED, f"{response.status}, but {what}")
    return Judgement(Verdict.SURVIVED, str(response.status))


def _unhealthy(response: Response, expect: Expectation) -> str:
    problem = _no_answer(response, frozenset(expect.status) or HEALTHY_STATUSES, expect)
    advice = " (if that is right, name it in `expect.status`)"
    return problem + advice if response.status >= 400 and not expect.status else problem


def _failure(response: Response, expect: Expectation, statuses: frozenset[int], baseline: Baseline) -> str:
    if problem := _no_answer(response, statuses, expect, f", {baseline.seconds:.2g}s without faults"):
        return problem
    if telling := _keywords_in(response, expect) - baseline.keywords:
        text = visible_text(response.content_type, response.body)
        return f"{response.status}, but says `{_snippet(text, min(telling))}`"
    return ""


def _no_answer(response: Response, statuses: frozenset[int], expect: Expectation, usual: str = "") -> str:
    if response.error:
        return f"no answer: {_one_line(response.error)[: 2 * SNIPPET_LENGTH]}"
    if response.status not in statuses:
        text = _snippet(main_text(response.content_type, response.body))
        return f"{response.status} with `{text}`" if text else f"{response.status} with no text"
    if response.seconds > expect.max_seconds:
        return f"{response.status} only after {response.seconds:.1f}s (limit {expect.max_seconds:g}s{usual})"
    if unmet := next(_unmet(response, expect), ""):
        return f"{response.status}, but {unmet}"
    return ""


def _unmet(response: Response, expect: Expectation) -> Iterator[str]:
    """What the user asked for and the answer does not say."""
    text = _spaced_once(visible_text(response.content_type, response.body)) if expect.text else ""
    for wanted in expect.text:
        if _spaced_once(wanted) not in text:
            yield f"does not say `{_snippet(wanted)}`"
    found = list(leaves(response.body)) if expect.json else []
    for path, value in expect.json.items():
        here = [leaf for place, leaf in found if place == path.removeprefix("$.")]
        if json.dumps(value, ensure_ascii=False) not in here:
            yield f"`{_one_line(path)}` is {_snippet(', '.join(here)) or 'missing'}, not {_snippet(json.dumps(value))}"


def _keywords_in(response: Response, expect: Expectation) -> frozenset[str]:
    text = _spaced_once(visible_text(response.content_type, response.body)).lower()
    keywords = {_spaced_once(keyword).lower() for keyword in expect.keywords or KEYWORDS}
    return frozenset(keyword for keyword in keywords if keyword in text and _as_words(keyword).search(text))


def _as_words(keyword: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(keyword)}(?!\w)", re.IGNORECASE)


def _enumerate(missing: frozenset[str]) -> str:
    """The outermost parts only: a missing list is news, that its entries' keys are missing too is not."""
    missing_paths = {_json_path(part) for part in missing}
    outermost = [part for part in missing if missing_paths.isdisjoint(_ancestors(_json_path(part)))]
    # An id names a part better than the classes that go with it.
    outermost = sorted([part for part in outermost if "#" in part] or outermost)
    more = len(outermost) - MISSING_SHOWN
    return ", ".join(_one_line(part) for part in outermost[:MISSING_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _json_path(part: str) -> str:
    """Empty for the JSON document as a whole, and for parts of other kinds."""
    return part.rpartition(": ")[0]


def _ancestors(path: str) -> list[str]:
    return [""] + [path[: match.start()] for match in re.finditer(r"[.\[]", path)] if path else []


def _snippet(text: str, keyword: str = "", quotes: str = "'") -> str:
    """A piece of one line, around the keyword if there is one."""
    line = _one_line(text).replace("`", quotes)
    found = _as_words(keyword).search(line) if keyword else None
    start = max(0, found.start() - SNIPPET_LENGTH // 2) if found else 0
    end = start + SNIPPET_LENGTH
    return ("…" if start else "") + line[start:end].strip() + ("…" if len(line) > end else "")


def _one_line(text: str) -> str:
    """Without control and format characters: answers are untrusted, and reasons are printed on terminals."""
    line = _spaced_once(text)
    return line if line.isprintable() else "".join(c for c in line if unicodedata.category(c)[0] != "C")


def _spaced_once(text: str) -> str:
    return " ".join(text.split())
