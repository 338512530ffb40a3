"""Which exceptions a call can raise, best first, each with its reason (ANDURIL §4.1, external-exception nodes).

ANDURIL reads them from the `throws` clauses of Java. Here they come from five sources, in this order: what the failure
log names, if the call can raise it; what the handlers around the call catch; a table of the standard library's faults
(`stdlib_exceptions.yaml`); the exception classes of the called library, those first that the source of what is called
names; and, when nothing is known, two generic ones. An exception of a library arises at calls that lead into it, and
at no others. Exceptions that steer a program (`queue.Empty`, `KeyError`) are proposed only where a handler names them,
those that end it only where something can end it: `CancelledError` at an `await` or in a handler, others in the log.
"""

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from itertools import groupby, zip_longest

from cutset.reproduce.python.exception_making import Library, fault_of
from cutset.reproduce.python.exception_table import Called, CallRule, ExceptionFault, called, table, words_of
from cutset.reproduce.python.exception_tree import BUILTIN, ExceptionClass
from cutset.reproduce.python.library_source import ANY_OWNER, Reached

PER_HANDLER = 3  # a base class of a library catches dozens
FROM_LOG = 4
FROM_LIBRARY = 5
INTERNAL_DEPTH = 3  # classes that many modules below the library's plainest ones are its own affair
CATCH_ALL = frozenset({"Exception", "BaseException"})
TOO_BROAD = CATCH_ALL | {"OSError", "RuntimeError", "ValueError"}  # that a call raises one tells nothing of subclasses
_ENDING = frozenset({"GeneratorExit", "KeyboardInterrupt", "SystemExit"})  # a program, or a part of it, from outside

_SYSTEM = frozenset({"fcntl", "mmap", "os", "posix", "resource", "select", "signal", "socket", "termios"})

_GENERIC = ("OSError(5, 'Input/output error')", "RuntimeError('unexpected error')")
_CLASS_NAME = re.compile(r"\.[A-Z]\w*$")


class Specificity(IntEnum):
    """How well founded a candidate is."""

    GENERIC = 1  # nothing is known of the call
    GUESS = 2  # the call may be of the kind that raises it
    LIBRARY = 3  # the called library defines it, for what sounds like a fault
    SOURCE = 4  # the source of what is called names it, too
    TABLE = 5  # such calls of the standard library raise it
    HANDLER = 6  # the program is prepared for it
    LOG = 7  # it happened


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

    library: Library
    known: tuple[_Proposal, ...]
    own: frozenset[str]  # classes of the libraries that it may lead to, and out of the process
    leads_to: frozenset[str]  # these libraries
    packages: frozenset[str]  # that are named in the calling module
    reaches_out: bool
    asks_system: bool  # it is a call of the operating system, whatever the table knows of it
    client: bool  # it is called on what sounds like a connection to something else
    awaited: bool

    @property
    def founded(self) -> list[_Proposal]:
        return [proposal for proposal in self.known if proposal.specificity >= Specificity.LIBRARY]


def candidates(
    call: str,
    resolved: str,
    handlers: Sequence[str],
    in_log: Sequence[tuple[str, str]],
    library: Library,
    *,
    packages: Collection[str] | None = None,
    inside: bool = False,
    awaited: bool = False,
    imports: Sequence[str] = (),
    wanted: Sequence[str] = (),
) -> list[LikelyException]:
    """The exceptions to try at a call, best first; none if no fault of the environment reaches it.

    `call` is the source of what is called, `resolved` its dotted name if known, `handlers` the types caught around it,
    innermost first, `in_log` types and messages of the failure log, `packages` those of the library that the call may
    lead to (None: all), `inside` whether only through analysed code, where they arise themselves, `imports` the modules
    that the calling module imports, `wanted` the types that get to the handler that the message comes from (none: any).
    """
    leads_to = frozenset(library.packages if packages is None else library.packages.keys() & set(packages))
    scene = _scene(call, resolved, library, leads_to, inside=inside, awaited=awaited, imports=imports)
    logged = {library.canonical(name) for name, _ in in_log}
    proposals = [
        *_from_log(scene, handlers, in_log),
        *(proposal for handler in dict.fromkeys(handlers) for proposal in _from_handler(scene, handler, logged)),
        *scene.known,
    ]
    types = {library.canonical(name) for name in wanted}
    found = [
        LikelyException(p.fault.effect, p.reason, p.specificity, leads_on=_is_one_of(p.fault.kind, types, library))
        for p in _in_order(proposals)
    ]
    return sorted(found, key=lambda candidate: (not candidate.founded, not candidate.leads_on))


