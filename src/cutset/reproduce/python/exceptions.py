"""Which exceptions a call can raise, best first, each with its reason (ANDURIL §4.1, external-exception nodes).

ANDURIL reads them from the `throws` clauses of Java. Here they come from five sources, in this order: what the failure
log names, if the call can raise it; what the handlers around the call catch; a table of the standard library's faults
(`stdlib_exceptions.yaml`); the exception classes of the called library; and, when nothing is known, two generic ones.
Exceptions that steer a program (`queue.Empty`, `KeyError`) are proposed only where a handler names them, those that
end it (`CancelledError`) only where something can end it: at an `await`, in a handler, in the log.
"""

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache, partial
from itertools import groupby, zip_longest

from cutset.reproduce.python.exception_table import Called, CallRule, ExceptionFault, called, table, words_of
from cutset.reproduce.python.exception_tree import BUILTIN, MESSAGE, ExceptionClass

PER_HANDLER = 3  # a base class of a library catches dozens
FROM_LOG = 4
FROM_LIBRARY = 5
INTERNAL_DEPTH = 3  # classes that many modules below the library's plainest ones are its own affair
MESSAGE_LENGTH = 200  # characters of a log's message that are kept
CATCH_ALL = frozenset({"Exception", "BaseException"})
TOO_BROAD = CATCH_ALL | {"OSError", "RuntimeError", "ValueError"}  # that a call raises one tells nothing of subclasses

_ERRNO = re.compile(r"^\[Errno (-?\d+)\] (.*?)(?:: '([^']*)')?$")
_WRAPPED = re.compile(r"^\([\w.]+\) ")
_GENERIC = ("OSError(5, 'Input/output error')", "RuntimeError('unexpected error')")
_CLASS_NAME = re.compile(r"\.[A-Z]\w*$")


class Specificity(IntEnum):
    """How well founded a candidate is."""

    GENERIC = 1  # nothing is known of the call
    GUESS = 2  # the call may be of the kind that raises it
    LIBRARY = 3  # the called library defines it, for what sounds like a fault
    TABLE = 4  # such calls of the standard library raise it
    HANDLER = 5  # the program is prepared for it
    LOG = 6  # it happened


@dataclass(frozen=True, slots=True)
class LikelyException:
    effect: str  # the expression that makes the exception
    reason: str
    specificity: Specificity
    leads_on: bool = True  # it is of one of the types that lead to the message in question

    @property
    def founded(self) -> bool:
        return self.specificity >= Specificity.LIBRARY


@dataclass(frozen=True, slots=True)
class _Proposal:
    fault: ExceptionFault
    reason: str
    specificity: Specificity


@dataclass(frozen=True, slots=True)
class _Scene:
    """A call, and all that is known of it but for handlers and the log."""

    tree: Mapping[str, ExceptionClass]  # by all names
    known: tuple[_Proposal, ...]
    own: frozenset[str]  # classes of the libraries that it may lead to
    packages: frozenset[str]  # that are named in the calling module
    reaches_out: bool
    client: bool  # it is called on what sounds like a connection to something else
    awaited: bool


def candidates(
    call: str,
    resolved: str,
    handlers: Sequence[str],
    in_log: Sequence[tuple[str, str]],
    library: Sequence[ExceptionClass],
    *,
    awaited: bool = False,
    imports: Sequence[str] = (),
    wanted: Sequence[str] = (),
) -> list[LikelyException]:
    """The exceptions to try at a call, best first; none if no fault of the environment reaches it.

    `call` is the source of what is called, `resolved` its dotted name if known, `handlers` the types caught around it,
    innermost first, `in_log` types and messages of the failure log, `library` the classes of the packages that the call
    may lead to, `imports` the modules that the calling module imports, `wanted` the types that get to the handler that
    the message comes from (none: any).
    """
    scene = _scene(call, resolved, library, awaited=awaited, imports=imports)
    proposals = [
        *_from_log(scene, handlers, in_log),
        *(proposal for handler in dict.fromkeys(handlers) for proposal in _from_handler(scene, handler)),
        *scene.known,
    ]
    types = {_canonical(name, scene.tree) for name in wanted}
    found = [
        LikelyException(p.fault.effect, p.reason, p.specificity, leads_on=_is_one_of(p.fault.kind, types, scene.tree))
        for p in _in_order(proposals)
    ]
    return sorted(found, key=lambda candidate: (not candidate.founded, not candidate.leads_on))


