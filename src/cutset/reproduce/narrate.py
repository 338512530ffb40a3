"""Rounds and reproductions in the words of their source and log, for those who watch a search and read its report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cutset.reproduce.causal import path
from cutset.reproduce.code_index import NodeKind
from cutset.reproduce.events import RankedSite, RoundFinished
from cutset.reproduce.explorer import Round
from cutset.reproduce.prepare import Prepared, is_absent
from cutset.reproduce.result import Fault, Message, Reproduction
from cutset.reproduce.runner import Fired
from cutset.reproduce.strategies import Candidate
from cutset.reproduce.syntax import Program
from cutset.reproduce.tried import Tried


@dataclass(frozen=True, slots=True)
class Story:
    """What a search is about."""

    program: Program
    prepared: Prepared
    texts: Mapping[str, str]  # of observables, by their keys
    folder: Path


def round_folder(folder: Path, number: int) -> Path:
    return folder / f"round-{number:04}"


def round_event(story: Story, tried: Tried, ranking: tuple[RankedSite, ...]) -> RoundFinished:
    return RoundFinished(
        number=tried.number,
        stage=tried.stage,
        fired=_faults(story, tried),
        answer=tried.answer,
        reason=tried.reason,
        missing=tuple(text for key, text in story.texts.items() if key not in tried.shown),
        seconds=tried.seconds,
        ranking=ranking,
        problems=tried.problems,
        folder=round_folder(story.folder, tried.number),
    )


def ranking_of(story: Story, planned: Round) -> tuple[RankedSite, ...]:
    return tuple(_ranked(story, candidate) for candidate in planned.ranking)


def _ranked(story: Story, candidate: Candidate) -> RankedSite:
    choice, message = candidate.choices[0], candidate.observable
    when = f"occurrence {choice.occurrence}" if choice.occurrence else "any occurrence"
    return RankedSite(
        site=story.prepared.facts[candidate.site].name,
        next_fault=f"{choice.effect} at {when}",
        why=f"{candidate.distance} steps to “{story.texts.get(message.key, '')}”" if message else "",
    )


def reproduction_of(story: Story, tried: Tried, *, repeats: int, repeated: int) -> Reproduction:
    observables = story.prepared.observables
    absent = {each.key for each in observables if is_absent(each)}
    lines = {each.key: each.line for each in reversed(observables)}  # of the first of each key
    messages = tuple(
        Message(
            line=lines[key],
            text=text,
            shown=key in tried.shown,
            absent=key in absent,
            chain=tuple(path(story.prepared.graph, tried.choice.site, key)),
        )
        for key, text in story.texts.items()
    )
    return Reproduction(
        faults=_faults(story, tried),
        round=tried.number,
        reason=tried.reason,
        folder=round_folder(story.folder, tried.number),
        repeats=repeats,
        repeated=repeated,
        messages=messages,
        unlike=tried.unlike,
        group=_group(messages),
    )


def _faults(story: Story, tried: Tried) -> tuple[Fault, ...]:
    return tuple(_fault(story, fired) for fired in (*tried.fired_first, tried.fired) if fired is not None)


def _fault(story: Story, fired: Fired) -> Fault:
    choice = fired.choice
    return Fault(
        site=story.program.sites[choice.site],
        occurrence=choice.occurrence,
        effect=choice.effect,
        why=story.prepared.reasons.get((choice.site, choice.effect), ""),
        log_lines=fired.log_lines,
        process=fired.process,
        thread=fired.thread,
        stack=fired.stack,
    )


def _group(messages: Iterable[Message]) -> str:
    """Faults that reach the same handler on their way are one root cause."""
    chains = sorted((message.chain for message in messages if message.chain), key=len)
    for node in chains[0] if chains else ():
        if node.kind is NodeKind.HANDLER:
            return f"it reaches `{node.text}` in {node.module}.{node.function}, line {node.line}"
    shown = [f"“{message.text}”" for message in messages if message.shown]
    return f"it brings {', '.join(shown[:3])}" if shown else "it brings none of the failure log's messages"
