"""What calls of the standard library raise when their environment fails: a table, and which of its rules fit a call.

The data are in `stdlib_exceptions.yaml`. A call is found by its dotted name where imports resolve it, and else by what
it is named: `.sendall` tells by itself, `.read` needs a receiver such as `sock` or a module that imports `socket`.
"""

import ast
import builtins
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LITERAL = "''"  # stands for a receiver that is text
_TELLING = 4  # the weight of a name that tells by itself, above a receiver's name and an import together


@dataclass(frozen=True, slots=True)
class ExceptionFault:
    kind: str  # dotted name of the class
    effect: str  # the expression that makes the exception
    when: str
    errno: int | None = None
    text: str = ""  # of the exception, where the table tells it


@dataclass(frozen=True, slots=True)
class CallRule:
    """A kind of call, and what it raises."""

    what: str
    modules: frozenset[str]
    callees: re.Pattern[str]
    methods: frozenset[str]
    functions: frozenset[str]  # last parts of its callees: ambiguous, where there is no receiver
    ambiguous: frozenset[str]
    receivers: frozenset[str]
    asynchronous: bool
    typical: bool
    faults: tuple[ExceptionFault, ...]


@dataclass(frozen=True, slots=True)
class FaultWords:
    """Words in the name of a library's exception that tell a fault."""

    words: tuple[str, ...]  # the most telling first
    message: str
    when: str


@dataclass(frozen=True, slots=True)
class StandardFaults:
    aliases: Mapping[str, str]
    bases: Mapping[str, str]
    arguments: Mapping[str, str]  # of the constructors that do not take a message alone
    faults: Mapping[str, ExceptionFault]  # the first of each class
    errnos: frozenset[int]
    rules: tuple[CallRule, ...]
    harmless_callees: re.Pattern[str]
    harmless_methods: frozenset[str]
    containers: frozenset[str]
    clients: frozenset[str]
    control_flow: frozenset[str]
    library: tuple[FaultWords, ...]
    usage_words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Called:
    """What the table says of a call."""

    rules: tuple[tuple[CallRule, int], ...]  # that fit it, with their weight, best first
    reaches_out: bool  # a fault of the environment can reach it
    standard: bool  # it is the standard library's, so no other library's exceptions come from it
    vague: bool  # as often a container's method as a client's
    client: bool = False  # the name of the receiver says that it reaches out


_HARMLESS = Called((), reaches_out=False, standard=True, vague=False)


@cache
def table() -> StandardFaults:
    content = yaml.safe_load(
        files("cutset.reproduce.python").joinpath("stdlib_exceptions.yaml").read_text(encoding="utf-8")
    )
    faults = {name: _fault(effect, when) for name, (effect, when) in content["faults"].items()}
    exceptions = content["exceptions"]
    harmless = content["harmless"]
    return StandardFaults(
        aliases=content["aliases"],
        bases={name: entry["base"] for name, entry in exceptions.items()},
        arguments={name: entry["arguments"] for name, entry in exceptions.items() if "arguments" in entry},
        faults={fault.kind: fault for fault in reversed(faults.values())},
        errnos=frozenset(fault.errno for fault in faults.values() if fault.errno is not None),
        rules=tuple(_rule(entry, faults) for entry in content["rules"]),
        harmless_callees=_any_of(harmless["callees"]),
        harmless_methods=frozenset(harmless["methods"]),
        containers=frozenset(harmless["containers"]),
        clients=frozenset(content["clients"]),
        control_flow=frozenset(content["control_flow"]),
        library=tuple(FaultWords(tuple(e["words"]), e.get("message", ""), e["when"]) for e in content["library"]),
        usage_words=frozenset(content["usage_words"]),
    )


def words_of(name: str) -> list[str]:
    """`SSLHandshakeTimeout_v2` is ssl, handshake, timeout, v, 2."""
    return [word.lower() for word in _WORDS.findall(name)]


def called(call: str, resolved: str, imports: Sequence[str], *, awaited: bool) -> Called:
    if resolved:
        return _by_callee(call, resolved, awaited=awaited)
    receiver, name = _parts(call)
    libraries = {module.partition(".")[0] for module in imports} - sys.stdlib_module_names
    client = bool(receiver) and not _hints(receiver, name).isdisjoint(table().clients | libraries)
    if receiver == _LITERAL or (receiver and not client and name in table().harmless_methods):
        return _HARMLESS
    fitting = _fitting(receiver, name, imports, awaited=awaited)
    if fitting and not fitting[0][0].faults:
        return _HARMLESS
    if fitting:
        return Called(fitting, reaches_out=True, standard=fitting[0][1] >= _TELLING, vague=False, client=client)
    vague = bool(receiver) and not client and name in table().containers
    typical = tuple(
        (rule, 0)
        for rule in table().rules
        if rule.typical and not rule.modules.isdisjoint(imports) and rule.asynchronous == awaited and not vague
    )
    return Called(typical, reaches_out=True, standard=False, vague=vague, client=client)


