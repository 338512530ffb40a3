"""Surveys of any parts of the stored traces, merged in any order, give the same result."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cutset.lineage.aliases import Aliases, renamed, sole_names, with_aliases
from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Kinds, Representative, Survey


def merged(*parts: Survey) -> Survey:
    answers: dict[tuple[Point, Point], frozenset[Point]] = {}
    aliases: dict[str, frozenset[str]] = {}
    summaries: dict[str, list[ClassSummary]] = defaultdict(list)
    for part in parts:
        for call, answered in part.answers.items():
            answers[call] = answers.get(call, frozenset()) | answered
        for own, names in part.aliases.items():
            aliases[own] = aliases.get(own, frozenset()) | names
        for key, summary in part.classes.items():
            summaries[key].append(summary)
    classes = {key: class_of(of_class) for key, of_class in summaries.items()}
    headless, joined = sum(part.headless for part in parts), sum(part.joined for part in parts)
    return Survey(classes, headless, answers, aliases, joined)


def class_of(parts: Sequence[ClassSummary]) -> ClassSummary:
    """Of parts that are all of one request class."""
    first, *others = parts
    if not others:
        return first
    kinds, torn = Counter[CallTree](), Counter[CallTree]()
    for part in parts:
        kinds.update(part.kinds)
        torn.update(part.torn)
    return ClassSummary(
        first.name,
        first.service,
        best([part.representative for part in parts]),
        kinds,
        torn,
        spans=sum(part.spans for part in parts),
        components=sum(part.components for part in parts),
        total_ns=sum(part.total_ns for part in parts),
        named_by_span=any(part.named_by_span for part in parts),
    )


def best(representatives: Iterable[Representative]) -> Representative:
    """Of equally complex ones the one with the smallest id, so that the order of merging does not matter."""
    return min(representatives, key=lambda candidate: (-candidate.score, candidate.trace_id))


def concluded(survey: Survey) -> Survey:
    """With what only the whole shows: whom calls meant that reached nobody, and who shares a name or has two."""
    survey = _with_one_name_each(survey)
    only = {call: point for call, (point, *others) in survey.answers.items() if not others}
    meant = {call: point for call, point in only.items() if call[1] != point}
    entered = Counter(summary.name for summary in survey.classes.values())
    classes, known = dict[str, ClassSummary](), dict[CallTree, CallTree]()
    for summary in survey.classes.values():
        kinds, torn = (_renamed(kinds, meant, known) for kinds in (summary.kinds, summary.torn))
        name = summary.name if entered[summary.name] == 1 else f"{summary.service} {summary.name}"
        classes[name] = replace(summary, kinds=kinds, torn=torn)
    return replace(survey, classes=classes)


def _with_one_name_each(survey: Survey) -> Survey:
    """Services under the names that their sidecars give them."""
    aliases = sole_names(survey.aliases)
    if not aliases:
        return survey
    parts, known = defaultdict[str, list[ClassSummary]](list), dict[CallTree, CallTree]()
    for summary in survey.classes.values():
        service, shown = renamed(summary.service, aliases), summary.representative
        calls = tuple((renamed(caller, aliases), with_aliases(call, aliases, known)) for caller, call in shown.calls)
        kinds, torn = Counter[CallTree](), Counter[CallTree]()
        for before, after in ((summary.kinds, kinds), (summary.torn, torn)):
            for tree, traces in before.items():
                after[with_aliases(tree, aliases, known)] += traces
        whole = replace(shown, calls=calls)
        parts[f"{service} {summary.name}"].append(
            replace(summary, service=service, representative=whole, kinds=kinds, torn=torn)
        )
    answers: dict[tuple[Point, Point], frozenset[Point]] = {}
    for (caller, named), points in survey.answers.items():
        key = (_with_alias(caller, aliases), _with_alias(named, aliases))
        answers[key] = answers.get(key, frozenset()) | {_with_alias(point, aliases) for point in points}
    return replace(survey, classes={key: class_of(of_class) for key, of_class in parts.items()}, answers=answers)


def _with_alias(point: Point, aliases: Aliases) -> Point:
    return replace(point, service=renamed(point.service, aliases))


def _renamed(kinds: Kinds, meant: Mapping[tuple[Point, Point], Point], known: dict[CallTree, CallTree]) -> Kinds:
    renamed: Counter[CallTree] = Counter()
    for tree, traces in kinds.items():
        renamed[_with_meant(tree, meant, known)] += traces
    return renamed


def _with_meant(
    tree: CallTree, meant: Mapping[tuple[Point, Point], Point], known: dict[CallTree, CallTree]
) -> CallTree:
    """Each that occurs in many is looked at once. Trees are at most `lineage.call_tree.MAX_DEPTH` deep, so that
    recursion is safe."""
    if tree in known:
        return known[tree]
    calls = []
    for call in tree.calls:
        inner = _with_meant(call, meant, known)
        point = meant.get((tree.point, call.point), call.point)
        calls.append(inner if point == call.point else replace(inner, point=point))
    orphans = [_with_meant(orphan, meant, known) for orphan in tree.orphans]
    if any(new is not old for new, old in zip([*calls, *orphans], [*tree.calls, *tree.orphans], strict=True)):
        known[tree] = replace(tree, calls=tuple(sorted(calls)), orphans=tuple(sorted(orphans)))
    else:
        known[tree] = tree
    return known[tree]