def _is_one_of(kind: str, types: Collection[str], library: Library) -> bool:
    return not types or "" in types or not library.line(kind).isdisjoint(types)


def _scene(
    call: str,
    resolved: str,
    library: Library,
    leads_to: frozenset[str],
    *,
    inside: bool,
    awaited: bool,
    imports: Sequence[str],
) -> _Scene:
    told = called(call, resolved, imports, awaited=awaited)
    packages = frozenset(name.partition(".")[0] for name in (resolved, *imports) if name)
    callee = resolved.partition(".")[0]
    own = () if told.standard else (callee,) if callee in leads_to else tuple(sorted(leads_to))
    # Another library may raise through the called one; a module that does not import any may be handed a client.
    near = callee in own or (not resolved and (told.client or not imports or not packages.isdisjoint(own)))
    vague = told.vague or inside or not near
    known = [*_from_table(told), *_from_library(call, resolved, own, imports, library, vague=vague)]
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
    kinds = frozenset(
        kind.dotted
        for package in own
        if not ((reached := _reached(call, resolved, package, library)) and reached.stays_inside)
        for kind in library.packages[package]
    )
    system = callee in _SYSTEM and not resolved.startswith("os.path.")
    return _Scene(library, tuple(known), kinds, leads_to, packages, told.reaches_out, system, told.client, awaited)


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
    call: str, resolved: str, own: Sequence[str], imports: Sequence[str], library: Library, *, vague: bool
) -> Iterator[_Proposal]:
    imported = frozenset(module.partition(".")[0] for module in imports).intersection(own)
    named = _defining(call, own, library) if not resolved else frozenset(own)
    for kind in _telling_classes(tuple(own), imported, library):
        package, _, _ = kind.dotted.partition(".")
        if sounds := _sounds_like(kind.dotted):
            told = table().library[sounds[0]]
            reason = f"`{package}` defines it: by its name, for when {told.when}"
            fault = fault_of(kind.dotted, told.message, told.when, library)
        else:
            reason = f"`{package}` derives its exceptions from it"
            fault = fault_of(kind.dotted, "", "something fails", library)
        specificity = Specificity.GUESS if vague or package not in named else Specificity.LIBRARY
        reached = _reached(call, resolved, package, library)
        if reached and (where := reached.raised.get(kind.dotted.rpartition(".")[2])):
            reason, specificity = f"`{where}` of `{package}` raises it, which this call leads to", Specificity.SOURCE
        elif (reached and reached.stays_inside) or not sounds:
            specificity = Specificity.GUESS
        yield _Proposal(fault, reason, specificity)


def _reached(call: str, resolved: str, package: str, library: Library) -> Reached | None:
    """What a call leads to in a package that it may be of."""
    source = library.sources.get(package)
    if source is None or (resolved and not resolved.startswith(f"{package}.")):
        return None
    return source.reached(resolved or f"{ANY_OWNER}.{call.rpartition('.')[2]}")


def _defining(call: str, packages: Iterable[str], library: Library) -> frozenset[str]:
    """Of packages that a call may lead to: those with a function of its name, if any has one; else all of them."""
    name = call.rpartition(".")[2]
    having = [package for package in packages if name in library.functions(package)]
    return frozenset(having or packages)


def _telling_classes(
    packages: tuple[str, ...], imported: frozenset[str], library: Library
) -> tuple[ExceptionClass, ...]:
    """Classes whose names tell faults, one of each sort before the second of any; last, the base of most classes."""
    if (packages, imported) not in library.telling:  # most sites of a program lead to the same few libraries
        library.telling[packages, imported] = _find_telling(packages, imported, library)
    return library.telling[packages, imported]


def _find_telling(packages: Sequence[str], imported: frozenset[str], library: Library) -> tuple[ExceptionClass, ...]:
    own = [kind for package in packages for kind in library.packages[package]]
    deepest = min(map(_depth, own), default=0) + INTERNAL_DEPTH
    shown = sorted((kind for kind in own if _depth(kind) < deepest), key=lambda kind: _plainness(kind, imported))
    sorts: list[list[ExceptionClass]] = [[] for _ in table().library]
    for kind in shown:
        if sounds := _sounds_like(kind.dotted):
            sorts[sounds[0]].append(kind)
    found = [kind for row in zip_longest(*sorts) for kind in row if kind][:FROM_LIBRARY]
    derived = Counter(base for kind in own for base in library.line(kind.dotted))
    return (*found, *sorted(shown, key=lambda kind: -derived[kind.dotted])[:1])


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