def _by_callee(call: str, resolved: str, *, awaited: bool) -> Called:
    top = resolved.partition(".")[0]
    if top not in sys.stdlib_module_names and not hasattr(builtins, top):
        return Called((), reaches_out=True, standard=False, vague=False)
    if table().harmless_callees.fullmatch(resolved):
        return _HARMLESS
    for rule in table().rules:
        if rule.callees.fullmatch(resolved):
            if not rule.faults:
                return _HARMLESS
            return Called(((rule, _TELLING),), reaches_out=True, standard=True, vague=False)
    # It may be a method of what a function returned, as in `socket.create_connection.recv`. What else is in the
    # standard library, but not in the table, does not leave the process.
    parts = resolved.split(".")
    modules = [".".join(parts[:end]) for end in range(1, len(parts))] + ["builtins"] * (len(parts) > 1)
    receiver, name = _parts(call)
    if not receiver:
        return _HARMLESS  # a class or function that the table would have
    fitting = [pair for pair in _fitting(receiver, name, modules, awaited=awaited) if pair[1]]
    return Called(tuple(fitting), reaches_out=True, standard=True, vague=False) if fitting else _HARMLESS


def _fitting(receiver: str, name: str, imports: Sequence[str], *, awaited: bool) -> tuple[tuple[CallRule, int], ...]:
    hints, modules = _hints(receiver, name), frozenset(imports)
    weighed = ((rule, _weight(rule, receiver, name, hints, modules, awaited=awaited)) for rule in table().rules)
    return tuple(sorted(((rule, weight) for rule, weight in weighed if weight is not None), key=lambda pair: -pair[1]))


def _hints(receiver: str, name: str) -> set[str]:
    return set(words_of(receiver)) if receiver else {name.strip("_").lower()}


def _weight(
    rule: CallRule, receiver: str, name: str, hints: Collection[str], imports: Collection[str], *, awaited: bool
) -> int | None:
    """How well a rule fits a call that nothing resolves; None if it does not, 0 if it is a mere guess."""
    hinted = not rule.receivers.isdisjoint(hints)
    imported = not rule.modules.isdisjoint(imports)
    if awaited != rule.asynchronous and (awaited or not hinted):
        return None
    if name in table().containers and not (hinted and imported):
        return None
    if name in rule.methods:
        return _TELLING + hinted + imported
    if name in rule.ambiguous if receiver else name in rule.functions or (hinted and imported):
        # A receiver's name says little where the module imports other libraries, but not this one.
        trusted = imported or not imports or "builtins" in rule.modules
        return 2 * (hinted and trusted) + imported
    return None


def _parts(call: str) -> tuple[str, str]:
    """The name of the receiver, nearest to the call, and of what is called."""
    try:
        node = ast.parse(call, mode="eval").body
    except SyntaxError:
        return "", ""
    match node:
        case ast.Attribute(value=value, attr=name):
            return _name(value) or "?", name
        case ast.Name(id=name):
            return "", name
    return "?", ""


def _name(node: ast.expr) -> str:
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.BinOp(left=ast.Constant()):
            return _LITERAL
        case ast.Attribute(value=ast.Constant() | ast.JoinedStr()):  # called: what a method of a text returns is text
            return _LITERAL
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.Await(value=inner):
            return _name(inner)
    return ""


def _fault(effect: str, when: str) -> ExceptionFault:
    node = ast.parse(effect, mode="eval").body
    assert isinstance(node, ast.Call)
    kind = ast.unparse(node.func)
    match node.args:
        case [ast.Constant(value=int(errno)), ast.Constant(value=str(text))]:
            return ExceptionFault(kind, effect, when, errno, text)
        case [ast.Constant(value=int(errno)), *_]:
            return ExceptionFault(kind, effect, when, errno)
        case [ast.Constant(value=str(text))]:
            return ExceptionFault(kind, effect, when, text=text)
    return ExceptionFault(kind, effect, when)


def _rule(entry: Mapping[str, Any], faults: Mapping[str, ExceptionFault]) -> CallRule:
    last_parts = {callee.rpartition(".")[2] for callee in entry["callees"]}
    return CallRule(
        what=entry["what"],
        modules=frozenset(entry["modules"]),
        callees=_any_of(entry["callees"]),
        methods=frozenset(entry.get("methods", ())),
        functions=frozenset(part for part in last_parts if part.isidentifier()),
        ambiguous=frozenset(entry.get("ambiguous", ())),
        receivers=frozenset(entry.get("receivers", ())),
        asynchronous=entry.get("asynchronous", False),
        typical=entry.get("typical", False),
        faults=tuple(faults[name] for name in entry["faults"]),
    )


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns))
