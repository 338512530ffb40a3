"""How far sites are from log messages in the causal graph, and by which way (ANDURIL §5.2.2).

`reaches` is what faults are ranked by; `path` is what a report draws. Both can be told which functions ran:

- A report is about one round, of which it is known what ran. A chain through code that ran explains it, one through
  code that did not is wrong, however short. `path` takes the way with the fewest steps that were not observed.
- A ranking is about what might happen, and good runs know nothing of the code that runs after a fault alone. Yet a way
  through several functions that never ran is less likely than one through what this workload really does. So each
  function that did not run, and is entered on the way, makes it longer. Functions that said something in the failure
  log ran when it was written, and cost nothing; which others a fault may wake is for the front end to say, which knows
  what handlers call.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

from cutset.model.reproduction.result import CausalStep
from cutset.reproduce.collection import collection_paused
from cutset.reproduce.graph.causal import NOWHERE, CausalGraph, CausalNode, FunctionPlace
from cutset.reproduce.progress import Progress, nobody_watches

_NEVER_RAN = 2  # steps by which a way is longer for each function on it that did not run
_OFTEN = 2_000  # nodes between two signs of life

# By path: the first lines of functions that ran.
Executed = Mapping[str, Collection[int]]


@dataclass(frozen=True, slots=True)
class Reach:
    """How a site leads to an observable."""

    steps: int  # of a shortest path
    wanted: tuple[str, ...]  # types of which its exception must be to take a shortest path; (): any


@collection_paused()
def reaches(
    graph: CausalGraph, executed: Executed | None = None, progress: Progress = nobody_watches
) -> dict[int, dict[str, Reach]]:
    """Of every site that is in the graph, to every observable that it can lead to.

    One search from all observables at once, nearest first; a node is visited again only for observables, which are the
    bits of a number, that neither it nor one of its kin that wants more has been reached from yet.
    """
    names = list(graph.sources)
    found: dict[int, dict[str, Reach]] = defaultdict(dict)
    for visit, (distance, number, bits) in enumerate(_visits(graph, _ran(graph, executed))):
        node = graph.node(number)
        if node.site >= 0:
            _note(found[node.site], _named(names, bits), distance, node.wanted)
        if visit % _OFTEN == 0:
            progress(visit, 0, "following the log messages back to faults")
    return dict(found)


def _visits(  # noqa: C901 - the innermost loop of the whole analysis
    graph: CausalGraph, ran: Collection[FunctionPlace] | None
) -> Iterator[tuple[int, int, int]]:
    """Nodes with their distances, nearest first, and the observables that each is reached from for the first time."""
    waiting: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))  # bits, by distance and node
    for bit, sources in enumerate(graph.sources.values()):
        for source in sources:
            waiting[0][source] |= 1 << bit
    ways: dict[int, list[tuple[int, list[int]]]] = {}
    reached: dict[int, int] = defaultdict(int)
    kin: dict[object, list[int]] = defaultdict(list)
    distance = 0
    while waiting:
        for number, bits in waiting.pop(distance, {}).items():
            new = _news(graph, reached, kin, number, bits)
            if not new:
                continue
            reached[number] |= new
            yield distance, number, new
            if number not in ways:
                ways[number] = _ways(graph, number, ran)
            for steps, priors in ways[number]:
                bucket = waiting[distance + steps]
                for prior in priors:
                    if new & ~reached[prior]:
                        bucket[prior] |= new
        if distance not in waiting:  # a junction is no step
            distance += 1


def _ways(graph: CausalGraph, number: int, ran: Collection[FunctionPlace] | None) -> list[tuple[int, list[int]]]:
    """What is prior to a node, by the steps that it takes."""
    ways: dict[int, list[int]] = defaultdict(list)
    node = graph.node(number)
    for prior in graph.priors(number):
        ways[_steps(node, graph.node(prior), ran)].append(prior)
    return list(ways.items())


def _news(graph: CausalGraph, reached: Mapping[int, int], kin: dict[object, list[int]], number: int, bits: int) -> int:
    """The bits that neither the node nor one of its kin that wants as much was reached from before."""
    bits &= ~reached[number]
    node = graph.node(number)
    if not bits or node.kin is None:
        return bits
    mates = kin[node.kin]
    for other in mates:
        if bits & reached[other] and graph.covers(graph.node(other).wanted, node.wanted):
            bits &= ~reached[other]
    if bits and number not in mates:
        mates.append(number)
    return bits


def _ran(graph: CausalGraph, executed: Executed | None) -> set[FunctionPlace] | None:
    """None: nothing is known. What the failure log was written by ran then."""
    if not executed:
        return None
    logged = {graph.node(source).function for sources in graph.sources.values() for source in sources}
    return logged | {(path, line) for path, lines in executed.items() for line in lines}


def _steps(node: CausalNode, prior: CausalNode, ran: Collection[FunctionPlace] | None) -> int:
    steps = 0 if node.junction else prior.steps
    if ran is None or prior.function in (node.function, NOWHERE) or prior.function in ran:
        return steps
    return steps + _NEVER_RAN


def _note(found: dict[str, Reach], names: Iterable[str], steps: int, wanted: tuple[str, ...]) -> None:
    for name in names:
        known = found.get(name)
        if known is None:
            found[name] = Reach(steps, wanted)
        elif known.steps == steps and known.wanted:
            found[name] = Reach(steps, tuple(dict.fromkeys((*known.wanted, *wanted))) if wanted else ())


def _named(names: Sequence[str], bits: int) -> Iterator[str]:
    while bits:
        lowest = bits & -bits
        yield names[lowest.bit_length() - 1]
        bits ^= lowest


def path(graph: CausalGraph, site: int, observable: str, executed: Executed | None = None) -> list[CausalStep]:
    """A causal chain from the site to the log message, of the fewest steps in functions that did not run in the round
    that showed it, and else a shortest one; empty if there is none."""
    ran = {(where, line) for where, lines in (executed or {}).items() for line in lines}
    order = count()  # of equals, the first
    waiting: list[tuple[int, int, int, int, int]] = []
    for source in graph.sources.get(observable, ()):
        heappush(waiting, (0, 0, next(order), source, -1))
    came_from: dict[int, int] = {}
    while waiting:
        unseen, steps, _, number, following = heappop(waiting)
        if number in came_from:
            continue
        came_from[number] = following
        node = graph.node(number)
        if node.site == site:
            return list(_chain(graph, came_from, number, ran if executed else None))
        for each in graph.priors(number):
            if each not in came_from:
                prior = graph.node(each)
                missed = bool(executed) and prior.function != NOWHERE and prior.function not in ran
                heappush(waiting, (unseen + missed, steps + _steps(node, prior, None), next(order), each, number))
    return []


def _chain(
    graph: CausalGraph, came_from: Mapping[int, int], number: int, ran: Collection[FunctionPlace] | None
) -> Iterator[CausalStep]:
    while number >= 0:
        node = graph.node(number)
        if not node.junction:
            known = ran is not None and node.function != NOWHERE
            yield replace(graph.step(number), observed=node.function in (ran or ()) if known else None)
        number = came_from[number]