def _is_one_of(kind: str, types: Collection[str], tree: Mapping[str, ExceptionClass]) -> bool:
    return not types or "" in types or not _line(kind, tree).isdisjoint(types)


def construct(name: str, message: str, library: Sequence[ExceptionClass] = ()) -> str:
    """An expression that makes an exception of this class, with this message if its constructor takes one."""
    tree = _by_name(library)
    return _fault_of(_canonical(name, tree), message, "", tree).effect


def _scene(
    call: str, resolved: str, library: Sequence[ExceptionClass], *, awaited: bool, imports: Sequence[str]
) -> _Scene:
    told = called(call, resolved, imports, awaited=awaited)
    packages = frozenset(name.partition(".")[0] for name in (resolved, *imports) if name)
    of_callee = [kind for kind in library if kind.dotted.startswith(f"{resolved.partition('.')[0]}.")]
    own = [] if told.standard else of_callee or library
    # Another library may raise through the called one; a module that does not import any may be handed a client.
    near = of_callee or (not resolved and (told.client or not imports or packages & _packages(own)))
    tree = _by_name(library)
    known = [*_from_table(told), *_from_library(own, imports, tree, vague=told.vague or not near)]
    known.sort(key=lambda proposal: -proposal.specificity)
    if awaited:  # skips `except Exception`, so it is worth an early try, after the fault that is most likely
        founded = bool(known) and known[0].specificity >= Specificity.LIBRARY
        specificity = known[0].specificity if founded else Specificity.TABLE
        cancelled = ExceptionFault("asyncio.CancelledError", "asyncio.CancelledError()", "somebody cancels the task")
        reason = "any `await` raises it when its task is cancelled: by a time limit, by a client that leaves"
        known.insert(int(founded), _Proposal(cancelled, reason, specificity))
    if told.reaches_out and not told.vague:
        for effect in _GENERIC:
            fault = ExceptionFault(effect.partition("(")[0], effect, "something fails")
            known.append(_Proposal(fault, "more is not known of this call", Specificity.GENERIC))
    return _Scene(
        tree, tuple(known), frozenset(kind.dotted for kind in own), packages, told.reaches_out, told.client, awaited
    )


def _from_table(told: Called) -> Iterator[_Proposal]:
    for weight, rules in groupby(told.rules, key=lambda pair: pair[1]):
        columns = ([_of_rule(rule, fault, weight) for fault in rule.faults] for rule, _ in rules)
        for row in zip_longest(*columns):  # rules that fit equally well take turns
            yield from filter(None, row)


def _of_rule(rule: CallRule, fault: ExceptionFault, weight: int) -> _Proposal:
    if weight:
        return _Proposal(fault, f"{rule.what} raises it when {fault.when}", Specificity.TABLE)
    return _Proposal(fault, f"this may be {rule.what}, which raises it when {fault.when}", Specificity.GUESS)


def _from_library(
    own: Sequence[ExceptionClass], imports: Sequence[str], tree: Mapping[str, ExceptionClass], *, vague: bool
) -> Iterator[_Proposal]:
    imported = frozenset(module.partition(".")[0] for module in imports) & _packages(own)
    for kind in _telling_classes(tuple(own), imported):
        package = kind.dotted.partition(".")[0]
        if sounds := _sounds_like(kind.dotted):
            told = table().library[sounds[0]]
            reason = f"`{package}` defines it: by its name, for when {told.when}"
            fault = _fault_of(kind.dotted, told.message, told.when, tree)
        else:
            reason = f"`{package}` derives its exceptions from it"
            fault = _fault_of(kind.dotted, "", "something fails", tree)
        yield _Proposal(fault, reason, Specificity.GUESS if vague else Specificity.LIBRARY)


