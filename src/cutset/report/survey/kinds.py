"""What tells the kinds of executions of a request class apart, in words.

Each is described by its calls, or by what differs from a kind above it, whichever is shorter.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from cutset.model.call_tree import UNKNOWN, CallTree
from cutset.model.wording import count

MOST_NAMES = 6  # of calls, one after another
REQUEST = "the request"
BY_UNKNOWN = "by an unknown caller"


class _Detail(IntEnum):
    """How calls are named. The first that tells two kinds apart is used."""

    SERVICE = 0  # who called what
    API = 1  # and to answer what
    PATH = 2  # all the way from the request


_Calls = Counter[tuple[str, bool]]  # by name, and whether they failed


@dataclass(frozen=True, slots=True)
class _Difference:
    more: tuple[str, ...]
    fewer: tuple[str, ...]
    otherwise: tuple[str, ...]  # the same calls, of which another number fails

    def __len__(self) -> int:
        return len(self.more) + len(self.fewer) + len(self.otherwise)


def kinds_in_words(kinds: Sequence[tuple[CallTree, int]]) -> Iterator[str]:
    """Of each, given with its traces: `554 × 21 calls: as 1, with frontend>ads/GetAds`. They are numbered from 1."""
    width = max((len(f"{traces:,}") for _, traces in kinds), default=0)
    for place, (tree, traces) in enumerate(kinds):
        calls = count(sum(1 for _ in tree.callees()), "call")
        words = _described(tree, [above for above, _ in kinds[:place]])
        yield f"{traces:>{width},} × {calls}{f': {words}' if words else ''}"


def _described(tree: CallTree, above: Sequence[CallTree]) -> str:
    """By its calls, unless one above has the same; else by what differs from the one that has the most in common."""
    own = _between(_calls(tree, _Detail.SERVICE), Counter({(REQUEST, False): 1}))
    found = [_difference(tree, other) for other in above]
    nearest = min(range(len(above)), key=lambda place: (-found[place][0], len(found[place][1])), default=-1)
    if nearest < 0 or (found[nearest][0] == 0 and len(own) < len(found[nearest][1])):
        return ", ".join(filter(None, (_listed(own.more), _listed(own.otherwise))))
    agreed, difference = found[nearest]
    if agreed == len(_Detail):
        return f"the calls of {max(place for place, each in enumerate(found) if each[0] == agreed) + 1}, inside others"
    parts = [
        f"{word} {_listed(names)}"
        for word, names in (("with", difference.more), ("without", difference.fewer), ("but", difference.otherwise))
        if names
    ]
    return ", ".join([f"as {nearest + 1}", *parts])


def _difference(tree: CallTree, other: CallTree) -> tuple[int, _Difference]:
    """With how many details do not show it."""
    for detail in _Detail:
        if difference := _between(_calls(tree, detail), _calls(other, detail)):
            return detail, difference
    return len(_Detail), _Difference((), (), ())


def _between(ours: _Calls, theirs: _Calls) -> _Difference:
    more, fewer = ours - theirs, theirs - ours
    otherwise = []
    for name in dict.fromkeys(name for name, _ in more):
        for failed, words in ((True, "fails"), (False, "does not fail")):
            if changed := min(more[name, failed], fewer[name, not failed]):
                otherwise.append(f"{_times(changed, name)} {words}")
                more[name, failed] -= changed
                fewer[name, not failed] -= changed
    added = (f"{_times(times, name)}{' that fails' * failed}" for (name, failed), times in more.items() if times)
    gone = (_times(times, name) for (name, _), times in fewer.items() if times)
    return _Difference(tuple(added), tuple(gone), tuple(otherwise))


def _times(times: int, name: str) -> str:
    return name if times == 1 else f"{times:,} × {name}"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMES + 1:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES:,} more"


def _calls(tree: CallTree, detail: _Detail) -> _Calls:
    calls: _Calls = Counter({(REQUEST if detail is _Detail.SERVICE else str(tree.point), tree.failed): 1})
    for orphan in tree.orphans:
        if orphan.point.api != UNKNOWN:
            calls[f"{orphan.point} {BY_UNKNOWN}", orphan.failed] += 1
    pending = [(each, str(each.point)) for each in (*tree.orphans, tree)]
    while pending:
        caller, path = pending.pop()
        for callee in caller.calls:
            within = f"{path} > {callee.point}"
            name = {
                _Detail.SERVICE: str(replace(callee.point, caller=caller.point.service)),
                _Detail.API: f"{replace(callee.point, caller=caller.point.service)} to answer {caller.point.api}",
                _Detail.PATH: within,
            }[detail]
            calls[name, callee.failed] += 1
            pending.append((callee, within))
    return calls
