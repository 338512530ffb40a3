"""Services that have two names, their sidecar's and their own: the sidecar's stands for both, in every trace.

Where a sidecar's span is around a service's own, a reader knows that both are of one service. Elsewhere, as in work
that a service begins by itself, only its own name shows; what other traces told of it still holds.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from cutset.model.call_tree import CallTree

Aliases = Mapping[str, str]  # a service's own name -> its sidecar's


def sole_names(seen: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Of own names that were seen beside sidecars: those that one service alone has, and no sidecar."""
    sidecars = {name for names in seen.values() for name in names}
    return {own: next(iter(names)) for own, names in seen.items() if len(names) == 1 and own not in sidecars}


def renamed(service: str, aliases: Aliases) -> str:
    """Also of a store that is called its caller's: `redis(the-cart)`."""
    kind, bracket, owner = service.removesuffix(")").partition("(")
    if bracket and owner in aliases:
        return f"{kind}({aliases[owner]})"
    return aliases.get(service, service)


def with_aliases(tree: CallTree, aliases: Aliases, known: dict[CallTree, CallTree] | None = None) -> CallTree:
    """`known` remembers what was renamed, for trees that have much in common. They are at most
    `lineage.call_tree.MAX_DEPTH` deep, so that recursion is safe."""
    same = {} if known is None else known
    if tree not in same:
        inside = [
            tuple(sorted(with_aliases(call, aliases, same) for call in some)) for some in (tree.calls, tree.orphans)
        ]
        service = renamed(tree.point.service, aliases)
        if (service, inside) == (tree.point.service, [tree.calls, tree.orphans]):
            same[tree] = tree
        else:
            point = replace(tree.point, service=service)
            same[tree] = replace(tree, point=point, calls=inside[0], orphans=inside[1])
    return same[tree]