@lru_cache(maxsize=256)  # most sites of a program lead to the same few libraries
def _telling_classes(own: tuple[ExceptionClass, ...], imported: frozenset[str]) -> tuple[ExceptionClass, ...]:
    """Classes whose names tell faults, one of each sort before the second of any; last, the base of most classes."""
    deepest = min(map(_depth, own), default=0) + INTERNAL_DEPTH
    shown = sorted((kind for kind in own if _depth(kind) < deepest), key=lambda kind: _plainness(kind, imported))
    sorts: list[list[ExceptionClass]] = [[] for _ in table().library]
    for kind in shown:
        if sounds := _sounds_like(kind.dotted):
            sorts[sounds[0]].append(kind)
    found = [kind for row in zip_longest(*sorts) for kind in row if kind][:FROM_LIBRARY]
    tree = _by_name(own)
    derived = Counter(base for kind in own for base in _line(kind.dotted, tree))
    return (*found, *sorted(shown, key=lambda kind: -derived[kind.dotted])[:1])


def _packages(kinds: Iterable[ExceptionClass]) -> set[str]:
    return {kind.dotted.partition(".")[0] for kind in kinds}


def _depth(kind: ExceptionClass) -> int:
    return min(name.count(".") for name in (kind.dotted, *kind.aliases))


def _plainness(kind: ExceptionClass, imported: Iterable[str]) -> tuple[bool, bool, int, int, int, int, str]:
    """First what the module imports, what is public, what tells most, is easily constructed, has a short name."""
    package, _, name = kind.public.partition(".")
    _, rank = _sounds_like(kind.dotted) or (0, 0)
    return package not in imported, "._" in kind.public, _depth(kind), rank, kind.guessed, len(name), kind.dotted


@lru_cache(maxsize=10_000)
def _sounds_like(dotted: str) -> tuple[int, int] | None:
    """The sort of fault that a class's name tells, and the rank of the word that tells it.

    The last such word counts: a `ConnectTimeout` is a time-out.
    """
    words = words_of(dotted.rpartition(".")[2])
    if not table().usage_words.isdisjoint(words):
        return None
    for word in reversed(words):
        for sort, told in enumerate(table().library):
            if word in told.words:
                return sort, told.words.index(word)
    return None


def _from_handler(scene: _Scene, written: str) -> Iterator[_Proposal]:
    handler = _canonical(written, scene.tree)
    if handler in CATCH_ALL:
        return
    around = f"`except {written}` is around the call"
    caught = [
        p for p in scene.known if p.specificity >= Specificity.LIBRARY and handler in _line(p.fault.kind, scene.tree)
    ]
    if _sounds_like(handler):  # else it is the base of what happens
        caught.sort(key=lambda proposal: proposal.fault.kind != handler)
    for proposal in caught[:PER_HANDLER]:
        reason = f"{around} and catches it; it arises when {proposal.fault.when}"
        yield replace(proposal, reason=reason, specificity=Specificity.HANDLER)
    if any(p.fault.kind == handler for p in caught) or (caught and _sounds_like(handler) is None):
        return
    if _is_class(handler, scene):
        fits = handler not in table().control_flow and _fits(handler, None, scene)
        specificity = Specificity.HANDLER if fits else Specificity.GUESS
        yield _Proposal(_fault_of(handler, "", "it is named there", scene.tree), around, specificity)


def _from_log(scene: _Scene, handlers: Sequence[str], in_log: Iterable[tuple[str, str]]) -> Iterator[_Proposal]:
    left = FROM_LOG
    for name, message in in_log:
        # A library's exception is often logged without its module.
        same_name = [dotted for dotted in scene.own if dotted.endswith(f".{name}")]
        kind = min(same_name, key=len) if same_name else _canonical(name, scene.tree)
        if kind in CATCH_ALL or not _is_class(kind, scene) or not (left and scene.reaches_out):
            continue
        line = _line(kind, scene.tree)
        handled = not line.isdisjoint({_canonical(handler, scene.tree) for handler in handlers} - CATCH_ALL)
        ends = "BaseException" in line and "Exception" not in line
        steers = kind in table().control_flow or (ends and not scene.awaited)
        if steers and not handled:
            continue
        fault = _fault_of(kind, message, "it is in the log", scene.tree)
        fits = not steers and _fits(kind, fault.errno, scene)
        reason = f"the log names it: `{name}: {message}`" if message else f"the log names `{name}`"
        yield _Proposal(fault, reason, Specificity.LOG if fits else Specificity.GUESS)
        left -= fits


