"""Validation: look at an answer before it is used, and take one that cannot be read for a failure."""

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined
from cutset.model.effect import SPOILS_ANSWER


def advise(evidence: SiteEvidence) -> Advice | Declined:
    spoilt = evidence.fatal_by(SPOILS_ANSWER)
    if not spoilt:
        return Declined(NAME, "no unreadable answer of it is known to do harm")
    then = "that is survived already" if evidence.survives_errors else "for which something must be done instead, too"
    return Advice(
        NAME,
        against="answers with status 200 that cannot be read",
        why=f"requests fail with {', '.join(map(str, spoilt))}: check the answer against what is expected of it, and "
        f"treat any other as a failed call; {then}",
        risks=REMEDY.risks,
    )


NAME = "validation"
REMEDY = Remedy(
    NAME,
    what="Checks that an answer is whole and what was asked for before it is used: that it parses, that it has the "
    "fields that are needed. What does not pass is treated as a failed call, so that the fallback that there is for "
    "failures answers for it. A matter of the caller's code: a mesh sees a status, not what an answer means.",
    when="an empty, truncated or garbled answer of it fails a request.",
    example="try:\n    price = Price.model_validate_json(answer.content)\nexcept ValidationError as error:\n"
    "    raise UpstreamError(answer.url) from error      # and not: answer.json()['price']",
    risks=(
        "Too strict, it fails on a new field or another order, which did no harm.",
        "A retry of what was carried out and badly answered carries it out twice.",
    ),
    advise=advise,
)