def usual_message(dotted: str) -> str:
    """What exceptions of such a name say."""
    sounds = _sounds_like(dotted)
    return table().library[sounds[0]].message if sounds else ""


def _from_handler(scene: _Scene, written: str, logged: Collection[str]) -> Iterator[_Proposal]:
    handler = scene.library.canonical(written)
    if handler in CATCH_ALL or (handler in _ENDING and handler not in logged):
        return
    around = f"`except {written}` is around the call"
    caught = [p for p in scene.founded if handler in scene.library.line(p.fault.kind)]
    if _sounds_like(handler):  # else it is the base of what happens
        caught.sort(key=lambda proposal: proposal.fault.kind != handler)
    for proposal in caught[:PER_HANDLER]:
        reason = f"{around} and catches it; it arises when {proposal.fault.when}"
        yield replace(proposal, reason=reason, specificity=Specificity.HANDLER)
    if any(p.fault.kind == handler for p in caught) or (caught and _sounds_like(handler) is None):
        return
    of_outside = "OSError" in scene.library.line(handler)
    if _is_class(handler, scene) and (scene.reaches_out or scene.asks_system or not of_outside):
        fits = handler not in table().control_flow and _fits(handler, None, scene)
        specificity = Specificity.HANDLER if fits else Specificity.GUESS
        yield _Proposal(fault_of(handler, "", "it is named there", scene.library), around, specificity)


def _from_log(scene: _Scene, handlers: Sequence[str], in_log: Iterable[tuple[str, str]]) -> Iterator[_Proposal]:
    left = FROM_LOG
    for name, message in in_log:
        kind = _class_here(name, scene)
        if kind in CATCH_ALL or not _is_class(kind, scene) or not (left and scene.reaches_out):
            continue
        line = scene.library.line(kind)
        handled = not line.isdisjoint({scene.library.canonical(handler) for handler in handlers} - CATCH_ALL)
        ends = "BaseException" in line and "Exception" not in line
        steers = kind in table().control_flow or (ends and not scene.awaited)
        if steers and not handled:
            continue
        fault = fault_of(kind, message, "it is in the log", scene.library)
        fits = not steers and _fits(kind, fault.errno, scene)
        shown = name.removeprefix("builtins.")
        reason = f"the log names it: `{shown}: {message}`" if message else f"the log names `{shown}`"
        yield _Proposal(fault, reason, Specificity.LOG if fits else Specificity.GUESS)
        left -= fits


def _class_here(name: str, scene: _Scene) -> str:
    """Which class a name of the log means at a call: logs often have the last part alone, and libraries share names."""
    kind = scene.library.canonical(name)
    if name.startswith("builtins.") or kind in scene.own or ("." in kind and _is_class(kind, scene)):
        return kind
    raised = [proposal.fault.kind for proposal in scene.founded]
    return min((one for one in (*scene.own, *raised) if one.endswith(f".{name}")), key=len, default=kind)


def _fits(kind: str, errno: int | None, scene: _Scene) -> bool:
    """Whether the call can raise it, by what is known of the call."""
    if kind == "asyncio.CancelledError":
        return scene.awaited
    if kind in scene.own:
        return True
    known = [p.fault for p in scene.founded if p.fault.kind != "asyncio.CancelledError"]
    line = scene.library.line(kind)
    if not known:
        return scene.reaches_out and (scene.client or scene.awaited) and ("OSError" in line or kind in table().faults)
    if kind == "OSError" and errno in table().errnos:
        return any(fault.errno == errno for fault in known)
    return any(
        kind in scene.library.line(fault.kind) or (fault.kind in line and fault.kind not in TOO_BROAD)
        for fault in known
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


def _is_class(name: str, scene: _Scene) -> bool:
    """Whether it is an exception that can come out of what the call leads to."""
    if name in scene.library.by_name:
        return name.partition(".")[0] in scene.leads_to
    if name in BUILTIN or name in table().bases:
        return True
    # Libraries written in C have classes that no source shows.
    package, dot, _ = name.partition(".")
    return bool(dot) and package in scene.packages - sys.stdlib_module_names and _CLASS_NAME.search(name) is not None
