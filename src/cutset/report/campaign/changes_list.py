"""What changed since the campaign before, as a list: what is proven first, and folded what nobody can compare."""

from collections.abc import Callable, Sequence
from itertools import groupby

import htpy as h

from cutset.model.effect import EffectChoice
from cutset.model.finding import Finding
from cutset.model.outcome import Verdict
from cutset.model.wording import count
from cutset.report.campaign.changes import CampaignChange, CampaignChanges, ChangeKind
from cutset.report.campaign.page import chips
from cutset.report.page.components import bounded, verdict, with_code

SHOWN = 8
MOST = 100
_SAID = {
    ChangeKind.NEW: "failed",
    ChangeKind.WORSE: "failed",
    ChangeKind.BETTER: "survived",
    ChangeKind.GONE: "survived",
    ChangeKind.FIRST_SEEN: "unknown",
    ChangeKind.NOT_KNOWN: "unknown",
}
_INCOMPARABLE = {
    ChangeKind.FIRST_SEEN: "found now, and not known before",
    ChangeKind.NOT_KNOWN: "found before, and not known now",
}


def changes_list(changes: CampaignChanges, effects: EffectChoice, address: Callable[[Finding], str]) -> h.Node:
    """`address` is that of a finding of either campaign."""
    proven = changes.of(ChangeKind.NEW, ChangeKind.WORSE, ChangeKind.BETTER, ChangeKind.GONE)
    unproven = changes.of(*_INCOMPARABLE)
    return [
        h.p[f"Nothing is known to have changed; {count(changes.same, 'finding')} stay."] if not proven else None,
        _rows(proven[:SHOWN], effects, address),
        _folded(f"{len(proven) - SHOWN:,} more", _rows(proven[SHOWN:MOST], effects, address))
        if len(proven) > SHOWN
        else None,
        [
            _folded(
                f"{len(group):,} {_INCOMPARABLE[kind]}",
                _reasons(group),
                _rows(group[:MOST], effects, address, why=False),
            )
            for kind, found in groupby(unproven, key=lambda each: each.kind)
            for group in [list(found)]
        ],
        _names("Not explored this time", changes.not_explored),
        _names("Explored for the first time", changes.first_explored),
    ]


def _rows(
    changes: Sequence[CampaignChange], effects: EffectChoice, address: Callable[[Finding], str], *, why: bool = True
) -> h.Node:
    return h.ul(".rows")[(_row(each, effects, address, why=why) for each in changes)] if changes else None


def _row(change: CampaignChange, effects: EffectChoice, address: Callable[[Finding], str], *, why: bool) -> h.Element:
    finding = change.finding
    degraded = "degraded · " if finding.outcome.verdict is Verdict.DEGRADED else ""
    return h.li(".row")[
        verdict(_SAID[change.kind], change.kind),
        h.div[
            chips(finding.cut, effects, address(finding)),
            h.div(".small.muted")[degraded, bounded(finding.request), f" · {bounded(change.words)}" if why else ""],
        ],
    ]


def _reasons(changes: Sequence[CampaignChange]) -> h.Node:
    """Each once: they are about whole campaigns, mostly."""
    return [h.p(".small.muted")[with_code(bounded(words))] for words in dict.fromkeys(each.words for each in changes)][
        :5
    ]


def _folded(title: str, *content: h.Node) -> h.Element:
    return h.details[h.summary[title], content]


def _names(title: str, names: Sequence[str]) -> h.Node:
    return h.p(".small.muted")[f"{title}: {bounded(', '.join(names))}"] if names else None
