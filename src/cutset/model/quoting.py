"""What a user sees of a failure, quoted where it differs from the other failures of the same request.

Services wrap each other's messages, so that all of them begin alike: `could not place the order (checkout/PlaceOrder:
…`. What tells one from another comes later. A word that most do not say counts for as much as there are failures
without it, and the piece that counts for most is quoted.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cutset.model.finding import Finding

LENGTH = 120  # characters, as in the reasons of single answers
MANY_DIGITS = 4  # of a word: an id or a time, which is new in each answer; 503 is not
LEAD = 2  # words before the first that tells: they say what it is about

_QUOTED = re.compile("`([^`]*)`")


def quoted_tellingly(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Of one request. What is said alike by all, or by one alone, stays as it was quoted."""
    texts = {finding.outcome.says for finding in findings if finding.outcome.says}
    said_by = Counter(word for text in texts for word in set(text.split()))
    return tuple(_quoted(finding, said_by, len(texts)) for finding in findings)


def _quoted(finding: Finding, said_by: Counter[str], texts: int) -> Finding:
    outcome = finding.outcome
    piece = telling_piece(outcome.says, said_by, texts)
    for match in _QUOTED.finditer(outcome.reason) if piece else ():
        if match[1].strip("…") in outcome.says:
            reason = f"{outcome.reason[: match.start(1)]}{piece}{outcome.reason[match.end(1) :]}"
            return replace(finding, outcome=replace(outcome, reason=reason))
    return finding


def telling_piece(text: str, said_by: Counter[str], texts: int) -> str:
    """Empty if no piece tells more than another, or all of it can be quoted."""
    if len(text) <= LENGTH:
        return ""
    words = text.split()
    weights = [_weight(word, said_by[word], texts) for word in words]
    if not any(weights):
        return ""
    best, most, end, weight, length = 0, -1, 0, 0, 0
    for start in range(len(words)):
        while end < len(words) and length + len(words[end]) < LENGTH:
            weight, length, end = weight + weights[end], length + len(words[end]) + 1, end + 1
        if weight > most and weights[start]:
            best, most = start, weight
        if end > start:
            weight, length = weight - weights[start], length - len(words[start]) - 1
        else:  # a word that is longer than what is quoted
            end = start + 1
    start = max(0, best - LEAD)
    start = 0 if start <= LEAD else start
    line = " ".join(words[start:])
    return ("…" if start else "") + line[:LENGTH].strip() + ("…" if len(line) > LENGTH else "")


def _weight(word: str, said_by: int, texts: int) -> int:
    """What most say tells nothing, and an identifier nobody else can say."""
    is_identifier = sum(map(str.isdigit, word)) >= MANY_DIGITS
    return 0 if is_identifier or 2 * said_by > texts else texts - said_by
