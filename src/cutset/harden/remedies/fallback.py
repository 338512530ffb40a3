"""Fallback: go on without the answer, with an older one, or with that of somebody else."""

from cutset.harden.needs import ERRORS
from cutset.harden.remedies.evidence import SiteEvidence, safe_to_repeat
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined

LAST_GOOD = "last-good"


def advise(evidence: SiteEvidence) -> Advice | Declined:
    api = evidence.site.api
    if evidence.fatal and evidence.survives_errors and not evidence.fatal_by(ERRORS):
        worse = ", ".join(map(str, evidence.fatal))
        return Declined(NAME, f"its failure is survived already; what is not is {worse}, which must become a failure")
    if evidence.deciding:
        return Advice(
            NAME,
            against="an outage of the whole API",
            why=f"{evidence.deciding}: no older answer may stand for `{api}`, nor an empty one. Ask a second provider, "
            "or let the caller check by itself what can be checked without it (a signed token, say), and refuse the "
            f"rest{_precedent(evidence)}",
            risks=("What lets everybody in when it fails is no fallback but a hole.", *REMEDY.risks[1:]),
            survives_outage=True,
        )
    if not safe_to_repeat(evidence):
        return Advice(
            NAME,
            against="an outage of the whole API",
            why=f"`{api}` may change something, so that no older answer stands for it: accept the request, keep it in "
            f"a queue or an outbox and do it later, or go to a second provider{_precedent(evidence)}",
            risks=("What is promised to the user may turn out impossible later.", *REMEDY.risks[1:]),
            survives_outage=True,
        )
    settings = {} if evidence.is_http else {"fallback": {api: LAST_GOOD}}
    return Advice(
        NAME,
        against="an outage of the whole API",
        why="it only reads, so that the last good answer, or the page without that part, is better than none"
        f"{_precedent(evidence)}",
        settings=settings,
        risks=REMEDY.risks,
        survives_outage=True,
    )


def _precedent(evidence: SiteEvidence) -> str:
    if evidence.tolerated:
        return f"; `{evidence.tolerated[0]}` does without it already, so there is code to copy"
    if evidence.instead:
        return (
            f"; {', '.join(f'`{each}`' for each in sorted(evidence.instead))} is asked instead already, but fails too"
        )
    return ""


NAME = "fallback"
REMEDY = Remedy(
    NAME,
    what="Answers without the callee: from a cache, with a default, by another provider, or with a page that leaves "
    "the part out. The only remedy against an outage of a whole API, and mostly a matter of the caller's code. So that "
    "it can be tried before it is written, the local mesh has a stand-in for gRPC calls: it repeats the last good "
    "answer to the same request (`last-good`), or else gives an empty one (`last-good-or-empty`).",
    when="always: no other remedy makes a finding go away. For calls that may change something, as a queue or a second "
    "provider, which no mesh can stand in for. Never with an older answer for what authenticates or authorises, by its "
    "name (Check…, Verify…, Login, Token, Session, Permission, …) or because its calls carry credentials.",
    example="services:\n  productcatalog:\n    fallback: {GetProduct: last-good}\n  cart:\n"
    "    fallback: {GetCart: last-good-or-empty}",
    risks=(
        "Old or empty data may be wrong data: a price, a balance, an empty cart that is not.",
        "It runs rarely, so that nobody notices when it breaks: exercise it, with Cutset for instance.",
        "Failures become invisible: count and alert on how often it is used.",
        "What it relies on may fail with the same cause.",
    ),
    advise=advise,
)
