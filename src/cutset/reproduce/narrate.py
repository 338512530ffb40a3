"""Rounds and reproductions in the words of their source and log, for those who watch a search and read its report."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cutset.model.reproduction.event import RankedSite, RoundFinished
from cutset.model.reproduction.result import CaseSummary, CausalKind, FailureMessage, Reproduction
from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.explorer import PlannedRound
from cutset.reproduce.facts import is_absent
from cutset.reproduce.fault_space import SiteCandidate
from cutset.reproduce.graph.distances import path
from cutset.reproduce.logs.side_by_side import line_in_failure_log, log_of, run_text
from cutset.reproduce.rounds.harness import Firing
from cutset.reproduce.settings import FailureCase
from cutset.reproduce.state import ReproductionState


def summary_of(case: FailureCase) -> CaseSummary:
    lines = case.failure_log.removesuffix("\n").count("\n") + 1
    return CaseSummary(case.sources, case.workload.command, str(case.oracle), lines, case.language)


def ranking_of(state: ReproductionState, planned: PlannedRound) -> tuple[RankedSite, ...]:
    return tuple(_ranked(state, candidate) for candidate in planned.ranking)


def _ranked(state: ReproductionState, candidate: SiteCandidate) -> RankedSite:
    fault, message = candidate.choices[0], candidate.observable
    when = f"occurrence {fault.occurrence}" if fault.occurrence else "any occurrence"
    return RankedSite(
        site=state.prepared.facts.sites[candidate.site].name,
        next_fault=f"{fault.effect} at {when}",
        why=f"{candidate.distance} steps to “{state.prepared.texts.get(message.key, '')}”" if message else "",
    )


def fired_fault(state: ReproductionState, firing: Firing) -> FiredFault:
    fault = firing.fault
    return FiredFault(
        site=state.subject.program.sites[fault.site],
        number=fault.site,
        occurrence=fault.occurrence,
        effect=fault.effect,
        why=state.prepared.facts.reasons.get((fault.site, fault.effect), ""),
        log_lines=firing.log_lines,
        process=firing.process,
        thread=firing.thread,
        stack=firing.stack,
        within=firing.within,
        nth=firing.nth,
    )


def reproduction_of(state: ReproductionState, found: RoundFinished) -> Reproduction:
    messages = _messages(state, found)
    agreement, unlike = state.agreement(found)
    return Reproduction(
        faults=_placed(state, found, messages),
        round=found.number,
        reason=found.reason,
        folder=found.folder,
        repeats=len(state.repeats.get(found.number, ())),
        repeated=state.held(found),
        messages=messages,
        unlike=unlike,
        group=_group(messages),
        agreement=agreement,
        moments_left=found.fired is None or state.explorer.has_other_moments(found.fired.at_site),
    )


def _placed(
    state: ReproductionState, found: RoundFinished, messages: Sequence[FailureMessage]
) -> tuple[FiredFault, ...]:
    """With where they come in the failure log."""
    subject = state.subject
    text = run_text(found.folder)
    if text is None:
        return found.faults
    failure, run = (
        log_of(each, subject.formats, subject.front_end.dialect) for each in (subject.case.failure_log, text)
    )
    return tuple(
        replace(fault, failure_line=line_in_failure_log(fault, failure, run, messages)) for fault in found.faults
    )


def _messages(state: ReproductionState, found: RoundFinished) -> tuple[FailureMessage, ...]:
    facts = state.prepared.facts
    absent = {each.key for each in facts.observables if is_absent(each)}
    lines = {each.key: each.line for each in reversed(facts.observables)}  # of the first of each key
    assert found.fired is not None
    executed = state.subject.front_end.executed(found.folder)
    return tuple(
        FailureMessage(
            line=lines[key],
            text=text,
            shown=key in found.shown,
            absent=key in absent,
            chain=tuple(path(facts.graph, found.fired.number, key, executed)),
        )
        for key, text in state.prepared.texts.items()
    )


def _group(messages: Iterable[FailureMessage]) -> str:
    """Faults that reach the same handler on their way are one root cause."""
    chains = sorted((message.chain for message in messages if message.chain), key=len)
    for step in chains[0] if chains else ():
        if step.kind is CausalKind.HANDLER:
            return f"it reaches `{step.text}` in {step.module}.{step.function}, line {step.line}"
    shown = [f"“{message.text}”" for message in messages if message.shown]
    return f"it brings {', '.join(shown[:3])}" if shown else "it brings none of the failure log's messages"