def _fits(kind: str, errno: int | None, scene: _Scene) -> bool:
    """Whether the call can raise it, by what is known of the call."""
    if kind == "asyncio.CancelledError":
        return scene.awaited
    if kind in scene.own:
        return True
    founded = [p.fault for p in scene.known if p.specificity >= Specificity.LIBRARY]
    known = [fault for fault in founded if fault.kind != "asyncio.CancelledError"]
    line = _line(kind, scene.tree)
    if not known:
        return scene.reaches_out and (scene.client or scene.awaited) and ("OSError" in line or kind in table().faults)
    if kind == "OSError" and errno in table().errnos:
        return any(fault.errno == errno for fault in known)
    return any(
        kind in _line(fault.kind, scene.tree) or (fault.kind in line and fault.kind not in TOO_BROAD) for fault in known
    )


def _in_order(proposals: Iterable[_Proposal]) -> Iterator[_Proposal]:
    """Well-founded ones first; among equals, a class that was proposed before gives way to others."""
    seen_kinds: set[str] = set()
    seen_effects: set[str] = set()
    ranked = sorted(proposals, key=lambda proposal: -proposal.specificity)
    for _, equals in groupby(ranked, key=lambda proposal: proposal.specificity):
        repeated = []
        for proposal in equals:
            if proposal.fault.effect in seen_effects:
                continue
            seen_effects.add(proposal.fault.effect)
            if proposal.fault.kind not in seen_kinds:
                seen_kinds.add(proposal.fault.kind)
                yield proposal
            elif proposal.specificity >= Specificity.TABLE:  # another number may matter, a guess at one does not
                repeated.append(proposal)
        yield from repeated


def _by_name(library: Iterable[ExceptionClass]) -> dict[str, ExceptionClass]:
    return {name: kind for kind in library for name in (*kind.aliases, kind.dotted)}


def _canonical(name: str, tree: Mapping[str, ExceptionClass]) -> str:
    name = name.removeprefix("builtins.")
    return tree[name].dotted if name in tree else table().aliases.get(name, name)


def _is_class(name: str, scene: _Scene) -> bool:
    if name in scene.tree or name in BUILTIN or name in table().bases:
        return True
    # Libraries written in C have classes that no source shows.
    package, dot, _ = name.partition(".")
    return bool(dot) and package in scene.packages - sys.stdlib_module_names and _CLASS_NAME.search(name) is not None


def _line(name: str, tree: Mapping[str, ExceptionClass]) -> set[str]:
    """The class and all that it derives from."""
    found = [name]
    for kind in found:  # grows meanwhile
        if kind in tree:
            found += [base for base in map(partial(_canonical, tree=tree), tree[kind].bases) if base not in found]
        elif kind in BUILTIN:
            found += [base.__name__ for base in BUILTIN[kind].__mro__[1:-1] if base.__name__ not in found]
        elif kind in table().bases:
            found.append(table().bases[kind])
    return set(found)


def _fault_of(kind: str, message: str, when: str, tree: Mapping[str, ExceptionClass]) -> ExceptionFault:
    """A fault of this class, with the message as far as its constructor takes one."""
    text = message.strip().partition("\n")[0][:MESSAGE_LENGTH]
    if kind in tree:
        if f"Exception({MESSAGE})" in tree[kind].arguments:
            text = _WRAPPED.sub("", text)  # it names the class of what it wraps by itself
        arguments = tree[kind].arguments.replace(MESSAGE, repr(text or _spelled(kind)))
        return ExceptionFault(kind, f"{tree[kind].public}({arguments})", when)
    numbered = _ERRNO.match(text)
    if numbered and "OSError" in _line(kind, tree):
        details = ", ".join([numbered[1], repr(numbered[2]), *([repr(numbered[3])] if numbered[3] else [])])
        return ExceptionFault(kind, f"{kind}({details})", when, int(numbered[1]))
    if kind in table().faults and not text:
        return table().faults[kind]
    arguments = table().arguments.get(kind, MESSAGE).replace(MESSAGE, repr(text or _spelled(kind)))
    return ExceptionFault(kind, f"{kind}({arguments})", when)


def _spelled(kind: str) -> str:
    return " ".join(words_of(kind.rpartition(".")[2]))
